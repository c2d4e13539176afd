"""In which runs of a corpus something is planted, and what must be found there.

A mutant does nothing in most runs: its rule is not at work there, or makes no difference. So runs are tried, in an
order that depends on the seed and the mutant alone, until it breaks a clause in enough of them. The oracles say which
clauses, how often and where first: they are another implementation than the checks that mining uses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

import msgspec

from scatterproof.conformance.judge import judge_by_oracles
from scatterproof.conformance.protocol import load
from scatterproof.conformance.verdict import Verdict
from scatterproof.spark.configurations import draw_run
from scatterproof.spark.layout import Expected, Planting
from scatterproof.spark.plants import AlteredRow, MakeCore, Mutant, Wish, altered, right_run
from scatterproof.spark.protocol import kinds_of
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Trace

# Oracles take time with the square of the rows, so longer runs are left alone.
LONGEST = 2_000
_EVENTS_A_ROW = 3  # a run with more events than these times LONGEST is cut: it would be too long
_ALTERATIONS = 24  # tried of a run
# A kind is given up after this many runs in which the mutant breaks nothing, or this many with unfit ones.
_PATIENCE, _PATIENCE_WITH_LONG = 6, 60
_LEAST_AT_ONCE = 8


class PlantOutcome(StrEnum):
    BROKEN = "broken"
    UNCHANGED = "unchanged"  # the rows are those of the right run
    HARMLESS = "harmless"  # they differ, and break nothing, or not what was asked for
    UNFIT = "unfit"  # too long for the oracles, or cut short


class Chosen(msgspec.Struct, frozen=True):
    """A run, and what is planted there. number: of an altered row."""

    run: int
    name: str
    number: int
    expected: tuple[Expected, ...]


class Plan(msgspec.Struct, frozen=True):
    runs: tuple[Chosen, ...] = ()
    plantings: tuple[Planting, ...] = ()

    def plants(self, wishes: Sequence[Wish]) -> dict[int, Mutant | AlteredRow]:
        by_name = {wish.name: wish for wish in wishes}
        return {chosen.run: by_name[chosen.name].plant(chosen.number, chosen.expected) for chosen in self.runs}


class Probe(msgspec.Struct, frozen=True):
    run: int
    outcome: PlantOutcome
    number: int = 0
    expected: tuple[Expected, ...] = ()


# Tries these runs for a wish, wherever that is done, and returns what came of each, in their order.
Ask = Callable[[Wish, Sequence[int]], Sequence[Probe]]


def refuse_wishes(wishes: Sequence[Wish], runs: int) -> None:
    """BadInput for what cannot be planted in this many runs."""
    names = [wish.name for wish in wishes]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"--plant {name} is given twice; name each mutant once, with how many runs it gets")
    for wish in wishes:
        if not (wish.wanted > 0 and (isinstance(wish.wanted, int) or wish.wanted <= 1)):
            raise BadInput(f"--plant {wish.name}:{wish.wanted}: give a share above 0.0 up to 1.0, or how many runs")
    wanted = sum(wish.count(runs) for wish in wishes)
    if wanted > runs:
        raise BadInput(f"--plant asks for {wanted} runs, and there are {runs}; ask for fewer, or for more --runs")


def choose(protocol: str, seed: int, runs: int, wishes: Sequence[Wish], ask: Ask) -> Plan:
    """Enough runs for each wish. BadInput when it breaks a clause in too few."""
    kinds = len(kinds_of(protocol))
    taken: set[int] = set()
    chosen: list[Chosen] = []
    plantings: list[Planting] = []
    for wish in wishes:
        search = _Search(kinds, _order(seed, runs, wish, taken))
        wanted = wish.count(runs)
        while (missing := wanted - len(search.found)) > 0 and (some := search.next_runs(missing)):
            search.take(ask(wish, some))
        if missing > 0:
            raise BadInput(f"--plant {wish.name}: {_too_few(search, wanted)}")
        found = search.found[:wanted]
        taken |= {probe.run for probe in found}
        chosen += [Chosen(probe.run, wish.name, probe.number, probe.expected) for probe in found]
        plantings.append(search.told(wish.name, wanted))
    return Plan(tuple(sorted(chosen, key=lambda one: one.run)), tuple(plantings))


def _order(seed: int, runs: int, wish: Wish, taken: set[int]) -> list[int]:
    free = [run for run in range(runs) if run not in taken]
    return sorted(free, key=lambda run: Random(f"{seed} {run} {wish.name}").random())


def _too_few(search: _Search, wanted: int) -> str:
    told = search.told("", len(search.found))
    stay = f"{told.unchanged} stay as they are, {told.harmless} break nothing, or not that alone, and {told.unfit} are"
    found = f"{len(search.found)} of {wanted} runs found in which it breaks a clause"
    why = f"of {told.tried} that were tried {stay} too long for the oracles"
    return f"{found}: {why}; ask for fewer, for more --runs, or for another mutant"


class _Search:
    """Which runs were tried for a wish, and what came of it. Kinds of runs in which it never shows are given up."""

    def __init__(self, kinds: int, order: Sequence[int]) -> None:
        self._kinds = kinds
        self._order: Iterator[int] = iter(order)
        self._in_kind: dict[int, Counter[PlantOutcome]] = {kind: Counter() for kind in range(kinds)}
        self._outcomes: Counter[PlantOutcome] = Counter()
        self.found: list[Probe] = []

    def next_runs(self, missing: int) -> list[int]:
        """The next runs to try. How many depends on the wish alone, so that the same ones are found on any number of
        cores."""
        some: list[int] = []
        for run in self._order:
            if not self._is_given_up(run % self._kinds):
                some.append(run)
                if len(some) == max(_LEAST_AT_ONCE, 2 * missing):
                    break
        return some

    def take(self, probes: Sequence[Probe]) -> None:
        for probe in probes:
            self._in_kind[probe.run % self._kinds][probe.outcome] += 1
            self._outcomes[probe.outcome] += 1
            if probe.outcome is PlantOutcome.BROKEN:
                self.found.append(probe)

    def _is_given_up(self, kind: int) -> bool:
        seen = self._in_kind[kind]
        if seen[PlantOutcome.BROKEN]:
            return False
        in_vain = seen[PlantOutcome.UNCHANGED] + seen[PlantOutcome.HARMLESS]
        return in_vain >= _PATIENCE or in_vain + seen[PlantOutcome.UNFIT] >= _PATIENCE_WITH_LONG

    def told(self, name: str, runs: int) -> Planting:
        return Planting(
            name=name,
            runs=runs,
            tried=self._outcomes.total(),
            unchanged=self._outcomes[PlantOutcome.UNCHANGED],
            harmless=self._outcomes[PlantOutcome.HARMLESS],
            unfit=self._outcomes[PlantOutcome.UNFIT],
        )


@dataclass(frozen=True, slots=True)
class Trial:
    """A run tried for a wish: what a task does."""

    protocol: str
    seed: int
    wish: Wish
    run: int

    def probe(self, make_core: MakeCore) -> Probe:
        schedule = draw_run(self.protocol, self.seed, self.run).schedule
        most_events = _EVENTS_A_ROW * LONGEST
        right = right_run(schedule, make_core, most_events)
        if _is_unfit(right):
            return Probe(self.run, PlantOutcome.UNFIT)
        if self.wish.nodes is None:
            return self._alter(right)
        wrong = self.wish.plant().play(schedule, make_core, most_events)
        if wrong.rows == right.rows:
            return Probe(self.run, PlantOutcome.UNCHANGED)
        if _is_unfit(wrong):
            return Probe(self.run, PlantOutcome.UNFIT)
        expected = expected_of(wrong)
        if expected is None:
            return Probe(self.run, PlantOutcome.UNFIT)
        return Probe(self.run, PlantOutcome.BROKEN if expected else PlantOutcome.HARMLESS, 0, expected)

    def _alter(self, right: Trace) -> Probe:
        """The first alteration that breaks one clause, once."""
        for number in range(_ALTERATIONS):
            wrong = altered(right, number, self.wish.clause)
            if wrong.rows == right.rows or not self._may_break(wrong):
                continue
            expected = expected_of(wrong)
            if expected and len(expected) == 1 and expected[0].rows == 1 and self._is_asked(expected[0].clause):
                return Probe(self.run, PlantOutcome.BROKEN, number, expected)
        return Probe(self.run, PlantOutcome.HARMLESS)

    def _is_asked(self, clause: str) -> bool:
        return self.wish.clause in ("", clause)

    def _may_break(self, wrong: Trace) -> bool:
        """Whether the clause that is asked for is broken once, before all others are asked, which takes longer."""
        plugin = load(self.protocol)
        own = [check for check in plugin.applicable(wrong.header) if check.clause == self.wish.clause]
        return not self.wish.clause or any(len(plugin.oracles[check.name](wrong)) == 1 for check in own)


def _is_unfit(trace: Trace) -> bool:
    """Too long, or cut: where a run was cut depends on who bounds it."""
    return len(trace.rows) > LONGEST or bool(trace.notes)


def expected_of(trace: Trace) -> tuple[Expected, ...] | None:
    """What the oracles find in it; None for a trace that judges refuse."""
    try:
        results = judge_by_oracles(trace, shown=1)
    except BadInput:
        return None
    return tuple(
        Expected(clause=result.clause, rows=result.broken, first=result.violations[0].position)
        for result in results
        if result.verdict is Verdict.FAIL
    )
