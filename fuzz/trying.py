"""Tries mutants, each in a process of its own. Core mutants run on the cases and then on drawn schedules, the shortest
first, until a run breaks a clause; judge mutants are in `judging`.

A run that cannot reach the changed line is not made, and one with the same rows as the core's own is not judged.
"""

from __future__ import annotations

import os
import resource
import select
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from itertools import chain, islice
from types import FrameType
from typing import Generic, TypeVar

import msgspec

from scatterproof.conformance.case import cases
from scatterproof.conformance.judge import judge
from scatterproof.conformance.network.run import MakeNode, simulate
from scatterproof.conformance.verdict import Verdict
from scatterproof.fuzz.core_mutants import CoreMutant, apply, core_mutants, places_of
from scatterproof.fuzz.corpus import drawn_schedules
from scatterproof.fuzz.fuzzer import RUN_ENDS, broken_by
from scatterproof.fuzz.protocol import load
from scatterproof.fuzz.reach import Block, Reached
from scatterproof.spec.errors import CannotRun, ScatterproofError
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.trace import Row, Trace

# Drawn for each group of rules. A mutant is tried on some of them first.
SCHEDULES, FIRST = 400, 60
# A mutant's run is cut at this multiple of the core's own number of rows, plus this number.
_TIMES_AS_MANY, _MORE_EVENTS = 20, 2_000
RUN_S = 2.0  # CPU time of one run
# CPU time of one mutant: `_AT_FIRST_S`, `_EACH_S` for each run that may be made, and `_ALL_S` at the most. Others take
# some ms a run; one that is late in every run by less than `RUN_S` would take it all, however few there are.
_ALL_S, _AT_FIRST_S, _EACH_S = 120, 10, 0.05
_MORE_BYTES = 1 << 30


class TriedOutcome(StrEnum):
    BY_CLAUSE = "killed by a clause"
    BY_IDLENESS = "killed by a case that is no pass"  # its clause was not at stake
    BY_CRASH = "killed by a crash"  # or a run without end, or rows that no check may look at
    BY_WORDS = "killed by what is said of a labelled trace"  # of judges: they name the same rows
    BY_DAMAGE = "killed by a damaged run"  # of judges: no labelled trace shows a difference
    SURVIVED = "survived"


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a mutant.

    instance: what killed it.
    clauses: those broken.
    why: the reason of a crash.
    reached: how many stimuli can reach the change.
    runs: how many were made.
    differing: how many of them left other rows than the core itself.
    cpu_s: CPU time, in s.
    """

    mutant: str
    outcome: TriedOutcome
    instance: str = ""
    clauses: tuple[str, ...] = ()
    why: str = ""
    reached: int = 0
    runs: int = 0
    differing: int = 0
    cpu_s: float = 0.0

    @property
    def killed(self) -> bool:
        return self.outcome is not TriedOutcome.SURVIVED


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What mutants are tried on. blocks: the blocks that the unchanged code reaches on it, as of `Reached.bits`."""

    name: str
    blocks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stimulus(Given):
    """at_stake: the clauses of a case that its run must put at stake.
    rows: what the core itself leaves.
    max_events: when a mutant's run is cut.
    """

    schedule: Schedule
    at_stake: tuple[str, ...]
    rows: list[Row]
    max_events: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Branches:
    """Branches of the cores.

    of: how many there are.
    by_cases, by_schedules: how many the cases reach, and how many the drawn schedules.
    missed: reached by neither.
    not_by_schedules: not reached by drawn schedules.
    """

    of: int
    by_cases: int
    by_schedules: int
    missed: tuple[Block, ...]
    not_by_schedules: tuple[Block, ...]


class RanAway(BaseException):
    """A run took more CPU time than any run may."""


# What a mutant ends with, when its nodes are made or where it takes the harness with it.
FAILURES = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NameError, RuntimeError, TypeError, ValueError),
    *(MemoryError, OSError, ScatterproofError, RanAway),
)


GivenT = TypeVar("GivenT", bound=Given)


