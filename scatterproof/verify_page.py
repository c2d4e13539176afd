"""report/index.html: the table of clauses against layers, each layer's details, and what else there is to look at. A
static page that loads nothing; only a click leaves it. The gravest stands first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from scatterproof.conformance.report.look import TABLES, Head, render
from scatterproof.layer_report import Detail, LayerReport, Status, gravest
from scatterproof.matrix import MatrixRow, verdict
from scatterproof.spec.clauses import Catalogue
from scatterproof.spec.files import write_atomically
from scatterproof.verify_page_parts import Parts

_TEMPLATE = Path(__file__).with_name("verify_page.html.j2")
_RANKS = {status.value: rank for rank, status in enumerate(Status)}


def write_page(
    path: Path,
    catalogue: Catalogue,
    reports: Sequence[LayerReport],
    rows: Sequence[MatrixRow],
    parts: Parts,
    seed: int,
) -> Status:
    """Write the page; returns the verdict of all of it."""
    ended = Status.FAIL if parts.faults else verdict(reports, rows)
    shown = {
        status.value for report in reports for status in (report.status, *(c.status for c in report.cells.values()))
    }
    shown |= {cell.status.value for row in rows for cell in row.cells}
    page = render(
        _TEMPLATE,
        Head(
            title=f"Scatterproof: {catalogue.title}",
            verdict=(ended or Status.NOT_RUN).value,
            sentence=_sentence(rows, parts),
            about=(f"clause catalogue {catalogue.version}", f"seed {seed}"),
        ),
        styles=TABLES.styles,
        scripts=TABLES.scripts,
        reports=reports,
        layers=sorted(reports, key=lambda report: _RANKS[report.status.value]),
        rows=sorted(rows, key=lambda row: _rank(cell.status for cell in row.cells)),
        parts=parts,
        statuses=[status.value for status in Status if status and status.value in shown],
        rows_of=_rows_of,
    )
    write_atomically(path, page.text.encode())
    return ended


def _sentence(rows: Sequence[MatrixRow], parts: Parts) -> str:
    """How many clauses come to what, the gravest first, and what else is wrong."""
    counts = Counter(gravest(cell.status for cell in row.cells if cell.status) for row in rows)
    told = ", ".join(f"{counts[status]} {status}" for status in Status if status and counts[status])
    faults = f"; {len(parts.faults)} other faults" if parts.faults else ""
    return f"{len(rows)} clauses{': ' if told else ''}{told}{faults}"


def _rank(statuses: Iterable[str]) -> int:
    """How grave the gravest of them is, 0 for the gravest. A text that is no status is not grave."""
    return min((_RANKS.get(status, len(_RANKS)) for status in statuses), default=len(_RANKS))


def _rows_of(table: Detail) -> list[tuple[tuple[str, ...], str]]:
    """The rows of a layer's table, the gravest first, each with the command that shows it, or nothing."""
    again = table.again or ("",) * len(table.rows)
    return sorted(zip(table.rows, again, strict=True), key=lambda row: _rank(row[0]))
