"""A host of the total-order service: scatters messages, and delivers what arrived in one order.

Clauses: TO-SCATTER, TO-MONO, TO-BAR-HOST, TO-ENV-A, TO-ENV-B, TO-ENV-C, TO-DELIVER, TO-ORDER, TO-ONCE.
Operators: Scatter, HostBeacon, Receive and Deliver in BarrierOrder.tla.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TypeAlias, assert_never

from impl.totalorder.ingress import Ingress
from impl.totalorder.rules import RULES, Rules
from spec.core import (
    Deliver,
    Effect,
    Event,
    LocalProtocolError,
    NodeConfig,
    PacketArrived,
    Refuse,
    Send,
    Submitted,
    TimerFired,
)
from spec.topology import LinkId
from spec.totalorder.messages import NO_BARRIER, NOT_SPOKEN, Delivery, Environment, Packet, PacketKind

In: TypeAlias = Event[Packet]
Out: TypeAlias = Effect[Packet, Delivery]

_DATA, _BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)
# No data message carried a barrier yet, so a beacon is due at the first opportunity.
_NEVER = -(1 << 62)


class Host:
    """Sender and receiver. Its beacons leave at whole multiples of the interval on its local clock: hosts that do so
    together raise a switch's minimum once an interval, not once a host."""

    def __init__(self, config: NodeConfig, rules: Rules = RULES) -> None:
        self._node = config.node
        self._rules = rules
        self._environment = Environment(str(config.parameters["environment"]))
        self._interval = int(config.parameters["beacon_interval_ns"])
        self._next_link = dict(config.next_link)
        # Sending.
        self._last = NOT_SPOKEN
        self._promised = NOT_SPOKEN
        self._numbers: dict[int, int] = {}
        self._seqs = dict.fromkeys(config.egress, 0)
        self._last_carried = dict.fromkeys(config.egress, _NEVER)
        self._beacons = self._environment is not Environment.A and bool(config.egress)
        self._deadline: int | None = 0 if self._beacons else None
        # Receiving.
        self._ingress = Ingress(config.ingress, rules)
        self._buffer: list[tuple[tuple[int, ...], int, Packet]] = []
        self._arrivals = 0

    def handle(self, event: In) -> Sequence[Out]:
        if isinstance(event, PacketArrived):
            return self._receive(event.link, event.packet)
        if isinstance(event, TimerFired):
            return self._beacon(event.now)
        if isinstance(event, Submitted):
            return self._scatter(event.now, event.messages)
        assert_never(event)

    def next_deadline(self) -> int | None:
        return self._deadline

    def _scatter(self, now: int, messages: tuple[tuple[int, bytes], ...]) -> list[Out]:
        """Send the messages of one scattering, all with one timestamp (TO-SCATTER)."""
        for receiver, _ in messages:
            if receiver not in self._next_link:
                raise LocalProtocolError(f"host {self._node} has no route to host {receiver}")
        timestamp = self._rules.stamp(now, self._last, self._promised)
        self._last = timestamp
        barrier = NO_BARRIER
        if self._environment is not Environment.B:
            barrier = self._rules.data_barrier(timestamp)
            self._promised = max(self._promised, barrier)
        effects: list[Out] = []
        for receiver, payload in messages:
            link = self._next_link[receiver]
            number = self._numbers.get(receiver, 0) + 1
            self._numbers[receiver] = number
            effects.append(
                Send(
                    link,
                    Packet(_DATA, self._node, receiver, number, self._next_seq(link), timestamp, barrier, payload),
                )
            )
            if barrier != NO_BARRIER:
                self._last_carried[link] = now
        return effects

    def _beacon(self, now: int) -> list[Out]:
        """Send a beacon on every egress link that has been without a barrier for the interval (TO-ENV-B, TO-ENV-C)."""
        if self._deadline is None or now < self._deadline:
            return []
        self._deadline = (now // self._interval + 1) * self._interval
        effects: list[Out] = []
        for link, last_carried in self._last_carried.items():
            if self._rules.beacon_due(now, last_carried, self._interval):
                barrier = self._rules.beacon_barrier(now, self._last)
                self._promised = max(self._promised, barrier)
                effects.append(Send(link, Packet(_BEACON, self._node, 0, 0, self._next_seq(link), 0, barrier, b"")))
        return effects

    def _next_seq(self, link: LinkId) -> int:
        seq = self._seqs[link]
        self._seqs[link] = seq + 1
        return seq

    def _receive(self, link: LinkId, packet: Packet) -> list[Out]:
        """Buffer a data message, take the barrier, and deliver what is below the least barrier (TO-DELIVER)."""
        problem = self._ingress.refusal(link, packet)
        if problem is None and packet.kind == _DATA and packet.receiver != self._node:
            problem = f"receiver {packet.receiver} is not this host, {self._node}"
        if problem is not None:
            return [Refuse(link, problem)]
        if packet.kind == _DATA:
            # Arrival count as the last resort: packets themselves have no order.
            self._arrivals += 1
            key = self._rules.precedence(packet.timestamp, packet.sender)
            heapq.heappush(self._buffer, (key, self._arrivals, packet))
        if not self._ingress.take(link, packet) and packet.kind != _DATA:
            return []
        return self._deliver()

    def _deliver(self) -> list[Out]:
        buffer, effects = self._buffer, list[Out]()
        barrier = self._rules.aggregate(self._ingress.barriers)
        while buffer and self._rules.deliverable(buffer[0][2].timestamp, barrier):
            packet = heapq.heappop(buffer)[2]
            effects.append(Deliver(Delivery(packet.sender, packet.number, packet.timestamp, packet.payload)))
        return effects
