"""When did a failure become likely? A failing schedule is run again many times from each of several moments: what the
network did at or below the moment stays, and what it does later is drawn anew. The moment at which the share of failing
runs jumps is the one to look at.

What the network does is the delays of packets, which of them are lost, late or doubled, and when nodes and links fail.
What applications do stays.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from msgspec.structs import replace

from scatterproof.fuzz.fuzzer import broken_by, run_judged
from scatterproof.spec.errors import BadInput, CannotRun, ScatterproofError
from scatterproof.spec.iut import Iut
from scatterproof.spec.schedule import Failure, Redraw, Schedule
from scatterproof.spec.topology import LinkId
from scatterproof.spec.trace import Kind, Trace, schema

RUNS, FEW = 100, 20
NOTHING_KEPT = -1  # as a moment: strictly below all times
# Says how many moments were tried, and which is being tried now.
OnMoment = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """time_ns: all that the network did at or below it stays.
    failing, runs: how many runs from there failed, and how many were made.
    """

    time_ns: int
    failing: int
    runs: int

    @property
    def share(self) -> float:
        return self.failing / self.runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Likelihood:
    """trace: of the failing run; `rows` of it break the clause, or are contradicted.
    moments: in the order of their times.
    whole: whether no moment between the two sides of the jump is left to try.
    """

    clause: str
    trace: Trace
    rows: tuple[int, ...]
    moments: tuple[Moment, ...]
    whole: bool

    @property
    def jump(self) -> tuple[Moment, Moment]:
        return max(pairwise(self.moments), key=lambda two: two[1].share - two[0].share)


class _Trying:
    """Runs from moments on, counted. `found` is by time. rows: that break the clause, or are contradicted."""

    def __init__(self, schedule: Schedule, clause: str, iut: Iut, seed: int) -> None:
        """Raises BadInput for a schedule that does not break the clause."""
        outcome = run_judged(iut, schedule)
        if isinstance(outcome, ScatterproofError):
            raise outcome
        broken = broken_by(*outcome)
        if clause not in broken:
            raise BadInput(f"the schedule does not break {clause}; give one that does")
        self.trace, violation = outcome[0], broken[clause]
        # A run that was cut has no row that breaks a clause: it ends at its last.
        at = (-1, len(self.trace.rows) - 1) if violation is None else (violation.witness, violation.position)
        self.rows = tuple(row for row in at if row >= 0)
        self.found: dict[int, Moment] = {}
        self._schedule, self._clause, self._iut, self._seed = schedule, clause, iut, seed
        last = self.trace.rows[self.rows[-1]][0]
        self.times = [NOTHING_KEPT, *(time_ns for time_ns in network_moments(schedule, self.trace) if time_ns <= last)]

    def attempt(self, time_ns: int, runs: int, is_over: Callable[[], bool]) -> None:
        """Run from the moment until it has `runs` runs, earlier ones included; at least one, even when `is_over`."""
        known = self.found.get(time_ns) or Moment(time_ns=time_ns, failing=0, runs=0)
        failing = 0
        for number in range(known.runs, runs):
            if number and is_over():
                runs = number
                break
            again = redrawn(self._schedule, self.trace, time_ns, Random(f"{self._seed} {time_ns} {number}"))
            outcome = run_judged(self._iut, again)
            if isinstance(outcome, ScatterproofError):
                raise CannotRun(f"from {time_ns} ns on the schedule cannot be run: {outcome}")
            if not number:
                _refuse_apart(self.trace, outcome[0], time_ns)
            failing += self._clause in broken_by(*outcome)
        self.found[time_ns] = Moment(time_ns=time_ns, failing=known.failing + failing, runs=max(runs, known.runs))

    def rise(self) -> tuple[int, int]:
        """The moments, one tried behind the other, between which the share rises most."""
        return max(pairwise(sorted(self.found)), key=lambda two: self.found[two[1]].share - self.found[two[0]].share)

    def between(self) -> int | None:
        """The moment in the middle of where the share rises most; None where there is none."""
        low, high = self.rise()
        inside = self.times[bisect_right(self.times, low) : bisect_right(self.times, high) - 1]
        return inside[len(inside) // 2] if inside else None


def likelihood(
    schedule: Schedule,
    clause: str,
    iut: Iut,
    *,
    runs: int = RUNS,
    seed: int = 0,
    is_over: Callable[[], bool] = lambda: False,
    on_moment: OnMoment = lambda done, time_ns: None,
) -> Likelihood:
    """Find the jump by bisection, with a few runs from each moment; then make `runs` from each, on both sides of it
    first. is_over: asked between runs; what was run until then counts.

    Raises BadInput for a schedule that does not break the clause, and CannotRun where runs do not repeat.
    """
    trying = _Trying(schedule, clause, iut, seed)

    def attempt(time_ns: int, count: int) -> None:
        on_moment(len(trying.found), time_ns)
        trying.attempt(time_ns, count, is_over)

    whole = True
    for time_ns in {trying.times[0], trying.times[-1]}:
        attempt(time_ns, min(FEW, runs))
    if len(trying.found) > 1:
        while (between := trying.between()) is not None and not is_over():
            attempt(between, min(FEW, runs))
        whole = between is None
        for time_ns in (*trying.rise(), *sorted(trying.found)):
            if not is_over():
                attempt(time_ns, runs)
    return Likelihood(
        clause=clause,
        trace=trying.trace,
        rows=trying.rows,
        moments=tuple(trying.found[time_ns] for time_ns in sorted(trying.found)),
        whole=whole,
    )


def network_moments(schedule: Schedule, trace: Trace) -> list[int]:
    """The times at which the network did something: a packet was sent, or something failed."""
    names = schema(schedule.protocol)
    time_at, kind_at = names.index("time_ns"), names.index("kind")
    times = {row[time_at] for row in trace.rows if row[kind_at] == Kind.SENT}
    return sorted(times | {failure.time_ns for failure in schedule.failures})


def redrawn(schedule: Schedule, trace: Trace, until_ns: int, draw: Random) -> Schedule:
    """The schedule with all that the network did at or below `until_ns`, and the rest drawn anew.

    A fault of a packet that was sent later befalls any later packet, as many as there were; a later failure of a node
    or link comes at any later time, in the same order.
    """
    kept, sent = _packets(schedule, trace, until_ns)
    later = [(link, index) for link in range(len(kept)) for index in range(kept[link], sent[link])]
    staying = [fault for fault in schedule.faults if fault.index < kept[fault.link]]
    moved = [fault for fault in schedule.faults if fault.index >= kept[fault.link]]
    places = draw.sample(later, min(len(moved), len(later)))
    befallen = [replace(fault, link=link, index=index) for fault, (link, index) in zip(moved, places, strict=False)]
    return replace(
        schedule,
        faults=(*staying, *befallen),
        failures=_failures(schedule.failures, until_ns, schedule.last_ns, draw),
        redraw=Redraw(tuple(kept), draw.getrandbits(63)),
    )


def _packets(schedule: Schedule, trace: Trace, until_ns: int) -> tuple[list[int], list[int]]:
    """How many packets were sent at or below that time, and in all, both by link."""
    names = schema(schedule.protocol)
    time_at, kind_at, link_at = (names.index(name) for name in ("time_ns", "kind", "link"))
    kept, sent = ([0] * len(schedule.delays) for _ in range(2))
    for row in trace.rows:
        if row[kind_at] == Kind.SENT:
            link: LinkId = row[link_at]
            sent[link] += 1
            kept[link] += row[time_at] <= until_ns
    return kept, sent


def _failures(failures: Sequence[Failure], until_ns: int, last_ns: int, draw: Random) -> tuple[Failure, ...]:
    before = [failure for failure in failures if failure.time_ns <= until_ns]
    later = failures[len(before) :]
    times = sorted(draw.randint(until_ns + 1, max(until_ns + 1, last_ns)) for _ in later)
    return (*before, *(replace(failure, time_ns=time_ns) for failure, time_ns in zip(later, times, strict=True)))


def _refuse_apart(trace: Trace, again: Trace, until_ns: int) -> None:
    """Raises CannotRun where runs differ up to that moment: an implementation with its own randomness spoils the
    figures."""
    for row, other in zip(trace.rows, again.rows, strict=False):
        if row[0] > until_ns or other[0] > until_ns:
            return
        if row != other:
            raise CannotRun(
                f"a run that keeps what the network did until {until_ns} ns is another one from {row[0]} ns on: the"
                " implementation is not deterministic"
            )
