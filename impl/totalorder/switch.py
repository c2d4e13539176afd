"""A switch of the total-order service: forwards data, and aggregates the barriers of its ingress links.

Clauses: TO-BAR-MIN, TO-BAR-PART, TO-BAR-RISE, TO-BAR-LINK, TO-ENV-A, TO-ENV-B, TO-ENV-C.
Operators: Forward and SwitchBeacon in BarrierOrder.tla.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TypeAlias, assert_never

from impl.totalorder.ingress import Ingress
from impl.totalorder.rules import RULES, Rules
from spec.core import (
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
_NEVER = -(1 << 62)


class _Egress:
    """What a switch keeps for one egress link."""

    __slots__ = ("counted", "last_carried", "link", "sent", "seq")

    def __init__(self, link: LinkId, counted: Callable[[list[int]], Sequence[int]]) -> None:
        self.link = link
        self.counted = counted
        self.seq = 0
        self.sent = NOT_SPOKEN  # the barrier last sent on this link
        self.last_carried = _NEVER  # when a data message last carried a barrier over it


class Switch:
    """One processor (TO-SW-1, TO-SW-3). A beacon leaves an egress link only when the link's minimum has risen above the
    last barrier sent on it: a beacon that says nothing new would multiply on every path of a diamond."""

    def __init__(self, config: NodeConfig, rules: Rules = RULES) -> None:
        self._node = config.node
        self._rules = rules
        self._environment = Environment(str(config.parameters["environment"]))
        self._interval = int(config.parameters["beacon_interval_ns"])
        self._ingress = Ingress(config.ingress, rules)
        self._egress: dict[LinkId, _Egress] = {}
        fed: dict[LinkId, list[_Egress]] = {link: [] for link in config.ingress}
        for link, reaching in zip(config.egress, config.reaching, strict=True):
            counted = rules.counted(reaching, config.ingress)
            egress = _Egress(link, _pick(tuple(self._ingress.places[feeder] for feeder in counted)))
            self._egress[link] = egress
            for feeder in counted:
                fed[feeder].append(egress)
        self._fed = {link: tuple(egresses) for link, egresses in fed.items()}
        self._next_link = dict(config.next_link)
        self._waiting: dict[LinkId, int] = {}  # egress link -> when a beacon that is held back becomes due

    def handle(self, event: In) -> Sequence[Out]:
        if isinstance(event, PacketArrived):
            return self._receive(event.now, event.link, event.packet)
        if isinstance(event, TimerFired):
            due = [link for link, deadline in self._waiting.items() if deadline <= event.now]
            effects: list[Out] = []
            for link in due:
                self._beacon(event.now, self._egress[link], effects)
            return effects
        if isinstance(event, Submitted):
            raise LocalProtocolError(f"node {self._node} is a switch; only hosts take submissions")
        assert_never(event)

    def next_deadline(self) -> int | None:
        return min(self._waiting.values()) if self._waiting else None

    def _receive(self, now: int, link: LinkId, packet: Packet) -> list[Out]:
        problem = self._ingress.refusal(link, packet)
        if problem is None and packet.kind == _DATA and packet.receiver not in self._next_link:
            problem = f"there is no route to receiver {packet.receiver}"
        if problem is not None:
            return [Refuse(link, problem)]
        rose = self._ingress.take(link, packet)
        effects: list[Out] = []
        if packet.kind == _DATA:
            effects.append(self._forward(now, packet))
        if rose and self._environment is not Environment.A:
            for egress in self._fed[link]:
                self._beacon(now, egress, effects)
        return effects

    def _forward(self, now: int, packet: Packet) -> Out:
        """Send a data message on, with the egress link's barrier in place of the one it came with (TO-BAR-MIN)."""
        egress = self._egress[self._next_link[packet.receiver]]
        barrier = NO_BARRIER
        if self._environment is not Environment.B:
            barrier = self._rules.aggregate(egress.counted(self._ingress.barriers))
            egress.sent = barrier
            egress.last_carried = now
            self._waiting.pop(egress.link, None)
        seq = egress.seq
        egress.seq = seq + 1
        return Send(
            egress.link,
            Packet(
                _DATA,
                packet.sender,
                packet.receiver,
                packet.number,
                seq,
                packet.timestamp,
                barrier,
                packet.payload,
            ),
        )

    def _beacon(self, now: int, egress: _Egress, effects: list[Out]) -> None:
        """Send a beacon if it says something new and the link is idle; hold it back while the link is not."""
        barrier = self._rules.aggregate(egress.counted(self._ingress.barriers))
        if barrier <= egress.sent:
            self._waiting.pop(egress.link, None)
        elif self._rules.beacon_due(now, egress.last_carried, self._interval):
            self._waiting.pop(egress.link, None)
            egress.sent = barrier
            effects.append(
                Send(egress.link, Packet(_BEACON, self._node, 0, 0, egress.seq, 0, barrier, b"")),
            )
            egress.seq += 1
        else:
            self._waiting[egress.link] = max(egress.last_carried + self._interval, now + 1)


def _pick(places: tuple[int, ...]) -> Callable[[list[int]], Sequence[int]]:
    """A function that picks the barriers at `places`: this is done for every packet."""
    if len(places) == 1:
        (only,) = places
        return lambda barriers: (barriers[only],)
    return itemgetter(*places)
