"""A conformance run as a file, results.json: all that a page shows, so that pages can be made again later, and of
several runs side by side.

    {"results": 1, "protocol", "iut", "catalogue", "profile", "verdict", "counts",
     "clauses": [{"id", "name", "level", "must", "source"}],
     "cases": [{"id", "clause", "stimulus", "duty", "verdict", "reason", "rows", "seconds", "notes",
                "clauses": [...], "failure": {"clause", "violations", "schedule", "runs", "minimal", "diagram"}}]}

`results` is the version of the format. Readers pass over keys that they do not know.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec

from scatterproof.conformance.case import CaseResult
from scatterproof.conformance.report.run import ConformanceRun, Small, broken
from scatterproof.conformance.report.space_time import Diagram, diagram, refuse_bad
from scatterproof.conformance.verdict import ClauseResult, Verdict, Violation, foremost
from scatterproof.conformance.views import marks
from scatterproof.spec import clauses
from scatterproof.spec.clauses import Level
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.trace import ABSENT, Trace

VERSION = 1
FILE_NAME = "results.json"
# Diagrams are most of a file. Whoever breaks more cases than this begins with the first.
MOST_DIAGRAMS = 200
# Rows of a diagram, up to the violation. A run that was made small is mostly shorter.
ROWS = 120


class StoredClause(msgspec.Struct, frozen=True):
    """What the catalogue said of a clause when the run was judged. source: where it was taken from."""

    id: str
    name: str
    level: Level
    must: str
    source: str


class ShownFailure(msgspec.Struct, frozen=True, omit_defaults=True):
    """The failing run that is shown: the case's own, or a smaller one.

    clause: which of those broken the diagram is about.
    runs: how many were needed to make it small, 0 where nobody tried.
    minimal: whether no further step keeps the failure.
    diagram: None beyond the first `MOST_DIAGRAMS`.
    """

    clause: str
    violations: tuple[Violation, ...]
    schedule: Schedule
    runs: int = 0
    minimal: bool = False
    diagram: Diagram | None = None


class StoredCase(msgspec.Struct, frozen=True, omit_defaults=True):
    """rows: of the trace, None where there is none.
    seconds: None where it is not known.
    notes: of the trace.
    """

    id: str
    clause: str
    stimulus: str
    duty: str
    verdict: Verdict
    reason: str
    rows: int | None
    seconds: float | None
    clauses: tuple[ClauseResult, ...]
    notes: tuple[str, ...] = ()
    failure: ShownFailure | None = None


class StoredRun(msgspec.Struct, frozen=True):
    """What results.json holds. counts: how many cases ended with each verdict."""

    protocol: str
    iut: str
    catalogue: str
    profile: str
    verdict: Verdict
    counts: dict[Verdict, int]
    clauses: tuple[StoredClause, ...]
    cases: tuple[StoredCase, ...]
    results: int = VERSION

    def broken(self, case: StoredCase) -> list[ClauseResult]:
        """The clauses that the case's run breaks, the most telling first."""
        return foremost(self.protocol, case.clauses, case.clause)

    @property
    def seconds(self) -> float:
        return sum(case.seconds or 0.0 for case in self.cases)


def store(run: ConformanceRun) -> StoredRun:
    """The run without its traces, with a picture of each failure."""
    failing = [result.case.id for result in run.results if broken(result)]
    drawn = set(failing[:MOST_DIAGRAMS])
    return StoredRun(
        protocol=run.protocol,
        iut=run.iut,
        catalogue=run.catalogue,
        profile=run.profile,
        verdict=run.verdict,
        counts=run.counts,
        clauses=_clauses(run.protocol),
        cases=tuple(_case(run, result, drawn) for result in run.results),
    )


def plain(run: ConformanceRun) -> dict[str, Any]:
    """The run as a JSON document, without the pictures."""
    document: dict[str, Any] = msgspec.to_builtins(store(run))
    for case in document["cases"]:
        case.get("failure", {}).pop("diagram", None)
    return document


def encode(run: StoredRun) -> bytes:
    return msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n"


def read(path: Path) -> tuple[StoredRun, Path]:
    """The run that a results.json holds, and its folder. path: the file; its folder; or one that has it in `latest`, as
    `--results` names it. Raises BadInput, which names the file and what is wrong with it."""
    file = next((there for there in _places(path) if there.is_file()), None)
    if file is None:
        raise BadInput(f"{path}: has no {FILE_NAME} of a conformance run; `conform --results {path}` leaves one there")
    try:
        document = msgspec.json.decode(read_bytes(file, "results"))
        version = document.get("results") if isinstance(document, dict) else None
        if version != VERSION:
            made = "is of an earlier version" if version is None else f"is of version {version!r}"
            raise BadInput(f"{file}: {made}, and this one reads {VERSION}; run `conform` again")
        run = msgspec.convert(document, StoredRun)
    except msgspec.DecodeError as error:  # ValidationError is one, too
        raise BadInput(f"{file}: no results of a conformance run: {error}; run `conform` again") from None
    known = {clause.id for clause in run.clauses}
    for case in run.cases:
        if case.clause not in known:
            raise BadInput(f"{file}: case {case.id} is of clause {case.clause!r}, which the file does not tell of")
        if case.failure is not None and case.failure.diagram is not None:
            refuse_bad(case.failure.diagram, f"{file}: case {case.id}")
    return run, file.parent


def _places(path: Path) -> tuple[Path, ...]:
    return (path, path / FILE_NAME, path / "latest" / FILE_NAME)


def _clauses(protocol: str) -> tuple[StoredClause, ...]:
    if protocol not in clauses.protocols():
        return ()
    return tuple(
        StoredClause(clause.id, clause.name, clause.level, clause.must, clause.source)
        for clause in clauses.load(protocol).clauses
    )


def _case(run: ConformanceRun, result: CaseResult, drawn: Collection[str]) -> StoredCase:
    case, trace = result.case, result.trace
    return StoredCase(
        id=case.id,
        clause=case.clause,
        stimulus=case.stimulus,
        duty=case.duty,
        verdict=result.verdict,
        reason=result.reason,
        rows=None if trace is None else len(trace.rows),
        seconds=run.seconds.get(case.id),
        clauses=result.results,
        notes=() if trace is None else trace.notes,
        failure=_failure(result, run.small.get(case.id), case.id in drawn),
    )


def _failure(result: CaseResult, small: Small | None, is_drawn: bool) -> ShownFailure | None:
    found = broken(result)
    if not found or result.trace is None:
        return None
    clause, trace, schedule, violations = found[0].clause, result.trace, result.case.schedule, found[0].violations
    if small is not None:
        trace, schedule = small.trace, small.schedule
        violations = next((own.violations for own in small.results if own.clause == clause), ())
    return ShownFailure(
        clause=clause,
        violations=violations,
        schedule=schedule,
        runs=small.runs if small is not None else 0,
        minimal=small is not None and small.minimal,
        diagram=picture(trace, violations[0]) if is_drawn and violations else None,
    )


def picture(trace: Trace, violation: Violation) -> Diagram:
    """The rows that lead up to the violation, from its witness on where that is near enough."""
    last = violation.position
    first = max(0, last + 1 - ROWS)
    loud = {violation.position, violation.witness} - {ABSENT}
    beside = marks(trace.header, trace.rows[: last + 1])
    return diagram(trace, loud, first=first, last=last, sent_too=True, beside=beside)
