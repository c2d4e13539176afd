"""How total-order cases are put together.

Times are ns of true time. Delays of links differ, so that messages arrive in another order than they were sent in.
"""

from __future__ import annotations

from collections.abc import Sequence

from scatterproof.conformance.case_building import case_of
from scatterproof.conformance.protocol import Case
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Clock, Delay, Failure, Fault, Message, Schedule, Submission
from scatterproof.spec.topology import Link, Node, NodeId, Role, Topology, route

INTERVAL_NS = 10_000

# Host a has a link of its own to each of two switches, b to the second one only; r1 hears from a alone, r2 from both.
TWO_LINKS = Topology(
    (
        *(Node(name, Role.HOST) for name in ("a", "b", "r1", "r2")),
        *(Node(name, Role.SWITCH) for name in ("s1", "s2")),
    ),
    (Link(0, 4), Link(0, 5), Link(1, 5), Link(4, 2), Link(5, 3)),
)


# A receiver (2) with an ingress link from each of two switches, which are joined; hosts 0 and 1 have one switch each.
TWO_INGRESS = Topology(
    (*(Node(name, Role.HOST) for name in ("a", "b", "r")), *(Node(name, Role.SWITCH) for name in ("s", "t"))),
    tuple(Link(*ends) for pair in ((0, 3), (1, 4), (2, 3), (2, 4), (3, 4)) for ends in (pair, pair[::-1])),
)
TO_R_FROM_S, TO_R_FROM_T = 5, 7

# Host b hears from a over switch s, and is heard by r over switch t: no barrier that b hears waits for b's own clock.
ONE_WAY_ON = Topology(
    (*(Node(name, Role.HOST) for name in ("a", "b", "r")), *(Node(name, Role.SWITCH) for name in ("s", "t"))),
    (Link(0, 3), Link(3, 1), Link(1, 4), Link(4, 2), Link(0, 4)),
)

# Host d sends to a and b, and no link leads to it.
ONE_IS_DEAF = Topology(
    (*(Node(name, Role.HOST) for name in ("a", "b", "d")), Node("s", Role.SWITCH)),
    (Link(0, 3), Link(3, 0), Link(1, 3), Link(3, 1), Link(2, 3)),
)


def scatter(time_ns: int, node: NodeId, *receivers: NodeId, payload: bytes | None = None) -> Submission:
    """A scattering at time_ns; contents differ from receiver to receiver unless they are given."""
    contents = [bytes([node, receiver]) + time_ns.to_bytes(6) if payload is None else payload for receiver in receivers]
    return Submission(time_ns, node, tuple(map(Message, receivers, contents)))


def everybody(network: Topology, times_ns: Sequence[int]) -> tuple[Submission, ...]:
    """At each time every host scatters to all that it reaches, itself included."""
    routes = route(network)
    reached = {host: [r for r in network.hosts() if routes.path(network, host, r)] for host in network.hosts()}
    return tuple(
        scatter(time_ns, host, *reached[host]) for time_ns in times_ns for host in network.hosts() if reached[host]
    )


def case(
    name: str,
    stimulus: str,
    duty: str,
    network: Topology,
    environment: str,
    submissions: tuple[Submission, ...],
    *,
    delays: tuple[Delay, ...] | None = None,
    clocks: tuple[Clock, ...] = (),
    faults: tuple[Fault, ...] = (),
    failures: tuple[Failure, ...] = (),
    also: tuple[str, ...] = (),
    **parameters: Parameter,
) -> Case:
    """A case named CLAUSE/what; besides its clause it puts TO-COMPLETE at stake: the run must settle."""
    uneven = tuple(Delay(500 + 700 * (link % 3), 800) for link in range(len(network.links)))
    schedule = Schedule(
        protocol="totalorder",
        topology=network,
        delays=uneven if delays is None else delays,
        submissions=submissions,
        clocks=clocks,
        parameters={"environment": environment, "beacon_interval_ns": INTERVAL_NS, **parameters},
        faults=faults,
        failures=failures,
        seed=1,
    )
    return case_of(name, stimulus, duty, schedule, (*also, "TO-COMPLETE"))
