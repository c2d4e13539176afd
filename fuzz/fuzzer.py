"""Fuzzes an implementation under test: plays drawn schedules, judges the traces, shrinks and saves what fails."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from conformance.judge import judge
from conformance.verdict import ClauseResult, Verdict, Violation
from fuzz.corpus import drawn_schedules
from fuzz.shrink import MAX_RUNS, Shrunk, shrink
from spec.iut import Iut
from spec.schedule import Schedule, write
from spec.trace import CLEAN, Trace, schema

# A pseudo-clause: the run did not end as planned, because a node crashed, hung or flooded.
RUN_ENDS = "run-ends"
FAILURES = Path("results/failures")


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """violation: the first one of the clause in the shrunk schedule's trace; None for a run that ended cut, of which
    `notes` say why. found_at: the number of the schedule that failed first. minimal: no single step makes the schedule
    smaller."""

    clause: str
    violation: Violation | None
    notes: tuple[str, ...]
    schedule: Schedule
    file: str
    found_at: int
    minimal: bool


class FuzzResult(msgspec.Struct, frozen=True, kw_only=True):
    """examples: schedules run. rows: events in their traces. at_stake: for each clause, at how many rows it was at
    stake; a clause at 0 was not tried at all."""

    protocol: str
    iut: str
    seed: int
    examples: int
    rows: int
    seconds: float
    schedules_per_second: float
    at_stake: dict[str, int]
    failures: tuple[Failure, ...]


OnProgress = Callable[[int, int], None]
SomeFailure = TypeVar("SomeFailure", bound=Failure)


def fuzz(
    protocol: str,
    iut: Iut,
    *,
    examples: int,
    seed: int,
    on_progress: OnProgress | None = None,
    folder: Path = FAILURES,
    max_shrink_runs: int = MAX_RUNS,
) -> FuzzResult:
    """Run `examples` schedules of `seed`, the same ones each time, and keep one failure a clause, shrunk and saved in
    `folder`. `on_progress(done, failed)` is called after every schedule. Raises CannotRun when the IUT cannot start."""
    start = time.perf_counter()
    at_stake: Counter[str] = Counter()
    rows = 0
    first: dict[str, tuple[int, Schedule]] = {}
    for number, schedule in zip(range(examples), drawn_schedules(protocol, seed), strict=False):
        trace = iut.run(schedule)
        rows += len(trace.rows)
        results = judge(trace)
        for result in results:
            at_stake[result.clause] += result.held + result.broken
        for clause in broken_by(trace, results):
            first.setdefault(clause, (number, schedule))
        if on_progress is not None:
            on_progress(number + 1, len(first))
    seconds = time.perf_counter() - start
    return FuzzResult(
        protocol=protocol,
        iut=iut.name,
        seed=seed,
        examples=examples,
        rows=rows,
        seconds=seconds,
        schedules_per_second=examples / seconds if seconds else 0.0,
        at_stake=dict(sorted(at_stake.items())),
        failures=tuple(
            keep(iut, clause, number, schedule, folder, max_shrink_runs)
            for clause, (number, schedule) in sorted(first.items())
        ),
    )


def violations_of(trace: Trace) -> dict[str, Violation | None]:
    """The clauses that the trace breaks, each with its first violation; `RUN_ENDS` without one."""
    return broken_by(trace, judge(trace, shown=1))


def broken_by(trace: Trace, results: Sequence[ClauseResult]) -> dict[str, Violation | None]:
    broken: dict[str, Violation | None] = {
        result.clause: result.violations[0] for result in results if result.verdict is Verdict.FAIL
    }
    if not ends_as_planned(trace):
        broken[RUN_ENDS] = None
    return broken


def ends_as_planned(trace: Trace) -> bool:
    """Whether the last row says so; only a run without an `end_ns` of its own is expected to."""
    flags = trace.rows[-1][schema(trace.header.protocol).index("flags")] if trace.rows else 0
    return bool(flags & CLEAN)


def keep(iut: Iut, clause: str, number: int, schedule: Schedule, folder: Path, max_runs: int) -> Failure:
    """Shrink a schedule that breaks `clause`, and save it."""
    small = shrink(schedule, lambda candidate: clause in violations_of(iut.run(candidate)), max_runs=max_runs)
    return saved(failure_of(iut, clause, number, small), folder)


def failure_of(iut: Iut, clause: str, number: int, small: Shrunk) -> Failure:
    """What the implementation does under the shrunk schedule of that number; it has no file yet."""
    trace = iut.run(small.schedule)
    return Failure(
        clause=clause,
        # An implementation that is not deterministic may not fail again.
        violation=violations_of(trace).get(clause),
        notes=trace.notes,
        schedule=small.schedule,
        file="",
        found_at=number,
        minimal=small.minimal,
    )


def saved(failure: SomeFailure, folder: Path) -> SomeFailure:
    """The failure, its schedule saved as `<clause>-<digest>.json`."""
    path = folder / f"{failure.clause}-{digest(failure.schedule)}.json"
    write(path, failure.schedule)
    return msgspec.structs.replace(failure, file=str(path))


def digest(schedule: Schedule) -> str:
    """Ten letters that name a schedule."""
    return hashlib.blake2b(msgspec.json.encode(schedule), digest_size=5).hexdigest()
