"""Packets from pcap files through a switch, and what leaves into pcap files: for trying a program at the command line.

What the control plane writes comes from a JSON file: `tables` is a list of {table, match, action, params, priority},
`multicast` and `clone_sessions` map numbers to lists of [port, instance]. A match is written 0x10, 0x0a000000/8,
0x10&&&0xf0 or 100..200.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from scatterproof.impl.v1model.control import ControlEntry, ControlError, Lpm, Match, Range, Ternary
from scatterproof.impl.v1model.switch import EmbeddedSwitch
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes, write_atomically

ETHERNET = 1
GREATEST_PACKET = 1 << 18
# Magic numbers of files with microseconds and with nanoseconds, and what divides these to microseconds.
MAGIC = {0xA1B2C3D4: 1, 0xA1B23C4D: 1000}


class Written(msgspec.Struct, forbid_unknown_fields=True):
    """One entry of a table."""

    table: str
    match: dict[str, str | int]
    action: str
    params: dict[str, int] = {}
    priority: int = 0


class Control(msgspec.Struct, forbid_unknown_fields=True):
    """All that the control plane writes."""

    tables: list[Written] = []
    multicast: dict[int, list[tuple[int, int]]] = {}
    clone_sessions: dict[int, list[tuple[int, int]]] = {}


def read(path: Path) -> list[tuple[int, bytes]]:
    """The packets of a pcap file, each with its time in microseconds. BadInput names the place of what is wrong."""
    content = read_bytes(path, "capture")
    for order in "<>":
        if len(content) >= 24 and struct.unpack_from(order + "I", content)[0] in MAGIC:
            break
    else:
        raise BadInput(f"{path}: not a pcap file; give one of libpcap's first format, not pcapng")
    divisor = MAGIC[struct.unpack_from(order + "I", content)[0]]
    packets, at = [], 24
    while at < len(content):
        if len(content) < at + 16:
            raise BadInput(f"{path}: byte {at}: the file ends within the head of a packet; capture it again")
        seconds, fraction, length, _ = struct.unpack_from(order + "4I", content, at)
        if length > GREATEST_PACKET or len(content) < at + 16 + length:
            raise BadInput(f"{path}: byte {at}: the file ends within a packet of {length} bytes; capture it again")
        packets.append((seconds * 1_000_000 + fraction // divisor, content[at + 16 : at + 16 + length]))
        at += 16 + length
    return packets


def write(path: Path, packets: Sequence[tuple[int, bytes]]) -> None:
    """A pcap file of these packets, each with its time in microseconds."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, GREATEST_PACKET, ETHERNET)]
    for time_us, data in packets:
        parts += [struct.pack("<4I", time_us // 1_000_000, time_us % 1_000_000, len(data), len(data)), data]
    write_atomically(path, b"".join(parts))


def match_of(text: str | int) -> Match:
    """A match from its written form."""
    if isinstance(text, int):
        return text
    number = r"\s*(0x[0-9a-fA-F]+|\d+)\s*"
    for pattern, make in (
        (f"{number}/{number}", Lpm),
        (f"{number}&&&{number}", Ternary),
        (rf"{number}\.\.{number}", Range),
    ):
        found = re.fullmatch(pattern, text)
        if found is not None:
            return make(int(found[1], 0), int(found[2], 0))
    if re.fullmatch(number, text) is None:
        raise BadInput(f"match {text!r}: no such form; write 0x10, 0x0a000000/8, 0x10&&&0xf0 or 100..200")
    return int(text, 0)


def configure(switch: EmbeddedSwitch, path: Path) -> None:
    """Write what the file says; BadInput names the entry that is refused."""
    try:
        control = msgspec.json.decode(read_bytes(path, "control"), type=Control)
    except msgspec.DecodeError as error:
        raise BadInput(f"{path}: {error}; see the top of impl/v1model/capture.py for the form") from None
    for number, entry in enumerate(control.tables, 1):
        match = {name: match_of(text) for name, text in entry.match.items()}
        try:
            switch.tables[entry.table].add(ControlEntry(match, entry.action, entry.params, entry.priority))
        except ControlError as error:
            raise BadInput(f"{path}: entry {number}: {error}") from None
    for group, replicas in control.multicast.items():
        switch.multicast.set(group, replicas)
    for session, replicas in control.clone_sessions.items():
        switch.clone_sessions.set(session, replicas)


def run(switch: EmbeddedSwitch, inputs: Mapping[int, Path], folder: Path) -> Iterator[tuple[int, int]]:
    """Give all packets in order of time; (port, packets that left) for each file written, `PORT.pcap`."""
    arrivals = sorted(
        ((time_us, port, data) for port, path in inputs.items() for time_us, data in read(path)),
        key=lambda arrival: arrival[:2],
    )
    start = arrivals[0][0] if arrivals else 0
    left: dict[int, list[tuple[int, bytes]]] = {}
    for time_us, port, data in arrivals:
        for to, packet in switch.process(port, data, now_us=time_us - start):
            left.setdefault(to, []).append((time_us, packet))
    for port, packets in sorted(left.items()):
        write(folder / f"{port}.pcap", packets)
        yield port, len(packets)
