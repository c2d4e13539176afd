"""Judge mutants: checks, oracles and premises with one change in their source, tried on traces with a known verdict.

First come the labelled traces of `conformance/traces`, also with nodes and links renumbered; then the reference's runs
of all cases, which are complete and have their clauses at stake; then both, damaged in one place by a seed, where
checks and oracles agree. Checks run in plain Python: nothing is compiled.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from random import Random

import msgspec

from scatterproof.conformance import case, protocol
from scatterproof.conformance.judge import judged, refuse
from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.protocol import Plugin
from scatterproof.conformance.verdict import Verdict
from scatterproof.fuzz.core_mutants import CoreMutant
from scatterproof.fuzz.protocol import load
from scatterproof.fuzz.trying import FAILURES, AnyBench, Given, Tried, TriedOutcome, bounded, said_of
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Kind, Row, Trace, rows_of_packet, schema

TRACES = Path(__file__).resolve().parents[1] / "conformance" / "traces"
CHECKS, SHARED, PREMISES, ORACLES = "checks", "what checks share", "premises", "oracles"
DAMAGED = 4  # of each labelled trace, and of each case's run
_LONGEST = 120  # rows of a run to damage
_LONGEST_WHOLE = 300  # rows of a run that oracles look at: they are slow on long ones
_ALL = 1 << 62
_EXTREMES = (-(1 << 63), -1, 0, 1, (1 << 63) - 1)


class Said(msgspec.Struct, frozen=True):
    """What a judge says of a trace.

    broken: (clause, row).
    idle: of the clauses that must be at stake, those that are not.
    words: of violations; or of why the trace is refused.
    """

    broken: frozenset[tuple[str, int]]
    idle: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()


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
    parted: the damaged runs on which checks and oracles differ; no mutant is tried on them."""

    def __init__(
        self,
        name: str,
        damaged: int = DAMAGED,
        *,
        longest: int = _ALL,
        seed: int = 1,
        on_progress: Callable[[str], None] = lambda text: None,
    ) -> None:
        super().__init__(judge_areas(name), on_progress=on_progress)
        self.plugin = protocol.load(name)
        self.parted: list[str] = []
        make_node = load(name).node_with({})
        runs = ((one.id, simulate(one.schedule, make_node), one.at_stake) for one in case.cases(name))
        labelled = [(path.stem, trace_ndjson.read(path), _at_stake(path)) for path in sorted(trace_files(name))]
        self._known: list[Known] = []
        with self.reached:
            for title, trace, at_stake in labelled:
                self._known.append(self._look(title, trace, at_stake, labelled=True))
                self._known.append(self._look(f"{title}, renumbered", renumbered(trace), at_stake, labelled=True))
            self._known += [self._look(*one) for one in runs if len(one[1].rows) <= longest]
            for base in list(self._known):
                draw = Random(f"{seed} {base.name}")
                for number in range(damaged):
                    again = self._look(f"{base.name}, damage {number}", damage(base.trace, draw), (), damaged=True)
                    if again.checks.broken == again.oracles.broken:
                        self._known.append(again)
                    else:
                        self.parted.append(again.name)
        self._known.sort(key=lambda known: (known.damaged, not known.labelled, len(known.trace.rows)))

    def _look(
        self, name: str, trace: Trace, at_stake: tuple[str, ...], *, labelled: bool = False, damaged: bool = False
    ) -> Known:
        self._tell(name)
        checks = by_checks(trace, at_stake)
        unseen = (not checks.broken and bool(checks.words)) or len(trace.rows) > _LONGEST_WHOLE
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
        return [known for known in self._known if known.blocks & bit]

    def meet(self, given: Known, found: Tried) -> Tried:
        killed = msgspec.structs.replace(found, instance=given.name, differing=found.differing + 1)
        oracles = self.mutants[found.mutant].area == ORACLES
        due = given.oracles if oracles else given.checks
        try:
            with bounded():
                now = by_oracles(self.plugin, given.trace) if oracles else by_checks(given.trace, given.at_stake)
        except FAILURES as error:
            return msgspec.structs.replace(killed, outcome=TriedOutcome.BY_CRASH, why=said_of(error))
        refused = bool(now.words) != bool(due.words) and not oracles
        clauses = tuple(sorted({clause for clause, _ in now.broken ^ due.broken} or now.idle ^ due.idle))
        if given.damaged and (clauses or refused):
            return msgspec.structs.replace(killed, outcome=TriedOutcome.BY_DAMAGE, clauses=clauses)
        if now.broken != due.broken or refused:
            return msgspec.structs.replace(killed, outcome=TriedOutcome.BY_CLAUSE, clauses=clauses)
        if now.idle != due.idle:
            return msgspec.structs.replace(killed, outcome=TriedOutcome.BY_IDLENESS, clauses=clauses)
        if given.labelled and now.words != due.words:
            return msgspec.structs.replace(
                killed, outcome=TriedOutcome.BY_WORDS, why=str(set(now.words) - set(due.words))
            )
        return msgspec.structs.replace(found, differing=found.differing + (now != due))


