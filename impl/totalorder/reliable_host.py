"""A host under loss, and of every other environment with more than its bare rules (adjustment, causal order, ...).

Clauses: those of its halves, `sending` and `receiving`, of `link_state` and of `adjustment`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from scatterproof.impl.totalorder.adjustment import Adjuster
from scatterproof.impl.totalorder.host import In, Out
from scatterproof.impl.totalorder.ingress import Refusal
from scatterproof.impl.totalorder.link_state import Combined, LinkStates
from scatterproof.impl.totalorder.receiving import Receiver
from scatterproof.impl.totalorder.rules import RULES, Rules
from scatterproof.impl.totalorder.sending import Sender
from scatterproof.impl.totalorder.settings import settings
from scatterproof.spec.core import NodeConfig, PacketArrived, Refuse, Submitted, TimerFired
from scatterproof.spec.topology import LinkId
from scatterproof.spec.totalorder.messages import NO_BARRIER, Packet, PacketKind

_DATA, _BEACON, _ACK = int(PacketKind.DATA), int(PacketKind.BEACON), int(PacketKind.ACK)
_ADJUST, _ADJUSTED = int(PacketKind.ADJUST), int(PacketKind.ADJUSTED)


class ReliableHost:
    """Sender and receiver. Its beacons leave at whole multiples of the interval on its local clock."""

    def __init__(self, config: NodeConfig, rules: Rules = RULES) -> None:
        chosen = settings(config)
        self._node = config.node
        self._loses = chosen.environment.loses
        self._interval = chosen.beacon_interval_ns
        self._every_beacon = chosen.every_beacon
        self._causal = chosen.causal
        self._sender = Sender(config, chosen, rules)
        self._beacons_at: int | None = 0 if chosen.beacons_exist and config.egress else None
        self._links = LinkStates(config, chosen, rules, watched=rules.last_hop_watched())
        self._values = Combined(tuple(range(len(config.ingress))), chosen, rules)
        self._receiver = Receiver(config.node, rules, loses=self._loses, reliable=chosen.reliable)
        self._adjuster: Adjuster | None = None
        if chosen.adjustment_interval_ns:
            hosts = tuple(host for host, _ in config.next_link)
            self._adjuster = Adjuster(config.node, hosts, chosen.adjustment_interval_ns, rules)

    @property
    def adjustment(self) -> int:
        """What is added to the local clock, ns."""
        return self._sender.adjustment

    def handle(self, event: In) -> Sequence[Out]:
        if isinstance(event, PacketArrived):
            return self._receive(event.now, event.link, event.packet)
        if isinstance(event, TimerFired):
            return self._wake(event.now)
        if isinstance(event, Submitted):
            return self._sender.scatter(event.now, event.messages)
        assert_never(event)

    def next_deadline(self) -> int | None:
        adjusting = None if self._adjuster is None else self._adjuster.next_deadline()
        return _earlier(_earlier(self._beacons_at, self._sender.next_deadline()), adjusting)

    def _wake(self, now: int) -> Sequence[Out]:
        effects: list[Out] = [*self._sender.resend_due(now)]
        if self._adjuster is not None:
            effects += [self._sender.send(now, packet) for packet in self._adjuster.wake(now)]
        if self._beacons_at is not None and now >= self._beacons_at:
            self._beacons_at = (now // self._interval + 1) * self._interval
            effects += self._sender.beacons(now, every=self._every_beacon)
        return effects

    def _receive(self, now: int, link: LinkId, packet: Packet) -> Sequence[Out]:
        """Take what the packet says of its link, then the packet itself, and deliver."""
        try:
            place = self._links.check(link, packet)
            self._check(now, link, packet)
        except Refusal as refusal:
            return (Refuse(link, str(refusal)),)
        before = self._links.take(place, packet)
        self._values.update(self._links, place, before)
        effects = self._accept(now, link, packet)
        effects += self._receiver.deliver(self._values)
        if self._causal:
            self._sender.delivered = self._receiver.delivered
        return effects

    def _check(self, now: int, link: LinkId, packet: Packet) -> None:
        """Raise Refusal for a packet that is not for this host, or that cannot be."""
        if packet.kind == _BEACON:
            return
        if packet.receiver != self._node:
            raise Refusal(f"receiver {packet.receiver} is not this host, {self._node}")
        if packet.kind == _DATA:
            self._receiver.check(link, packet)
        elif packet.kind == _ACK:
            self._sender.check_acknowledgement(packet)
        elif self._adjuster is not None and packet.kind in (_ADJUST, _ADJUSTED):
            self._adjuster.check(now, packet)

    def _accept(self, now: int, link: LinkId, packet: Packet) -> list[Out]:
        """Do what the packet is there for, apart from what it says of its link."""
        effects: list[Out] = []
        if packet.kind == _DATA:
            upto = self._receiver.buffer(link, packet)
            # A duplicate is acknowledged too: its acknowledgement may be what was lost.
            if self._loses and self._sender.reaches(packet.sender):
                ack = Packet(_ACK, self._node, packet.sender, upto, 0, 0, NO_BARRIER, b"")
                effects.append(self._sender.send(now, ack))
        elif packet.kind == _ACK:
            effects += self._sender.acknowledged(now, packet.sender, packet.number)
        elif self._adjuster is not None and packet.kind == _ADJUST:
            self._adjuster.collect(now, packet)
        elif self._adjuster is not None and packet.kind == _ADJUSTED:
            self._adjuster.conclude(now, packet)
            self._sender.adjustment = self._adjuster.in_force
        return effects


def _earlier(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return one if other is None else other
    return min(one, other)
