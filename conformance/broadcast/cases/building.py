"""How cases of the broadcast stack are put together. Times are ns of true time; processes count from 0."""

from __future__ import annotations

from collections.abc import Iterable

from scatterproof.conformance.case_building import between, case_of, clause_of
from scatterproof.conformance.network.topologies import mesh
from scatterproof.conformance.protocol import Case
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import EVERYBODY, Delay, Failure, Fault, Message, Schedule, Submission
from scatterproof.spec.topology import LinkId, NodeId

RESEND_NS = 20_000
HOP_NS = 1_000


def link(processes: int, source: NodeId, target: NodeId) -> LinkId:
    return between(mesh(processes), source, target)


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
    submissions: Iterable[Submission],
    *,
    level: str = "",
    faults: tuple[Fault, ...] = (),
    failures: tuple[Failure, ...] = (),
    jitter_ns: int = 0,
    also: tuple[str, ...] = (),
    **parameters: Parameter,
) -> Case:
    """A case named CLAUSE/what, at its clause's level unless another one is given; besides its clause it puts
    BC-PL-RELIABLE at stake: the run must settle."""
    network = mesh(processes)
    schedule = Schedule(
        protocol="broadcast",
        topology=network,
        delays=tuple(Delay(HOP_NS, jitter_ns) for _ in network.links),
        submissions=tuple(submissions),
        parameters={"level": level or clause_of(name).split("-")[1].lower(), "resend_ns": RESEND_NS, **parameters},
        faults=faults,
        failures=failures,
        seed=1,
    )
    return case_of(name, stimulus, duty, schedule, (*also, "BC-PL-RELIABLE"))
