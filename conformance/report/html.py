"""A conformance run as one HTML page that asks for nothing else: no script, no font, no image from anywhere."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from conformance.report.run import ConformanceRun, broken, folder_name, printable
from conformance.verdict import Verdict
from spec.files import write_atomically


def write(path: Path, run: ConformanceRun, *, traces: bool = False) -> None:
    """Write the page; `traces` when it lies in a results folder, beside the cases' folders, and may link to them."""
    write_atomically(path, encode(run, traces=traces).encode())


def encode(run: ConformanceRun, *, traces: bool = False) -> str:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        # Whatever the file's name: names and reasons come from implementations under test.
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja").render(
        run=run, traces=traces, broken=broken, folder_name=folder_name, css_class=_css_class, FAIL=Verdict.FAIL
    )


def _css_class(verdict: Verdict) -> str:
    return verdict.replace(" ", "-")
