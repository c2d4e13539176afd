"""How cases of the broadcast stack are put together. Times are ns of true time; processes count from 0."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.network.topologies import mesh
from conformance.protocol import Case
from spec.core import Parameter
from spec.schedule import (
    EVERYBODY,
    Delay,
    Failure,
    FailureKind,
    Fault,
    FaultKind,
    Message,
    Schedule,
    Submission,
    validate,
)
from spec.topology import Link, LinkId, NodeId

RESEND_NS = 20_000
HOP_NS = 1_000


def link(processes: int, source: NodeId, target: NodeId) -> LinkId:
    return mesh(processes).links.index(Link(source, target))


def lose(on: LinkId, *indices: int) -> tuple[Fault, ...]:
    """The packets with these places, from 0, are lost on the link."""
    return tuple(Fault(on, index, FaultKind.LOSE) for index in indices)


def delay(on: LinkId, by_ns: int, *indices: int) -> tuple[Fault, ...]:
    return tuple(Fault(on, index, FaultKind.DELAY, by_ns) for index in indices)


def duplicate(on: LinkId, by_ns: int, *indices: int) -> tuple[Fault, ...]:
    return tuple(Fault(on, index, FaultKind.DUPLICATE, by_ns) for index in indices)


def crash(time_ns: int, *nodes: NodeId) -> tuple[Failure, ...]:
    return tuple(Failure(time_ns, FailureKind.CRASH, node=node) for node in nodes)


def pause(node: NodeId, from_ns: int, to_ns: int) -> tuple[Failure, ...]:
    return (Failure(from_ns, FailureKind.PAUSE, node=node), Failure(to_ns, FailureKind.RESUME, node=node))


def to_all(time_ns: int, node: NodeId, *payloads: bytes) -> Submission:
    """The process hands over messages for everybody."""
    return Submission(time_ns, node, tuple(Message(EVERYBODY, payload) for payload in payloads))


def to_one(time_ns: int, node: NodeId, receiver: NodeId, payload: bytes = b"x") -> Submission:
    return Submission(time_ns, node, (Message(receiver, payload),))


def case(
    name: str,
    stimulus: str,
    duty: str,
    processes: int,
    level: str,
    submissions: Iterable[Submission],
    *,
    faults: tuple[Fault, ...] = (),
    failures: tuple[Failure, ...] = (),
    jitter_ns: int = 0,
    also: tuple[str, ...] = (),
    **parameters: Parameter,
) -> Case:
    """A case named CLAUSE/what; besides its clause it puts BC-PL-RELIABLE at stake: the run must settle."""
    clause = name.split("/")[0]
    network = mesh(processes)
    schedule = Schedule(
        protocol="broadcast",
        topology=network,
        delays=tuple(Delay(HOP_NS, jitter_ns) for _ in network.links),
        submissions=tuple(submissions),
        parameters={"level": level, "resend_ns": RESEND_NS, **parameters},
        faults=faults,
        failures=failures,
        seed=1,
    )
    return Case(
        id=name,
        clause=clause,
        stimulus=stimulus,
        duty=duty,
        schedule=validate(schedule, f"case {name}"),
        at_stake=tuple(dict.fromkeys((clause, *also, "BC-PL-RELIABLE"))),
    )