class AnyBench(Generic[GivenT]):
    """Where mutants of the functions that `areas` names are tried, one after another."""

    def __init__(self, areas: Mapping[str, str], *, on_progress: Callable[[str], None]) -> None:
        self.areas = areas
        self._tell = on_progress
        self.mutants = {mutant.name: mutant for mutant in core_mutants(areas)}
        self.reached = Reached(places_of(areas))

    def given_to(self, mutant: CoreMutant, bit: int) -> list[GivenT]:
        """What it is tried on, in this order: all that reaches its block."""
        raise NotImplementedError

    def begin(self) -> None:
        """Called once in the mutant's process, where it is in its place."""

    def meet(self, given: GivenT, found: Tried) -> Tried:
        """The result after one more run, in the mutant's process."""
        raise NotImplementedError

    def try_mutant(self, mutant: CoreMutant) -> Tried:
        """Try the mutant in a process of its own, on all that reaches the change."""
        given = self.given_to(mutant, self.reached.bit(mutant.place, mutant.block))
        if not given:
            return Tried(mutant=mutant.name, outcome=TriedOutcome.SURVIVED, why="no stimulus reaches it")
        return _in_a_process(self, mutant, given)


class CoreBench(AnyBench[Stimulus]):
    """What all mutants of a protocol's cores have in common. stimuli: cases, then drawn schedules, the shortest of each
    first; `upto(n)`: those with at most n schedules of each group."""

    def __init__(
        self, protocol: str, schedules: int, *, seed: int = 1, on_progress: Callable[[str], None] = lambda text: None
    ) -> None:
        self.plugin = load(protocol)
        if not self.plugin.areas:
            raise CannotRun(f"protocol {protocol!r} has no core mutants: its record in fuzz names no areas")
        self.schedules = schedules
        self.make_node: MakeNode = self.plugin.node_with({})
        super().__init__(self.plugin.areas, on_progress=on_progress)
        with self.reached:
            named = [(case.id, case.schedule, case.at_stake) for case in cases(protocol)]
            self._cases = sorted((self._stimulus(*one) for one in named), key=lambda stimulus: len(stimulus.rows))
            self._drawn = [list(self._drawn_of(group, schedules, seed)) for group in range(len(self.plugin.groups))]

    def upto(self, schedules: int) -> list[Stimulus]:
        drawn = [stimulus for group in self._drawn for stimulus in group[:schedules]]
        return [*self._cases, *sorted(drawn, key=lambda stimulus: len(stimulus.rows))]

    def _drawn_of(self, group: int, count: int, seed: int) -> Iterator[Stimulus]:
        for number, schedule in enumerate(islice(drawn_schedules(self.plugin.name, seed, group), count)):
            yield self._stimulus(f"seed {seed}, group {group}, schedule {number}", schedule)

    def _stimulus(self, name: str, schedule: Schedule, at_stake: tuple[str, ...] = ()) -> Stimulus:
        self._tell(name)
        trace = simulate(schedule, self.make_node, iut="core")
        most = _TIMES_AS_MANY * len(trace.rows) + _MORE_EVENTS
        return Stimulus(
            name=name,
            schedule=schedule,
            at_stake=at_stake,
            rows=trace.rows,
            blocks=self.reached.bits(),
            max_events=most,
        )

    @property
    def branches(self) -> Branches:
        """Which branches of the cores the cases and the drawn schedules reach."""
        met = [0, 0]
        for at, stimuli in enumerate((self._cases, chain.from_iterable(self._drawn))):
            for stimulus in stimuli:
                met[at] |= stimulus.blocks
        names = self.reached.names
        both = set(names(met[0] | met[1]))
        return Branches(
            of=len(self.reached.blocks),
            by_cases=len(names(met[0])),
            by_schedules=len(names(met[1])),
            missed=tuple(block for block in self.reached.blocks if block not in both),
            not_by_schedules=tuple(names(met[0] & ~met[1])),
        )

    def given_to(self, mutant: CoreMutant, bit: int) -> list[Stimulus]:
        few = self.upto(FIRST)
        seen = {stimulus.name for stimulus in few}
        return [s for s in (*few, *(s for s in self.upto(self.schedules) if s.name not in seen)) if s.blocks & bit]

    def meet(self, given: Stimulus, found: Tried) -> Tried:
        return _met(self.make_node, given, found)


