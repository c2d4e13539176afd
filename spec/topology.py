"""Hosts, switches, clients and directed links, and the routes that data take over them.

A host's sending and receiving side are separate: data never pass *through* a host, nor through a client. A node's id
is its index in `Topology.nodes`, a link's id its index in `Topology.links`.
"""

from __future__ import annotations

from collections import Counter, deque
from enum import StrEnum
from functools import cache, lru_cache
from typing import TypeAlias

import msgspec

from scatterproof.spec.errors import BadInput

NodeId: TypeAlias = int
LinkId: TypeAlias = int

NO_LINK = -1


class Role(StrEnum):
    HOST = "host"
    SWITCH = "switch"
    CLIENT = "client"  # its application calls the system, and calls return


class Node(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    role: Role


class Link(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A directed link: an egress link of `source`, an ingress link of `target`."""

    source: NodeId
    target: NodeId


class Topology(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]

    def hosts(self) -> tuple[NodeId, ...]:
        return self.having(Role.HOST)

    def switches(self) -> tuple[NodeId, ...]:
        return self.having(Role.SWITCH)

    def clients(self) -> tuple[NodeId, ...]:
        return self.having(Role.CLIENT)

    def having(self, *roles: Role) -> tuple[NodeId, ...]:
        """The nodes of these roles, in their order."""
        return tuple(i for i, node in enumerate(self.nodes) if node.role in roles)

    @property
    def unnamed(self) -> Topology:
        """The same with numbers for names: what rests on roles and links alone is alike for all networks that have it
        in common. Raises BadInput for names that come twice, which it would hide."""
        if len({node.name for node in self.nodes}) < len(self.nodes):
            validate(self)
        nodes = tuple(
            [Node(name, node.role) for name, node in zip(_numerals(len(self.nodes)), self.nodes, strict=True)]
        )
        return Topology(nodes, self.links)

    @property
    def is_full_mesh(self) -> bool:
        """Whether all nodes are hosts, with one link from each to each other."""
        mesh = sorted((a, b) for a in self.hosts() for b in self.hosts() if a != b)
        ends = sorted((link.source, link.target) for link in self.links)
        return len(self.hosts()) == len(self.nodes) and ends == mesh

    def ingress(self, node: NodeId) -> tuple[LinkId, ...]:
        return tuple(i for i, link in enumerate(self.links) if link.target == node)

    def egress(self, node: NodeId) -> tuple[LinkId, ...]:
        return tuple(i for i, link in enumerate(self.links) if link.source == node)


class Routes(msgspec.Struct, frozen=True):
    """Where data go.

    next_link[v][h]: the egress link of node v towards host or client h, or NO_LINK.
    reaching[e]: the ingress links of e's source from which data can reach egress link e; empty on egress links of hosts
    and clients.
    used: the links that data of some sender to some receiver can take.
    several_links: whether nodes use all links between two, where there are several, and choose by themselves.
    """

    next_link: tuple[tuple[LinkId, ...], ...]
    reaching: tuple[tuple[LinkId, ...], ...]
    used: frozenset[LinkId]
    several_links: bool = False

    def path(self, topology: Topology, sender: NodeId, receiver: NodeId) -> tuple[LinkId, ...]:
        """The links from sender to receiver, in order; empty when there is no route."""
        links: list[LinkId] = []
        link = self.next_link[sender][receiver]
        while link != NO_LINK:
            links.append(link)
            node = topology.links[link].target
            link = NO_LINK if node == receiver else self.next_link[node][receiver]
        return tuple(links)


@cache
def _numerals(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


@lru_cache(maxsize=64)
def route(topology: Topology) -> Routes:
    """Shortest routes between all hosts and clients. Where several links begin a shortest route, receivers are spread
    over them: data from one sender to one receiver take one path (so that they stay FIFO), data to different receivers
    may take different ones. Raises BadInput for an invalid topology."""
    validate(topology)
    ends = topology.having(Role.HOST, Role.CLIENT)
    ingress: list[list[LinkId]] = [[] for _ in topology.nodes]
    egress: list[list[LinkId]] = [[] for _ in topology.nodes]
    for number, link in enumerate(topology.links):
        ingress[link.target].append(number)
        egress[link.source].append(number)
    table = [[NO_LINK] * len(topology.nodes) for _ in topology.nodes]
    reaching: list[set[LinkId]] = [set() for _ in topology.links]
    used: set[LinkId] = set()
    targets = [link.target for link in topology.links]
    for rank, receiver in enumerate(ends):
        distance = _distances(topology, ingress, receiver)
        for node, links in enumerate(egress):
            # The receiver itself may send to itself: over the network, like everybody else.
            hops = min((distance[targets[e]] for e in links if targets[e] in distance), default=None)
            if hops is not None:
                best = [e for e in links if distance.get(targets[e]) == hops]
                # The hops still to go enter, or two switches in a row would always choose alike.
                table[node][receiver] = best[rank // (hops + 1) % len(best)]
        _follow(topology, table, receiver, ends, reaching, used)
    return Routes(
        next_link=tuple(tuple(row) for row in table),
        reaching=tuple(tuple(sorted(links)) for links in reaching),
        used=frozenset(used),
    )


def validate(topology: Topology) -> None:
    """Raise BadInput for dangling links, loops of one link, duplicate names, or a topology without hosts."""
    count = len(topology.nodes)
    for number, link in enumerate(topology.links):
        if not (0 <= link.source < count and 0 <= link.target < count):
            raise BadInput(f"topology: link {number} joins {link.source} and {link.target}; nodes are 0 to {count - 1}")
        if link.source == link.target:
            raise BadInput(f"topology: link {number} leads from node {link.source} to itself; remove it")
    names = [node.name for node in topology.nodes]
    for name, uses in Counter(names).items():
        if uses > 1:
            raise BadInput(f"topology: {uses} nodes are named {name!r}; give each its own name")
    if not topology.hosts():
        raise BadInput("topology: there is no host; add nodes with role 'host'")


def _distances(topology: Topology, ingress: list[list[LinkId]], receiver: NodeId) -> dict[NodeId, int]:
    """Hops to `receiver` from itself and from every switch that has a path through switches alone."""
    distance = {receiver: 0}
    queue = deque([receiver])
    while queue:
        node = queue.popleft()
        for link in ingress[node]:
            source = topology.links[link].source
            if source not in distance and topology.nodes[source].role is Role.SWITCH:
                distance[source] = distance[node] + 1
                queue.append(source)
    return distance


def _follow(
    topology: Topology,
    table: list[list[LinkId]],
    receiver: NodeId,
    senders: tuple[NodeId, ...],
    reaching: list[set[LinkId]],
    used: set[LinkId],
) -> None:
    """Walk every sender's route to `receiver`, noting which ingress link feeds which egress link."""
    walked: set[LinkId] = set()
    for sender in senders:
        link = table[sender][receiver]
        while link != NO_LINK and link not in walked:
            walked.add(link)
            used.add(link)
            node = topology.links[link].target
            if node == receiver:
                break
            onward = table[node][receiver]
            if onward != NO_LINK:
                reaching[onward].add(link)
            link = onward
