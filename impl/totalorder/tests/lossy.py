"""The cores joined by FIFO links that delay and lose, with a clock for each node; and the clauses over what they did.

Everything follows from the seed. Links lose until `loss_ends`; after that there is time for all to settle. Nothing of
the simulator is used: these tests say that the cores are right before a harness judges them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from random import Random
from typing import Any

from scatterproof.impl.totalorder import RULES, AnyCore, ReliableHost, Rules, make_core
from scatterproof.impl.totalorder.tests.network import TOPOLOGIES, Arrived, Delivered, Sent
from scatterproof.impl.totalorder.tests.nodes import BEACON, DATA
from scatterproof.spec.core import (
    Deliver,
    NodeConfig,
    PacketArrived,
    Parameter,
    Refuse,
    Send,
    Submitted,
    TimerFired,
    node_config,
)
from scatterproof.spec.topology import Role, Topology, route
from scatterproof.spec.totalorder.messages import NO_BARRIER, Delivery, Packet

INTERVAL = 10


@dataclass(kw_only=True)
class Scenario:
    """scatterings: (true time, host, receivers). lost: (link, number on it). Times in ns; clocks run with true time,
    each `offset` ahead of it."""

    topology: Topology
    parameters: dict[str, Parameter]
    scatterings: list[tuple[int, int, tuple[int, ...]]]
    ends: int
    offsets: tuple[int, ...] = ()
    delays: tuple[int, ...] = ()
    jitter: int = 0
    loss: float = 0.0
    loss_ends: int = 0
    lost: frozenset[tuple[int, int]] = frozenset()
    seed: int = 0
    rules: Rules = RULES
    make: Callable[[NodeConfig, Rules], AnyCore] = make_core


@dataclass
class Run:
    scenario: Scenario
    cores: list[AnyCore]
    log: list[Sent | Arrived | Delivered] = field(default_factory=list)
    times: list[int] = field(default_factory=list)  # true time of each entry of the log
    refused: list[str] = field(default_factory=list)
    lost: int = 0
    adjustments: list[tuple[int, int]] = field(default_factory=list)  # each change of one, before and after

    @property
    def loses(self) -> bool:
        return str(self.scenario.parameters["environment"]).startswith("D")

    def delivered(self, host: int) -> list[tuple[int, int]]:
        """(timestamp, sender) of the host's deliveries."""
        found = [entry.delivery for entry in self.log if isinstance(entry, Delivered) and entry.node == host]
        return [(delivery.timestamp, delivery.sender) for delivery in found]


def play(scenario: Scenario) -> Run:
    return _Play(scenario).whole()


class _Play:
    """One run as it goes on. Times are true ones; `clock` gives a node's."""

    def __init__(self, scenario: Scenario) -> None:
        topology = scenario.topology
        routes = route(topology)
        nodes = range(len(topology.nodes))
        configs = [node_config(n, topology, routes, "totalorder", scenario.parameters) for n in nodes]
        self.scenario = scenario
        self.draw = Random(scenario.seed)
        self.cores = [scenario.make(config, scenario.rules) for config in configs]
        self.offsets = scenario.offsets or (0,) * len(nodes)
        self.delays = scenario.delays or (1,) * len(topology.links)
        self.run = Run(scenario, self.cores)
        self.heap: list[tuple[int, int, int, Any]] = []
        self.causes = iter(range(1 << 30))
        self.free_from = [0] * len(topology.links)
        self.alarms: list[int | None] = [None] * len(nodes)
        self.in_force = [0] * len(nodes)
        for time, host, receivers in scenario.scatterings:
            self.push(time, host, receivers)

    def whole(self) -> Run:
        for node in range(len(self.cores)):
            self.arm(node, 0)
        while self.heap and self.heap[0][0] <= self.scenario.ends:
            now, _, node, what = heappop(self.heap)
            effects = self.take(now, node, what)
            if effects is not None:
                for effect in effects:
                    self.carry_out(now, node, effect)
                self.note_adjustment(node)
                self.arm(node, now)
        return self.run

    def push(self, when: int, node: int, what: Any) -> None:
        heappush(self.heap, (when, next(self.causes), node, what))

    def clock(self, node: int, now: int) -> int:
        return now + self.offsets[node] + 1

    def arm(self, node: int, now: int) -> None:
        deadline = self.cores[node].next_deadline()
        if deadline != self.alarms[node]:
            self.alarms[node] = deadline
            if deadline is not None:
                self.push(max(now, deadline - self.offsets[node] - 1), node, deadline)

    def take(self, now: int, node: int, what: Any) -> Sequence[Any] | None:
        """Let the node have a timer, a packet or a submission; None for a timer that is none any more."""
        reading = self.clock(node, now)
        if isinstance(what, int):
            if self.alarms[node] != what:
                return None
            self.alarms[node] = None
            return self.cores[node].handle(TimerFired(reading))
        if len(what) == 2 and isinstance(what[1], Packet):
            self.run.log.append(Arrived(node, *what))
            self.run.times.append(now)
            return self.cores[node].handle(PacketArrived(reading, *what))
        return self.cores[node].handle(Submitted(reading, tuple((host, b"%d" % now) for host in what)))

    def carry_out(self, now: int, node: int, effect: Any) -> None:
        if isinstance(effect, Send):
            self.send(now, node, effect.link, effect.packet)
        elif isinstance(effect, Deliver):
            self.run.log.append(Delivered(node, effect.message))
            self.run.times.append(now)
        else:
            assert isinstance(effect, Refuse)
            self.run.refused.append(effect.reason)

    def send(self, now: int, node: int, link: int, packet: Packet) -> None:
        scenario = self.scenario
        self.run.log.append(Sent(node, self.clock(node, now), link, packet))
        self.run.times.append(now)
        if (now < scenario.loss_ends and self.draw.random() < scenario.loss) or (
            link,
            packet.link_seq,
        ) in scenario.lost:
            self.run.lost += 1
            return
        arrives = max(self.free_from[link], now + self.delays[link] + self.draw.randint(0, scenario.jitter))
        self.free_from[link] = arrives
        self.push(arrives, scenario.topology.links[link].target, (link, packet))

    def note_adjustment(self, node: int) -> None:
        core = self.cores[node]
        if isinstance(core, ReliableHost) and core.adjustment != self.in_force[node]:
            self.run.adjustments.append((self.in_force[node], core.adjustment))
            self.in_force[node] = core.adjustment


