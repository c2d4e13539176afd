"""Topologies to run on: the usual shapes, and the two example networks of the source document.

Hosts come first (ids 0, 1, ...), then the switches. Every link has its opposite, except in `one_way` and the examples.
"""

from __future__ import annotations

from collections.abc import Iterable

from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import Link, Node, NodeId, Role, Topology


def star(hosts: int) -> Topology:
    """All hosts around one switch."""
    return chain(1, hosts)


def chain(switches: int, hosts_per_switch: int) -> Topology:
    """Switches in a row, joined both ways, each with hosts of its own."""
    _at_least(1, switches=switches, hosts_per_switch=hosts_per_switch)
    hosts = switches * hosts_per_switch
    pairs = [(host, hosts + host // hosts_per_switch) for host in range(hosts)]
    pairs += [(hosts + number, hosts + number + 1) for number in range(switches - 1)]
    return _both_ways(hosts, [f"s{number}" for number in range(switches)], pairs)


def diamond(paths: int = 2, hosts_per_side: int = 2) -> Topology:
    """Two switches with hosts, joined by `paths` switches side by side: paths to different receivers part and meet
    again."""
    _at_least(1, paths=paths, hosts_per_side=hosts_per_side)
    hosts = 2 * hosts_per_side
    left, right, middle = hosts, hosts + 1, hosts + 2
    pairs = [(host, left if host < hosts_per_side else right) for host in range(hosts)]
    pairs += [(side, middle + path) for path in range(paths) for side in (left, right)]
    return _both_ways(hosts, ["left", "right", *(f"m{path}" for path in range(paths))], pairs)


def fat_tree(hosts: int, radix: int = 4) -> Topology:
    """Three layers of switches with `radix` ports (even): pods of edge and aggregation switches below core switches.
    Only as many pods as the hosts need; at most radix ** 3 / 4 hosts."""
    _at_least(1, hosts=hosts)
    half = radix // 2
    if radix < 2 or radix % 2 or hosts > radix * half * half:
        raise BadInput(f"a fat tree of radix {radix} cannot have {hosts} hosts; give an even radix, hosts <= radix^3/4")
    edges = -(-hosts // half)
    pods = -(-edges // half)
    edge, aggregation, core = hosts, hosts + edges, hosts + edges + pods * half
    pairs = [(host, edge + host // half) for host in range(hosts)]
    pairs += [(edge + e, aggregation + e // half * half + a) for e in range(edges) for a in range(half)]
    cores = half * half if pods > 1 else 0
    pairs += [
        (aggregation + pod * half + a, core + a * half + c)
        for pod in range(pods)
        for a in range(half)
        for c in range(half)
        if cores
    ]
    names = [f"e{e}" for e in range(edges)] + [f"a{a}" for a in range(pods * half)] + [f"c{c}" for c in range(cores)]
    return _both_ways(hosts, names, pairs)


def mesh(hosts: int) -> Topology:
    """Hosts alone, with a link from each to every other, in the order of their sources, then targets."""
    _at_least(1, hosts=hosts)
    links = tuple(Link(a, b) for a in range(hosts) for b in range(hosts) if a != b)
    return Topology(_nodes([f"h{host}" for host in range(hosts)], ()), links)


def served(clients: int) -> Topology:
    """One host and clients that are each joined to it, both ways, in their order."""
    _at_least(1, clients=clients)
    return attached(1, (), (0,) * clients)


def attached(hosts: int, joined: Iterable[tuple[NodeId, NodeId]], clients: Iterable[NodeId]) -> Topology:
    """Hosts and clients. joined: pairs of hosts that are joined both ways. clients: for each client the host that it is
    joined to, both ways."""
    at = list(clients)
    pairs = [*joined, *((hosts + number, host) for number, host in enumerate(at))]
    nodes = [Node(f"h{host}", Role.HOST) for host in range(hosts)]
    nodes += [Node(f"c{hosts + number}", Role.CLIENT) for number in range(len(at))]
    return Topology(tuple(nodes), tuple(link for a, b in pairs for link in (Link(a, b), Link(b, a))))


def one_way(senders: int = 2, receivers: int = 2, switches: int = 1) -> Topology:
    """Hosts that only send, a row of switches, hosts that only receive."""
    _at_least(1, senders=senders, receivers=receivers, switches=switches)
    hosts = senders + receivers
    first, last = hosts, hosts + switches - 1
    links = [Link(sender, first) for sender in range(senders)]
    links += [Link(switch, switch + 1) for switch in range(first, last)]
    links += [Link(last, receiver) for receiver in range(senders, hosts)]
    names = [f"sender{n}" for n in range(senders)] + [f"receiver{n}" for n in range(receivers)]
    return Topology(_nodes(names, [f"s{n}" for n in range(switches)]), tuple(links))


# Figures 1 and 2 of source document 000: senders 101a-d, receivers 103a-b, switches 102a-d, links 107a-j.
_EXAMPLE_HOSTS = ("101a", "101b", "101c", "101d", "103a", "103b")
_EXAMPLE_SWITCHES = ("102a", "102b", "102c", "102d")
_EXAMPLE_LINKS = {
    "a": ("101a", "102a"),
    "b": ("101b", "102a"),
    "c": ("101c", "102b"),
    "d": ("101d", "102b"),
    "e": ("102a", "102c"),
    "f": ("102a", "102d"),
    "g": ("102b", "102c"),
    "h": ("102b", "102d"),
    "i": ("102c", "103a"),
    "j": ("102d", "103b"),
}


def first_example() -> Topology:
    """Figure 1: every sender reaches both receivers; link ids 0 to 9 are the document's 107a to 107j."""
    return _example(_EXAMPLE_LINKS)


def second_example() -> Topology:
    """Figure 2 (TO-BAR-PART): link 107f is missing, so that senders 101a and 101b do not reach receiver 103b."""
    return _example(letter for letter in _EXAMPLE_LINKS if letter != "f")


def example_link(topology: Topology, letter: str) -> int:
    """The id of the document's link 107<letter> in one of the two examples."""
    names = [node.name for node in topology.nodes]
    source, target = _EXAMPLE_LINKS[letter]
    return topology.links.index(Link(names.index(source), names.index(target)))


def _example(letters: Iterable[str]) -> Topology:
    nodes = _nodes(_EXAMPLE_HOSTS, _EXAMPLE_SWITCHES)
    names = [node.name for node in nodes]
    ends = (_EXAMPLE_LINKS[letter] for letter in letters)
    return Topology(nodes, tuple(Link(names.index(source), names.index(target)) for source, target in ends))


def _both_ways(hosts: int, switches: Iterable[str], pairs: Iterable[tuple[NodeId, NodeId]]) -> Topology:
    links = [link for a, b in pairs for link in (Link(a, b), Link(b, a))]
    return Topology(_nodes([f"h{host}" for host in range(hosts)], switches), tuple(links))


def _nodes(hosts: Iterable[str], switches: Iterable[str]) -> tuple[Node, ...]:
    return (*(Node(name, Role.HOST) for name in hosts), *(Node(name, Role.SWITCH) for name in switches))


def _at_least(least: int, **counts: int) -> None:
    for name, count in counts.items():
        if count < least:
            raise BadInput(f"{name} is {count}; give at least {least}")
