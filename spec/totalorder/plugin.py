"""Total order, as `spec` sees it."""

from __future__ import annotations

from scatterproof.spec.protocol import SpecPlugin
from scatterproof.spec.topology import Topology
from scatterproof.spec.totalorder.barriers import longest_chain
from scatterproof.spec.totalorder.messages import Delivery, Packet


def refuse_network(topology: Topology) -> None:
    longest_chain(topology)


PLUGIN = SpecPlugin(packet=Packet, delivery=Delivery, refuse_network=refuse_network)
