"""The cores joined by FIFO links in memory, driven at random; and the clauses over what they did, as plain as can be.

Nothing of the simulator is used: these tests say that the cores are right before a harness judges them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from scatterproof.impl.totalorder import AnyCore, Rules, make_core
from scatterproof.impl.totalorder.tests.nodes import BEACON, DATA
from scatterproof.spec.core import (
    Deliver,
    Event,
    NodeConfig,
    PacketArrived,
    Parameter,
    Refuse,
    Send,
    Submitted,
    TimerFired,
    node_config,
)
from scatterproof.spec.topology import Link, Node, Role, Topology, route
from scatterproof.spec.totalorder.messages import NO_BARRIER, Delivery, Packet

INTERVAL = 10
_HOST, _SWITCH = Role.HOST, Role.SWITCH


def _topology(roles: str, pairs: list[tuple[int, int]]) -> Topology:
    nodes = tuple(Node(f"{role}{n}", _HOST if role == "h" else _SWITCH) for n, role in enumerate(roles))
    return Topology(nodes, tuple(Link(source, target) for source, target in pairs))


# Three hosts at a switch; two and one at a row of two; the document's second example, with senders 0 and 1 for 101a and
# 101c, receivers 2 and 3: sender 0 does not reach receiver 3.
TOPOLOGIES = {
    "star": _topology("hhhs", [(0, 3), (3, 0), (1, 3), (3, 1), (2, 3), (3, 2)]),
    "row": _topology("hhhss", [(0, 3), (3, 0), (1, 3), (3, 1), (3, 4), (4, 3), (2, 4), (4, 2)]),
    "example 2": _topology("hhhhssss", [(0, 4), (1, 5), (4, 6), (5, 6), (5, 7), (6, 2), (7, 3)]),
}


class Sent(NamedTuple):
    node: int
    clock: int
    link: int
    packet: Packet


class Arrived(NamedTuple):
    node: int
    link: int
    packet: Packet


class Delivered(NamedTuple):
    node: int
    delivery: Delivery


class Network:
    """What happened is in `log`; `refused` has the reasons of refusals, and stays empty under correct rules."""

    def __init__(
        self,
        topology: Topology,
        environment: str,
        rules: Rules,
        seed: int,
        make: Callable[[NodeConfig, Rules], AnyCore] = make_core,
    ) -> None:
        routes = route(topology)
        parameters: dict[str, Parameter] = {"environment": environment, "beacon_interval_ns": INTERVAL}
        self.topology, self.environment, self.reaching = topology, environment, routes.reaching
        self.configs = [node_config(n, topology, routes, "totalorder", parameters) for n in range(len(topology.nodes))]
        self.cores = [make(config, rules) for config in self.configs]
        self.log: list[Sent | Arrived | Delivered] = []
        self.scatterings: list[tuple[int, int, list[int]]] = []  # host, clock, timestamps of its messages
        self.refused: list[str] = []
        self._random = Random(seed)
        self._clocks = [self._random.randrange(30) for _ in topology.nodes]
        self._links: list[deque[Packet]] = [deque() for _ in topology.links]

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self._step()
        # Enough for every clock to pass every timestamp, and for beacons to cross every switch.
        for _ in range(40):
            for node in range(len(self.cores)):
                self._clocks[node] += INTERVAL
                self._wake(node)
            while any(self._links):
                self._arrive()

    def _step(self) -> None:
        draw = self._random
        node = draw.randrange(len(self.cores))
        action = draw.randrange(10)
        if action < 2 and self.configs[node].role is Role.HOST and self.configs[node].next_link:
            self._scatter(node)
        elif action < 5:
            self._clocks[node] += draw.choice((-3, 0, 0, 1, 4, 9))
            self._wake(node)
        else:
            self._arrive()

    def _scatter(self, node: int) -> None:
        reachable = [host for host, _ in self.configs[node].next_link]
        receivers = self._random.sample(reachable, self._random.randint(1, len(reachable)))
        first = len(self.log)
        self._handle(node, Submitted(self._clocks[node], tuple((host, b"%d" % first) for host in receivers)))
        timestamps = [entry.packet.timestamp for entry in self.log[first:] if isinstance(entry, Sent)]
        self.scatterings.append((node, self._clocks[node], timestamps))

    def _wake(self, node: int) -> None:
        deadline = self.cores[node].next_deadline()
        if deadline is not None and deadline <= self._clocks[node]:
            self._handle(node, TimerFired(self._clocks[node]))

    def _arrive(self) -> None:
        busy = [link for link, queue in enumerate(self._links) if queue]
        if busy:
            link = self._random.choice(busy)
            node, packet = self.topology.links[link].target, self._links[link].popleft()
            self.log.append(Arrived(node, link, packet))
            self._handle(node, PacketArrived(self._clocks[node], link, packet))

    def _handle(self, node: int, event: Event[Packet]) -> None:
        for effect in self.cores[node].handle(event):
            if isinstance(effect, Send):
                self.log.append(Sent(node, self._clocks[node], effect.link, effect.packet))
                self._links[effect.link].append(effect.packet)
            elif isinstance(effect, Deliver):
                self.log.append(Delivered(node, effect.message))
            else:
                assert isinstance(effect, Refuse)
                self.refused.append(effect.reason)


def broken(network: Network) -> set[str]:
    """The ids of the clauses that the run breaks."""
    return sending(network) | links(network) | minimums(network) | deliveries(network) | carriers(network)


def sending(network: Network) -> set[str]:
    found: set[str] = set()
    last: dict[int, int] = {}
    for host, clock, timestamps in network.scatterings:
        if len(set(timestamps)) > 1:
            found.add("TO-SCATTER")
        if min(timestamps) <= last.get(host, 0) or min(timestamps) < clock:
            found.add("TO-MONO")
        last[host] = max(timestamps)
    last.clear()
    promised: dict[int, int] = {}
    for entry in network.log:
        if isinstance(entry, Sent) and network.configs[entry.node].role is Role.HOST:
            host, packet = entry.node, entry.packet
            if packet.kind == DATA:
                if packet.barrier not in (NO_BARRIER, packet.timestamp) or packet.timestamp < promised.get(host, 0):
                    found.add("TO-BAR-HOST")
                last[host] = packet.timestamp
            elif packet.barrier != max(entry.clock, last.get(host, 0)):
                found.add("TO-BAR-HOST")
            promised[host] = max(promised.get(host, 0), packet.barrier)
    return found


def links(network: Network) -> set[str]:
    found: set[str] = set()
    promised: dict[int, int] = {}
    for entry in network.log:
        if isinstance(entry, Sent):
            before = promised.get(entry.link, 0)
            if entry.packet.kind == DATA and entry.packet.timestamp < before:
                found.add("TO-BAR-LINK")
            if entry.packet.barrier != NO_BARRIER:
                if entry.packet.barrier < before:
                    found.add("TO-BAR-RISE")
                promised[entry.link] = max(before, entry.packet.barrier)
    return found


def minimums(network: Network) -> set[str]:
    """TO-BAR-MIN and TO-BAR-PART at switches, TO-DELIVER at receivers."""
    found: set[str] = set()
    newest = [0] * len(network.topology.links)
    for entry in network.log:
        if isinstance(entry, Arrived):
            if entry.packet.barrier != NO_BARRIER:
                newest[entry.link] = entry.packet.barrier
        elif isinstance(entry, Delivered):
            if entry.delivery.timestamp >= min(newest[link] for link in network.configs[entry.node].ingress):
                found.add("TO-DELIVER")
        elif network.configs[entry.node].role is Role.SWITCH and entry.packet.barrier != NO_BARRIER:
            expected = min(newest[link] for link in network.reaching[entry.link])
            if entry.packet.barrier > expected:
                found.add("TO-BAR-MIN")
            elif entry.packet.barrier < expected:
                found |= {"TO-BAR-MIN", "TO-BAR-PART"}
    return found


def deliveries(network: Network) -> set[str]:
    found: set[str] = set()
    sent = {
        (entry.packet.receiver, Delivery(entry.node, entry.packet.number, entry.packet.timestamp, entry.packet.payload))
        for entry in network.log
        if isinstance(entry, Sent) and entry.packet.kind == DATA and entry.packet.sender == entry.node
    }
    arrived = {
        (entry.node, entry.packet.sender, entry.packet.number)
        for entry in network.log
        if isinstance(entry, Arrived) and entry.packet.kind == DATA and entry.packet.receiver == entry.node
    }
    delivered: set[tuple[int, int, int]] = set()
    last: dict[int, tuple[int, int]] = {}
    for entry in network.log:
        if isinstance(entry, Delivered):
            name = (entry.node, entry.delivery.sender, entry.delivery.number)
            if name in delivered or (entry.node, entry.delivery) not in sent:
                found.add("TO-ONCE")
            delivered.add(name)
            key = (entry.delivery.timestamp, entry.delivery.sender)
            if key <= last.get(entry.node, (0, 0)):
                found.add("TO-ORDER")
            last[entry.node] = key
    # In environment A the last messages of all are never deliverable.
    if network.environment != "A" and delivered != arrived:
        found.add("TO-COMPLETE")
    return found


def carriers(network: Network) -> set[str]:
    found: set[str] = set()
    last_data: dict[int, int] = {}
    for entry in network.log:
        if not isinstance(entry, Sent):
            continue
        bare = entry.packet.barrier == NO_BARRIER
        if entry.packet.kind == DATA:
            last_data[entry.link] = entry.clock
            if bare != (network.environment == "B"):
                found.add(f"TO-ENV-{network.environment}")
        elif bare or network.environment == "A":
            found.add(f"TO-ENV-{network.environment}")
        elif network.environment == "C" and entry.clock < last_data.get(entry.link, entry.clock - INTERVAL) + INTERVAL:
            found.add("TO-ENV-C")
    assert all(entry.packet.kind in (DATA, BEACON) for entry in network.log if isinstance(entry, Sent))
    return found
