"""What a total-order packet, submission or delivery looks like in the trace's columns from `sender` on:
sender, receiver, number, digest, flags, packet, scattering, timestamp, barrier."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from spec.topology import NodeId
from spec.totalorder.messages import Delivery, Packet, PacketKind
from spec.trace import ABSENT, Row

_DATA = int(PacketKind.DATA)


def digest(payload: bytes) -> int:
    """63-bit digest of a payload."""
    return int.from_bytes(blake2b(payload, digest_size=8).digest(), "big") >> 1


class Recorder:
    """Tails of rows for one run; counts submissions as the harness sees them."""

    def __init__(self) -> None:
        self._scatterings: dict[NodeId, int] = {}
        self._numbers: dict[tuple[NodeId, NodeId], int] = {}
        self._digests: dict[bytes, int] = {}

    def _digest(self, payload: bytes) -> int:
        known = self._digests.get(payload)
        if known is None:
            known = self._digests[payload] = digest(payload)
        return known

    def submission(self, node: NodeId, messages: Sequence[tuple[NodeId, bytes]]) -> Sequence[Row]:
        scattering = self._scatterings[node] = self._scatterings.get(node, 0) + 1
        tails: list[Row] = []
        for receiver, payload in messages:
            number = self._numbers[node, receiver] = self._numbers.get((node, receiver), 0) + 1
            tails.append((node, receiver, number, self._digest(payload), ABSENT, ABSENT, scattering, ABSENT, ABSENT))
        return tails

    def packet(self, packet: Packet) -> Row:
        if packet.kind == _DATA:
            return (
                packet.sender,
                packet.receiver,
                packet.number,
                self._digest(packet.payload),
                0,
                _DATA,
                ABSENT,
                packet.timestamp,
                packet.barrier,
            )
        return (packet.sender, ABSENT, ABSENT, ABSENT, 0, packet.kind, ABSENT, ABSENT, packet.barrier)

    def delivery(self, node: NodeId, delivery: Delivery) -> Row:
        payload = self._digest(delivery.payload)
        return (
            delivery.sender,
            node,
            delivery.number,
            payload,
            ABSENT,
            ABSENT,
            ABSENT,
            delivery.timestamp,
            ABSENT,
        )

    def ended(self, flags: int) -> Row:
        return (ABSENT, ABSENT, ABSENT, ABSENT, flags, ABSENT, ABSENT, ABSENT, ABSENT)

    def carries_message(self, packet: Packet) -> bool:
        return packet.kind == _DATA
