"""What a sans-IO core takes in, gives out, and is told about its place in the network.

A core has no clock, socket, thread, randomness or log. Whatever drives it (the simulated network, the UDP driver, the
stdio wrapper) hands it events with the node's local clock reading and carries out the effects in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import msgspec

from scatterproof.spec.topology import LinkId, NodeId, Role, Routes, Topology

Packet = TypeVar("Packet")
Delivery = TypeVar("Delivery")
Beginning = TypeVar("Beginning")
Parameter: TypeAlias = int | str


class Submitted(msgspec.Struct, frozen=True, gc=False):
    """The application hands over one submission: messages, as (receiver, payload), that belong together. A receiver is
    a host, or EVERYBODY of `scatterproof.spec.schedule`."""

    now: int
    messages: tuple[tuple[NodeId, bytes], ...]


class Outcome(IntEnum):
    """How a call came back. UNKNOWN: the client does not know whether it took effect, or will."""

    OK = 1
    REFUSED = 2
    UNKNOWN = 3


class Called(msgspec.Struct, frozen=True, gc=False):
    """The application of a client calls.

    operation: the call's number among the client's, from 1.
    call: which, one of those in the protocol's trace.toml.
    arguments, payload: what the protocol gives them to mean.
    """

    now: int
    operation: int
    call: str
    arguments: Mapping[str, Parameter]
    payload: bytes = b""


class PacketArrived(msgspec.Struct, Generic[Packet], frozen=True, gc=False):
    """A packet arrived from ingress link `link` at local clock `now`."""

    now: int
    link: LinkId
    packet: Packet


class TimerFired(msgspec.Struct, frozen=True, gc=False):
    """The local clock reached what `next_deadline` asked for."""

    now: int


class Send(msgspec.Struct, Generic[Packet], frozen=True, gc=False):
    """Put `packet` on egress link `link`."""

    link: LinkId
    packet: Packet


class Deliver(msgspec.Struct, Generic[Delivery], frozen=True, gc=False):
    """Hand `message` to the application."""

    message: Delivery


class Began(msgspec.Struct, Generic[Beginning], frozen=True, gc=False):
    """The node began with what `message` says: from now on its place among the node's own is fixed."""

    message: Beginning


class Return(msgspec.Struct, frozen=True, gc=False):
    """The call with this number comes back to the application, once; or never.

    operation: its number among the client's calls.
    results, payload: as the protocol defines them.
    """

    operation: int
    outcome: Outcome
    results: Mapping[str, Parameter] = {}
    payload: bytes = b""


class Refuse(msgspec.Struct, frozen=True, gc=False):
    """The packet from `link` breaks the protocol; it was counted, and changed nothing."""

    link: LinkId
    reason: str


Event: TypeAlias = Submitted | PacketArrived[Packet] | TimerFired
Effect: TypeAlias = Send[Packet] | Deliver[Delivery] | Began[Any] | Refuse

# The same at a client.
ClientEvent: TypeAlias = Event[Packet] | Called
ClientEffect: TypeAlias = Effect[Packet, Delivery] | Return


class LocalProtocolError(ValueError):
    """The caller, not the peer, broke the contract (a submission to an unknown host, a clock that fell)."""


class Core(Protocol[Packet, Delivery]):
    """One node. Not reentrant; `now` never falls from one event to the next."""

    def handle(self, event: Event[Packet]) -> Sequence[Effect[Packet, Delivery]]:
        """Take one event; return its effects in the order in which they happen."""
        ...

    def next_deadline(self) -> int | None:
        """The local clock reading at which the core wants `TimerFired`, or None."""
        ...


class AnyCore(Protocol):
    """A core of any protocol, of a client or of another node."""

    def handle(self, event: Any) -> Sequence[ClientEffect[Any, Any]]: ...

    def next_deadline(self) -> int | None: ...


class NodeConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one node is told at its start (the `init` of the adapter contract).

    ingress, egress: link ids, of used links only.
    next_link: egress link towards each host and client, as (node, link) pairs: each one, where the protocol uses
        several links between two nodes.
    reaching: for each egress link, in the order of `egress`, the ingress links from which data can reach it.
    """

    node: NodeId
    role: Role
    protocol: str
    ingress: tuple[LinkId, ...]
    egress: tuple[LinkId, ...]
    next_link: tuple[tuple[NodeId, LinkId], ...]
    reaching: tuple[tuple[LinkId, ...], ...]
    parameters: dict[str, Parameter]


def node_config(
    node: NodeId, topology: Topology, routes: Routes, protocol: str, parameters: dict[str, Parameter]
) -> NodeConfig:
    """The configuration of `node` in `topology`."""
    egress = tuple(link for link in topology.egress(node) if link in routes.used)
    next_link = [(end, link) for end, link in enumerate(routes.next_link[node]) if link in egress]
    if routes.several_links:
        by_ends = {end: topology.links[link] for end, link in next_link}
        next_link = [(end, link) for end, ends in by_ends.items() for link in egress if topology.links[link] == ends]
    return NodeConfig(
        node=node,
        role=topology.nodes[node].role,
        protocol=protocol,
        ingress=tuple(link for link in topology.ingress(node) if link in routes.used),
        egress=egress,
        next_link=tuple(next_link),
        reaching=tuple(routes.reaching[link] for link in egress),
        parameters=parameters,
    )
