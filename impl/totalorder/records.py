"""What total order puts into the columns of a trace row (spec/totalorder/trace.toml). Absent columns are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from scatterproof.spec.topology import NodeId
from scatterproof.spec.totalorder.messages import NO_BARRIER, Delivery, Packet, PacketKind
from scatterproof.spec.trace import digest_of

HELD_BYTES = 8  # what the second message of timestamp adjustment contains: a number, which stands for its digest


class Records:
    """The columns of one node's events."""

    def __init__(self) -> None:
        self._scatterings = 0
        self._numbers = Counter[NodeId]()

    def submission(self, node: NodeId, messages: Sequence[tuple[NodeId, bytes]]) -> list[dict[str, int]]:
        """One row's columns for each message of the next scattering."""
        self._scatterings += 1
        rows: list[dict[str, int]] = []
        for receiver, payload in messages:
            self._numbers[receiver] += 1
            rows.append(
                {
                    "sender": node,
                    "receiver": receiver,
                    "number": self._numbers[receiver],
                    "digest": digest_of(payload),
                    "scattering": self._scatterings,
                }
            )
        return rows

    def packet(self, packet: Packet) -> dict[str, int]:
        columns = {
            "link_seq": packet.link_seq,
            "sender": packet.sender,
            "flags": packet.incarnation * 2 + packet.resent,
            "packet": packet.kind,
            "loss_record": packet.loss_record,
            "greatest": packet.greatest,
        }
        if packet.kind != PacketKind.BEACON:
            columns |= {"receiver": packet.receiver, "number": packet.number}
            if packet.kind == PacketKind.DATA:
                columns["digest"] = digest_of(packet.payload)
            elif packet.kind == PacketKind.ADJUSTED and len(packet.payload) == HELD_BYTES:
                columns["digest"] = int.from_bytes(packet.payload, "big", signed=True)
            if packet.kind != PacketKind.ACK:
                columns["timestamp"] = packet.timestamp
        if packet.barrier != NO_BARRIER:
            columns["barrier"] = packet.barrier
        if packet.ack_barrier != NO_BARRIER:
            columns["ack_barrier"] = packet.ack_barrier
        return columns

    def delivery(self, node: NodeId, delivery: Delivery) -> dict[str, int]:
        return {
            "sender": delivery.sender,
            "receiver": node,
            "number": delivery.number,
            "digest": digest_of(delivery.payload),
            "timestamp": delivery.timestamp,
        }
