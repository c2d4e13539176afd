"""Judge mutants: checks, oracles and premises with one change in their source, tried on traces with a known verdict.

First come the labelled traces of `conformance/traces`, also with nodes, links and names renumbered; then the
reference's runs of all cases, which are complete and have their clauses at stake, and traces at the edge of what puts a
clause at stake (`stakes`); then both, damaged in one place by a seed, and the small histories that a protocol draws,
where checks and oracles agree. Checks run in plain Python: nothing is compiled.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain
from operator import or_
from pathlib import Path
from random import Random

import msgspec

from scatterproof.conformance import case, protocol
from scatterproof.conformance.checks.online import Broken, Monitor, columns_read_anew
from scatterproof.conformance.checks.step import Check
from scatterproof.conformance.judge import all_checks, conclude, refuse
from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.protocol import Plugin
from scatterproof.fuzz.core_mutants import CoreMutant
from scatterproof.fuzz.damages import damaged, draw_edit, kept, renamed, renumbered, trace_files
from scatterproof.fuzz.protocol import load
from scatterproof.fuzz.stakes import staked
from scatterproof.fuzz.trying import FAILURES, AnyBench, Given, Tried, TriedOutcome, bounded, said_of
from scatterproof.spec import trace_ndjson
from scatterproof.spec.clauses import protocols
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Trace

CHECKS, SHARED, PREMISES, ORACLES = "checks", "what checks share", "premises", "oracles"
DAMAGED = 4  # of each labelled trace, and of each case's run
_HISTORIES = 1000  # for each of these
_LONGEST = 120  # rows of a run to damage
_LONGEST_WHOLE = 300  # rows of a run that oracles look at: they are slow on long ones
_ALL = 1 << 62


class Said(msgspec.Struct, frozen=True):
    """What judges say of a trace.

    broken: (clause, row), though the trace may not record all that a clause rests on. Rows at which a clause is left
        open count, too, with a question mark behind the clause: oracles of a doubt name the same.
    idle: of the clauses that must be at stake, those that are not.
    refused: whether no check may look at it, or a premise is broken; then nothing else counts.
    found: all that checks and premises found, with what is put into words; none of oracles.
    """

    broken: frozenset[tuple[str, int]]
    idle: frozenset[str] = frozenset()
    refused: bool = False
    found: frozenset[Broken] = frozenset()


NOTHING = Said(frozenset())


@dataclass(frozen=True, slots=True, kw_only=True)
class Known(Given):
    """A trace.

    at_stake: the clauses that have to pass.
    checks, oracles: what they say; oracles do not judge refused or long traces.
    labelled: whether the expected sentences are written down.
    damaged: whether it is known only that checks and oracles agree.
    """

    trace: Trace
    at_stake: tuple[str, ...]
    checks: Said
    oracles: Said
    labelled: bool = False
    damaged: bool = False


def judge_areas(name: str) -> dict[str, str]:
    """The modules in which the judges of a protocol are."""
    plugin = protocol.load(name)
    shared = [derived for check in plugin.checks for derived in check.derived]
    found = {premise.step.__module__: PREMISES for premise in plugin.premises}
    found |= {derived.step.__module__: SHARED for derived in shared}
    checks = {check.step.__module__: CHECKS for check in plugin.checks}
    found |= dict.fromkeys(_helpers([*found, *checks], f"scatterproof.conformance.{name}."), SHARED) | found | checks
    oracles = {oracle.__module__ for oracle in plugin.oracles.values()}
    folders = {module.rpartition(".")[0] for module in oracles} - {f"scatterproof.conformance.{name}"}
    for folder in map(importlib.import_module, sorted(folders)):
        oracles |= {f"{folder.__name__}.{module.name}" for module in pkgutil.iter_modules(folder.__path__)}
    oracles |= set(_helpers(sorted(oracles), "scatterproof.conformance.oracles."))
    return found | dict.fromkeys(sorted(oracles), ORACLES)


def _helpers(modules: Sequence[str], package: str) -> list[str]:
    """The modules of the package whose functions these use."""
    used = (vars(importlib.import_module(module)).values() for module in modules)
    functions = (found for found in chain.from_iterable(used) if inspect.isfunction(found))
    return sorted({f.__module__ for f in functions if f.__module__.startswith(package)})


class JudgeBench(AnyBench[Known]):
    """What all mutants of a protocol's judges have in common. longest: runs of the cases with more rows are left out.
    parted: the damaged runs on which checks and oracles differ; no mutant is tried on them.

    What all protocols share, and no trace of this one runs, has no mutants here: another protocol measures it. And a
    mutant there that no trace of this one tells is tried on those of the others that are kept in files.
    """

    def __init__(
        self,
        name: str,
        times: int = DAMAGED,
        *,
        longest: int = _ALL,
        seed: int = 1,
        files_alone: bool = False,
        others: bool = True,
        on_progress: Callable[[str], None] = lambda text: None,
    ) -> None:
        """files_alone: nothing is run or drawn. others: whether traces of other protocols are asked, too."""
        super().__init__(judge_areas(name), on_progress=on_progress)
        self.plugin, self._asks_others = protocol.load(name), others
        self._package = f"scatterproof.conformance.{name}."
        self.parted: list[str] = []
        fuzzed = load(name)
        make_node = fuzzed.node_with({})
        cases = () if files_alone else case.cases(name)
        runs = ((one.id, simulate(one.schedule, make_node), one.at_stake) for one in cases)
        labelled = [(path.stem, trace_ndjson.read(path), _at_stake(path)) for path in sorted(trace_files(name))]
        self.known: list[Known] = []
        with self.reached:
            for title, trace, at_stake in labelled:
                self.known.append(self._look(title, trace, at_stake, labelled=True))
                other = renumbered(renamed(trace, fuzzed.names) if fuzzed.names else trace)
                self.known.append(self._look(f"{title}, renumbered", other, at_stake, labelled=True))
            self.known += [self._look(*one) for one in runs if len(one[1].rows) <= longest]
            histories = _histories(name, times * _HISTORIES, seed)
            titles = {title for title, _ in kept(name)}
            for title, trace in chain(kept(name), _drawn(list(self.known), times, seed), histories):
                again = self.agreed(title, trace)
                if again is None:
                    self.parted.append(title)
                else:
                    self.known.append(again)
            self.known += [self._look(*one) for one in staked(name)]
            own = (*self.known[: 2 * len(labelled) : 2], *(one for one in self.known if one.name in titles))
            self.judges_of = self._touched([one.trace for one in own if not one.checks.refused])
        blocks = reduce(or_, (known.blocks for known in self.known), 0)
        self.mutants = {
            m.name: m for m in self.mutants.values() if self._is_own(m) or blocks & self.reached.bit(m.place, m.block)
        }
        self.known.sort(key=lambda known: (known.damaged, not known.labelled, len(known.trace.rows)))

    def _is_own(self, mutant: CoreMutant) -> bool:
        return mutant.module.startswith(self._package)

    @cached_property
    def _others(self) -> list[JudgeBench]:
        """Made when they are first asked for: it takes some seconds each."""
        names = sorted(set(protocols()) - {self.plugin.name}) if self._asks_others else []
        return [JudgeBench(name, 0, files_alone=True, others=False, on_progress=self._tell) for name in names]

    def try_mutant(self, mutant: CoreMutant) -> Tried:
        found = super().try_mutant(mutant)
        if found.killed or self._is_own(mutant):
            return found
        again = (other.try_mutant(other.mutants[mutant.name]) for other in self._others if mutant.name in other.mutants)
        return next((one for one in again if one.killed), found)

    def agreed(self, title: str, trace: Trace) -> Known | None:
        """A damaged run, or None where checks and oracles say different things of it, or cannot judge it."""
        try:
            again = self._look(title, trace, (), damaged=True)
        except FAILURES:
            return None
        return again if again.checks.broken == again.oracles.broken else None

    def _look(
        self, name: str, trace: Trace, at_stake: tuple[str, ...], *, labelled: bool = False, damaged: bool = False
    ) -> Known:
        self._tell(name)
        checks = by_checks(trace, at_stake)
        unseen = checks.refused or len(trace.rows) > _LONGEST_WHOLE
        return Known(
            name=name,
            trace=trace,
            at_stake=at_stake,
            checks=checks,
            oracles=Said(frozenset()) if unseen else by_oracles(self.plugin, trace),
            blocks=self.reached.bits(),
            labelled=labelled,
            damaged=damaged,
        )

    def given_to(self, mutant: CoreMutant, bit: int) -> list[Known]:
        return [known for known in self.known if known.blocks & bit]

    def _touched(self, traces: Sequence[Trace]) -> dict[str, frozenset[str]]:
        """By function, the clauses whose checks, or oracles, run it on these traces."""
        found: dict[str, set[str]] = {}
        for clause in {one.clause for one in all_checks(self.plugin)}:
            for trace in traces:
                _monitored(self.plugin, trace, frozenset({clause}))
                by_oracles(self.plugin, trace, frozenset({clause}))
            for block in self.reached.names(self.reached.bits()):
                found.setdefault(block.place, set()).add(clause)
        return {place: frozenset(clauses) for place, clauses in found.items()}

    def begin(self) -> None:
        """The mutant may read a column that the check itself does not."""
        columns_read_anew()

    def meet(self, given: Known, found: Tried) -> Tried:
        killed = msgspec.structs.replace(found, instance=given.name, differing=found.differing + 1)
        mutant = self.mutants[found.mutant]
        # Whom a function is new to is asked by none of the others.
        only = self.judges_of.get(mutant.place)
        oracles = mutant.area == ORACLES
        due = given.oracles if oracles else given.checks
        try:
            with bounded():
                if oracles:
                    now = by_oracles(self.plugin, given.trace, only, due)
                else:
                    now = by_checks(given.trace, given.at_stake, only, due)
        except FAILURES as error:
            return msgspec.structs.replace(killed, outcome=TriedOutcome.BY_CRASH, why=said_of(error))
        clauses = tuple(sorted({clause for clause, _ in now.broken ^ due.broken} or now.idle ^ due.idle))
        outcome = TriedOutcome.SURVIVED
        if now.broken != due.broken or now.refused != due.refused:
            outcome = TriedOutcome.BY_DAMAGE if given.damaged else TriedOutcome.BY_CLAUSE
        elif now.idle != due.idle:
            outcome = TriedOutcome.BY_IDLENESS
        elif given.labelled and now.found != due.found and _words(given, now) != _words(given, due):
            outcome = TriedOutcome.BY_WORDS
        if outcome is TriedOutcome.SURVIVED:
            return msgspec.structs.replace(found, differing=found.differing + (now != due))
        return msgspec.structs.replace(killed, outcome=outcome, clauses=clauses)


def _drawn(bases: Sequence[Known], times: int, seed: int) -> Iterator[tuple[str, Trace]]:
    """Each of them damaged so often, in one place, by the seed; of long ones the beginning."""
    for base in bases:
        draw = Random(f"{seed} {base.name}")
        trace = damaged(base.trace, f"cut {_LONGEST}") if base.trace.rows else base.trace
        for _ in range(times):
            how = draw_edit(trace, draw)
            yield f"{base.name}: {how}", damaged(trace, how)


def _histories(name: str, count: int, seed: int) -> Iterator[tuple[str, Trace]]:
    history, first = load(name).history, seed * count
    if history is not None:
        for number in range(first, first + count):
            yield f"history {number}", history(number)


def _at_stake(path: Path) -> tuple[str, ...]:
    """The clauses that a trace must put at stake: for one that passes, the clause that its name begins with."""
    return (path.stem.split(".")[0],) if path.parent.name in ("conforming", "overlooked") else ()


def by_checks(trace: Trace, at_stake: Sequence[str], only: frozenset[str] | None = None, else_: Said = NOTHING) -> Said:
    """What the checks and premises say. only: ask those of these clauses, and take from `else_` what the others say."""
    plugin = protocol.load(trace.header.protocol)
    everything, count = all_checks(plugin), len(plugin.checks)
    if only is None or else_.refused:
        try:
            refuse(trace)
            plugin.surroundings(trace.header)
        except BadInput:
            return Said(frozenset(), refused=True)
    numbers, monitor = _monitored(plugin, trace, only)
    broken = (one._replace(check=numbers[one.check]) for one in monitor.broken)
    # A trace that owns up to less order is not refused for it.
    found = {one for one in broken if one.check < count or trace.header.order.includes(everything[one.check].order)}
    idle = {
        everything[at].clause
        for at, held in zip(numbers, monitor.held, strict=True)
        if held == 0 and at < count and not everything[at].doubt and everything[at].clause in at_stake
    }
    if only is not None:
        found |= {one for one in else_.found if everything[one.check].clause not in only}
        idle |= else_.idle - only
    if any(one.check >= count for one in found):
        return Said(frozenset(), refused=True, found=frozenset(found))
    names = frozenset((_name(everything[one.check]), one.position) for one in found)
    return Said(names, frozenset(idle), found=frozenset(found))


def _words(given: Known, said: Said) -> list[str]:
    """What users read of it. Not every number that a check finds is in a sentence; of a trace that is refused they read
    nothing else."""
    plugin, broken = protocol.load(given.trace.header.protocol), sorted(said.found)
    held = [1] * len(all_checks(plugin))
    try:
        results = conclude(plugin, given.trace.header, held, broken, given.trace.rows, shown=_ALL)
    except BadInput as refused:
        return [str(refused)]
    return [*(one.reason for one in results), *(violation.sentence for one in results for violation in one.violations)]


def _monitored(plugin: Plugin, trace: Trace, only: frozenset[str] | None) -> tuple[list[int], Monitor]:
    """The numbers of the checks that apply, of these clauses, and their monitor after the trace."""
    around = plugin.surroundings(trace.header)
    applies = around["applies"]
    assert not isinstance(applies, int)
    checks = [
        (at, one) for at, one in enumerate(all_checks(plugin)) if applies[at] and (only is None or one.clause in only)
    ]
    monitor = Monitor([one for _, one in checks], plugin.columns, around)
    for position, row in enumerate(trace.rows):
        monitor.observe(position, row)
    return [at for at, _ in checks], monitor


def by_oracles(plugin: Plugin, trace: Trace, only: frozenset[str] | None = None, else_: Said = NOTHING) -> Said:
    """What the oracles say; `only` and `else_` as of `by_checks`. They cache what they found about the last trace, by
    its identity, so each call gets a new object."""
    again = Trace(trace.header, trace.rows)
    checks = [check for check in plugin.applicable(trace.header) if only is None or check.clause in only]
    broken = {(_name(check), position) for check in checks for position in plugin.oracles[check.name](again)}
    if only is not None:
        broken |= {pair for pair in else_.broken if pair[0].rstrip("?") not in only}
    return Said(frozenset(broken))


def _name(check: Check) -> str:
    return f"{check.clause}?" if check.doubt else check.clause
