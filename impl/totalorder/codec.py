"""Packets to datagrams and back, in the layout of spec/totalorder/wire.toml."""

from __future__ import annotations

from enum import StrEnum
from struct import Struct

from scatterproof.impl.totalorder.limits import DURATION_BYTES, MAX_PAYLOAD_BYTES
from scatterproof.spec.totalorder.messages import NO_BARRIER, Packet, PacketKind

VERSION = 2
# version, kind, flags, sender, receiver, payload_length, incarnation, number, link_seq, timestamp, barrier,
# ack_barrier, loss_record, greatest
HEADER = Struct("!BBHIIHHQQQQQQQ")
BARRIER_FLAG = 1 << 0
ACK_BARRIER_FLAG = 1 << 1
LOSS_FLAG = 1 << 2
RESENT_FLAG = 1 << 3

_DATA, _BEACON, _ACK, _ADJUSTED = (
    int(kind) for kind in (PacketKind.DATA, PacketKind.BEACON, PacketKind.ACK, PacketKind.ADJUSTED)
)
_PROXIED = frozenset({int(PacketKind.HANDED), int(PacketKind.RETURNED)})
_KINDS = frozenset(int(kind) for kind in PacketKind)
_FLAGS = BARRIER_FLAG | ACK_BARRIER_FLAG | LOSS_FLAG | RESENT_FLAG
_LIMIT = 1 << 63
_NODE_LIMIT = 1 << 32
_INCARNATION_LIMIT = 1 << 16


class Malformed(StrEnum):
    """Why a datagram is no packet; where several apply, the first. wire.toml says what each means."""

    TOO_SHORT = "too_short"
    WRONG_VERSION = "wrong_version"
    UNKNOWN_KIND = "unknown_kind"
    UNKNOWN_FLAG = "unknown_flag"
    PAYLOAD_TOO_LONG = "payload_too_long"
    TRUNCATED_PAYLOAD = "truncated_payload"
    TRAILING_BYTES = "trailing_bytes"
    VALUE_OUT_OF_RANGE = "value_out_of_range"
    BARRIER_WITHOUT_FLAG = "barrier_without_flag"
    ACK_BARRIER_WITHOUT_FLAG = "ack_barrier_without_flag"
    LOSS_WITHOUT_FLAG = "loss_without_flag"
    FLAG_WITHOUT_LOSS = "flag_without_loss"
    RESENT_WITHOUT_DATA = "resent_without_data"
    BEACON_WITH_PAYLOAD = "beacon_with_payload"
    BEACON_WITH_MESSAGE_FIELD = "beacon_with_message_field"
    BEACON_WITHOUT_BARRIER = "beacon_without_barrier"
    DATA_WITHOUT_NUMBER = "data_without_number"
    DATA_WITHOUT_TIMESTAMP = "data_without_timestamp"
    CONTROL_WITH_BARRIER = "control_with_barrier"
    CONTROL_WITH_TIMESTAMP = "control_with_timestamp"
    CONTROL_WITH_PAYLOAD = "control_with_payload"
    ADJUSTED_WITHOUT_DURATION = "adjusted_without_duration"
    PROXIED_WITHOUT_BEACON = "proxied_without_beacon"


def encode(packet: Packet) -> bytes:
    """The packet's datagram. Raises ValueError for a packet that the wire format has no place for."""
    problem = flaw(packet)
    if problem is not None:
        raise ValueError(f"{packet} cannot be sent: {problem}")
    barrier, ack_barrier, flags = packet.barrier, packet.ack_barrier, 0
    if barrier == NO_BARRIER:
        barrier = 0
    else:
        flags = BARRIER_FLAG
    if ack_barrier == NO_BARRIER:
        ack_barrier = 0
    else:
        flags |= ACK_BARRIER_FLAG
    if packet.loss_record:
        flags |= LOSS_FLAG
    if packet.resent:
        flags |= RESENT_FLAG
    header = HEADER.pack(
        VERSION,
        packet.kind,
        flags,
        packet.sender,
        packet.receiver,
        len(packet.payload),
        packet.incarnation,
        packet.number,
        packet.link_seq,
        packet.timestamp,
        barrier,
        ack_barrier,
        packet.loss_record,
        packet.greatest,
    )
    return header + packet.payload