def trace_files(name: str) -> Iterator[Path]:
    return TRACES.glob(f"{name}/*/*.ndjson")


def _at_stake(path: Path) -> tuple[str, ...]:
    """The clauses that a trace must put at stake: for a conforming one, the clause that its name begins with."""
    return (path.stem.split(".")[0],) if path.parent.name == "conforming" else ()


def by_checks(trace: Trace, at_stake: Sequence[str]) -> Said:
    """Rows at which a clause is left open count as those that break it: oracles of a doubt name the same rows."""
    try:
        refuse(trace)
        judging = judged(trace)
        results = judging.results(trace.rows, shown=_ALL)
    except BadInput as error:
        return Said(frozenset(), words=(str(error),))
    violations = [violation for result in results for violation in result.violations]
    left_open = [one for one in results if one.verdict is Verdict.INCONCLUSIVE and one.name in judging.doubts]
    doubts = {(one.clause, position) for one in left_open for position in judging.doubts[one.name]}
    return Said(
        frozenset((violation.clause, violation.position) for violation in violations) | doubts,
        frozenset(one.clause for one in results if one.clause in at_stake and one.verdict is not Verdict.PASS),
        (*(violation.sentence for violation in violations), *(one.reason for one in left_open)),
    )


def by_oracles(plugin: Plugin, trace: Trace) -> Said:
    """What the oracles say. They cache what they found about the last trace, by its identity, so each call gets a new
    object."""
    again = Trace(trace.header, trace.rows)
    found = ((check, plugin.oracles[check.name](again)) for check in plugin.applicable(trace.header))
    return Said(frozenset((check.clause, position) for check, positions in found for position in positions))


def renumbered(trace: Trace) -> Trace:
    """The same run with nodes and links numbered from the other end. Most labelled traces are about host, link and row
    0, so a judge that confuses them with one another would not show it."""
    header, names = trace.header, schema(trace.header.protocol)
    nodes, links = len(header.topology.nodes), len(header.topology.links)
    other = dict.fromkeys(("node", "sender", "receiver"), nodes - 1) | {"link": links - 1}
    last = [other.get(name, -1) for name in names.columns]
    rows = [tuple(end - v if 0 <= v <= end else v for v, end in zip(row, last, strict=True)) for row in trace.rows]
    topology = msgspec.structs.replace(
        header.topology,
        nodes=header.topology.nodes[::-1],
        links=tuple(
            msgspec.structs.replace(link, source=nodes - 1 - link.source, target=nodes - 1 - link.target)
            for link in reversed(header.topology.links)
        ),
    )
    complete = {kind: tuple(nodes - 1 - node for node in of) for kind, of in header.complete.items()}
    return Trace(msgspec.structs.replace(header, topology=topology, complete=complete), rows)


def damage(trace: Trace, draw: Random) -> Trace:
    """A copy of its beginning with one row changed, doubled, moved or left out; submissions, calls and the end stay."""
    names = schema(trace.header.protocol).columns
    rows = list(trace.rows)
    ends = rows[-1:] if rows[-1][names.index("kind")] == Kind.ENDED else []
    rows = rows[: len(rows) - len(ends)][:_LONGEST]
    places = [at for at, row in enumerate(rows) if row[names.index("kind")] not in (Kind.SUBMITTED, Kind.CALLED)]
    if not places or len(rows) + len(ends) < 2:
        return Trace(trace.header, [*rows, *ends])
    at = draw.choice(places)
    match draw.choice(("value", "value", "value", "value", "delete", "double", "move")):
        case "delete":
            del rows[at]
        case "double":
            rows.insert(draw.choice(places), rows[at])
        case "move":
            rows.insert(draw.choice(places), rows.pop(at))
        case _:
            rows = _changed(rows, at, names, draw)
    return Trace(trace.header, [*rows, *ends])


def _changed(rows: list[Row], at: int, names: tuple[str, ...], draw: Random) -> list[Row]:
    """One column takes a value near by, of another row, or at an edge: in the row, or wherever its packet is."""
    free = [name for name in names if name not in ("time_ns", "node", "kind", "link")]
    place = names.index(draw.choice(free))
    old = rows[at][place]
    new = draw.choice((old - 1, old + 1, draw.choice(rows)[place], draw.choice(rows)[place], draw.choice(_EXTREMES)))
    if not -(1 << 63) <= new < 1 << 63:
        new = 0
    everywhere = rows[at][names.index("link_seq")] >= 0 and draw.random() < 0.5
    changed = list(rows)
    for same in rows_of_packet(names, rows, at) if everywhere else [at]:
        changed[same] = (*rows[same][:place], new, *rows[same][place + 1 :])
    return changed
