"""Packets to datagrams and back, in the layout of spec/totalorder/wire.toml."""

from __future__ import annotations

from enum import StrEnum
from struct import Struct

from impl.totalorder.limits import MAX_PAYLOAD_BYTES
from spec.totalorder.messages import NO_BARRIER, Packet, PacketKind

VERSION = 1
# version, kind, flags, sender, receiver, payload_length, reserved, number, link_seq, timestamp, barrier, ack_barrier
HEADER = Struct("!BBHIIHHQQQQQ")
BARRIER_FLAG = 1 << 0

_DATA, _BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)
_LIMIT = 1 << 63
_NODE_LIMIT = 1 << 32


class Malformed(StrEnum):
    """Why a datagram is no packet; where several apply, the first. wire.toml says what each means."""

    TOO_SHORT = "too_short"
    WRONG_VERSION = "wrong_version"
    UNKNOWN_KIND = "unknown_kind"
    UNKNOWN_FLAG = "unknown_flag"
    NONZERO_RESERVED = "nonzero_reserved"
    PAYLOAD_TOO_LONG = "payload_too_long"
    TRUNCATED_PAYLOAD = "truncated_payload"
    TRAILING_BYTES = "trailing_bytes"
    VALUE_OUT_OF_RANGE = "value_out_of_range"
    BARRIER_WITHOUT_FLAG = "barrier_without_flag"
    ACK_BARRIER_WITHOUT_FLAG = "ack_barrier_without_flag"
    BEACON_WITH_PAYLOAD = "beacon_with_payload"
    BEACON_WITH_MESSAGE_FIELD = "beacon_with_message_field"
    BEACON_WITHOUT_BARRIER = "beacon_without_barrier"
    DATA_WITHOUT_NUMBER = "data_without_number"
    DATA_WITHOUT_TIMESTAMP = "data_without_timestamp"


def encode(packet: Packet) -> bytes:
    """The packet's datagram. Raises ValueError for a packet that the wire format has no place for."""
    problem = flaw(packet)
    if problem is not None:
        raise ValueError(f"{packet} cannot be sent: {problem}")
    barrier, flags = (0, 0) if packet.barrier == NO_BARRIER else (packet.barrier, BARRIER_FLAG)
    header = HEADER.pack(
        VERSION,
        packet.kind,
        flags,
        packet.sender,
        packet.receiver,
        len(packet.payload),
        0,
        packet.number,
        packet.link_seq,
        packet.timestamp,
        barrier,
        0,
    )
    return header + packet.payload


def decode(datagram: bytes) -> Packet | Malformed:
    """The datagram's packet, or the first reason why it is none. Never raises."""
    if len(datagram) < HEADER.size:
        return Malformed.TOO_SHORT
    version, kind, flags, sender, receiver, length, reserved, number, link_seq, timestamp, barrier, ack_barrier = (
        HEADER.unpack_from(datagram)
    )
    if version != VERSION:
        return Malformed.WRONG_VERSION
    if kind not in (_DATA, _BEACON):
        return Malformed.UNKNOWN_KIND
    if flags & ~BARRIER_FLAG:
        return Malformed.UNKNOWN_FLAG
    if reserved:
        return Malformed.NONZERO_RESERVED
    if length > MAX_PAYLOAD_BYTES:
        return Malformed.PAYLOAD_TOO_LONG
    payload = datagram[HEADER.size :]
    if len(payload) != length:
        return Malformed.TRUNCATED_PAYLOAD if len(payload) < length else Malformed.TRAILING_BYTES
    if max(number, link_seq, timestamp, barrier, ack_barrier) >= _LIMIT:
        return Malformed.VALUE_OUT_OF_RANGE
    if not flags & BARRIER_FLAG:
        if barrier:
            return Malformed.BARRIER_WITHOUT_FLAG
        barrier = NO_BARRIER
    if ack_barrier:
        return Malformed.ACK_BARRIER_WITHOUT_FLAG
    packet = Packet(kind, sender, receiver, number, link_seq, timestamp, barrier, payload)
    return flaw(packet) or packet


def flaw(packet: Packet) -> Malformed | None:
    """Why no datagram can mean this packet, or None. Packets that came as JSON are held to it as well."""
    kind, number, timestamp = packet.kind, packet.number, packet.timestamp
    if kind not in (_DATA, _BEACON):
        return Malformed.UNKNOWN_KIND
    if len(packet.payload) > MAX_PAYLOAD_BYTES:
        return Malformed.PAYLOAD_TOO_LONG
    if not (0 <= packet.sender < _NODE_LIMIT and 0 <= packet.receiver < _NODE_LIMIT):
        return Malformed.VALUE_OUT_OF_RANGE
    if min(number, packet.link_seq, timestamp) < 0 or max(number, packet.link_seq, timestamp, packet.barrier) >= _LIMIT:
        return Malformed.VALUE_OUT_OF_RANGE
    if packet.barrier < NO_BARRIER:
        return Malformed.VALUE_OUT_OF_RANGE
    if kind == _BEACON:
        if packet.payload:
            return Malformed.BEACON_WITH_PAYLOAD
        if packet.receiver or number or timestamp:
            return Malformed.BEACON_WITH_MESSAGE_FIELD
        return Malformed.BEACON_WITHOUT_BARRIER if packet.barrier == NO_BARRIER else None
    if number == 0:
        return Malformed.DATA_WITHOUT_NUMBER
    return Malformed.DATA_WITHOUT_TIMESTAMP if timestamp == 0 else None
