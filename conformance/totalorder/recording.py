"""What a total-order packet, submission or delivery looks like in the trace's columns from `sender` on:
sender, receiver, number, digest, flags, packet, scattering, timestamp, barrier, ack_barrier, loss_record, greatest.
The digest of the second message of timestamp adjustment is the number that it contains."""

from __future__ import annotations

from collections.abc import Sequence

from scatterproof.spec.topology import NodeId
from scatterproof.spec.totalorder.messages import Delivery, Packet, PacketKind
from scatterproof.spec.trace import ABSENT, Row, digest_of

_DATA, _BEACON, _ACK, _ADJUSTED = (
    int(kind) for kind in (PacketKind.DATA, PacketKind.BEACON, PacketKind.ACK, PacketKind.ADJUSTED)
)
_HELD_BYTES = 8  # what the second message of timestamp adjustment contains, as a number
RESENT, INCARNATION = 1, 2  # `flags` in a packet's row: a bit, and what one incarnation counts for
_NO_PACKET = (ABSENT, ABSENT, ABSENT)  # flags, packet, scattering
_NO_BARRIERS = (ABSENT, ABSENT, ABSENT, ABSENT)


class Recorder:
    """Tails of rows for one run; counts submissions as the harness sees them."""

    def __init__(self) -> None:
        self._scatterings: dict[NodeId, int] = {}
        self._numbers: dict[tuple[NodeId, NodeId], int] = {}

    def submission(self, node: NodeId, messages: Sequence[tuple[NodeId, bytes]]) -> Sequence[Row]:
        scattering = self._scatterings[node] = self._scatterings.get(node, 0) + 1
        tails: list[Row] = []
        for receiver, payload in messages:
            number = self._numbers[node, receiver] = self._numbers.get((node, receiver), 0) + 1
            message = (node, receiver, number, digest_of(payload), ABSENT, ABSENT, scattering, ABSENT)
            tails.append((*message, *_NO_BARRIERS))
        return tails

    def packet(self, packet: Packet) -> Row:
        kind = packet.kind
        flags = packet.incarnation * INCARNATION
        if kind == _BEACON:
            return (
                packet.sender,
                ABSENT,
                ABSENT,
                ABSENT,
                flags,
                kind,
                ABSENT,
                ABSENT,
                packet.barrier,
                packet.ack_barrier,
                packet.loss_record,
                packet.greatest,
            )
        if kind == _DATA:
            digest = digest_of(packet.payload)
        elif kind == _ADJUSTED and len(packet.payload) == _HELD_BYTES:
            digest = int.from_bytes(packet.payload, "big", signed=True)
        else:
            digest = ABSENT
        if packet.resent:
            flags += RESENT
        return (
            packet.sender,
            packet.receiver,
            packet.number,
            digest,
            flags,
            kind,
            ABSENT,
            ABSENT if kind == _ACK else packet.timestamp,
            packet.barrier,
            packet.ack_barrier,
            packet.loss_record,
            packet.greatest,
        )

    def delivery(self, node: NodeId, delivery: Delivery) -> Row:
        payload = digest_of(delivery.payload)
        return (delivery.sender, node, delivery.number, payload, *_NO_PACKET, delivery.timestamp, *_NO_BARRIERS)

    def ended(self, flags: int) -> Row:
        return (ABSENT, ABSENT, ABSENT, ABSENT, flags, ABSENT, ABSENT, ABSENT, *_NO_BARRIERS)

    def carries_message(self, packet: Packet) -> bool:
        return packet.kind in (_DATA, _ACK)
