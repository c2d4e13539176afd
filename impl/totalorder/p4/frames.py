"""Frames of the P4 switch: Ethernet, IPv4 and UDP around a datagram of the wire format, and the controller's headers.

Addresses name nodes: node n is 10.0.0.0 + n and 02:00:00:00:00:00 + n. A beacon goes to whoever is at the other end.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct, unpack

from scatterproof.impl.totalorder.codec import Malformed, decode, encode
from scatterproof.spec.topology import NodeId
from scatterproof.spec.totalorder.messages import Packet, PacketKind

UDP_PORT = 21_328
CPU_PORT = 255
TICK_LIMIT = 1 << 48
BEACON_MAC = 0x0100_5E00_00FE
BEACON_ADDRESS = 0xE000_00FE

_ETHERNET = Struct("!6s6sH")
_IPV4 = Struct("!BBHHHBBHII")
_UDP = Struct("!HHHH")
_HEADERS = _ETHERNET.size + _IPV4.size + _UDP.size
_OUT = Struct("!BHQ")
_IN = Struct("!BH6sQQQQ")
_BEACON = int(PacketKind.BEACON)
_TICKS = TICK_LIMIT - 1


class Ask(IntEnum):
    """What the controller asks of the switch: `what` of packet_out_t."""

    TRIGGER = 1
    SEND = 2
    MADE = 3
    SETTLE = 4
    REPORT = 5


class Reason(IntEnum):
    """Why the controller gets a packet: `reason` of packet_in_t."""

    HELD = 1
    FOR_SECOND = 2
    QUEUED = 3
    INTERCEPTED = 4
    BEGAN_ANEW = 5
    REPORTED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerPacket:
    """A packet that the controller got.

    until: the tick at which beacons that wait are due.
    heard_at: the tick at which the link was last heard, None for never.
    first_sender: None for nobody.
    frame: what follows the header.
    """

    reason: Reason
    port: int
    until: int
    barrier: int
    ack: int
    heard_at: int | None
    first_sender: NodeId | None
    frame: bytes


def mac(node: NodeId) -> int:
    return 0x0200_0000_0000 | node


def address(node: NodeId) -> int:
    """Of the network 10.0.0.0/8: 24 bits of the node's number."""
    return 0x0A00_0000 | node & 0xFF_FFFF


def frame(packet: Packet, *, clock: int | None = None, checksum: bool = True) -> bytes:
    """The frame in which a packet travels. clock: the tick in its source address, for programs that take the time from
    frames; None for the sender's address. checksum: whether UDP has one: hosts write it, switches clear it."""
    beacon = packet.kind == _BEACON
    source = mac(packet.sender) if clock is None else clock & _TICKS
    towards = (BEACON_MAC, BEACON_ADDRESS) if beacon else (mac(packet.receiver), address(packet.receiver))
    ethernet = _ETHERNET.pack(towards[0].to_bytes(6), source.to_bytes(6), 0x0800)
    return ethernet + ip_packet(encode(packet), address(packet.sender), towards[1], 1 if beacon else 64, checksum)


def ip_packet(datagram: bytes, sender: int, receiver: int, time_to_live: int, checksum: bool = True) -> bytes:
    """IPv4 and UDP around any datagram. sender, receiver: addresses."""
    length = _UDP.size + len(datagram)
    fields = (0x45, 0, _IPV4.size + length, 0, 0, time_to_live, 17)
    header = _IPV4.pack(*fields, ones_complement(_IPV4.pack(*fields, 0, sender, receiver)), sender, receiver)
    over = 0
    if checksum:
        pseudo = header[12:] + bytes((0, 17)) + length.to_bytes(2) + _UDP.pack(UDP_PORT, UDP_PORT, length, 0)
        over = ones_complement(pseudo + datagram) or 0xFFFF
    return header + _UDP.pack(UDP_PORT, UDP_PORT, length, over) + datagram


def ones_complement(data: bytes) -> int:
    """The Internet checksum: the one's complement of the one's complement sum of the words of 16 bits."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def datagram_of(data: bytes) -> bytes:
    """The datagram in a frame, as long as UDP says it is."""
    length = int.from_bytes(data[38:40])
    return data[_HEADERS : _HEADERS - _UDP.size + length]


def packet_of(data: bytes) -> Packet | Malformed:
    """The packet in a frame, or why there is none."""
    return decode(datagram_of(data)) if len(data) >= _HEADERS else Malformed.TOO_SHORT


def packet_out(ask: Ask, *, port: int = 0, clock: int = 0, following: bytes = b"") -> bytes:
    """What the controller sends to the CPU port. clock: its own, in ns."""
    return _OUT.pack(ask, port, clock & ((1 << 63) - 1)) + following


def packet_in(data: bytes) -> ControllerPacket:
    reason, port, until, barrier, ack, heard_at, first_sender = _IN.unpack_from(data)
    return ControllerPacket(
        reason=Reason(reason),
        port=port,
        until=int.from_bytes(until),
        barrier=barrier,
        ack=ack,
        heard_at=heard_at & _TICKS if heard_at else None,
        first_sender=first_sender & 0xFFFF_FFFF if first_sender else None,
        frame=data[_IN.size :],
    )
