"""Timestamp adjustment (environment F): hosts measure how far their messages arrive behind those of the nearest sender,
and stamp later ones so much higher.

In a round a host sends message 1 to all others. A receiver collects those of several hosts for half an interval, aligns
them to the latest arrival and answers each with message 2: the greatest aligned timestamp, and how long before the
latest arrival that host's message 1 had come. The time from there until message 2 leaves cancels out.

Clauses: TO-ADJ-1, TO-ADJ-2, TO-ADJ-ROUNDS.
"""

from __future__ import annotations

from dataclasses import dataclass

from scatterproof.impl.totalorder.ingress import Refusal
from scatterproof.impl.totalorder.rules import Rules
from scatterproof.spec.topology import NodeId
from scatterproof.spec.totalorder.messages import NO_BARRIER, Packet, PacketKind

_ADJUST, _ADJUSTED = int(PacketKind.ADJUST), int(PacketKind.ADJUSTED)
_HELD_BYTES = 8
MOST_INTERVALS = 1000  # that a lag can be long: clocks that are apart count as delays do
# That another host's clock may run: how long it held a message is measured by its clock, and judged by this one's.
MOST_TIMES_AS_FAST = 4
_LATEST_NS = 1 << 62  # sums of two times stay within 63 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class _First:
    """A message 1 that was collected; arrival on the local clock."""

    number: int
    timestamp: int
    arrival: int


class Adjuster:
    """Both sides of one host. It makes packets, which others put on links, and never sends any itself.

    in_force: the adjustment in force.
    """

    def __init__(self, node: NodeId, hosts: tuple[NodeId, ...], interval: int, rules: Rules) -> None:
        """hosts: all that this one reaches. interval: between rounds, ns."""
        self._node = node
        self._interval = interval
        self._rules = rules
        self._reached = frozenset(hosts)
        self._others = tuple(host for host in hosts if rules.measured_over(host == node))
        self.in_force = 0
        # The host's own rounds.
        self._round_at: int | None = 0 if self._others else None  # at the start only the first multiple is looked for
        self._number = 0
        self._sent = self._timestamp = 0
        self._differences: dict[NodeId, int] = {}
        # The rounds of others.
        self._collected: dict[NodeId, _First] = {}
        self._last_number: dict[NodeId, int] = {}
        self._closes: int | None = None

    def next_deadline(self) -> int | None:
        return min((at for at in (self._round_at, self._closes) if at is not None), default=None)

    def wake(self, now: int) -> list[Packet]:
        """Answer what was collected, and begin a round, when they are due."""
        packets: list[Packet] = []
        if self._closes is not None and now >= self._closes:
            packets += self._answers()
        if self._round_at is not None and now >= self._round_at:
            if self._round_at > 0:
                packets += self._begin(now)
            self._round_at = (now // self._interval + 1) * self._interval
        return packets

    def _begin(self, now: int) -> list[Packet]:
        """Message 1 to every other host. A round that is not complete by now changes nothing."""
        self._number = max(self._number + 1, now // self._interval)
        self._sent = now
        self._timestamp = self._rules.first_timestamp(now, self.in_force)
        self._differences.clear()
        return [
            Packet(_ADJUST, self._node, host, self._number, 0, self._timestamp, NO_BARRIER, b"")
            for host in self._others
        ]

    def _answers(self) -> list[Packet]:
        """Message 2 to every host whose message 1 was collected, but those that this one does not reach (TO-ADJ-1)."""
        rules, collected = self._rules, self._collected
        base = rules.base_of([first.arrival for first in collected.values()])
        returned = rules.returned_of(
            [rules.aligned(first.timestamp, first.arrival, base) for first in collected.values()]
        )
        packets: list[Packet] = []
        for host, first in collected.items():
            if host not in self._reached:
                continue
            held = (base - first.arrival).to_bytes(_HELD_BYTES, "big", signed=True)
            packets.append(Packet(_ADJUSTED, self._node, host, first.number, 0, returned, NO_BARRIER, held))
        self._collected = {}
        self._closes = None
        return packets

    def check(self, now: int, packet: Packet) -> None:
        """Raise Refusal for a message 1 or 2 that cannot be."""
        if not 1 <= packet.timestamp <= _LATEST_NS:
            raise Refusal(f"timestamp {packet.timestamp} of adjustment is no reading of a clock (TO-ADJ-1)")
        if packet.kind == _ADJUST:
            last = self._last_number.get(packet.sender, 0)
            if packet.number <= last:
                raise Refusal(f"round {packet.number} of host {packet.sender} came again or late; {last} was the last")
        elif packet.number >= self._number:
            self._check_answer(now, packet)

    def _check_answer(self, now: int, packet: Packet) -> None:
        if packet.number > self._number or packet.sender not in self._others or packet.sender in self._differences:
            raise Refusal(f"host {packet.sender} was not asked for round {packet.number}, or has answered it")
        if len(packet.payload) != _HELD_BYTES:
            raise Refusal(f"message 2 has {len(packet.payload)} bytes; it has {_HELD_BYTES} (TO-ADJ-1)")
        held = int.from_bytes(packet.payload, "big", signed=True)
        if not 0 <= held <= MOST_TIMES_AS_FAST * (now - self._sent + 1):
            raise Refusal(f"message 1 was on its way for {now - self._sent} ns and cannot have been held for {held}")
        lag = packet.timestamp - self._timestamp - held
        if not 0 <= lag <= MOST_INTERVALS * self._interval:
            raise Refusal(
                f"a lag of {lag} ns is not within {MOST_INTERVALS} intervals of {self._interval} ns (TO-ADJ-2)"
            )

    def collect(self, now: int, packet: Packet) -> None:
        """Take message 1 of another host (TO-ADJ-1). The first of a round that can be answered opens the time in which
        others count."""
        self._last_number[packet.sender] = packet.number
        self._collected[packet.sender] = _First(number=packet.number, timestamp=packet.timestamp, arrival=now)
        if self._closes is None and packet.sender in self._reached:
            self._closes = now + max(1, self._interval // 2)

    def conclude(self, now: int, packet: Packet) -> None:
        """Take message 2; when it is the last of its round there is a new adjustment (TO-ADJ-2). One of a round that is
        over says nothing."""
        if packet.number != self._number:
            return
        rules = self._rules
        held = int.from_bytes(packet.payload, "big", signed=True)
        way = rules.round_trip(self._sent, now, held)
        self._differences[packet.sender] = rules.difference(packet.timestamp, way, now)
        if len(self._differences) == len(self._others):
            self.in_force = rules.in_force_next(self.in_force, rules.adjustment_of([*self._differences.values()]))
