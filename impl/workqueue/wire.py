"""Packets of the queue as datagrams, in MessagePack, and as columns of log rows."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT
from scatterproof.spec.workqueue.messages import COLUMNS, CallName, Handed, Packet

_decoder: msgspec.msgpack.Decoder[Packet] = msgspec.msgpack.Decoder(Packet)


class Malformed(StrEnum):
    NO_PACKET = "no_packet"
    UNKNOWN_CALL = "unknown_call"
    OUT_OF_RANGE = "out_of_range"


def encode(packet: Packet) -> bytes:
    return msgspec.msgpack.encode(packet)


def decode(datagram: bytes) -> Packet | Malformed:
    try:
        packet = _decoder.decode(datagram)
    except msgspec.DecodeError:
        return Malformed.NO_PACKET
    return flaw(packet) or packet


def flaw(packet: Packet) -> Malformed | None:
    if packet.call not in set(CallName):
        return Malformed.UNKNOWN_CALL
    numbers = (getattr(packet, name) for name in COLUMNS)
    fits = 0 <= packet.client < 1 << 32 and 0 < packet.operation < 1 << 63 and 0 <= packet.outcome <= 2
    return None if fits and all(ABSENT <= number < 1 << 63 for number in numbers) else Malformed.OUT_OF_RANGE


class Records:
    def submission(self, node: NodeId, messages: Sequence[tuple[NodeId, bytes]]) -> list[dict[str, int]]:
        return []

    def packet(self, packet: Packet) -> dict[str, int]:
        return {"sender": packet.client, "operation": packet.operation}

    def delivery(self, node: NodeId, delivery: Handed) -> dict[str, int]:
        return {name: getattr(delivery, name) for name in ("sender", "number", "group", "receipt")}
