"""report/index.html: the table of clauses against layers, and each layer's details. One static page, no requests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from scatterproof.layer_report import LayerReport
from scatterproof.matrix import MatrixRow
from spec.clauses import Catalogue
from spec.files import write_atomically


def write_page(
    path: Path, catalogue: Catalogue, reports: Sequence[LayerReport], rows: Sequence[MatrixRow], seed: int
) -> None:
    templates = Environment(
        loader=PackageLoader("scatterproof", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    page = templates.get_template("verify_page.html.j2")
    text = page.render(catalogue=catalogue, reports=reports, rows=rows, seed=seed)
    write_atomically(path, text.encode())
