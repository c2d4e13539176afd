"""The newest barrier of every ingress link, which hosts and switches keep alike (TO-BAR-MIN, TO-DELIVER)."""

from __future__ import annotations

from impl.totalorder.rules import Rules
from spec.topology import LinkId
from spec.totalorder.messages import NO_BARRIER, NOT_SPOKEN, Packet, PacketKind


class Ingress:
    """barriers[k] is the newest barrier of the k-th ingress link."""

    __slots__ = ("_register", "_seqs", "barriers", "places")

    def __init__(self, links: tuple[LinkId, ...], rules: Rules) -> None:
        self.places = {link: place for place, link in enumerate(links)}
        self.barriers = [NOT_SPOKEN] * len(links)
        self._seqs = [0] * len(links)
        self._register = rules.register

    def refusal(self, link: LinkId, packet: Packet) -> str | None:
        """Why the packet breaks its link's promises, or None. Changes nothing."""
        place = self.places.get(link)
        if place is None:
            return f"link {link} is no ingress link of this node"
        if packet.link_seq < self._seqs[place]:
            return f"link number {packet.link_seq} came again or late; {self._seqs[place]} is the next (links are FIFO)"
        held = self.barriers[place]
        if packet.barrier != NO_BARRIER and packet.barrier < held:
            return f"barrier {packet.barrier} is below the link's barrier {held} (TO-BAR-RISE)"
        if packet.kind == PacketKind.DATA and packet.timestamp < held:
            return f"timestamp {packet.timestamp} is strictly below the link's barrier {held} (TO-BAR-LINK)"
        return None

    def take(self, link: LinkId, packet: Packet) -> bool:
        """Note an accepted packet's number and barrier; whether the barrier rose."""
        place = self.places[link]
        self._seqs[place] = packet.link_seq + 1
        if packet.barrier == NO_BARRIER:
            return False
        held = self.barriers[place]
        newest = self._register(held, packet.barrier)
        self.barriers[place] = newest
        return newest > held
