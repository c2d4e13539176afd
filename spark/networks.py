"""The networks that runs are drawn in, and what some kinds of runs ask of theirs."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from scatterproof.conformance.network import topologies
from scatterproof.spec.topology import NO_LINK, NodeId, Topology, route

FAMILIES: dict[str, Callable[[Random], Topology]] = {
    "star": lambda draw: topologies.star(draw.randint(2, 12)),
    "chain": lambda draw: topologies.chain(draw.randint(2, 4), draw.randint(1, 4)),
    "fat_tree": lambda draw: topologies.fat_tree(draw.randint(4, 16), 4),
    "diamond": lambda draw: topologies.diamond(draw.randint(2, 3), draw.randint(1, 4)),
    "one_way": lambda draw: topologies.one_way(draw.randint(1, 6), draw.randint(1, 4), draw.randint(1, 3)),
    "first_example": lambda draw: topologies.first_example(),
    "second_example": lambda draw: topologies.second_example(),
}


def reached_by(topology: Topology) -> dict[NodeId, tuple[NodeId, ...]]:
    """By host, the hosts that it can send to."""
    table = route(topology).next_link
    hosts = topology.hosts()
    return {host: tuple(other for other in hosts if table[host][other] != NO_LINK) for host in hosts}


def anywhere(topology: Topology) -> bool:
    return True


def all_answered(topology: Topology) -> bool:
    """Whether everyone can send back to all that reach them."""
    reached = reached_by(topology)
    return all(sender in reached[other] for sender, others in reached.items() for other in others)


def in_a_tree(topology: Topology) -> bool:
    """Whether links go both ways, and there is one way from each node to each other."""
    pairs = {(link.source, link.target) for link in topology.links}
    both_ways = all((target, source) in pairs for source, target in pairs)
    return both_ways and len(pairs) == len(topology.links) == 2 * (len(topology.nodes) - 1) and all_answered(topology)
