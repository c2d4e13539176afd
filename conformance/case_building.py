"""What cases, and other schedules, of all protocols are put together from. Times are ns of true time."""

from __future__ import annotations

from collections.abc import Iterable

from scatterproof.conformance.protocol import Case
from scatterproof.spec.schedule import Failure, FailureKind, Fault, FaultKind, Schedule, validate
from scatterproof.spec.topology import Link, LinkId, NodeId, Topology


def between(network: Topology, source: NodeId, target: NodeId) -> LinkId:
    return network.links.index(Link(source, target))


def lose(on: LinkId, *indices: int) -> tuple[Fault, ...]:
    """The packets with these indices, from 0, are lost on the link."""
    return tuple(Fault(on, index, FaultKind.LOSE) for index in indices)


def delay(on: LinkId, by_ns: int, *indices: int) -> tuple[Fault, ...]:
    return tuple(Fault(on, index, FaultKind.DELAY, by_ns) for index in indices)


def duplicate(on: LinkId, by_ns: int, *indices: int) -> tuple[Fault, ...]:
    return tuple(Fault(on, index, FaultKind.DUPLICATE, by_ns) for index in indices)


def crash(time_ns: int, *nodes: NodeId) -> tuple[Failure, ...]:
    return tuple(Failure(time_ns, FailureKind.CRASH, node=node) for node in nodes)


def pause(node: NodeId, from_ns: int, to_ns: int) -> tuple[Failure, ...]:
    return (Failure(from_ns, FailureKind.PAUSE, node=node), Failure(to_ns, FailureKind.RESUME, node=node))


def clause_of(name: str) -> str:
    """The clause of a case named CLAUSE/what."""
    return name.partition("/")[0]


def case_of(name: str, stimulus: str, duty: str, schedule: Schedule, also: Iterable[str]) -> Case:
    """A case named CLAUSE/what. also: what the run puts at stake besides its clause."""
    clause = clause_of(name)
    return Case(
        id=name,
        clause=clause,
        stimulus=stimulus,
        duty=duty,
        schedule=validate(schedule, f"case {name}"),
        at_stake=tuple(dict.fromkeys((clause, *also))),
    )
