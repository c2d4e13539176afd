"""Fuzzing shared out: chunks of schedules are run, and failing ones shrunk, in any order and anywhere.

What is drawn depends on the seed and the number of the chunk alone, and which failures are shrunk on their numbers
alone; so the result is the same however the work is shared out, as long as the implementation is deterministic.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from msgspec.structs import asdict, replace

from scatterproof.conformance.case import EVERYTHING, Claims
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.fuzz.alike import alike
from scatterproof.fuzz.corpus import Suited, chunk_size, drawn_chunk
from scatterproof.fuzz.fuzzer import (
    FAILURES,
    NONE_RUNS,
    SHOWN,
    FoundFailure,
    FuzzResult,
    broken_by,
    failure_of,
    run_judged,
    saved,
    saved_as_found,
    violations_of,
)
from scatterproof.fuzz.plain import shrink_plainly
from scatterproof.fuzz.protocol import load
from scatterproof.fuzz.shrink import MAX_RUNS
from scatterproof.fuzz.tally import FuzzTally, not_asked
from scatterproof.spec.errors import CannotRun, ScatterproofError
from scatterproof.spec.iut import Iut
from scatterproof.spec.schedule import Schedule

PER_CLAUSE = 24

FindIut: TypeAlias = Callable[[], Iut]
OnProgress: TypeAlias = Callable[[str, int, int], None]


class RunAll(Protocol):
    """work(item) of each item, in their order, done wherever; on_progress(done, of) counts their weights."""

    def __call__(
        self,
        items: Sequence[Any],
        work: Callable[[Any], Any],
        *,
        weights: Sequence[int],
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Sequence[Any]: ...


class Distinct(FoundFailure, frozen=True, kw_only=True):
    """A failure, and how many further ones of the clause are like it when shrunk: equal but for names. It is the one
    that was found first."""

    further: int


class SpreadResult(FuzzResult, frozen=True, kw_only=True):
    """failing: how many schedules break a clause, by its name; `per_clause` of them at most were shrunk. failures: all
    `Distinct`, by clause and by number."""

    failing: dict[str, int]
    per_clause: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The first `count` schedules of a chunk, of those that suit; and what the implementation claims."""

    protocol: str
    seed: int
    chunk: int
    count: int
    suits: Suited | None = None
    claims: Claims = EVERYTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareTried:
    """The result of one share.

    tally: over all its traces.
    failing: by clause, how many schedules break it.
    first: by clause, the first of these, with their numbers.
    """

    tally: FuzzTally
    failing: Counter[str]
    first: dict[str, list[tuple[int, Schedule]]]


def fuzz_spread(
    protocol: str,
    find_iut: FindIut,
    run_all: RunAll,
    *,
    examples: int,
    seed: int,
    claims: Claims = EVERYTHING,
    suits: Suited | None = None,
    on_progress: OnProgress | None = None,
    folder: Path = FAILURES,
    per_clause: int = PER_CLAUSE,
    max_shrink_runs: int = MAX_RUNS,
) -> SpreadResult:
    """Run the schedules that `fuzz` runs of this seed, and save the distinct failures in `folder`. Of each clause the
    first `per_clause` failing schedules are shrunk, and told apart; the first of all is saved as it was found, too.

    find_iut: gives the implementation wherever the work is done, once a task. on_progress(what, done, of).
    """
    start = time.perf_counter()
    shares = _shares(protocol, seed, examples, suits, claims)
    tried = run_all(
        shares,
        partial(try_share, find_iut, per_clause),
        weights=[share.count for share in shares],
        on_progress=_saying("schedules", on_progress),
    )
    seconds = time.perf_counter() - start
    chosen = _first_of_all([one.first for one in tried], per_clause)
    first = {clause: saved_as_found(clause, schedule, folder) for clause, _, schedule in reversed(chosen)}
    shrunk = run_all(
        chosen,
        partial(shrink_one, find_iut, max_shrink_runs, suits),
        weights=[1] * len(chosen),
        on_progress=_saying("failing schedules shrunk", on_progress),
    )
    tally = FuzzTally()
    for one in tried:
        tally.merge(one.tally)
    failing: Counter[str] = sum((one.failing for one in tried), Counter())
    return SpreadResult(
        protocol=protocol,
        iut=find_iut().name,
        seed=seed,
        examples=examples,
        rows=tally.rows,
        seconds=seconds,
        schedules_per_second=examples / seconds if seconds else 0.0,
        at_stake=dict(sorted(tally.at_stake.items())),
        failures=tuple(_saved(distinct(shrunk), first, folder)),
        clauses=tally.standings(failing, not_asked(protocol, claims)),
        unjudged=len(tally.unjudged),
        because=tuple(tally.unjudged[:SHOWN]),
        failing=dict(sorted(failing.items())),
        per_clause=per_clause,
    )


