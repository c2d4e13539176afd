"""Proxy hosts (TO-SW-6): which host aggregates the beacons of which switch, as parameter `proxies` tells every node.

The parameter is the JSON text of a list of `Proxy`. A switch wraps each beacon that it takes into a packet HANDED and
sends it over the links `there`; the host wraps what it aggregates to into packets RETURNED, over the links `back`.
Switches in between pass both on as they are (TO-SW-PATH).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

import msgspec

from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import LinkId, NodeId, Role, Topology, route

PARAMETER = "proxies"


class Proxy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """there, back: the links from switch to host and from host to switch, in order.
    ingress, egress, reaching: the switch's own, as in its NodeConfig.
    """

    switch: NodeId
    host: NodeId
    there: tuple[LinkId, ...]
    back: tuple[LinkId, ...]
    ingress: tuple[LinkId, ...]
    egress: tuple[LinkId, ...]
    reaching: tuple[tuple[LinkId, ...], ...]


def parameter(topology: Topology, hosts: Mapping[NodeId, NodeId]) -> str:
    """The parameter's value for `hosts`, by switch: over the fewest links, there and back. Raises BadInput where a host
    and its switch are not joined both ways."""
    used = route(topology).used
    return msgspec.json.encode([_proxy(topology, used, switch, host) for switch, host in hosts.items()]).decode()


def choices(topology: Topology) -> dict[NodeId, tuple[NodeId, ...]]:
    """For every switch the hosts that links in use join to it both ways, the nearest first; none for some."""
    used = route(topology).used
    return {
        switch: tuple(
            node
            for node in _outwards(topology, used, switch)
            if topology.nodes[node].role is Role.HOST and _path(topology, used, node, switch)
        )
        for switch in topology.switches()
    }


def nearest(topology: Topology) -> dict[NodeId, NodeId]:
    """For every switch the first of its choices; switches without one are left out."""
    return {switch: hosts[0] for switch, hosts in choices(topology).items() if hosts}


def read(parameters: Mapping[str, Parameter]) -> tuple[Proxy, ...]:
    """The proxies in a node's parameters. Raises BadInput for a text that is no such list."""
    text = parameters.get(PARAMETER, "[]")
    try:
        proxies = msgspec.json.decode(str(text), type=tuple[Proxy, ...])
    except msgspec.DecodeError as error:
        raise BadInput(f"parameter {PARAMETER} is no list of proxies: {error}") from None
    switches = [proxy.switch for proxy in proxies]
    if len(set(switches)) < len(switches):
        raise BadInput(f"parameter {PARAMETER} gives a switch two proxies; give each one, of switches {switches}")
    for proxy in proxies:
        if not proxy.there or not proxy.back or len(proxy.reaching) != len(proxy.egress):
            raise BadInput(
                f"parameter {PARAMETER}: switch {proxy.switch} needs links to its proxy and back, and as many entries "
                "in reaching as in egress"
            )
    return proxies


def _proxy(topology: Topology, used: frozenset[LinkId], switch: NodeId, host: NodeId) -> Proxy:
    there, back = _path(topology, used, switch, host), _path(topology, used, host, switch)
    if not there or not back:
        raise BadInput(f"no links in use lead from switch {switch} to host {host} and back; choose another proxy")
    reaching = route(topology).reaching
    egress = tuple(link for link in topology.egress(switch) if link in used)
    return Proxy(
        switch=switch,
        host=host,
        there=there,
        back=back,
        ingress=tuple(link for link in topology.ingress(switch) if link in used),
        egress=egress,
        reaching=tuple(reaching[link] for link in egress),
    )


def _outwards(topology: Topology, used: frozenset[LinkId], start: NodeId) -> Iterator[NodeId]:
    """Nodes that links in use lead to from `start`, the nearest first; nothing passes through a host."""
    seen, queue = {start}, deque([start])
    while queue:
        node = queue.popleft()
        yield node
        if node != start and topology.nodes[node].role is Role.HOST:
            continue
        for link in topology.egress(node):
            target = topology.links[link].target
            if link in used and target not in seen:
                seen.add(target)
                queue.append(target)


def _path(topology: Topology, used: frozenset[LinkId], start: NodeId, end: NodeId) -> tuple[LinkId, ...]:
    """The links of a shortest path from `start` to `end` over switches; empty when there is none."""
    came: dict[NodeId, LinkId] = {}
    for node in _outwards(topology, used, start):
        if node == end:
            break
        if node != start and topology.nodes[node].role is Role.HOST:
            continue
        for link in topology.egress(node):
            if link in used:
                came.setdefault(topology.links[link].target, link)
    links: deque[LinkId] = deque()
    while end != start and end in came:
        links.appendleft(came[end])
        end = topology.links[came[end]].source
    return tuple(links) if end == start else ()
