"""Fuzzes an implementation under test: plays drawn schedules, judges the traces, saves the schedules that fail, and
shrinks them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from scatterproof.conformance.case import EVERYTHING, Claims, ended_as_planned
from scatterproof.conformance.judge import judge
from scatterproof.conformance.verdict import ClauseResult, Violation, foremost
from scatterproof.fuzz.corpus import Suited, drawn_schedules
from scatterproof.fuzz.shrink import MAX_RUNS, OnRun, shrink
from scatterproof.fuzz.stopping import Guard, StopAsked
from scatterproof.fuzz.tally import ClauseStanding, FuzzTally, not_asked
from scatterproof.spec.errors import BadInput, CannotRun, ScatterproofError
from scatterproof.spec.iut import Iut
from scatterproof.spec.schedule import Schedule, write
from scatterproof.spec.trace import Trace

# A pseudo-clause: the run did not end as planned, because a node crashed, hung or flooded.
RUN_ENDS = "run-ends"
FAILURES = Path("results/failures")
NONE_RUNS = 3  # schedules in a row that cannot be run: then the schedules are not the cause
SHOWN = 5  # sentences about runs that could not be made or judged


class FoundFailure(msgspec.Struct, frozen=True, kw_only=True):
    """violation: the first one of the clause in the schedule's trace; None for a run that was cut, as `notes` explain.
    file: where the schedule is.
    found_at: the number of the schedule that failed first.
    as_found: the file of that schedule.
    minimal: no single step makes the schedule smaller.
    runs: how many shrinking took.
    repeats: whether the schedule failed again in the first of these runs.
    """

    clause: str
    violation: Violation | None
    notes: tuple[str, ...]
    schedule: Schedule
    file: str
    found_at: int
    minimal: bool
    as_found: str = ""
    runs: int = 0
    repeats: bool = True


class FuzzResult(msgspec.Struct, frozen=True, kw_only=True):
    """examples: schedules run.
    rows: events in their traces.
    at_stake: for each clause, at how many rows it was at stake; a clause at 0 was not tried at all.
    clauses: the standing of each clause.
    unjudged: how many runs could not be made, or judged.
    because: why, for the first of them.
    stopped, stopped_at: the signal or error that ended it early, and what it did then; empty when it was completed.
    """

    protocol: str
    iut: str
    seed: int
    examples: int
    rows: int
    seconds: float
    schedules_per_second: float
    at_stake: dict[str, int]
    failures: tuple[FoundFailure, ...]
    clauses: dict[str, ClauseStanding]
    unjudged: int
    because: tuple[str, ...]
    stopped: str = ""
    stopped_at: str = ""


OnProgress: TypeAlias = Callable[[int, int], None]
# on_shrink(clause, runs, smallest): after each run that is made to find a smaller schedule.
OnShrink: TypeAlias = Callable[[str, int, Schedule], None]
SomeFailure = TypeVar("SomeFailure", bound=FoundFailure)


def fuzz(
    protocol: str,
    iut: Iut,
    *,
    examples: int | None,
    seed: int,
    seconds: float | None = None,
    claims: Claims = EVERYTHING,
    suits: Suited | None = None,
    on_progress: OnProgress = lambda done, failed: None,
    on_shrink: OnShrink = lambda clause, runs, smallest: None,
    folder: Path = FAILURES,
    max_shrink_runs: int = MAX_RUNS,
    guard: Guard = nullcontext,
    clock: Callable[[], float] = time.monotonic,
) -> FuzzResult:
    """Run `examples` schedules of `seed`, the same ones each time, or without end for None; and keep one failure a
    clause, saved in `folder` as it is found, and again when it has been made small.

    seconds: for all of it; when something has failed, half of them are for making it small. claims: what the
    implementation claims; suits: the schedules that it can take. `on_progress(done, failed)` is called after every
    schedule. guard: runs within it may be stopped; what was found until then is returned. clock: seconds, from any
    origin. Raises CannotRun when no run can be made at all.
    """
    start = clock()
    work = _Fuzzing(iut=iut, claims=claims, folder=folder, guard=guard)
    drawn_s = 0.0

    def is_drawn() -> bool:
        if work.drawn == examples:
            return True
        # One is run, however short the time.
        return seconds is not None and work.drawn > 0 and clock() - start >= seconds / (2 if work.found else 1)

    stopped = ""
    try:
        schedules = drawn_schedules(protocol, seed, suits=suits)
        while not is_drawn():
            work.try_next(schedules)
            drawn_s = clock() - start
            on_progress(work.drawn, len(work.found))
        for place, clause in enumerate(sorted(work.found)):
            share = None if seconds is None else (start + seconds - clock()) / (len(work.found) - place)
            work.shrink(clause, max_shrink_runs, lasting(share, clock), partial(on_shrink, clause))
    except StopAsked as stop:
        stopped = str(stop)
    except CannotRun as error:
        if not work.tally.runs:
            raise
        stopped = str(error)
    return work.result(protocol, seed, drawn_s, stopped)


@dataclass(slots=True, kw_only=True)
class _Fuzzing:
    """drawn: how many schedules were run, or could not be.
    found: the failures, by clause.
    at: what is being done.
    """

    iut: Iut
    claims: Claims
    folder: Path
    guard: Guard
    drawn: int = 0
    tally: FuzzTally = field(default_factory=FuzzTally)
    found: dict[str, Shrinking] = field(default_factory=dict)
    at: str = ""
    _not_run: int = 0  # in a row

    def try_next(self, schedules: Iterator[Schedule]) -> None:
        """Run the next schedule, and save it when it fails. Raises CannotRun when it seems that none can be run."""
        self.at = f"schedule {self.drawn}"
        with self.guard():
            schedule = next(schedules)
            outcome = run_judged(self.iut, schedule, self.claims)
        number, self.drawn = self.drawn, self.drawn + 1
        self._not_run = self._not_run + 1 if isinstance(outcome, CannotRun) else 0
        if isinstance(outcome, ScatterproofError):
            if self._not_run == NONE_RUNS:
                raise outcome
            self.tally.unjudged.append(f"schedule {number}: {outcome}")
            return
        trace, results = outcome
        self.tally.add(trace, results)
        for clause, violation in broken_by(trace, results).items():
            if clause not in self.found:
                failure = failure_of(clause, number, schedule, trace.notes, violation)
                self.found[clause] = shrinking = Shrinking(failure, self.iut, self.guard)
                file = saved_as_found(clause, schedule, self.folder)
                shrinking.failure = replace(failure, file=file, as_found=file)

    def shrink(self, clause: str, max_runs: int, is_over: Callable[[], bool], on_run: OnRun) -> None:
        """Shrink the clause's failure, and save the smallest; the smallest so far when this is broken off."""
        shrinking = self.found[clause]
        as_found = shrinking.failure.schedule
        self.at = f"the shrinking of {clause}"
        try:
            shrinking.run(max_runs, is_over, on_run)
        finally:
            if shrinking.failure.minimal or shrinking.failure.schedule != as_found:
                shrinking.failure = saved(shrinking.failure, self.folder)

    def result(self, protocol: str, seed: int, seconds: float, stopped: str) -> FuzzResult:
        tally = self.tally
        return FuzzResult(
            protocol=protocol,
            iut=self.iut.name,
            seed=seed,
            examples=self.drawn,
            rows=tally.rows,
            seconds=seconds,
            schedules_per_second=self.drawn / seconds if seconds else 0.0,
            at_stake=dict(sorted(tally.at_stake.items())),
            failures=tuple(self.found[clause].failure for clause in sorted(self.found)),
            clauses=tally.standings(self.found, not_asked(protocol, self.claims)),
            unjudged=len(tally.unjudged),
            because=tuple(tally.unjudged[:SHOWN]),
            stopped=stopped,
            stopped_at=self.at if stopped else "",
        )