def decode(datagram: bytes) -> Packet | Malformed:
    """The datagram's packet, or the first reason why it is none. Never raises."""
    if len(datagram) < HEADER.size:
        return Malformed.TOO_SHORT
    version, kind, flags, sender, receiver, length, incarnation, *values = HEADER.unpack_from(datagram)
    if version != VERSION:
        return Malformed.WRONG_VERSION
    if kind not in _KINDS:
        return Malformed.UNKNOWN_KIND
    if flags & ~_FLAGS:
        return Malformed.UNKNOWN_FLAG
    if length > MAX_PAYLOAD_BYTES:
        return Malformed.PAYLOAD_TOO_LONG
    payload = datagram[HEADER.size :]
    if len(payload) != length:
        return Malformed.TRUNCATED_PAYLOAD if len(payload) < length else Malformed.TRAILING_BYTES
    if max(values) >= _LIMIT:
        return Malformed.VALUE_OUT_OF_RANGE
    number, link_seq, timestamp, barrier, ack_barrier, loss_record, greatest = values
    if not flags & BARRIER_FLAG:
        if barrier:
            return Malformed.BARRIER_WITHOUT_FLAG
        barrier = NO_BARRIER
    if not flags & ACK_BARRIER_FLAG:
        if ack_barrier:
            return Malformed.ACK_BARRIER_WITHOUT_FLAG
        ack_barrier = NO_BARRIER
    if bool(flags & LOSS_FLAG) != bool(loss_record):
        return Malformed.LOSS_WITHOUT_FLAG if loss_record else Malformed.FLAG_WITHOUT_LOSS
    packet = Packet(
        kind,
        sender,
        receiver,
        number,
        link_seq,
        timestamp,
        barrier,
        payload,
        ack_barrier,
        loss_record,
        greatest,
        bool(flags & RESENT_FLAG),
        incarnation,
    )
    return _flaw_of_kind(packet) or packet


def flaw(packet: Packet) -> Malformed | None:
    """Why no datagram can mean this packet, or None. Packets that came as JSON are held to it as well."""
    if packet.kind not in _KINDS:
        return Malformed.UNKNOWN_KIND
    if len(packet.payload) > MAX_PAYLOAD_BYTES:
        return Malformed.PAYLOAD_TOO_LONG
    values = (packet.number, packet.link_seq, packet.timestamp, packet.loss_record, packet.greatest)
    barriers = (packet.barrier, packet.ack_barrier)
    nodes = (packet.sender, packet.receiver)
    if (
        min(values) < 0
        or min(barriers) < NO_BARRIER
        or max(*values, *barriers) >= _LIMIT
        or min(nodes) < 0
        or max(nodes) >= _NODE_LIMIT
        or not 0 <= packet.incarnation < _INCARNATION_LIMIT
    ):
        return Malformed.VALUE_OUT_OF_RANGE
    return _flaw_of_kind(packet)


def _flaw_of_kind(packet: Packet) -> Malformed | None:
    """What a packet of its kind may not be, once all its values are within their bounds."""
    kind = packet.kind
    if kind == _DATA:
        if packet.number == 0:
            return Malformed.DATA_WITHOUT_NUMBER
        return Malformed.DATA_WITHOUT_TIMESTAMP if packet.timestamp == 0 else None
    if packet.resent:
        return Malformed.RESENT_WITHOUT_DATA
    without_barrier = packet.barrier == NO_BARRIER and packet.ack_barrier == NO_BARRIER
    if kind == _BEACON:
        if packet.payload:
            return Malformed.BEACON_WITH_PAYLOAD
        if packet.receiver or packet.number or packet.timestamp:
            return Malformed.BEACON_WITH_MESSAGE_FIELD
        return Malformed.BEACON_WITHOUT_BARRIER if without_barrier else None
    if not without_barrier:
        return Malformed.CONTROL_WITH_BARRIER
    if packet.timestamp and (kind == _ACK or kind in _PROXIED):
        return Malformed.CONTROL_WITH_TIMESTAMP
    if kind in _PROXIED:
        return None if _is_beacon(packet.payload) else Malformed.PROXIED_WITHOUT_BEACON
    if kind == _ADJUSTED:
        # The value is below 2^63 when the first of its bytes is below 128.
        sound = len(packet.payload) == DURATION_BYTES and packet.payload[0] < 1 << 7
        return None if sound else Malformed.ADJUSTED_WITHOUT_DURATION
    return Malformed.CONTROL_WITH_PAYLOAD if packet.payload else None


def _is_beacon(datagram: bytes) -> bool:
    """Whether it is the datagram of a beacon. What claims to be none is not looked into: wrapped packets may be wrapped
    again, and deeper than a stack is."""
    if len(datagram) != HEADER.size or datagram[1] != _BEACON:
        return False
    return not isinstance(decode(datagram), Malformed)
