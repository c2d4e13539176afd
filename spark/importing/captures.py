"""Captures of a network (pcap and pcapng files): their records, and the UDP datagrams over IPv4 in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from struct import Struct, unpack_from
from typing import BinaryIO, NamedTuple

from scatterproof.spec.errors import BadInput

# A record beyond this is no frame: lengths are garbage from here on.
MOST_BYTES = 1 << 18
SECOND_NS = 1_000_000_000

_MAGICS = {0xA1B2C3D4: 1_000, 0xA1B23C4D: 1}  # ns of the unit in which the fraction of a second is counted
_SECTION, _INTERFACE, _SIMPLE, _ENHANCED = 0x0A0D0D0A, 1, 3, 6
_ORDER_MAGIC = 0x1A2B3C4D
_RESOLUTION, _OFFSET = 9, 14  # options of an interface

# Where the network header of a frame begins, and where its EtherType, if it has one, by type of link.
_NULL, _ETHERNET, _RAW, _LINUX, _LINUX_2 = (0, 108), 1, (12, 14, 101, 228), 113, 276
_ETHER_IPV4, _ETHER_TAGS = 0x0800, (0x8100, 0x88A8)
_UDP = 17


class Record(NamedTuple):
    """One captured frame.

    number: from 1.
    flaw: why it cannot be used; only number and bytes are sound then.
    """

    number: int
    time_ns: int
    link_type: int
    frame: bytes
    flaw: str = ""


class Datagram(NamedTuple):
    """source, target: each the address, and address:port."""

    source: tuple[str, str]
    target: tuple[str, str]
    payload: bytes


def records(path: Path) -> Iterator[Record]:
    """The records of a capture, in their order. BadInput for a file that is none."""
    with path.open("rb") as file:
        magic = file.read(4)
        for order in "<>":
            if len(magic) == 4 and Struct(order + "I").unpack(magic)[0] in _MAGICS:
                yield from _pcap(file, order, _MAGICS[Struct(order + "I").unpack(magic)[0]], path)
                return
        if magic != _SECTION.to_bytes(4, "big"):
            raise BadInput(f"{path}: neither pcap nor pcapng; give a capture, as tcpdump -w writes it")
        file.seek(0)
        yield from _pcapng(file)


def _pcap(file: BinaryIO, order: str, unit: int, path: Path) -> Iterator[Record]:
    rest = file.read(20)
    if len(rest) < 20:
        raise BadInput(f"{path}: the capture ends within its header; capture again")
    link_type = unpack_from(order + "I", rest, 16)[0] & 0xFFFF
    head = Struct(order + "IIII")
    number = 0
    while raw := file.read(head.size):
        number += 1
        if len(raw) < head.size:
            yield Record(number, 0, link_type, raw, "the capture ends in mid-record")
            return
        seconds, fraction, captured, length = head.unpack(raw)
        if captured > MOST_BYTES:
            yield Record(number, 0, link_type, raw, f"a record of {captured} bytes; nothing behind it can be read")
            return
        frame = file.read(captured)
        if len(frame) < captured:
            yield Record(number, 0, link_type, frame, "the capture ends in mid-record")
            return
        flaw = f"only {captured} of {length} bytes were captured" if captured < length else ""
        yield Record(number, seconds * SECOND_NS + fraction * unit, link_type, frame, flaw)


class _Interface(NamedTuple):
    """link_type: of its frames.
    ticks_a_second: of its timestamps.
    offset_s: added to its timestamps, in seconds.
    """

    link_type: int
    ticks_a_second: int
    offset_s: int


def _pcapng(file: BinaryIO) -> Iterator[Record]:
    order, interfaces, number = "<", list[_Interface](), 0
    while raw := file.read(8):
        if len(raw) == 8 and raw[:4] == _SECTION.to_bytes(4, "big"):
            mark = file.read(4)
            order = "<" if mark == _ORDER_MAGIC.to_bytes(4, "little") else ">"
            interfaces = []
            file.seek(-4, 1)
        kind, size = unpack_from(order + "II", raw) if len(raw) == 8 else (0, 0)
        body = file.read(size - 8) if 12 <= size <= 2 * MOST_BYTES else b""
        if len(body) != size - 8 or size < 12:
            yield Record(number + 1, 0, 0, raw + body[:64], "the capture ends in mid-block, or its length is garbage")
            return
        if kind == _INTERFACE:
            interfaces.append(_interface(order, body))
        elif kind in (_SIMPLE, _ENHANCED):
            number += 1
            yield _packet(number, kind, order, body, interfaces)


def _interface(order: str, body: bytes) -> _Interface:
    ticks, offset, at = 1_000_000, 0, 8
    while at + 4 <= len(body) - 4:
        code, length = unpack_from(order + "HH", body, at)
        if code == _RESOLUTION and length == 1:
            exponent = body[at + 4]
            ticks = 2 ** (exponent & 0x7F) if exponent & 0x80 else 10**exponent
        elif code == _OFFSET and length == 8:
            offset = unpack_from(order + "q", body, at + 4)[0]
        elif code == 0:
            break
        at += 4 + (length + 3) // 4 * 4
    return _Interface(unpack_from(order + "H", body)[0], ticks, offset)


def _packet(number: int, kind: int, order: str, body: bytes, interfaces: list[_Interface]) -> Record:
    if kind == _SIMPLE or len(body) < 24:
        return Record(number, 0, 0, body[:64], "a record without a time")
    which, high, low, captured, length = unpack_from(order + "IIIII", body)
    frame = body[20 : 20 + captured]
    if which >= len(interfaces) or len(frame) < captured:
        return Record(number, 0, 0, frame, "a record of an unknown interface, or cut off")
    interface = interfaces[which]
    time_ns = (high << 32 | low) * SECOND_NS // interface.ticks_a_second + interface.offset_s * SECOND_NS
    flaw = f"only {captured} of {length} bytes were captured" if captured < length else ""
    return Record(number, time_ns, interface.link_type, frame, flaw)


def datagram_of(record: Record) -> Datagram | str | None:
    """The UDP datagram in a frame; None when it is something else, a reason when it is damaged."""
    packet = _network_packet(record)
    if packet is None or len(packet) < 20 or packet[0] >> 4 != 4 or packet[9] != _UDP:
        return None
    header = (packet[0] & 15) * 4
    total, fragment = unpack_from("!H", packet, 2)[0], unpack_from("!H", packet, 6)[0]
    if fragment & 0x3FFF:
        return "a fragment of an IPv4 packet; capture with a larger MTU"
    if total == 0:  # segmentation was left to the network card
        total = len(packet)
    if header < 20 or total > len(packet) or header + 8 > total:
        return "an IPv4 packet that is shorter than it says"
    source_port, target_port, length = unpack_from("!HHH", packet, header)
    if length < 8 or header + length > total:
        return "a UDP datagram that is shorter than it says"
    source, target = (".".join(map(str, packet[at : at + 4])) for at in (12, 16))
    return Datagram(
        (source, f"{source}:{source_port}"),
        (target, f"{target}:{target_port}"),
        packet[header + 8 : header + length],
    )


def _network_packet(record: Record) -> bytes | None:
    """The bytes behind the link's own header, if that says IPv4 or has no type; else None."""
    frame, kind = record.frame, record.link_type
    if kind in _RAW:
        return frame
    if kind in _NULL:
        return frame[4:]
    if kind == _ETHERNET:
        at = 12
    elif kind == _LINUX:
        at = 14
    elif kind == _LINUX_2:
        return frame[20:] if frame[:2] == b"\x08\x00" else None
    else:
        return None
    while len(frame) >= at + 6 and unpack_from("!H", frame, at)[0] in _ETHER_TAGS:
        at += 4
    if len(frame) < at + 2 or unpack_from("!H", frame, at)[0] != _ETHER_IPV4:
        return None
    return frame[at + 2 :]