@dataclass(slots=True)
class Shrinking:
    """failure: the smallest so far."""

    failure: FoundFailure
    iut: Iut
    guard: Guard = nullcontext

    def run(
        self,
        max_runs: int = MAX_RUNS,
        is_over: Callable[[], bool] = lambda: False,
        on_run: OnRun = lambda runs, smallest: None,
    ) -> None:
        """Run the failing schedule again, and make it as small as it can be and still fail."""

        def fails(candidate: Schedule) -> bool:
            return self._try(candidate) is True

        if is_over():
            return
        again = self._try(self.failure.schedule)
        if again is None or not again:
            self.failure = replace(self.failure, repeats=again is None)
            return
        small = shrink(self.failure.schedule, fails, max_runs=max_runs, is_over=is_over, on_run=on_run)
        self.failure = replace(self.failure, minimal=small.minimal)

    def _try(self, candidate: Schedule) -> bool | None:
        """Whether it fails; it is the smallest so far when it does. None when it cannot be run, or judged."""
        with self.guard():
            outcome = run_judged(self.iut, candidate)
        found = self.failure
        self.failure = replace(found, runs=found.runs + 1)
        if isinstance(outcome, ScatterproofError):
            return None
        broken = broken_by(*outcome)
        if found.clause not in broken:
            return False
        notes = outcome[0].notes
        self.failure = replace(self.failure, schedule=candidate, violation=broken[found.clause], notes=notes)
        return True


