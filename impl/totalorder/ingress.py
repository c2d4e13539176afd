"""The newest barrier of every ingress link, which hosts and switches keep alike (TO-BAR-MIN, TO-DELIVER)."""

from __future__ import annotations

from scatterproof.impl.totalorder.rules import Rules
from scatterproof.impl.totalorder.settings import Settings
from scatterproof.spec.topology import LinkId
from scatterproof.spec.totalorder.messages import NO_BARRIER, NOT_SPOKEN, Packet, PacketKind

_DATA, _BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)


class Refusal(Exception):
    """A packet that breaks a promise of its link, in one clause; nothing was changed."""


class Ingress:
    """barriers[k] is the newest barrier of the k-th ingress link."""

    __slots__ = ("_beacons_exist", "_data_carry", "_next_seqs", "_register", "barriers", "places")

    def __init__(self, links: tuple[LinkId, ...], settings: Settings, rules: Rules) -> None:
        self.places = {link: place for place, link in enumerate(links)}
        self.barriers = [NOT_SPOKEN] * len(links)
        self._next_seqs = [0] * len(links)
        self._data_carry = settings.data_carry_barriers
        self._beacons_exist = settings.beacons_exist
        self._register = rules.register

    def take(self, link: LinkId, packet: Packet) -> int | None:
        """Note the packet's link number and barrier; the link's newest barrier until then, None when that is so still.
        Raises Refusal."""
        place = self.places.get(link)
        if place is None:
            raise Refusal(f"link {link} is no ingress link of this node")
        if packet.link_seq < self._next_seqs[place]:
            due = self._next_seqs[place]
            raise Refusal(f"link number {packet.link_seq} came again or late; {due} is the next (links are FIFO)")
        held = self.barriers[place]
        barrier = packet.barrier
        carries = True
        if packet.kind == _DATA:
            carries = self._data_carry
            if packet.timestamp < held:
                raise Refusal(f"timestamp {packet.timestamp} is strictly below the link's barrier {held} (TO-BAR-LINK)")
        elif packet.kind != _BEACON or not self._beacons_exist:
            raise Refusal(f"packet kind {packet.kind} does not exist in this environment")
        if not carries:
            if barrier != NO_BARRIER:
                raise Refusal("data messages carry no barrier in this environment (TO-ENV-B)")
            self._next_seqs[place] = packet.link_seq + 1
            return None
        if barrier < held:
            # An absent barrier is below every held one.
            if barrier == NO_BARRIER:
                raise Refusal("the barrier is absent, which this environment wants in every such packet")
            raise Refusal(f"barrier {barrier} is below the link's barrier {held} (TO-BAR-RISE)")
        self._next_seqs[place] = packet.link_seq + 1
        newest = self._register(held, barrier)
        self.barriers[place] = newest
        return held if newest != held else None
