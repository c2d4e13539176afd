"""A host of the total-order service: scatters messages, and delivers what arrived in one order.

Clauses: TO-SCATTER, TO-MONO, TO-BAR-HOST, TO-ENV-A, TO-ENV-B, TO-ENV-C, TO-DELIVER, TO-ORDER, TO-ONCE, TO-COMPLETE.
Operators: Scatter, HostBeacon, Receive and Deliver in BarrierOrder.tla.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import TypeAlias, assert_never

from scatterproof.impl.totalorder.egress import Egress
from scatterproof.impl.totalorder.ingress import Ingress, Refusal
from scatterproof.impl.totalorder.limits import MAX_PAYLOAD_BYTES
from scatterproof.impl.totalorder.rules import RULES, Rules
from scatterproof.impl.totalorder.settings import settings
from scatterproof.spec.core import (
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
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.totalorder.messages import NO_BARRIER, NOT_SPOKEN, Delivery, Packet, PacketKind

In: TypeAlias = Event[Packet]
Out: TypeAlias = Effect[Packet, Delivery]

_DATA = int(PacketKind.DATA)


class Host:
    """Sender and receiver. Its beacons leave at whole multiples of the interval on its local clock: hosts that do so
    together raise a switch's minimum once an interval, not once a host."""

    def __init__(self, config: NodeConfig, rules: Rules = RULES) -> None:
        chosen = settings(config)
        self._node = config.node
        self._rules = rules
        self._data_carry = chosen.data_carry_barriers
        self._interval = chosen.beacon_interval_ns
        # Sending.
        self._egress = tuple(Egress(link) for link in config.egress)
        by_link = {egress.link: egress for egress in self._egress}
        self._towards = {receiver: by_link[link] for receiver, link in config.next_link}
        self._numbers = dict.fromkeys(self._towards, 0)
        self._last = NOT_SPOKEN  # the last timestamp given
        self._promised = NOT_SPOKEN  # the greatest barrier sent, on whichever link
        self._deadline: int | None = 0 if chosen.beacons_exist and self._egress else None
        # Receiving.
        self._ingress = Ingress(config.ingress, chosen, rules)
        self._barrier = NOT_SPOKEN  # the aggregate of the ingress links' newest barriers
        self._precedence, self._deliverable = rules.precedence, rules.deliverable
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

    def _scatter(self, now: int, messages: tuple[tuple[NodeId, bytes], ...]) -> Sequence[Out]:
        """Send the messages of one scattering, all with one timestamp (TO-SCATTER)."""
        self._check(messages)
        timestamp = self._rules.stamp(now, self._last, self._promised)
        self._last = timestamp
        barrier = NO_BARRIER
        if self._data_carry:
            barrier = self._rules.data_barrier(timestamp)
            self._promised = max(self._promised, barrier)
        effects: list[Out] = []
        for receiver, payload in messages:
            egress = self._towards[receiver]
            number = self._numbers[receiver] + 1
            self._numbers[receiver] = number
            seq = egress.seq
            egress.seq = seq + 1
            if self._data_carry:
                egress.sent = barrier
                egress.last_carried = now
            packet = Packet(_DATA, self._node, receiver, number, seq, timestamp, barrier, payload)
            effects.append(Send(egress.link, packet))
        return effects

    def _check(self, messages: tuple[tuple[NodeId, bytes], ...]) -> None:
        """Raise LocalProtocolError for messages that cannot be sent as one scattering."""
        receivers = {receiver for receiver, _ in messages}
        if not messages or len(receivers) < len(messages):
            raise LocalProtocolError("a scattering has at least one message, and one message for each receiver")
        for receiver, payload in messages:
            if receiver not in self._towards:
                raise LocalProtocolError(f"host {self._node} has no route to host {receiver}")
            if len(payload) > MAX_PAYLOAD_BYTES:
                raise LocalProtocolError(f"a payload has {len(payload)} bytes; at most {MAX_PAYLOAD_BYTES} can be sent")

    def _beacon(self, now: int) -> Sequence[Out]:
        """Send a beacon on every egress link that no data message carried a barrier over for the interval (TO-ENV-B,
        TO-ENV-C), where it says something new."""
        if self._deadline is None or now < self._deadline:
            return ()
        self._deadline = (now // self._interval + 1) * self._interval
        barrier = self._rules.beacon_barrier(now, self._last)
        effects: list[Out] = []
        for egress in self._egress:
            if barrier > egress.sent and self._rules.beacon_due(now, egress.last_carried, self._interval):
                self._promised = max(self._promised, barrier)
                effects.append(egress.beacon(self._node, barrier))
        return effects

    def _receive(self, link: LinkId, packet: Packet) -> Sequence[Out]:
        """Buffer a data message, take the barrier, and deliver what is below the least barrier (TO-DELIVER)."""
        data = packet.kind == _DATA
        if data and packet.receiver != self._node:
            return (Refuse(link, f"receiver {packet.receiver} is not this host, {self._node}"),)
        try:
            before = self._ingress.take(link, packet)
        except Refusal as refusal:
            return (Refuse(link, str(refusal)),)
        if before is not None:
            self._barrier = self._rules.aggregate(self._ingress.barriers)
        elif not data:
            return ()
        if data:
            # Arrival count as the last resort: packets themselves have no order.
            arrivals = self._arrivals = self._arrivals + 1
            heappush(self._buffer, (self._precedence(packet.timestamp, packet.sender), arrivals, packet))
        return self._deliver()

    def _deliver(self) -> Sequence[Out]:
        """Deliver, in the order of precedence, what the barrier allows."""
        buffer, barrier, deliverable = self._buffer, self._barrier, self._deliverable
        if not buffer or not deliverable(buffer[0][2].timestamp, barrier):
            return ()
        effects: list[Out] = []
        while buffer and deliverable(buffer[0][2].timestamp, barrier):
            packet = heappop(buffer)[2]
            effects.append(Deliver(Delivery(packet.sender, packet.number, packet.timestamp, packet.payload)))
        return effects
