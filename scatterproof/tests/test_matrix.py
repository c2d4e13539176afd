"""The table of clauses against layers: nothing turns green by silence."""

from __future__ import annotations

from scatterproof.layer_report import LayerReport, Status, StatusCell, gravest, not_run
from scatterproof.matrix import matrix, verdict
from scatterproof.spec import clauses

CATALOGUE = clauses.load(clauses.protocols()[0])
CHECKED = next(clause for clause in CATALOGUE.clauses if clauses.Layer.CHECK in clause.layers)
WAITING = next(clause for clause in CATALOGUE.clauses if clauses.Layer.CHECK in clause.not_yet)

# Checked, and the reference is given no case of it.
WITHOUT_CASE = next(
    (catalogue, clause)
    for catalogue in map(clauses.load, clauses.protocols())
    for clause in catalogue.clauses
    if clauses.Layer.CHECK in clause.layers and clauses.Layer.CASE in clause.not_yet
)


def report(cells: dict[str, StatusCell]) -> LayerReport:
    return LayerReport(layer="fuzz", title="fuzzing", status=Status.PASS, sentence="", seconds=0.0, cells=cells)


def cell_of(clause: str, made: LayerReport) -> StatusCell:
    return next(row for row in matrix(CATALOGUE, [made]) if row.clause == clause).cells[0]


def test_a_layer_that_says_nothing_of_a_catalogued_clause_has_failed_it() -> None:
    assert cell_of(CHECKED.id, report({})).status is Status.FAIL
    assert cell_of(CHECKED.id, report({CHECKED.id: StatusCell(Status.PASS)})).status is Status.PASS


def test_a_clause_that_waits_shows_the_catalogue_s_reason() -> None:
    assert cell_of(WAITING.id, report({})) == StatusCell(Status.NOT_YET, WAITING.not_yet[clauses.Layer.CHECK])
    # Unless the layer says something of it all the same.
    assert cell_of(WAITING.id, report({WAITING.id: StatusCell(Status.FAIL)})).status is Status.FAIL


def test_runs_of_the_reference_may_be_silent_of_what_it_is_given_no_case_of() -> None:
    catalogue, clause = WITHOUT_CASE
    for told, shown in (
        ({}, StatusCell(Status.NOT_YET, clause.not_yet[clauses.Layer.CASE])),
        ({clause.id: StatusCell(Status.INCONCLUSIVE)}, StatusCell(Status.INCONCLUSIVE)),
        ({clause.id: StatusCell(Status.FAIL)}, StatusCell(Status.FAIL)),
    ):
        rows = matrix(catalogue, [report(told)])
        assert next(row for row in rows if row.clause == clause.id).cells == (shown,)


def test_a_layer_that_cannot_run_is_shown_so_and_passes_nothing() -> None:
    absent = not_run("fuzz", "fuzzing", "no dice")
    assert cell_of(CHECKED.id, absent) == StatusCell(Status.NOT_RUN, "no dice")
    assert verdict([absent], matrix(CATALOGUE, [absent])) is Status.NONE


def test_an_inconclusive_cell_keeps_the_whole_from_passing() -> None:
    cells = {clause.id: StatusCell(Status.PASS) for clause in CATALOGUE.clauses}
    assert verdict([report(cells)], matrix(CATALOGUE, [report(cells)])) is Status.PASS
    cells[CHECKED.id] = StatusCell(Status.INCONCLUSIVE)
    assert verdict([report(cells)], matrix(CATALOGUE, [report(cells)])) is Status.INCONCLUSIVE


def test_the_gravest_of_several_statuses_counts() -> None:
    assert gravest([Status.PASS, Status.FAIL, Status.INCONCLUSIVE]) is Status.FAIL
    assert gravest([]) is Status.NONE
