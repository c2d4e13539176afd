"""A switch of the total-order service: forwards data, and aggregates the barriers of its ingress links.

Clauses: TO-BAR-MIN, TO-BAR-PART, TO-BAR-RISE, TO-BAR-LINK, TO-ENV-A, TO-ENV-B, TO-ENV-C.
Operators: ForwardData, TakeBeacon and SwitchBeacon in BarrierOrder.tla.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, assert_never

from scatterproof.impl.totalorder.egress import NEVER, Egress
from scatterproof.impl.totalorder.ingress import Ingress, Refusal
from scatterproof.impl.totalorder.link_state import pick
from scatterproof.impl.totalorder.rules import RULES, Rules
from scatterproof.impl.totalorder.settings import settings
from scatterproof.spec.core import (
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


class _Minimum:
    """One aggregate, shared by the egress links whose counted ingress links are the same."""

    __slots__ = ("barrier", "counted", "egress")

    def __init__(self, counted: Callable[[list[int]], Sequence[int]]) -> None:
        self.counted = counted
        self.egress: list[Egress] = []
        self.barrier = NOT_SPOKEN


_NOWHERE: dict[NodeId, tuple[Egress, _Minimum]] = {}


class Switch:
    """One processor (TO-SW-1, TO-SW-3). A beacon leaves an egress link only when the link's minimum has risen above the
    last barrier sent on it: a beacon that says nothing new would multiply on every path of a diamond."""

    def __init__(self, config: NodeConfig, rules: Rules = RULES) -> None:
        chosen = settings(config)
        self._node = config.node
        self._rules = rules
        self._only_the_least_counts = rules.only_the_least_counts
        self._data_carry = chosen.data_carry_barriers
        self._beacons_exist = chosen.beacons_exist
        self._interval = chosen.beacon_interval_ns
        self._ingress = Ingress(config.ingress, chosen, rules)
        self._deadline: int | None = None  # when a beacon that was held back may have become due
        # ingress link -> receiver -> where its data leave, and under which minimum; none where data cannot come from.
        self._onward: dict[LinkId, dict[NodeId, tuple[Egress, _Minimum]]] = {link: {} for link in config.ingress}
        # ingress link -> the minimums that its barrier takes part in.
        self._fed: dict[LinkId, list[_Minimum]] = {link: [] for link in config.ingress}
        self._minimums: dict[tuple[LinkId, ...], _Minimum] = {}
        for link, reaching in zip(config.egress, config.reaching, strict=True):
            self._add(link, reaching, config)

    def _add(self, link: LinkId, reaching: tuple[LinkId, ...], config: NodeConfig) -> None:
        """Set up one egress link."""
        counted = self._rules.counted(reaching, config.ingress)
        minimum = self._minimums.get(counted)
        if minimum is None:
            minimum = self._minimums[counted] = _Minimum(pick(tuple(self._ingress.places[k] for k in counted)))
            for feeder in counted:
                self._fed[feeder].append(minimum)
        egress = Egress(link)
        minimum.egress.append(egress)
        for feeder in reaching:
            routes = self._onward[feeder]
            routes.update((host, (egress, minimum)) for host, towards in config.next_link if towards == link)

    def handle(self, event: In) -> Sequence[Out]:
        if isinstance(event, PacketArrived):
            return self._receive(event.now, event.link, event.packet)
        if isinstance(event, TimerFired):
            return self._wake(event.now)
        if isinstance(event, Submitted):
            raise LocalProtocolError(f"node {self._node} is a switch; only hosts take submissions")
        assert_never(event)

    def next_deadline(self) -> int | None:
        return self._deadline

    def _receive(self, now: int, link: LinkId, packet: Packet) -> Sequence[Out]:
        """Take the barrier, forward data, and send beacons on the links whose minimum rose (TO-BAR-MIN)."""
        onward = None
        if packet.kind == _DATA:
            onward = self._onward.get(link, _NOWHERE).get(packet.receiver)
            if onward is None:
                return (Refuse(link, f"there is no route from link {link} to receiver {packet.receiver}"),)
        try:
            before = self._ingress.take(link, packet)
        except Refusal as refusal:
            return (Refuse(link, str(refusal)),)
        moved = () if before is None else self._aggregate(link, before)
        forwarded = () if onward is None else (self._forward(now, onward[0], onward[1].barrier, packet),)
        if not moved or not self._beacons_exist:
            return forwarded
        effects: list[Out] = list(forwarded)
        for minimum in moved:
            barrier = minimum.barrier
            for egress in minimum.egress:
                if barrier > egress.sent and now >= egress.held_until:
                    self._offer(now, egress, barrier, effects)
        return effects

    def _aggregate(self, link: LinkId, before: int) -> Sequence[_Minimum]:
        """Compute again the minimums that an ingress link takes part in, whose barrier was `before`; those that
        changed."""
        moved: list[_Minimum] = []
        barriers, aggregate = self._ingress.barriers, self._rules.aggregate
        for minimum in self._fed[link]:
            if before > minimum.barrier and self._only_the_least_counts:
                continue
            barrier = aggregate(minimum.counted(barriers))
            if barrier != minimum.barrier:
                minimum.barrier = barrier
                moved.append(minimum)
        return moved

    def _forward(self, now: int, egress: Egress, barrier: int, packet: Packet) -> Out:
        """Send a data message on, with the egress link's barrier in place of the one it came with (TO-BAR-MIN)."""
        seq = egress.seq
        egress.seq = seq + 1
        if self._data_carry:
            egress.sent = barrier
            egress.last_carried = now
        else:
            barrier = NO_BARRIER
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

    def _offer(self, now: int, egress: Egress, barrier: int, effects: list[Out]) -> None:
        """Send a beacon that says something new if nothing carried a barrier over the link for the interval; hold it
        back until then. So a link carries a beacon an interval at most, however often the minimum rises."""
        if self._rules.beacon_due(now, egress.last_carried, self._interval):
            effects.append(egress.beacon(self._node, barrier))
            egress.last_carried = now
            return
        due = egress.held_until = max(egress.last_carried + self._interval, now + 1)
        if self._deadline is None or due < self._deadline:
            self._deadline = due

    def _wake(self, now: int) -> Sequence[Out]:
        """Send the beacons that were held back and are due. One that data have overtaken has nothing new to say."""
        if self._deadline is None or now < self._deadline:
            return ()
        self._deadline = None
        effects: list[Out] = []
        for minimum in self._minimums.values():
            for egress in minimum.egress:
                egress.held_until = NEVER
                if minimum.barrier > egress.sent:
                    self._offer(now, egress, minimum.barrier, effects)
        return effects
