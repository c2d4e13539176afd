"""What a protocol gives to `conformance`: the cases, what judges its traces, and what tells and draws them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from scatterproof.spec import clauses, plugins
from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import FailureKind, FaultKind, Schedule
from scatterproof.spec.topology import NodeId, Topology
from scatterproof.spec.trace import Header, Row, Trace, schema

# Late, so that whoever only lists what there is does not wait for numba.
if TYPE_CHECKING:
    from types import ModuleType

    from scatterproof.conformance.adapters.products import Product
    from scatterproof.conformance.checks.step import Check
    from scatterproof.conformance.checks.surroundings import Surroundings
    from scatterproof.conformance.measures import Gauge
    from scatterproof.conformance.network.contract import RowRecorder
    from scatterproof.conformance.report.equivalence import Comparison
    from scatterproof.conformance.stress.contract import Programs
    from scatterproof.conformance.systems.telling import SystemTeller

# An oracle is the clause as a predicate over the whole trace: the positions of the rows that break it.
Oracle = Callable[[Trace], "set[int]"]
DOWN_AND_UP = frozenset({FailureKind.CRASH, FailureKind.RESTART, FailureKind.CUT, FailureKind.MEND})


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """id: clause and a word or two, TO-DELIVER/at-the-barrier.
    stimulus: what is done, as a sentence.
    duty: what the implementation has to do then.
    at_stake: the clauses that the run must put at stake, its own among them, so that a run in which nothing happens is
        no pass.
    """

    id: str
    clause: str
    stimulus: str
    duty: str
    schedule: Schedule
    at_stake: tuple[str, ...]

    @property
    def address(self) -> str:
        """The id with the protocol before it: PROTOCOL/CLAUSE/what."""
        return f"{self.schedule.protocol}/{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """What judges the traces of a protocol.

    checks, oracles: one each a clause, under the same name.
    premises: what a trace must be so that anything can be said of it, as checks of no clause.
    """

    checks: tuple[Check, ...]
    oracles: Mapping[str, Oracle]
    premises: tuple[Check, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """Who reads the datagrams of a protocol.

    packets: those of a datagram, as columns of rows; or why there are none.
    tells_ends: whether a datagram itself says whom it is from and for.
    """

    packets: Callable[[bytes], list[dict[str, int]] | str]
    tells_ends: bool


class ProtocolView(Protocol):
    """What a protocol knows of its nodes. It is made of a run's header."""

    def see(self, row: Row) -> None:
        """The next row of the run."""

    def facts(self, node: NodeId) -> list[tuple[str, str]]: ...

    def mark(self, node: NodeId) -> str:
        """What a diagram marks on the node's line when it changes, such as its barrier; empty for nothing."""

    def buffer(self, node: NodeId) -> list[str]:
        """What the node holds, in words, in the order in which it will go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """What must be there comes first; then what a protocol may do without. Functions without arguments are called when
    what they give is asked for, so that names alone wait for nothing.

    name: the protocol.
    judges: checks, oracles and premises.
    cases: the conformance cases, in the order of its files.
    recorder: makes rows of what nodes do in simulation.
    horizon_ns: when a schedule's run has had the time to deliver everything.
    label: a few words for the packet, submission or delivery of a row, given by column, in a diagram.
    parameters: the protocol's parameters as integers for the checks; BadInput when one is missing or wrong.
    not_applicable: why a clause does not apply under these parameters, or None.
    lull_ns: how long nothing but beacons may move in a run with failures that is not over; None: until horizon_ns.
    allowed_faults, allowed_failures: what the protocol's links may do to a packet, and what may befall nodes and links;
        a schedule with another one is refused.
    fifo_links: whether packets of one link keep their order.
    without_node: the parameters in a network that lacks this node, those behind it having moved up.
    tables: parameters that are arrays, for the checks, by topology: a number for each pair of nodes, say.
    gauge: what is measured in its runs.
    comparison: variants of a schedule that must deliver the same.
    view: what is known of each node at a row of a run, for the explorer and diagrams.
    wire: who reads its datagrams in captures.
    teller: tells what a real system did as rows.
    programs: who judges programs by their output.
    products: systems that others wrote, which it drives by their own clients.
    """

    name: str
    judges: Callable[[], Judges]
    cases: Callable[[], tuple[Case, ...]]
    recorder: Callable[[], RowRecorder]
    horizon_ns: Callable[[Schedule], int]
    label: Callable[[Mapping[str, int]], str]
    parameters: Callable[[Mapping[str, Parameter]], dict[str, int]] = lambda given: {}
    not_applicable: Callable[[str, Mapping[str, Parameter]], str | None] = lambda clause, given: None
    lull_ns: Callable[[Schedule], int] | None = None
    allowed_faults: frozenset[FaultKind] = frozenset(FaultKind)
    allowed_failures: frozenset[FailureKind] = DOWN_AND_UP
    fifo_links: bool = True
    without_node: Callable[[Mapping[str, Parameter], NodeId], dict[str, Parameter]] = lambda parameters, node: dict(
        parameters
    )
    tables: Callable[[Topology, Mapping[str, Parameter]], Surroundings] = lambda topology, parameters: {}
    gauge: Callable[[], Gauge] | None = None
    comparison: Callable[[], Comparison] | None = None
    view: Callable[[Header], ProtocolView] | None = None
    wire: Callable[[], Wire] | None = None
    teller: Callable[[], SystemTeller] | None = None
    programs: Callable[[], Programs] | None = None
    products: Callable[[], Sequence[Product]] = tuple

    @property
    def checks(self) -> tuple[Check, ...]:
        return self.judges().checks

    @property
    def premises(self) -> tuple[Check, ...]:
        return self.judges().premises

    @property
    def oracles(self) -> Mapping[str, Oracle]:
        return self.judges().oracles

    @property
    def columns(self) -> tuple[str, ...]:
        return schema(self.name).columns

    def surroundings(self, header: Header) -> Surroundings:
        """What steps read of the network and the parameters; and `applies`, whether each check does, then premises."""
        import numpy as np

        from scatterproof.conformance.checks.surroundings import recorded, surroundings

        around = surroundings(header.topology, self.parameters(header.parameters)) | recorded(header)
        around |= self.tables(header.topology, header.parameters)
        applies = [reason is None for reason in self.reasons(header)] + [True] * len(self.premises)
        return {**around, "applies": np.array(applies, dtype=np.int64)}

    def applicable(self, header: Header) -> Sequence[Check]:
        return [check for check, reason in zip(self.checks, self.reasons(header), strict=True) if reason is None]

    def reasons(self, header: Header) -> tuple[str | None, ...]:
        """For each check, why its clause does not apply to the run, or None."""
        return _reasons(self.not_applicable, self.checks, tuple(sorted(header.parameters.items())))


@lru_cache(maxsize=256)
def _reasons(
    not_applicable: Callable[[str, Mapping[str, Parameter]], str | None],
    checks: tuple[Check, ...],
    parameters: tuple[tuple[str, Parameter], ...],
) -> tuple[str | None, ...]:
    """Runs of one set of parameters share it: asking for each clause takes longer than all else that ends a run."""
    return tuple(not_applicable(check.clause, dict(parameters)) for check in checks)


def in_parts(parts: Mapping[str, Sequence[ModuleType]]) -> tuple[Check, ...]:
    """The checks that modules make, in their order, each with the name of its part: those of a part are compiled
    together, and only for runs that put them at stake."""
    from scatterproof.conformance.checks.step import Check

    return tuple(
        replace(check, part=part)
        for part, modules in parts.items()
        for module in modules
        for check in vars(module).values()
        if isinstance(check, Check) and check.step.__module__ == module.__name__
    )


def by_clause(protocol: str, *modules: ModuleType) -> dict[str, Oracle]:
    """The oracles that modules have, by name: the functions that bear the name of a clause."""
    names = {clause.snake_name for clause in clauses.load(protocol).clauses}
    return {name: found for module in modules for name, found in vars(module).items() if name in names}


def load(protocol: str) -> Plugin:
    """BadInput for an unknown protocol, CannotRun for one that has none yet."""
    return plugins.load("conformance", Plugin, protocol, "has no conformance checks yet")


def gauge(protocol: str) -> Gauge | None:
    """None where the protocol measures nothing."""
    made = load(protocol).gauge
    return None if made is None else made()


def programs_of(protocol: str) -> Programs:
    """The part of `protocol`; BadInput when it judges no programs."""
    found = load(protocol).programs
    if found is None:
        raise BadInput(
            f"protocol {protocol!r} has no way yet to judge programs by their output; `conform --iut` judges its nodes"
        )
    return found()