def _shares(protocol: str, seed: int, examples: int, suits: Suited | None, claims: Claims) -> list[Share]:
    size = chunk_size(protocol, suits)
    return [
        Share(
            protocol=protocol,
            seed=seed,
            chunk=first // size,
            count=min(size, examples - first),
            suits=suits,
            claims=claims,
        )
        for first in range(0, examples, size)
    ]


def _saved(kinds: Sequence[tuple[Distinct, int]], as_found: Mapping[str, str], folder: Path) -> Iterator[Distinct]:
    """One of each kind, in a file. as_found: by clause, the file of the schedule that failed first."""
    told: set[str] = set()
    for failure, further in kinds:
        file = "" if failure.clause in told else as_found[failure.clause]
        told.add(failure.clause)
        yield saved(replace(failure, further=further, as_found=file), folder)


def try_share(find_iut: FindIut, per_clause: int, share: Share) -> ShareTried:
    """Run the schedules of a share."""
    iut, tally, failing = find_iut(), FuzzTally(), Counter[str]()
    first: dict[str, list[tuple[int, Schedule]]] = {}
    base = share.chunk * chunk_size(share.protocol, share.suits)
    drawn = drawn_chunk(share.protocol, share.seed, share.chunk, share.suits)[: share.count]
    for number, schedule in enumerate(drawn, start=base):
        outcome = run_judged(iut, schedule, share.claims)
        if isinstance(outcome, ScatterproofError):
            tally.unjudged.append(f"schedule {number}: {outcome}")
            if isinstance(outcome, CannotRun) and not tally.runs and len(tally.unjudged) == NONE_RUNS:
                raise outcome
            continue
        tally.add(*outcome)
        for clause in broken_by(*outcome):
            failing[clause] += 1
            if failing[clause] <= per_clause:
                first.setdefault(clause, []).append((number, schedule))
    return ShareTried(tally=tally, failing=failing, first=first)


def shrink_one(find_iut: FindIut, max_runs: int, suits: Suited | None, chosen: tuple[str, int, Schedule]) -> Distinct:
    """Shrink one failing schedule, to one that suits; it has no file yet."""
    clause, number, schedule = chosen
    iut = find_iut()
    reference = SimulatedIut("reference", load(schedule.protocol).node_with({}))

    def sound(step: Schedule) -> bool:
        return (suits is None or suits.why_not(step) is None) and not violations_of(reference.run(step))

    small = shrink_plainly(schedule, lambda step: clause in violations_of(iut.run(step)), sound, max_runs=max_runs)
    trace = iut.run(small.schedule)
    # An implementation that is not deterministic may not fail again.
    violation = violations_of(trace).get(clause)
    failure = failure_of(clause, number, small.schedule, trace.notes, violation)
    return Distinct(**asdict(replace(failure, minimal=small.minimal, runs=small.runs)), further=0)


def distinct(shrunk: Sequence[Distinct]) -> list[tuple[Distinct, int]]:
    """The first of each kind, by clause and number, and how many more there are of it."""
    kinds: list[list[Distinct]] = []
    for failure in sorted(shrunk, key=lambda failure: (failure.clause, failure.found_at)):
        for kind in kinds:
            if kind[0].clause == failure.clause and alike(kind[0].schedule, failure.schedule):
                kind.append(failure)
                break
        else:
            kinds.append([failure])
    return [(kind[0], len(kind) - 1) for kind in kinds]


def _first_of_all(
    found: Sequence[Mapping[str, Sequence[tuple[int, Schedule]]]], per_clause: int
) -> list[tuple[str, int, Schedule]]:
    """The first failing schedules of each clause, of all shares together, which are in the order of their numbers."""
    chosen: list[tuple[str, int, Schedule]] = []
    for clause in sorted({clause for one in found for clause in one}):
        of_clause = [(clause, *failing) for one in found for failing in one.get(clause, ())]
        chosen += of_clause[:per_clause]
    return chosen


def _saying(what: str, on_progress: OnProgress | None) -> Callable[[int, int], None] | None:
    return None if on_progress is None else partial(on_progress, what)
