"""What a node has sent to a neighbour, and repeats until it is acknowledged; and what it has taken from there.

Links lose, delay, repeat and reorder. What is guaranteed has serials, is taken in their order, each once, and is sent
again until the other end says that it came; what is best effort has the serial 0 and is sent once. Where there are
several links to the neighbour, what is sent takes the best by their probes, which go out beside it.

Clauses: PS-ROUTE, PS-ORDER, PS-QOS-LEVEL, PS-NEIGHBOUR. TLA+: `Change` of Rerouting.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from scatterproof.impl.pubsub.rules import Rules
from scatterproof.impl.pubsub.ways import Way, Ways
from scatterproof.spec.core import Send
from scatterproof.spec.pubsub.messages import Packet, PacketName
from scatterproof.spec.topology import LinkId, NodeId


class Stream:
    """Both directions between a node and a neighbour. links: to it. deadline: when it sends again, None for not at
    all."""

    def __init__(self, me: NodeId, links: Sequence[LinkId], rules: Rules, retry_ns: int, resends: int) -> None:
        self._me, self._links, self._rules = me, tuple(links), rules
        self._link = self._links[0]
        self._ways = Ways(map(str, links), least_ns=1)
        for way in self._ways.all:
            self._ways.opened(way, lambda: None)
        self._probes: dict[Way, tuple[int, int]] = {}  # by way: the number of the open probe, and when it was sent
        self._probed, self._has_sent = 0, False
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
        self._has_sent = True
        return Send(self._link, packet)

    def put_once(self, packet: Packet) -> Send[Packet]:
        self._has_sent = True
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
        self._has_sent = True
        return self._again()

    def _again(self) -> list[Send[Packet]]:
        return [Send(self._link, replace(one, again=one.again or one.level == 1)) for one in self._unheard]

    # ---------------------------------------------------------------- several links

    def probes(self, now: int) -> list[Send[Packet]]:
        """A probe on each link that has none open, where something was sent since the last time. One that is open for
        `retry_ns` is lost."""
        due, self._has_sent = self._has_sent and len(self._links) > 1, False
        found: list[Send[Packet]] = []
        for place, way in enumerate(self._ways.all if due else ()):
            if way in self._probes and now < self._probes[way][1] + self._retry_ns:
                continue
            if self._probes.pop(way, None) is not None:
                way.lost()
            self._probed += 1
            self._probes[way] = self._probed, now
            way.asked(now)
            probe = Packet(PacketName.PROBE, self._me, number=self._probed, serial=place + 1)
            found.append(Send(self._links[place], probe))
        return found

    def echo(self, probe: Packet) -> list[Send[Packet]]:
        """A probe goes back on the link of the same place."""
        if not 1 <= probe.serial <= len(self._links):
            return []
        return [Send(self._links[probe.serial - 1], replace(probe, kind=PacketName.ECHO, hop=self._me))]

    def echoed(self, echo: Packet, now: int) -> list[Send[Packet]]:
        """What was not acknowledged once more, where the way changes by this echo (PS-NEIGHBOUR)."""
        way = self._ways.all[echo.serial - 1] if 1 <= echo.serial <= len(self._links) else None
        if way is None or self._probes.get(way, (0, 0))[0] != echo.number:
            return []
        self._ways.answered(way, self._probes.pop(way)[1], now)
        used = self._links[self._ways.all.index(self._ways.used or way)]
        if used == self._link:
            return []
        self._link = used
        self._unheard = list(self._rules.sent_again(tuple(self._unheard)))
        return self._again()

    def _arm(self, now: int) -> None:
        if self._unheard and self.deadline is None and self._resent < self._resends:
            self.deadline = now + self._retry_ns
