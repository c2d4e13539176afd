"""The queue with correlated message groups, as `spec` sees it."""

from __future__ import annotations

from scatterproof.spec.errors import BadInput
from scatterproof.spec.protocol import SpecPlugin
from scatterproof.spec.topology import Topology
from scatterproof.spec.workqueue.messages import Handed, Packet


def refuse_network(topology: Topology) -> None:
    if len(topology.hosts()) > 1:
        raise BadInput(f"topology: there are {len(topology.hosts())} hosts; one alone is the store")


PLUGIN = SpecPlugin(packet=Packet, delivery=Handed, refuse_network=refuse_network)
