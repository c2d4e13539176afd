"""What the broadcast stack puts into a trace row (spec/broadcast/trace.toml). Absent columns are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from scatterproof.spec.broadcast.messages import Beginning, Delivery, Packet, PacketKind
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import digest_of

RESENT = 1


class Records:
    """The columns of one node's events."""

    def __init__(self) -> None:
        self._numbers = Counter[NodeId]()

    def submission(self, node: NodeId, messages: Sequence[tuple[NodeId, bytes]]) -> list[dict[str, int]]:
        """One row's columns for each message."""
        rows: list[dict[str, int]] = []
        for receiver, payload in messages:
            self._numbers[receiver] += 1
            message = {"sender": node, "receiver": receiver, "number": self._numbers[receiver]}
            rows.append(message | {"digest": digest_of(payload)})
        return rows

    def packet(self, packet: Packet) -> dict[str, int]:
        columns = {"sender": packet.creator, "receiver": packet.receiver, "number": packet.first}
        columns |= {"flags": RESENT if packet.resent else 0, "packet": packet.kind}
        columns |= {"pseq": packet.pseq, "count": packet.count}
        if packet.kind == PacketKind.DATA:
            columns["digest"] = digest_of(packet.payload)
            if packet.clock:
                columns["clock_sum"] = sum(packet.clock)
                columns["clock_weighted"] = sum(place * entry for place, entry in enumerate(packet.clock, 1))
        return columns

    def delivery(self, node: NodeId, delivery: Delivery) -> dict[str, int]:
        message = {"sender": delivery.creator, "receiver": node, "number": delivery.number}
        return message | {"digest": digest_of(delivery.payload)}

    def beginning(self, node: NodeId, beginning: Beginning) -> dict[str, int]:
        message = {"sender": node, "receiver": beginning.receiver, "number": beginning.number}
        return message | {"count": beginning.count, "digest": digest_of(beginning.payload)}
