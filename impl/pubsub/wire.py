"""Packets as datagrams, in MessagePack, and as columns of log rows."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from scatterproof.spec.pubsub.messages import CallName, Delivery, Packet, PacketName
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT

_decoder: msgspec.msgpack.Decoder[Packet] = msgspec.msgpack.Decoder(Packet)


class Malformed(StrEnum):
    NO_PACKET = "no_packet"
    UNKNOWN_KIND = "unknown_kind"
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
    if packet.kind not in set(PacketName) or packet.call not in {"", *CallName}:
        return Malformed.UNKNOWN_KIND
    numbers = (packet.sender, packet.number, packet.topic, packet.filter, packet.level)
    fits = 0 <= packet.hop < 1 << 32 and 0 <= packet.serial < 1 << 63 and 0 <= packet.outcome <= 2
    return None if fits and all(ABSENT <= number < 1 << 63 for number in numbers) else Malformed.OUT_OF_RANGE


class Records:
    def submission(self, node: NodeId, messages: Sequence[tuple[NodeId, bytes]]) -> list[dict[str, int]]:
        return []

    def packet(self, packet: Packet) -> dict[str, int]:
        return {"sender": packet.sender, "number": packet.number}

    def delivery(self, node: NodeId, delivery: Delivery) -> dict[str, int]:
        return {name: getattr(delivery, name) for name in ("sender", "number", "topic", "level")}
