"""What a node has sent to a neighbour, and repeats until it is acknowledged; and what it has taken from there.

Links lose, delay, repeat and reorder. What is guaranteed has serials, is taken in their order, each once, and is sent
again until the other end says that it came; what is best effort has the serial 0 and is sent once.

Clauses: PS-ROUTE, PS-ORDER, PS-QOS-LEVEL.
"""

from __future__ import annotations

from msgspec.structs import replace

from scatterproof.impl.pubsub.rules import Rules
from scatterproof.spec.core import Send
from scatterproof.spec.pubsub.messages import Packet, PacketName
from scatterproof.spec.topology import LinkId, NodeId


class Stream:
    """Both ways between a node and a neighbour. deadline: when it sends again, None for not at all."""

    def __init__(self, me: NodeId, link: LinkId, rules: Rules, retry_ns: int, resends: int) -> None:
        self._me, self._link, self._rules = me, link, rules
        self._retry_ns, self._resends = retry_ns, resends
        self._unheard: list[Packet] = []
        self._last = self._taken = self._resent = 0
        self._latest: dict[tuple[NodeId, int], int] = {}
        self.deadline: int | None = None

    def put(self, packet: Packet, now: int) -> Send[Packet]:
        """Send it until it is acknowledged."""
        self._last += 1
        packet = replace(packet, hop=self._me, serial=self._last)
        self._unheard.append(packet)
        self._arm(now)
        return Send(self._link, packet)

    def put_once(self, packet: Packet) -> Send[Packet]:
        return Send(self._link, replace(packet, hop=self._me, serial=0))

    def hear(self, now: int) -> None:
        """Something came from the neighbour: it is there."""
        self._resent = 0
        self._arm(now)

    def acknowledged(self, serial: int) -> None:
        self._unheard = [packet for packet in self._unheard if packet.serial > serial]
        if not self._unheard:
            self.deadline = None

    def take(self, packet: Packet) -> tuple[bool, list[Send[Packet]]]:
        """Whether it is taken, and what is said to the neighbour."""
        if not packet.serial:
            key = packet.sender, packet.topic
            late = self._rules.is_late(packet.number, self._latest.get(key, 0))
            if not late:
                self._latest[key] = packet.number
            return not late, []
        fits = self._rules.is_next(packet.serial, self._taken)
        if fits:
            self._taken = packet.serial
        return fits, [Send(self._link, Packet(PacketName.ACK, self._me, serial=self._taken))]

    def resend(self, now: int) -> list[Send[Packet]]:
        """What was not acknowledged once more, where it is time. A message at level 1 says that it is a repeat."""
        if self.deadline is None or now < self.deadline:
            return []
        self._resent += 1
        self.deadline = None
        self._arm(now)
        return [Send(self._link, replace(one, again=one.again or one.level == 1)) for one in self._unheard]

    def _arm(self, now: int) -> None:
        if self._unheard and self.deadline is None and self._resent < self._resends:
            self.deadline = now + self._retry_ns