def lasting(seconds: float | None, clock: Callable[[], float] = time.monotonic) -> Callable[[], bool]:
    """Whether this many seconds, from now on, are over; they never are for None."""
    if seconds is None:
        return lambda: False
    end = clock() + seconds
    return lambda: clock() >= end


def run_judged(
    iut: Iut, schedule: Schedule, claims: Claims = EVERYTHING
) -> tuple[Trace, Sequence[ClauseResult]] | ScatterproofError:
    """The trace that the implementation leaves of the schedule, and what may be said of each clause that it claims; or
    why it could not be run, or its trace not be judged."""
    try:
        trace = iut.run(schedule)
        return trace, claims.of_own(claims.of_claimed(judge(trace, shown=1)))
    except (BadInput, CannotRun) as error:
        return error


def violations_of(trace: Trace) -> dict[str, Violation | None]:
    """The clauses that the trace breaks, the most telling first, each with its first violation; `RUN_ENDS` without
    one."""
    return broken_by(trace, judge(trace, shown=1))


def broken_by(trace: Trace, results: Sequence[ClauseResult]) -> dict[str, Violation | None]:
    broken: dict[str, Violation | None] = {
        result.clause: result.violations[0] for result in foremost(trace.header.protocol, results)
    }
    if not ends_as_planned(trace):
        broken[RUN_ENDS] = None
    return broken


def ends_as_planned(trace: Trace) -> bool:
    """Whether the last row says so; only a run without an `end_ns` of its own is expected to."""
    return ended_as_planned(trace)


def failure_of(
    clause: str, number: int, schedule: Schedule, notes: tuple[str, ...], violation: Violation | None
) -> FoundFailure:
    """What schedule `number` shows; neither saved nor shrunk yet."""
    return FoundFailure(
        clause=clause,
        violation=violation,
        notes=notes,
        schedule=schedule,
        file="",
        found_at=number,
        minimal=False,
    )


def saved(failure: SomeFailure, folder: Path) -> SomeFailure:
    """The failure, its schedule saved as `<clause>-<digest>.json`."""
    path = folder / f"{failure.clause}-{digest(failure.schedule)}.json"
    write(path, failure.schedule)
    return replace(failure, file=str(path))


def saved_as_found(clause: str, schedule: Schedule, folder: Path) -> str:
    """The file of a schedule that breaks the clause, and was not made small: `<clause>-<digest>-as-found.json`."""
    path = folder / f"{clause}-{digest(schedule)}-as-found.json"
    write(path, schedule)
    return str(path)


def digest(schedule: Schedule) -> str:
    """Ten letters that name a schedule."""
    return hashlib.blake2b(msgspec.json.encode(schedule), digest_size=5).hexdigest()
