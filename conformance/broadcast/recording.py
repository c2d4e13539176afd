"""What a packet, submission, beginning or delivery looks like in the trace's columns from `sender` on: sender,
receiver, number, digest, flags, packet, pseq, count, clock_sum, clock_weighted (spec/broadcast/trace.toml)."""

from __future__ import annotations

from collections.abc import Sequence

from scatterproof.spec.broadcast.messages import Beginning, Delivery, Packet, PacketKind
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT, Row, digest_of

_DATA = int(PacketKind.DATA)
RESENT = 1  # the bit of `flags` in a packet's row
_NO_CLOCK = (ABSENT, ABSENT)
_NO_PACKET = (ABSENT, ABSENT, ABSENT, ABSENT, *_NO_CLOCK)  # flags, packet, pseq, count


class Recorder:
    """Tails of rows for one run; counts submissions as the harness sees them."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[NodeId, NodeId], int] = {}

    def submission(self, node: NodeId, messages: Sequence[tuple[NodeId, bytes]]) -> Sequence[Row]:
        tails: list[Row] = []
        for receiver, payload in messages:
            number = self._numbers[node, receiver] = self._numbers.get((node, receiver), 0) + 1
            tails.append((node, receiver, number, digest_of(payload), *_NO_PACKET))
        return tails

    def beginning(self, node: NodeId, beginning: Beginning) -> Row:
        message = (node, beginning.receiver, beginning.number, digest_of(beginning.payload))
        return (*message, ABSENT, ABSENT, ABSENT, beginning.count, *_NO_CLOCK)

    def packet(self, packet: Packet) -> Row:
        digest = digest_of(packet.payload) if packet.kind == _DATA else ABSENT
        clock = packet.clock
        sums = (sum(clock), sum(at * entry for at, entry in enumerate(clock, 1))) if clock else _NO_CLOCK
        message = (packet.creator, packet.receiver, packet.first, digest)
        return (*message, RESENT if packet.resent else 0, packet.kind, packet.pseq, packet.count, *sums)

    def delivery(self, node: NodeId, delivery: Delivery) -> Row:
        return (delivery.creator, node, delivery.number, digest_of(delivery.payload), *_NO_PACKET)

    def ended(self, flags: int) -> Row:
        return (ABSENT, ABSENT, ABSENT, ABSENT, flags, ABSENT, ABSENT, ABSENT, *_NO_CLOCK)

    def carries_message(self, packet: Packet) -> bool:
        """What is sent again for ever, to a process that has crashed, keeps no run from being over."""
        return packet.kind == _DATA and not packet.resent
