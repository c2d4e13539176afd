"""Packets to datagrams and back, in the layout of spec/broadcast/wire.toml."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from struct import Struct, pack, unpack_from
from zlib import crc32

from scatterproof.impl.broadcast.settings import MAX_CLOCK, MAX_NUMBER, MAX_PAYLOAD_BYTES, MAX_PROCESSES, MAX_RUN
from scatterproof.spec.broadcast.messages import NO_CLOCK, Packet, PacketKind

VERSION = 1
MAGIC = b"SPBC"
# magic, checksum, version, reserved, source, receiver, packets
HEADER = Struct("!4sIBBHHH")
# kind, flags, creator, clock_entries, payload_length, first, pseq, count
PACKET = Struct("!BBHHHIII")
RESENT_FLAG = 1 << 0
# Checked bytes begin behind magic and checksum.
CHECKED_FROM = 8
_CHECKED_HEADER = Struct("!BBHHH")
_ENTRY_BYTES = 4
_CHECKSUM = Struct("!I")

_DATA, _ACK = int(PacketKind.DATA), int(PacketKind.ACK)


# Why a datagram is none; where several apply, the first. wire.toml says what each means.
Malformed = StrEnum(
    "Malformed",
    "TOO_SHORT WRONG_MAGIC WRONG_CHECKSUM WRONG_VERSION RESERVED_NOT_ZERO TO_ITSELF NO_PACKET TRUNCATED_PACKET "
    "UNKNOWN_KIND UNKNOWN_FLAG NUMBER_OUT_OF_RANGE RUN_TOO_LONG RUN_WITH_PAYLOAD PAYLOAD_TOO_LONG CLOCK_TOO_LONG "
    "ACK_WITH_CONTENTS FOREIGN_ACK TRAILING_BYTES SEVERAL_PACKETS",
)


def size(packet: Packet) -> int:
    """How many bytes of a datagram the packet takes."""
    return PACKET.size + _ENTRY_BYTES * len(packet.clock) + len(packet.payload)


def encode(packet: Packet) -> bytes:
    """A datagram of this packet alone. Raises ValueError for one that the wire format has no place for."""
    problem = flaw(packet)
    if problem is not None:
        raise ValueError(f"{packet} cannot be sent: {problem}")
    return encode_all((packet,))


def encode_all(packets: Sequence[Packet]) -> bytes:
    """A datagram of packets that go from one source to one receiver, all without a flaw."""
    parts = [_CHECKED_HEADER.pack(VERSION, 0, packets[0].source, packets[0].receiver, len(packets))]
    for packet in packets:
        clock, payload, flags = packet.clock, packet.payload, RESENT_FLAG if packet.resent else 0
        fixed = packet.kind, flags, packet.creator, len(clock), len(payload), packet.first, packet.pseq, packet.count
        parts.append(PACKET.pack(*fixed))
        if clock:
            parts.append(pack(f"!{len(clock)}I", *clock))
        if payload:
            parts.append(payload)
    checked = b"".join(parts)
    return MAGIC + _CHECKSUM.pack(crc32(checked)) + checked


def decode(datagram: bytes) -> Packet | Malformed:
    """The one packet of a datagram, or the first reason why there is none. Never raises."""
    found = decode_all(datagram)
    if isinstance(found, Malformed):
        return found
    return found[0] if len(found) == 1 else Malformed.SEVERAL_PACKETS


def decode_all(datagram: bytes) -> list[Packet] | Malformed:
    """The packets of a datagram, or the first reason why it is none. Never raises."""
    if len(datagram) < HEADER.size:
        return Malformed.TOO_SHORT
    magic, checksum, version, reserved, source, receiver, count = HEADER.unpack_from(datagram)
    if magic != MAGIC:
        return Malformed.WRONG_MAGIC
    if checksum != crc32(memoryview(datagram)[CHECKED_FROM:]):
        return Malformed.WRONG_CHECKSUM
    if version != VERSION:
        return Malformed.WRONG_VERSION
    if reserved:
        return Malformed.RESERVED_NOT_ZERO
    if source == receiver or not count:
        return Malformed.TO_ITSELF if source == receiver else Malformed.NO_PACKET
    packets: list[Packet] = []
    at, end = HEADER.size, len(datagram)
    for _ in range(count):
        if at + PACKET.size > end:
            return Malformed.TRUNCATED_PACKET
        kind, flags, creator, entries, length, first, pseq, number = PACKET.unpack_from(datagram, at)
        at += PACKET.size
        behind = at + _ENTRY_BYTES * entries
        if behind + length > end:
            return Malformed.TRUNCATED_PACKET
        clock = unpack_from(f"!{entries}I", datagram, at) if entries else NO_CLOCK
        at = behind + length
        payload, resent = datagram[behind:at] if length else b"", flags == RESENT_FLAG
        packet = Packet(kind, source, receiver, creator, first, number, pseq, resent, payload, clock)
        problem = _flaw_of_packet(packet, flags)
        if problem is not None:
            return problem
        packets.append(packet)
    return packets if at == end else Malformed.TRAILING_BYTES


def flaw(packet: Packet) -> Malformed | None:
    """Why no datagram can mean this packet, or None. Packets that came as JSON are held to it as well."""
    numbers = (packet.first, packet.pseq, packet.count, *packet.clock)
    processes = (packet.source, packet.receiver, packet.creator)
    if min(numbers) < 0 or max(numbers) > MAX_NUMBER or min(processes) < 0 or max(processes) >= MAX_PROCESSES:
        return Malformed.NUMBER_OUT_OF_RANGE
    if packet.source == packet.receiver:
        return Malformed.TO_ITSELF
    return _flaw_of_packet(packet, RESENT_FLAG if packet.resent else 0)


def _flaw_of_packet(packet: Packet, flags: int) -> Malformed | None:
    """What a packet may not be, once all its values fit into their fields."""
    kind, count = packet.kind, packet.count
    if kind not in (_DATA, _ACK):
        return Malformed.UNKNOWN_KIND
    if flags & ~RESENT_FLAG:
        return Malformed.UNKNOWN_FLAG
    if packet.pseq == 0 or count == 0:
        return Malformed.NUMBER_OUT_OF_RANGE
    if kind == _ACK:
        if packet.pseq + count - 1 > MAX_NUMBER:
            return Malformed.NUMBER_OUT_OF_RANGE
        if packet.payload or packet.clock or packet.resent:
            return Malformed.ACK_WITH_CONTENTS
        return None if packet.creator == packet.source else Malformed.FOREIGN_ACK
    if packet.first == 0 or packet.first + count - 1 > MAX_NUMBER:
        return Malformed.NUMBER_OUT_OF_RANGE
    if count > MAX_RUN:
        return Malformed.RUN_TOO_LONG
    if packet.payload:
        if count > 1:
            return Malformed.RUN_WITH_PAYLOAD
        if len(packet.payload) > MAX_PAYLOAD_BYTES:
            return Malformed.PAYLOAD_TOO_LONG
    return Malformed.CLOCK_TOO_LONG if len(packet.clock) > MAX_CLOCK else None
