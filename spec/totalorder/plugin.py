"""Total order, as `spec` sees it."""

from __future__ import annotations

from spec.protocol import SpecPlugin
from spec.topology import Topology
from spec.totalorder.barriers import longest_chain
from spec.totalorder.messages import Delivery, Packet


def refuse_network(topology: Topology) -> None:
    longest_chain(topology)


PLUGIN = SpecPlugin(packet=Packet, delivery=Delivery, refuse_network=refuse_network)
