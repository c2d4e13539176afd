"""The published testbed as a network of ours. Every number of the model is here, once, and holds for every figure.

A hop's delay is put on the link that leaves the node which causes it: a host's own processing on its first and last
link, a switch's on its egress links. Barriers and data take the same links, so that all of it delays both alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import Clock, Delay
from scatterproof.spec.topology import Link, Node, NodeId, Role, Topology

# Both directions of a cable between two nodes.
_Pair = tuple[NodeId, NodeId]


@dataclass(frozen=True, slots=True, kw_only=True)
class Testbed:
    """32 servers below three layers of 10 switches: 1 switch between servers of a rack, 3 within a pod, 5 beyond.

    Published: the shape, the beacon interval, the mean skew of 0.3 us (here: offsets uniform within twice that on both
        sides), and 5.35 us over 5 switches without any order. Assumed: 15 m of cable with its transceivers; a host's
        software and adapter of 1 us a side, a fifth of it varying with its polling; and the time in which a polling
        host takes a beacon in and gives one out. The switch's latency is what is left of the 5.35 us.

    switch_spacing_ns: the least time between two beacons of a switch on a link. A switch is asked for one every beacon
        interval; with a spacing as long, a switch that was late once, at worst by a whole interval, would stay late.
    retransmit_timeout_ns: a little more than a message and its acknowledgement take without loss. It does not double:
        links that lose packets are not relieved by waiting.
    """

    pods: int = 2
    racks_per_pod: int = 2
    servers_per_rack: int = 8
    spines_per_pod: int = 2
    cores: int = 2
    link_ns: int = 100
    switch_ns: int = 550
    host_ns: int = 900
    host_jitter_ns: int = 200
    aggregating_host_ns: int = 750
    beacon_interval_ns: int = 3_000
    switch_spacing_ns: int = 1_500
    greatest_offset_ns: int = 600
    retransmit_timeout_ns: int = 8_000

    @property
    def servers(self) -> int:
        return self.pods * self.racks_per_pod * self.servers_per_rack

    @property
    def detour_ns(self) -> int:
        """Extra time of a barrier, in ns, where a host beside the switch aggregates: to the host, through it, and
        back."""
        return 2 * self.link_ns + self.switch_ns + self.aggregating_host_ns


TESTBED = Testbed()


@dataclass(frozen=True, slots=True, kw_only=True)
class TestbedNetwork:
    """A topology with its delays. Its hosts are the processes; those of one server share its clock.

    server_of: the number of each process's server.
    """

    topology: Topology
    delays: tuple[Delay, ...]
    server_of: tuple[int, ...]

    def clocks(self, greatest_offset_ns: int, draw: Random) -> tuple[Clock, ...]:
        """Offsets of the servers' clocks, each drawn uniformly; switches have no use for a clock that is right."""
        offsets = [draw.randint(-greatest_offset_ns, greatest_offset_ns) for _ in range(max(self.server_of) + 1)]
        hosts = [Clock(offsets[server]) for server in self.server_of]
        return (*hosts, *(Clock() for _ in range(len(self.topology.nodes) - len(hosts))))


def network(processes: int, testbed: Testbed = TESTBED) -> TestbedNetwork:
    """As many servers as there are processes, filled rack by rack, and the switches that they need. Further processes
    are dealt out over all servers; each server is then a node without latency that joins its processes. BadInput for a
    number of processes that cannot be dealt out evenly."""
    servers = min(processes, testbed.servers)
    if processes < 1 or processes % servers:
        raise BadInput(f"processes is {processes}; give 1 to {testbed.servers}, or a multiple of {testbed.servers}")
    shared = processes > servers
    roots = range(processes, processes + servers) if shared else range(servers)
    names = [f"server{n}" for n in range(servers)] if shared else []
    pairs = [(process, roots[process % servers]) for process in range(processes)] if shared else []
    first = processes + len(names)
    layers = list(_switches(servers, first, testbed))
    names += [f"s{n}" for n in range(max(upper for _, upper in layers) - first + 1)]
    pairs += [(roots[lower] if lower < servers else lower, upper) for lower, upper in layers]
    nodes = (
        *(Node(f"p{n}", Role.HOST) for n in range(processes)),
        *(Node(name, Role.SWITCH) for name in names),
    )
    links = tuple(link for a, b in pairs for link in (Link(a, b), Link(b, a)))
    delays = tuple(_delay(link, processes, first, testbed) for link in links)
    server_of = tuple(process % servers for process in range(processes))
    return TestbedNetwork(topology=Topology(nodes, links), delays=delays, server_of=server_of)


def row(switches: int, testbed: Testbed = TESTBED) -> TestbedNetwork:
    """Two hosts at either end of a row of switches."""
    first, last = 4, 3 + switches
    pairs = [(0, first), (1, first), (2, last), (3, last), *((switch, switch + 1) for switch in range(first, last))]
    nodes = (*(Node(f"p{n}", Role.HOST) for n in range(4)), *(Node(f"s{n}", Role.SWITCH) for n in range(switches)))
    links = tuple(link for a, b in pairs for link in (Link(a, b), Link(b, a)))
    delays = tuple(_delay(link, 4, first, testbed) for link in links)
    return TestbedNetwork(topology=Topology(nodes, links), delays=delays, server_of=(0, 1, 2, 3))


def _switches(servers: int, first: NodeId, testbed: Testbed) -> Iterator[_Pair]:
    """Cables from servers (0, 1, ...) to racks to spines to cores; switches are numbered from `first`."""
    per_pod = testbed.racks_per_pod
    racks = -(-servers // testbed.servers_per_rack)
    pods = -(-racks // per_pod)
    for server in range(servers):
        yield server, first + server // testbed.servers_per_rack
    if racks == 1:
        return
    spine = first + racks
    for rack in range(racks):
        for n in range(testbed.spines_per_pod):
            yield first + rack, spine + rack // per_pod * testbed.spines_per_pod + n
    if pods == 1:
        return
    core = spine + pods * testbed.spines_per_pod
    for n in range(pods * testbed.spines_per_pod):
        for c in range(testbed.cores):
            yield spine + n, core + c


def _delay(link: Link, processes: int, first_switch: NodeId, testbed: Testbed) -> Delay:
    base = jitter = 0
    if min(link.source, link.target) < processes:
        base, jitter = testbed.host_ns, testbed.host_jitter_ns
    if max(link.source, link.target) >= first_switch:
        base += testbed.link_ns
    if link.source >= first_switch:
        base += testbed.switch_ns
    return Delay(base, jitter)
