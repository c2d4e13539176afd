"""What a protocol gives to `spec`, beside its files (clauses.toml, trace.toml, parameters.toml, models.toml)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from scatterproof.spec import plugins
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import Routes, Topology, route
from scatterproof.spec.trace import schema


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecPlugin:
    """What nodes exchange with one another and with the harness, as msgspec types, and where they may be.

    packet: what is put on a link.
    delivery: what is handed to an application; None where nothing is.
    beginning: what a node says when it begins with a message by itself; None where none does.
    refuse_network: raises BadInput for a network in which the protocol cannot work.
    several_links: whether nodes use all links between two, where there are several, and choose by themselves.
    """

    packet: type
    delivery: type | None = None
    beginning: type | None = None
    refuse_network: Callable[[Topology], None] = lambda topology: None
    several_links: bool = False

    @property
    def messages(self) -> dict[str, type]:
        """The types that there are, by their names in the adapter contract."""
        named = {"Packet": self.packet, "Delivery": self.delivery, "Beginning": self.beginning}
        return {name: kind for name, kind in named.items() if kind is not None}


def load(protocol: str) -> SpecPlugin:
    """The protocol's record. Raises BadInput for an unknown protocol, CannotRun for one whose messages have no types
    yet."""
    return plugins.load("spec", SpecPlugin, protocol, "has no messages yet; choose another")


def refuse_network(protocol: str, topology: Topology) -> None:
    """Raise BadInput for a network in which the protocol cannot work, and for an unknown protocol."""
    if topology.clients() and not schema(protocol).calls:
        client = topology.nodes[topology.clients()[0]].name
        raise BadInput(f"topology: {client} is a client, and {protocol} has no calls; give it another role")
    plugin = plugins.find("spec", SpecPlugin, protocol)
    if plugin is not None:
        plugin.refuse_network(topology)


def routes_of(protocol: str, topology: Topology) -> Routes:
    """Routes of the protocol: where its nodes use several links between two, all of those are used."""
    found, plugin = route(topology), plugins.find("spec", SpecPlugin, protocol)
    if plugin is None or not plugin.several_links:
        return found
    joined = {topology.links[link] for link in found.used}
    used = frozenset(number for number, link in enumerate(topology.links) if link in joined)
    return replace(found, used=used, several_links=True)
