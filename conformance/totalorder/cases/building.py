"""What the cases of total order are written with.

A step is `scatter`, with its receivers: each gets contents of its own, unless all get the same `text`, or `size`
bytes. Where none is named, receivers are all that the host reaches, itself included. Delays of links differ, so that
messages arrive in another order than they were sent in.
"""

from __future__ import annotations

from collections.abc import Iterator

from scatterproof.conformance.case_files import CaseStep, CaseWords, WrittenCase
from scatterproof.conformance.network.topologies import chain, diamond, first_example, one_way, second_example, star
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import Delay, Message, Submission
from scatterproof.spec.topology import Link, Node, NodeId, Role, Topology, route
from scatterproof.spec.totalorder import proxies

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


def _alike(
    time_ns: int, node: NodeId, *receivers: NodeId, text: str | None = None, size: str | None = None
) -> Submission:
    payload = b"x" * int(size) if size is not None else None if text is None else text.encode()
    return scatter(time_ns, node, *receivers, payload=payload)


def _scatter(step: CaseStep) -> Iterator[Submission]:
    receivers = [int(word) for word in step.words] or _reached(step.network, step.node)
    if receivers:
        yield step.given(_alike, *receivers, **step.named)


def _reached(network: Topology, host: NodeId) -> list[NodeId]:
    routes = route(network)
    return [receiver for receiver in network.hosts() if routes.path(network, host, receiver)]


def _parameters(written: WrittenCase, network: Topology) -> dict[str, Parameter]:
    """Proxies are the nearest hosts, or the farthest."""
    given: dict[str, Parameter] = {"environment": "", "beacon_interval_ns": INTERVAL_NS, **written.set}
    if proxies.PARAMETER in given:
        place = 0 if given[proxies.PARAMETER] == "nearest" else -1
        chosen = {switch: hosts[place] for switch, hosts in proxies.choices(network).items()}
        given[proxies.PARAMETER] = proxies.parameter(network, chosen)
    return given


CASE_WORDS = CaseWords(
    protocol="totalorder",
    steps={"scatter": _scatter},
    networks={
        "star": star,
        "chain": chain,
        "diamond": diamond,
        "one_way": one_way,
        "first_example": first_example,
        "second_example": second_example,
        "two_links": lambda: TWO_LINKS,
        "two_ingress": lambda: TWO_INGRESS,
        "one_way_on": lambda: ONE_WAY_ON,
        "one_is_deaf": lambda: ONE_IS_DEAF,
    },
    delay=lambda link: Delay(500 + 700 * (link % 3), 800),
    parameters=_parameters,
    # The run must settle.
    at_stake=lambda written: ("TO-COMPLETE",),
)