def random_scenario(topology: str, environment: str, seed: int, rules: Rules = RULES, **more: Parameter) -> Scenario:
    """About forty scatterings over 600 ns while packets are lost, in environment D, and 3000 ns more."""
    draw = Random(f"{topology} {environment} {seed}")
    shape = TOPOLOGIES[topology]
    reach = route(shape).next_link
    scatterings = []
    for _ in range(40):
        host = draw.choice(shape.hosts())
        reachable = [other for other in shape.hosts() if reach[host][other] >= 0]
        if reachable:
            receivers = tuple(draw.sample(reachable, draw.randint(1, len(reachable))))
            scatterings.append((draw.randrange(600), host, receivers))
    return Scenario(
        topology=shape,
        parameters={"environment": environment, "beacon_interval_ns": INTERVAL, "retransmit_timeout_ns": 60, **more},
        scatterings=scatterings,
        ends=4000,
        offsets=tuple(draw.randrange(30) for _ in shape.nodes),
        delays=tuple(draw.randint(1, 12) for _ in shape.links),
        jitter=draw.choice((0, 5)),
        loss=draw.choice((0.02, 0.2, 0.5)) if environment.startswith("D") else 0.0,
        loss_ends=900,
        seed=seed,
        rules=rules,
    )


def short_scenario(topology: str, environment: str, seed: int, rules: Rules = RULES) -> Scenario:
    """Ten scatterings over links of very different delays, one packet in five or twenty lost; over after 500 ns."""
    draw = Random(seed)
    scenario = random_scenario(topology, environment, seed, rules)
    hosts = scenario.topology.hosts()
    scatterings = []
    for _ in range(10):
        host = draw.choice(hosts)
        scatterings.append((draw.randrange(120), host, tuple(draw.sample(hosts, draw.randint(1, len(hosts))))))
    return replace(
        scenario,
        scatterings=scatterings,
        delays=tuple(draw.choice((1, 2, 5, 30)) for _ in scenario.topology.links),
        jitter=0,
        loss=draw.choice((0.05, 0.2)),
        loss_ends=150,
        ends=500,
        offsets=tuple(draw.choice((0, 0, 20)) for _ in scenario.topology.nodes),
    )


def broken(run: Run) -> set[str]:
    """The ids of the clauses that the run breaks."""
    return deliveries(run) | promises(run) | structure(run)


def _messages(run: Run) -> dict[tuple[int, int, int], Packet]:
    """(sender, receiver, number) -> the message as it left its sender first."""
    found: dict[tuple[int, int, int], Packet] = {}
    for entry in run.log:
        if isinstance(entry, Sent) and entry.packet.kind == DATA and entry.packet.sender == entry.node:
            packet = entry.packet
            found.setdefault((packet.sender, packet.receiver, packet.number), packet)
    return found


