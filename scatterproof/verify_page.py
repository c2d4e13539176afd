"""report/index.html: the table of clauses against layers, each layer's details, and what else there is to look at. One
static page that asks for nothing; only a click leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from scatterproof.layer_report import LayerReport
from scatterproof.matrix import MatrixRow
from scatterproof.verify_page_parts import Parts
from spec.clauses import Catalogue
from spec.files import write_atomically


def write_page(
    path: Path,
    catalogue: Catalogue,
    reports: Sequence[LayerReport],
    rows: Sequence[MatrixRow],
    parts: Parts,
    seed: int,
) -> None:
    templates = Environment(
        loader=PackageLoader("scatterproof", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    page = templates.get_template("verify_page.html.j2")
    text = page.render(catalogue=catalogue, reports=reports, rows=rows, parts=parts, seed=seed)
    write_atomically(path, text.encode())
