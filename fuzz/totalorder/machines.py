"""Total order, one small step at a time: reference cores, and beside them a plain model of what an observer must see.

Rules scatter, let time pass, and deliver the next packet of a link. After each step everything that the nodes sent and
delivered is compared with the model, which knows the clauses and nothing of the cores.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from scatterproof.conformance.network.run import MakeNode
from scatterproof.conformance.network.topologies import chain, diamond, one_way, star
from scatterproof.fuzz.totalorder.strategies import beacon_intervals
from scatterproof.spec.core import (
    Deliver,
    Effect,
    Event,
    PacketArrived,
    Parameter,
    Refuse,
    Send,
    Submitted,
    TimerFired,
    node_config,
)
from scatterproof.spec.topology import NO_LINK, LinkId, NodeId, Role, Topology, route
from scatterproof.spec.totalorder.messages import (
    NO_BARRIER,
    NOT_SPOKEN,
    WITHOUT_LOSS,
    Delivery,
    Environment,
    Packet,
    PacketKind,
)

NETWORKS = (one_way(2, 1), chain(2, 1), star(2), diamond(2, 1))
MAX_STEP_NS = 12


class NetworkModel:
    """What the clauses say of a network, in sets and lists. Times in ns; all clocks run together, offsets apart."""

    def __init__(self, topology: Topology, environment: Environment, interval: int) -> None:
        self.routes = route(topology)
        self.topology = topology
        self.environment = environment
        self.interval = interval
        self.newest = [NOT_SPOKEN] * len(topology.links)
        self.promised = [NOT_SPOKEN] * len(topology.links)
        self.last_data = [-(1 << 62)] * len(topology.links)
        self.last = dict.fromkeys(topology.hosts(), NOT_SPOKEN)
        self.ever_promised = dict.fromkeys(topology.hosts(), NOT_SPOKEN)
        self.arrived: dict[NodeId, list[Delivery]] = {host: [] for host in topology.hosts()}
        self.delivered: dict[NodeId, list[Delivery]] = {host: [] for host in topology.hosts()}
        self.numbers: Counter[tuple[NodeId, NodeId]] = Counter()

    def sent_by_host(self, host: NodeId, clock: int, link: LinkId, packet: Packet, timestamp: int) -> None:
        """timestamp: that of the scattering, for data."""
        if packet.kind == PacketKind.DATA:
            self.numbers[host, packet.receiver] += 1
            assert packet.number == self.numbers[host, packet.receiver], "TO-ONCE: numbers count from 1"
            assert packet.timestamp == timestamp, "TO-SCATTER: one timestamp a scattering"
            if packet.barrier != NO_BARRIER:
                assert packet.barrier == timestamp, "TO-BAR-HOST: a data barrier is the timestamp"
        else:
            assert packet.barrier == max(clock, self.last[host]), "TO-BAR-HOST: a beacon carries clock or last"
        self.ever_promised[host] = max(self.ever_promised[host], packet.barrier)
        self._sent(clock, link, packet)

    def stamped(self, host: NodeId, clock: int) -> int:
        """The timestamp of the host's next scattering (TO-MONO)."""
        self.last[host] = max(clock, self.last[host] + 1, self.ever_promised[host])
        return self.last[host]

    def sent_by_switch(self, clock: int, link: LinkId, packet: Packet) -> None:
        if packet.barrier != NO_BARRIER:
            least = min(self.newest[feeder] for feeder in self.routes.reaching[link])
            assert packet.barrier == least, f"TO-BAR-MIN: {packet.barrier} left where the minimum is {least}"
        self._sent(clock, link, packet)

    def _sent(self, clock: int, link: LinkId, packet: Packet) -> None:
        data = packet.kind == PacketKind.DATA
        if data:
            assert packet.timestamp >= self.promised[link], "TO-BAR-LINK: no data below a barrier already sent"
        if packet.barrier != NO_BARRIER:
            assert packet.barrier >= self.promised[link], "TO-BAR-RISE: barriers never fall"
            self.promised[link] = packet.barrier
        match self.environment:
            case Environment.A:
                assert data, "TO-ENV-A: no beacons"
                assert packet.barrier != NO_BARRIER, "TO-ENV-A: data carry barriers"
            case Environment.B:
                assert data == (packet.barrier == NO_BARRIER), "TO-ENV-B: barriers on beacons only"
            case Environment.C:
                assert packet.barrier != NO_BARRIER, "TO-ENV-C: data carry barriers"
                assert data or clock - self.last_data[link] >= self.interval, "TO-ENV-C: beacons only when idle"
        if data:
            self.last_data[link] = clock

    def took(self, node: NodeId, link: LinkId, packet: Packet) -> None:
        """The packet arrived at `node`."""
        if packet.barrier != NO_BARRIER:
            self.newest[link] = packet.barrier
        if packet.kind == PacketKind.DATA and packet.receiver == node:
            message = Delivery(packet.sender, packet.number, packet.timestamp, packet.payload)
            self.arrived[node].append(message)

    def due(self, host: NodeId) -> list[Delivery]:
        """All that the host must have delivered by now, in order (TO-DELIVER, TO-ORDER, TO-ONCE, TO-COMPLETE)."""
        ingress = [link for link in self.topology.ingress(host) if link in self.routes.used]
        barrier = min((self.newest[link] for link in ingress), default=NOT_SPOKEN)
        below = [message for message in self.arrived[host] if message.timestamp < barrier]
        return sorted(below, key=lambda message: (message.timestamp, message.sender))