def undelivered(run: Run) -> set[tuple[int, int, int]]:
    """(sender, receiver, number) of what was sent and not delivered."""
    there = {
        (entry.delivery.sender, entry.node, entry.delivery.number) for entry in run.log if isinstance(entry, Delivered)
    }
    return _messages(run).keys() - there


def deliveries(run: Run) -> set[str]:
    found: set[str] = set()
    messages = _messages(run)
    seen: set[tuple[int, int, int]] = set()
    last: dict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for entry in run.log:
        if isinstance(entry, Delivered):
            delivery = entry.delivery
            name = (delivery.sender, entry.node, delivery.number)
            sent = messages.get(name)
            as_sent = sent and Delivery(sent.sender, sent.number, sent.timestamp, sent.payload)
            if name in seen or delivery != as_sent:
                found.add("TO-ONCE")
            seen.add(name)
            if (delivery.timestamp, delivery.sender) <= last[entry.node]:
                found.add("TO-ORDER")
            last[entry.node] = (delivery.timestamp, delivery.sender)
    return found


def promises(run: Run) -> set[str]:
    """On every link: nothing new follows below a barrier; barriers rise; what is acknowledged was received; and what is
    greatest is at or above every timestamp that went before."""
    found: set[str] = set()
    topology = run.scenario.topology
    routes = route(topology)
    over: dict[int, list[tuple[int, tuple[int, int, int]]]] = defaultdict(list)  # link -> (timestamp, message)
    received: set[tuple[int, int, int]] = set()
    barrier: dict[int, int] = defaultdict(int)
    ack: dict[int, int] = defaultdict(int)
    greatest: dict[int, int] = defaultdict(int)
    for name, packet in _messages(run).items():
        for link in routes.path(topology, name[0], name[1]):
            over[link].append((packet.timestamp, name))
    for entry in run.log:
        if isinstance(entry, Delivered):
            continue
        packet, link = entry.packet, entry.link
        name = (packet.sender, packet.receiver, packet.number)
        if isinstance(entry, Arrived):
            if packet.kind == DATA and entry.node == packet.receiver:
                received.add(name)
            continue
        if packet.kind == DATA and not packet.resent and packet.timestamp < barrier[link]:
            found.add("TO-BAR-LINK")
        if NO_BARRIER != packet.barrier < barrier[link]:
            found.add("TO-BAR-RISE")
        if NO_BARRIER != packet.ack_barrier < ack[link]:
            found.add("TO-ACK-RISE")
        if any(time <= packet.ack_barrier and name not in received for time, name in over[link]):
            found.add("TO-ACK-MEAN")
        if packet.loss_record and packet.loss_record <= packet.ack_barrier:
            found.add("TO-FLAG-SW")
        if run.loses and packet.greatest < greatest[link]:
            found.add("TO-SWLOSS")
        barrier[link] = max(barrier[link], packet.barrier)
        ack[link] = max(ack[link], packet.ack_barrier)
        if packet.kind == DATA:
            greatest[link] = max(greatest[link], packet.timestamp)
    return found


CARRIED: dict[str, tuple[str, set[str]]] = {  # by data messages, and by beacons
    "A": ("b", set()),
    "B": ("", {"b"}),
    "C": ("b", {"b"}),
    "D5": ("ba", set()),
    "D6": ("b", {"a"}),
    "D7": ("", {"b", "a"}),
    "D8": ("", {"ba"}),
    "D9": ("ba", {"ba"}),
}


def structure(run: Run) -> set[str]:
    """What carries what (TO-FMT-5 to TO-FMT-9), and at most one beacon of a kind an interval on a switch's link."""
    environment = str(run.scenario.parameters["environment"])
    data, beacons = CARRIED[environment]
    found: set[str] = set()
    before: dict[tuple[int, str], int] = {}
    for entry in run.log:
        if not isinstance(entry, Sent):
            continue
        packet = entry.packet
        carried = ("b" if packet.barrier != NO_BARRIER else "") + ("a" if packet.ack_barrier != NO_BARRIER else "")
        if packet.kind == BEACON:
            if carried not in beacons:
                found.add(f"TO-FMT-{environment}")
            if run.scenario.topology.nodes[entry.node].role is Role.SWITCH:
                last = before.get((entry.link, carried))
                if last is not None and entry.clock - last < INTERVAL:
                    found.add("TO-BEACON-MIN")
                before[entry.link, carried] = entry.clock
        elif carried != (data if packet.kind == DATA else ""):
            found.add(f"TO-FMT-{environment}")
    return found