def sampled(mutants: Sequence[CoreMutant], count: int | None, seed: int) -> list[CoreMutant]:
    """This many of the mutants, chosen by the seed and their names, in their order; all for None. A change that makes
    other mutants leaves those that it does not touch where they were, drawn or not."""
    if count is None or count >= len(mutants):
        return list(mutants)
    drawn = sorted(mutants, key=lambda mutant: blake2b(f"{seed} {mutant.name}".encode(), digest_size=16).digest())
    chosen = {mutant.name for mutant in drawn[:count]}
    return [mutant for mutant in mutants if mutant.name in chosen]


def _in_a_process(bench: AnyBench[GivenT], mutant: CoreMutant, stimuli: Sequence[GivenT]) -> Tried:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(bench, mutant, stimuli, writing)
    os.close(writing)
    ended = Tried(mutant=mutant.name, outcome=TriedOutcome.BY_CRASH, why="its process ended", reached=len(stimuli))
    told = b""
    try:
        with os.fdopen(reading, "rb") as pipe:
            # CPU time is bounded in the child; this is for one that waits.
            if select.select([pipe], [], [], 20 * _ALL_S)[0]:
                told = pipe.read()
    finally:
        os.kill(child, signal.SIGKILL)  # it has reported all, or is no longer needed
        _, _, used = os.wait4(child, 0)
    found = msgspec.json.decode(told, type=Tried) if told else ended
    return msgspec.structs.replace(found, cpu_s=round(used.ru_utime + used.ru_stime, 3))


def _child(bench: AnyBench[GivenT], mutant: CoreMutant, stimuli: Sequence[GivenT], writing: int) -> None:
    """Never returns, so that nothing the parent holds is ended a second time here."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        most = min(_ALL_S, int(_AT_FIRST_S + _EACH_S * len(stimuli)))
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + _MORE_BYTES, used + _MORE_BYTES))
        apply(mutant)
        bench.begin()
        found = _tried(bench, mutant, stimuli)
        os.write(writing, msgspec.json.encode(found))
    except FAILURES as error:
        failed = Tried(mutant=mutant.name, outcome=TriedOutcome.BY_CRASH, why=said_of(error), reached=len(stimuli))
        os.write(writing, msgspec.json.encode(failed))
    finally:
        os._exit(0)


def _tried(bench: AnyBench[GivenT], mutant: CoreMutant, stimuli: Sequence[GivenT]) -> Tried:
    signal.signal(signal.SIGVTALRM, _run_away)
    found = Tried(mutant=mutant.name, outcome=TriedOutcome.SURVIVED, reached=len(stimuli))
    for stimulus in stimuli:
        found = bench.meet(stimulus, msgspec.structs.replace(found, runs=found.runs + 1))
        if found.killed:
            break
    return found


def _met(make_node: MakeNode, stimulus: Stimulus, found: Tried) -> Tried:
    """What is known after one more run."""
    replace = msgspec.structs.replace
    killed = replace(found, outcome=TriedOutcome.BY_CRASH, instance=stimulus.name, differing=found.differing + 1)
    try:
        with bounded():
            trace = simulate(stimulus.schedule, make_node, iut="core", max_events=stimulus.max_events)
        if trace.rows == stimulus.rows:
            return found
        results = judge(trace, shown=1)
    except FAILURES as error:
        return replace(killed, why=said_of(error))
    broken = broken_by(trace, results)
    # A clause that the core itself breaks says nothing about a mutant.
    itself = Trace(trace.header, stimulus.rows)
    own = broken_by(itself, judge(itself, shown=1)) if broken else {}
    clauses = tuple(clause for clause in broken if clause != RUN_ENDS and clause not in own)
    if clauses:
        return replace(killed, outcome=TriedOutcome.BY_CLAUSE, clauses=clauses)
    if RUN_ENDS in broken:
        return replace(killed, why="; ".join(trace.notes)[:200])
    idle = [one for one in results if one.clause in stimulus.at_stake and one.verdict is not Verdict.PASS]
    if idle:
        return replace(killed, outcome=TriedOutcome.BY_IDLENESS, clauses=tuple(one.clause for one in idle))
    return replace(found, differing=found.differing + 1)


@contextmanager
def bounded() -> Iterator[None]:
    """Raises RanAway when its block takes more than `RUN_S` seconds of CPU time."""
    signal.setitimer(signal.ITIMER_VIRTUAL, RUN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _run_away(_signal: int, _frame: FrameType | None) -> None:
    raise RanAway(f"a run has not ended after {RUN_S:g} s of CPU time")


def said_of(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200]
