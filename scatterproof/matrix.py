"""The table of clauses against layers, and what it means for the exit code."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from scatterproof.layer_report import LayerReport, Status, StatusCell, gravest
from scatterproof.spec.clauses import Catalogue, Clause
from scatterproof.spec.clauses import Layer as CatalogueLayer

# Which layer of the catalogue a layer of the main job stands for.
_CATALOGUED = {
    "tlc": CatalogueLayer.TLC,
    "z3": CatalogueLayer.Z3,
    "conform": CatalogueLayer.CASE,
    "conform-stdio": CatalogueLayer.CASE,
    "conform-udp": CatalogueLayer.CASE,
    "fuzz": CatalogueLayer.CHECK,
    "mutants": CatalogueLayer.CHECK,
    "mine": CatalogueLayer.CHECK,
}


class MatrixRow(msgspec.Struct, frozen=True):
    """One clause: a cell a layer, in the order of the layers."""

    clause: str
    name: str
    must: str
    cells: tuple[StatusCell, ...]

    @property
    def not_yet(self) -> bool:
        """Whether no layer checks the clause now."""
        return all(cell.status is Status.NOT_YET for cell in self.cells)


def matrix(catalogue: Catalogue, reports: Sequence[LayerReport]) -> tuple[MatrixRow, ...]:
    """One row a clause of the catalogue, in its order."""
    return tuple(
        MatrixRow(clause.id, clause.name, clause.must, tuple(_cell(clause, report) for report in reports))
        for clause in catalogue.clauses
    )


def _cell(clause: Clause, report: LayerReport) -> StatusCell:
    """A clause that the catalogue says a layer checks has failed there if the layer says nothing of it: silence is no
    pass. A layer may say more than the catalogue asks. Where no case exists yet, runs of the reference need not show
    the clause either."""
    layer = _CATALOGUED[report.layer]
    if layer in clause.not_yet:
        return report.cells.get(clause.id, StatusCell(Status.NOT_YET, clause.not_yet[layer]))
    if report.status is Status.NOT_RUN:
        return StatusCell(Status.NOT_RUN, report.sentence)
    cell = report.cells.get(clause.id, StatusCell(Status.NONE))
    if cell.status is Status.NONE and layer is CatalogueLayer.CHECK and CatalogueLayer.CASE in clause.not_yet:
        return StatusCell(Status.NOT_YET, clause.not_yet[CatalogueLayer.CASE])
    silent = StatusCell(Status.FAIL, f"the catalogue says that {layer.value} checks it, and nothing there did")
    return report.cells.get(clause.id, silent)


def verdict(reports: Sequence[LayerReport], rows: Sequence[MatrixRow]) -> Status:
    """The gravest of all that ran; NOT_RUN layers do not count, as they are shown and may be required."""
    statuses = [report.status for report in reports] + [cell.status for row in rows for cell in row.cells]
    return gravest(status for status in statuses if status in (Status.FAIL, Status.INCONCLUSIVE, Status.PASS))
