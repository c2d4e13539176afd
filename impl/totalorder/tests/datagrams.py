"""Datagrams for a fuzzed node: what a link may carry, and what damage, forgery and repetition make of it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from scatterproof.impl.totalorder.codec import HEADER, encode
from scatterproof.spec.totalorder.messages import NO_BARRIER, Environment, Packet, PacketKind

_FIELDS = ((0, 1), (1, 1), (2, 2), (4, 4), (8, 4), (12, 2), (14, 2), *((16 + 8 * k, 8) for k in range(7)))
# How many of the thirteen ways to make a datagram make a sound one.
_SOUND = 4
_KEPT = 64
# As in the configurations of `nodes`.
SWITCH, PROXY_HOST = 9, 0

Drawn = TypeVar("Drawn")


class Dice(Random):
    """Quick draws, each even enough."""

    def below(self, count: int) -> int:
        return int(self.random() * count)

    def one_of(self, values: Sequence[Drawn]) -> Drawn:
        return values[int(self.random() * len(values))]


class Link:
    """What an honest neighbour could send over one link: numbers, timestamps and barriers that rise."""

    def __init__(self, draw: Dice, environment: Environment, nodes: int) -> None:
        self._draw = draw
        self._environment = environment
        self._nodes = nodes
        self._seq = 0
        self._clock = 1
        self._ack_barrier = 0
        self._neighbour = nodes  # one that is no host

    def packet(self) -> Packet:
        """The next packet of the link, of a kind that its environment has."""
        draw, environment = self._draw, self._environment
        self._clock += draw.below(8)
        self._ack_barrier = min(self._clock - 1, self._ack_barrier + draw.below(12))
        seq, self._seq = self._seq, self._seq + 1
        sender = draw.below(self._nodes)
        greatest = self._clock if environment.loses else 0
        loss_record = draw.below(self._clock) if environment.loses and draw.below(8) == 0 else 0
        if environment.beacons and draw.below(2):
            barrier, ack_barrier = self._barriers(*draw.one_of(environment.beacons))
            return Packet(
                int(PacketKind.BEACON), self._neighbour, 0, 0, seq, 0, barrier, b"", ack_barrier, loss_record, greatest
            )
        receiver, number = draw.below(self._nodes), 1 + draw.below(5)
        if draw.below(3) == 0:
            kind, timestamp, payload = self._control()
            if kind is PacketKind.HANDED:
                sender, receiver, number = SWITCH, PROXY_HOST, 1 + draw.below(3)
            elif kind is PacketKind.RETURNED:
                sender, receiver, number = PROXY_HOST, SWITCH, 20 + draw.below(2)
            return Packet(
                int(kind),
                sender,
                receiver,
                number,
                seq,
                timestamp,
                NO_BARRIER,
                payload,
                NO_BARRIER,
                loss_record,
                greatest,
            )
        barrier, ack_barrier = self._barriers(environment.data_carry_barriers, environment.data_carry_ack_barriers)
        return Packet(
            int(PacketKind.DATA),
            sender,
            receiver,
            number,
            seq,
            self._clock,
            barrier,
            draw.randbytes(draw.below(4)),
            ack_barrier,
            loss_record,
            greatest,
            environment.loses and draw.below(6) == 0,
        )

    def _control(self) -> tuple[PacketKind, int, bytes]:
        """Kind, timestamp and payload of a packet that is neither data message nor beacon."""
        draw = self._draw
        kind = draw.one_of([kind for kind in PacketKind if kind not in (PacketKind.DATA, PacketKind.BEACON)])
        if kind is PacketKind.ACK:
            return kind, 0, b""
        if kind in (PacketKind.HANDED, PacketKind.RETURNED):
            beacon = Packet(int(PacketKind.BEACON), draw.below(self._nodes), 0, 0, 0, 0, self._clock, b"")
            return kind, 0, encode(beacon)
        return kind, self._clock, draw.randbytes(7).rjust(8, b"\0") if kind is PacketKind.ADJUSTED else b""

    def _barriers(self, barrier: bool, ack_barrier: bool) -> tuple[int, int]:
        return (self._clock if barrier else NO_BARRIER, self._ack_barrier if ack_barrier else NO_BARRIER)


class Attacker:
    """Datagrams on one link, a third of them as an honest neighbour sends them."""

    def __init__(self, draw: Dice, environment: Environment, nodes: int) -> None:
        self._draw = draw
        self._link = Link(draw, environment, nodes)
        self._seen: list[bytes] = []

    def datagram(self) -> bytes:
        draw = self._draw
        choice = draw.below(_SOUND + 9)
        if choice < _SOUND or not self._seen:
            sound = encode(self._link.packet())
            self._seen.append(sound)
            del self._seen[:-_KEPT]
            return sound
        victim = draw.one_of(self._seen)
        if choice == _SOUND:
            return draw.randbytes(draw.below(2 * HEADER.size))
        if choice == _SOUND + 1:
            return victim[: draw.below(len(victim) + 1)]
        if choice == _SOUND + 2:
            return victim + draw.randbytes(draw.below(4))  # nothing added: a replay
        if choice == _SOUND + 3:
            return self._forged(encode(self._link.packet()))  # the rest is new, so that it is looked at
        if choice == _SOUND + 4:
            at = draw.below(len(victim))
            return victim[:at] + draw.one_of(self._seen)[at:]
        if choice == _SOUND + 5:
            return self._forged(victim)
        if choice == _SOUND + 6:
            at = 2 + draw.below(len(victim) - 2)
            return (
                (victim[:2] + bytes(at - 2) + victim[at:]) if draw.below(2) else victim[:at].ljust(HEADER.size, b"\0")
            )
        return self._flipped(victim)

    def _flipped(self, victim: bytes) -> bytes:
        """One to eight bits are the opposite."""
        draw = self._draw
        value = int.from_bytes(victim)
        for _ in range(draw.one_of((1, 1, 2, 8))):
            value ^= 1 << draw.below(8 * len(victim))
        return value.to_bytes(len(victim))

    def _forged(self, victim: bytes) -> bytes:
        """One field of the header has another value: an edge of its range, or near the true one."""
        draw = self._draw
        start, size = draw.one_of(_FIELDS)
        true = int.from_bytes(victim[start : start + size])
        top = 1 << 8 * size
        value = draw.one_of((0, 1, top // 2 - 1, top // 2, top - 1, true + 1, true - 1, true + draw.below(1 << 20)))
        return victim[:start] + (value % top).to_bytes(size) + victim[start + size :]
