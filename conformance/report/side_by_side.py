"""Several runs side by side: the clauses as rows, with the cases of each, and the result of every implementation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scatterproof.conformance.report.run import GRAVITY
from scatterproof.conformance.report.stored import StoredCase, StoredClause, StoredRun
from scatterproof.conformance.verdict import Verdict


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A case and its result in each run, None where a run does not have it."""

    id: str
    by_run: tuple[StoredCase | None, ...]

    @property
    def some(self) -> StoredCase:
        """The first result: it says what the case is."""
        return next(case for case in self.by_run if case is not None)

    @property
    def differs(self) -> bool:
        return len({case and case.verdict for case in self.by_run}) > 1


@dataclass(frozen=True, slots=True)
class ClauseCell:
    """The result of one implementation for one clause.

    verdict: None where the run did not judge the clause.
    seconds: that the clause's cases took.
    why: the id of a case of another clause that breaks this one, where none of its own does.
    """

    verdict: Verdict | None
    seconds: float | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class ClauseRow:
    """A clause with its cases, and a cell a run."""

    clause: StoredClause
    cases: tuple[CaseRow, ...]
    cells: tuple[ClauseCell, ...]

    @property
    def differs(self) -> bool:
        return len({cell.verdict for cell in self.cells}) > 1


def clause_rows(runs: Sequence[StoredRun]) -> list[ClauseRow]:
    """A row for each clause that some run has a case of or a verdict on, in the order of the catalogue. The cases of a
    row are in the order of the runs."""
    clauses = {clause.id: clause for run in reversed(runs) for clause in run.clauses}
    ids = {clause: dict[str, None]() for clause in clauses}
    for run in runs:
        for case in run.cases:
            ids[case.clause][case.id] = None
    by_id = [{case.id: case for case in run.cases} for run in runs]
    tables = [_cells(run) for run in runs]
    rows = []
    for clause in clauses.values():
        cases = tuple(CaseRow(case, tuple(there.get(case) for there in by_id)) for case in ids[clause.id])
        cells = tuple(table.get(clause.id, ClauseCell(None, None)) for table in tables)
        if cases or any(cell.verdict is not None for cell in cells):
            rows.append(ClauseRow(clause, cases, cells))
    return rows


def _cells(run: StoredRun) -> dict[str, ClauseCell]:
    """A cell for each clause. A clause that any case breaks is broken; else its own cases decide, and where it has
    none, whether it held in any case."""
    own: dict[str, list[StoredCase]] = {}
    judged: dict[str, set[Verdict]] = {}
    broken: dict[str, str] = {}
    for case in run.cases:
        own.setdefault(case.clause, []).append(case)
        for result in case.clauses:
            judged.setdefault(result.clause, set()).add(result.verdict)
            if result.verdict is Verdict.FAIL and (case.clause == result.clause or result.clause not in broken):
                broken[result.clause] = case.id
    return {clause: _cell(clause, own.get(clause, []), judged.get(clause, set()), broken) for clause in own | judged}


def _cell(clause: str, cases: Sequence[StoredCase], judged: set[Verdict], broken: dict[str, str]) -> ClauseCell:
    known = [case.seconds for case in cases if case.seconds is not None]
    seconds = sum(known) if known else None
    if clause in broken:
        elsewhere = all(case.id != broken[clause] for case in cases)
        return ClauseCell(Verdict.FAIL, seconds, broken[clause] if elsewhere else "")
    found = {case.verdict for case in cases} - {Verdict.FAIL}
    if found:
        return ClauseCell(next(verdict for verdict in GRAVITY if verdict in found), seconds)
    # Its own cases fail by other clauses alone, or there are none.
    held = (Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE)
    return ClauseCell(next((verdict for verdict in held if verdict in judged), None), seconds)
