"""A switch under loss, and of every other environment with more than its bare rules.

Clauses: TO-BAR-MIN, TO-BAR-PART, TO-ACK-MIN, TO-SWLOSS, TO-FLAG-SW, TO-FLAG-BEACON, TO-BEACON-MIN, TO-ENV-C,
TO-SW-PATH, TO-RESTART.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from scatterproof.impl.totalorder.carrier import Carrier
from scatterproof.impl.totalorder.host import In, Out
from scatterproof.impl.totalorder.ingress import Refusal
from scatterproof.impl.totalorder.link_state import Combined, LinkStates
from scatterproof.impl.totalorder.rules import RULES, Rules
from scatterproof.impl.totalorder.settings import settings
from scatterproof.spec.core import LocalProtocolError, NodeConfig, PacketArrived, Refuse, Submitted, TimerFired
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.totalorder.messages import Packet, PacketKind

_BEACON = int(PacketKind.BEACON)


class _Group:
    """Egress links whose counted ingress links are the same, so that they have one set of values."""

    __slots__ = ("carriers", "values")

    def __init__(self, values: Combined) -> None:
        self.values = values
        self.carriers: list[Carrier] = []


class ReliableSwitch:
    """One processor (TO-SW-1, TO-SW-3, TO-SW-4): it forwards a packet in the step that takes what it says."""

    def __init__(self, config: NodeConfig, rules: Rules = RULES) -> None:
        chosen = settings(config)
        self._node = config.node
        self._interval = chosen.beacon_interval_ns
        self._every_beacon = chosen.every_beacon and chosen.beacons_exist
        self._links = LinkStates(config, chosen, rules, watched=True)
        # When a beacon that was held back may have become due; or when the next ones leave, where all do.
        self._deadline: int | None = 0 if self._every_beacon else None
        # ingress link -> receiver -> where packets leave; none where they cannot come from.
        self._onward: dict[LinkId, dict[NodeId, tuple[Carrier, _Group]]] = {link: {} for link in config.ingress}
        # ingress link -> the groups that it is counted in.
        self._fed: dict[LinkId, list[_Group]] = {link: [] for link in config.ingress}
        groups: dict[tuple[LinkId, ...], _Group] = {}
        for link, reaching in zip(config.egress, config.reaching, strict=True):
            counted = rules.counted(reaching, config.ingress)
            group = groups.get(counted)
            if group is None:
                group = groups[counted] = _Group(Combined(tuple(self._links.places[k] for k in counted), chosen, rules))
                for feeder in counted:
                    self._fed[feeder].append(group)
            carrier = Carrier(link, chosen, rules)
            group.carriers.append(carrier)
            for feeder in reaching:
                routes = self._onward[feeder]
                routes.update((host, (carrier, group)) for host, towards in config.next_link if towards == link)
        self._groups = tuple(groups.values())

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
        """Take what the packet says of its link, forward it, and send the beacons that have become due."""
        onward = None
        try:
            place = self._links.check(link, packet)
            if packet.kind != _BEACON:
                onward = self._onward[link].get(packet.receiver)
                if onward is None:
                    raise Refusal(f"there is no route from link {link} to receiver {packet.receiver}")
        except Refusal as refusal:
            return (Refuse(link, str(refusal)),)
        moved = self._take(place, link, packet)
        effects: list[Out] = []
        if onward is not None:
            carrier, group = onward
            effects.append(carrier.put(now, packet, group.values))
        if not self._every_beacon:
            for group in moved:
                for carrier in group.carriers:
                    if now >= carrier.quiet_until:
                        self._offer(now, carrier, group.values, effects)
        return effects

    def _take(self, place: int, link: LinkId, packet: Packet) -> list[_Group]:
        """Take over what a checked packet says; the groups whose values it changed."""
        before = self._links.take(place, packet)
        return [group for group in self._fed[link] if group.values.update(self._links, place, before)]

    def _offer(self, now: int, carrier: Carrier, values: Combined, effects: list[Out]) -> None:
        """Send the beacons that have something new to say, if nothing said it over the link for the interval; hold
        them back until then. So a link carries a beacon of a kind an interval at most."""
        for kind in carrier.kinds:
            if now < carrier.held_until[kind] or not carrier.news(values, kind):
                continue
            if carrier.due(now, kind):
                effects.append(carrier.beacon(self._node, values, kind))
                carrier.carried_at[kind] = now
                if not carrier.in_loss_state(values):
                    continue
            # The one that ends the loss state may be lost: there will be another.
            due = carrier.hold(now, kind)
            if self._deadline is None or due < self._deadline:
                self._deadline = due

    def _wake(self, now: int) -> Sequence[Out]:
        """Send the beacons that are due. One that data have overtaken has nothing new to say."""
        if self._deadline is None or now < self._deadline:
            return ()
        effects: list[Out] = []
        if self._every_beacon:
            # At the start only the first multiple of the interval is looked for.
            groups = self._groups if self._deadline > 0 else ()
            self._deadline = (now // self._interval + 1) * self._interval
            for group in groups:
                for carrier in group.carriers:
                    due = [k for k in carrier.kinds if carrier.due(now, k) and carrier.may_tell(group.values, k)]
                    effects += [carrier.beacon(self._node, group.values, kind) for kind in due]
            return effects
        self._deadline = None
        for group in self._groups:
            for carrier in group.carriers:
                carrier.release()
                self._offer(now, carrier, group.values, effects)
        return effects
