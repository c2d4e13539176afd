"""Publish and subscribe, as `spec` sees it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from scatterproof.spec.errors import BadInput
from scatterproof.spec.protocol import SpecPlugin
from scatterproof.spec.pubsub.messages import Delivery, Packet
from scatterproof.spec.topology import NodeId, Role, Topology


def refuse_network(topology: Topology) -> None:
    """Appliances come first; they are joined, in any way, and each client is joined to one of them, both ways. Where
    messages take one way, appliances are a tree, and where they take the best, there may be several links between two:
    that the parameters say, and judges hold them to it."""
    hosts = len(topology.hosts())
    if topology.switches() or topology.hosts() != tuple(range(hosts)):
        raise BadInput("topology: give appliances (hosts) first, then clients, and nothing else")
    joined = Counter((link.source, link.target) for link in topology.links)
    for source, target in sorted(joined):
        several = joined[source, target] > 1 and max(source, target) >= hosts
        if joined[target, source] != joined[source, target] or several:
            raise BadInput(f"topology: nodes {source} and {target} are joined one way or twice; join them by two links")
    for client in topology.clients():
        near = [target for source, target in joined if source == client]
        if len(near) != 1 or topology.nodes[near[0]].role is not Role.HOST:
            raise BadInput(
                f"topology: {topology.nodes[client].name} has {len(near)} links out; join it to one appliance"
            )
    if len(_reached(joined, hosts)) < hosts:
        raise BadInput(f"topology: there is no way between some of the {hosts} appliances; join them as one tree")


def _reached(joined: Iterable[tuple[NodeId, NodeId]], hosts: int) -> set[NodeId]:
    """The appliances that there is a way to from the first."""
    found, left = {0}, [0]
    while left:
        node = left.pop()
        new = {target for source, target in joined if source == node and target < hosts} - found
        found |= new
        left += new
    return found


PLUGIN = SpecPlugin(packet=Packet, delivery=Delivery, refuse_network=refuse_network, several_links=True)