class TotalOrderMachine(RuleBasedStateMachine):
    """Cores made by `make_node`, links as queues, and a `NetworkModel`."""

    make_node: MakeNode
    environment: Environment

    @initialize(
        network=st.sampled_from(NETWORKS),
        interval=beacon_intervals(),
        offsets=st.binary(min_size=10, max_size=10),
    )
    def start(self, network: Topology, interval: int, offsets: bytes) -> None:
        parameters: dict[str, Parameter] = {"environment": self.environment.value, "beacon_interval_ns": interval}
        self.model = NetworkModel(network, self.environment, interval)
        routes = self.model.routes
        self.now = 1
        # Equal clocks half of the time, so that timestamps tie.
        self.offsets = [offset % 16 if offsets[0] >= 128 else 0 for offset in offsets]
        self.queues: list[deque[Packet]] = [deque() for _ in network.links]
        self.cores = [
            type(self).make_node(node_config(node, network, routes, "totalorder", parameters))
            for node in range(len(network.nodes))
        ]
        self.reach = [
            (sender, [host for host in network.hosts() if routes.next_link[sender][host] != NO_LINK])
            for sender in network.hosts()
        ]
        self.reach = [(sender, receivers) for sender, receivers in self.reach if receivers]
        self.wake()

    @rule(
        sender=st.integers(0, 15), chosen=st.integers(0, 255), contents=st.binary(max_size=2), times=st.integers(1, 4)
    )
    def scatter(self, sender: int, chosen: int, contents: bytes, times: int) -> None:
        """A host sends to some of those that it can reach; more than once pushes its timestamps ahead of its clock."""
        for _ in range(times):
            self.scatter_once(sender, chosen, contents)

    def scatter_once(self, sender: int, chosen: int, contents: bytes) -> None:
        node, reachable = self.reach[sender % len(self.reach)]
        mask = chosen % ((1 << len(reachable)) - 1) + 1
        receivers = [receiver for place, receiver in enumerate(reachable) if mask >> place & 1]
        clock = self.clock(node)
        timestamp = self.model.stamped(node, clock)
        effects = self.cores[node].handle(Submitted(clock, tuple((receiver, contents) for receiver in receivers)))
        sent = [effect.packet for effect in effects if isinstance(effect, Send)]
        assert [(packet.receiver, packet.payload) for packet in sent] == [(r, contents) for r in receivers]
        self.carry_out(node, effects, timestamp)

    @rule(by=st.integers(1, MAX_STEP_NS))
    def let_time_pass(self, by: int) -> None:
        """Timers fire when they are due, none late."""
        end = self.now + by
        while (due := self.next_timer()) is not None and due <= end:
            self.now = max(self.now, due)
            self.wake()
        self.now = end

    @precondition(lambda self: any(self.queues))
    @rule(which=st.integers(0, 15))
    def deliver_packet(self, which: int) -> None:
        """The oldest packet of a link arrives."""
        busy = [link for link, queue in enumerate(self.queues) if queue]
        self.arrive(busy[which % len(busy)])

    @precondition(lambda self: any(self.queues))
    @rule(backwards=st.booleans())
    def drain(self, backwards: bool = False) -> None:
        """All packets arrive, link by link, and those that they give rise to."""
        while any(self.queues):
            for link in range(len(self.queues) - 1, -1, -1) if backwards else range(len(self.queues)):
                while self.queues[link]:
                    self.arrive(link)

    @precondition(lambda self: self.model.environment is not Environment.A and self.waiting())
    @rule()
    def settle(self) -> None:
        """Nothing more is sent: beacons pass every timestamp on every hop in time, and what arrived is delivered."""
        for _ in range(2 * len(self.model.topology.nodes)):
            self.let_time_pass(self.model.interval + MAX_STEP_NS)
            self.drain()
        assert not self.waiting(), "TO-COMPLETE: what arrived is delivered in the end"

    def waiting(self) -> bool:
        """Whether something arrived and is not delivered."""
        return any(len(self.model.arrived[host]) > len(self.model.delivered[host]) for host in self.model.arrived)

    def arrive(self, link: LinkId) -> None:
        """The link's oldest packet arrives, and has the effects that the clauses ask for."""
        packet = self.queues[link].popleft()
        node = self.model.topology.links[link].target
        self.model.took(node, link, packet)
        effects = self.handle(node, PacketArrived(self.clock(node), link, packet))
        assert not any(isinstance(effect, Refuse) for effect in effects), "a packet that keeps every clause was refused"
        if packet.kind == PacketKind.DATA and packet.receiver != node:
            passed = [effect.packet for effect in effects if isinstance(effect, Send)]
            same = [
                p for p in passed if (p.sender, p.receiver, p.number) == (packet.sender, packet.receiver, packet.number)
            ]
            assert len(same) == 1, "TO-COMPLETE: a switch sends each data message on, once"
            assert (same[0].timestamp, same[0].payload) == (packet.timestamp, packet.payload), "TO-ONCE: unchanged"

    @invariant()
    def delivered_what_is_due(self) -> None:
        """Every host has delivered exactly what the barriers that arrived there let it deliver, in order."""
        for host in self.model.topology.hosts() if hasattr(self, "model") else ():
            found, due = self.model.delivered[host], self.model.due(host)
            assert found == due, f"TO-DELIVER, TO-ORDER: host {host} delivered {found} where {due} is due"

    def next_timer(self) -> int | None:
        """When the earliest timer is due."""
        deadlines = [(node, core.next_deadline()) for node, core in enumerate(self.cores)]
        return min((due - self.offsets[node] for node, due in deadlines if due is not None), default=None)

    def wake(self) -> None:
        """Fire every timer that is due."""
        for node, core in enumerate(self.cores):
            deadline = core.next_deadline()
            if deadline is not None and deadline <= self.clock(node):
                self.handle(node, TimerFired(self.clock(node)))

    def clock(self, node: NodeId) -> int:
        return self.now + self.offsets[node]

    def handle(self, node: NodeId, event: Event[Packet]) -> list[Effect[Packet, Delivery]]:
        effects: list[Any] = list(self.cores[node].handle(event))
        self.carry_out(node, effects, NOT_SPOKEN)
        return effects

    def carry_out(self, node: NodeId, effects: Any, timestamp: int) -> None:
        clock = self.clock(node)
        for effect in effects:
            if isinstance(effect, Send):
                if self.model.topology.nodes[node].role is Role.HOST:
                    self.model.sent_by_host(node, clock, effect.link, effect.packet, timestamp)
                else:
                    self.model.sent_by_switch(clock, effect.link, effect.packet)
                self.queues[effect.link].append(effect.packet)
            elif isinstance(effect, Deliver):
                self.model.delivered[node].append(effect.message)


def machines(make_node: MakeNode) -> tuple[type[RuleBasedStateMachine], ...]:
    """The machines for nodes of this make, one an environment."""
    return tuple(
        type(
            f"TotalOrder{environment}",
            (TotalOrderMachine,),
            {"make_node": staticmethod(make_node), "environment": environment},
        )
        for environment in WITHOUT_LOSS
    )
