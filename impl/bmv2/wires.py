"""Frames at the far ends of the veth pairs, by raw sockets."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress

from scatterproof.impl.bmv2.room import MTU, far

LEAST_BYTES = 14
MOST_BYTES = MTU + 14
_VLAN_TYPES = (b"\x81\x00", b"\x88\xa8")
_LEAST_VLAN_BYTES = 20
_ETH_P_ALL = 3
_BUFFER_BYTES = 64 << 20
_SO_RCVBUFFORCE = 33
_SOL_PACKET = 263
_PACKET_AUXDATA = 8
_TAG_VALID, _TAG_TYPE_VALID = 0x10, 0x40


def refusal(data: bytes) -> str | None:
    """Why a veth would not carry this frame, if it would not. The kernel throws away short frames with a VLAN tag."""
    if len(data) < LEAST_BYTES:
        return f"a veth carries no frame below {LEAST_BYTES} bytes, and this one has {len(data)}"
    if len(data) > MOST_BYTES:
        return f"a veth of mtu {MTU} carries no frame above {MOST_BYTES} bytes, and this one has {len(data)}"
    if data[12:14] in _VLAN_TYPES and len(data) < _LEAST_VLAN_BYTES:
        return f"a veth carries no tagged frame below {_LEAST_VLAN_BYTES} bytes, and this one has {len(data)}"
    return None


class Wires:
    """Our ends of the ports. Must be made inside the namespace."""

    def __init__(self, ports: Iterable[int]) -> None:
        self._sockets: dict[int, socket.socket] = {}
        self._poll = select.poll()
        self._ports: dict[int, int] = {}
        self._waiting: list[tuple[int, bytes]] = []
        for port in ports:
            opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
            self._sockets[port] = opened
            opened.bind((far(port), 0))
            opened.setblocking(False)
            with suppress(OSError):  # beyond the system's limit, for processes that may
                opened.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
            opened.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
            self._poll.register(opened, select.POLLIN)
            self._ports[opened.fileno()] = port

    def send(self, port: int, data: bytes) -> None:
        self._sockets[port].send(data)

    def take(self) -> None:
        """Read what has arrived, without waiting."""
        for descriptor, _ in self._poll.poll(0):
            port = self._ports[descriptor]
            while (frame := _receive(self._sockets[port])) is not None:
                if frame:
                    self._waiting.append((port, frame))

    def collect(self, expected: Mapping[int, int], patience_s: float) -> list[tuple[int, bytes]]:
        """All frames since the last call, once there are `expected` of them at each port, or patience ends."""
        deadline = time.monotonic() + patience_s
        while True:
            self.take()
            have = [port for port, _ in self._waiting]
            left = deadline - time.monotonic()
            if left <= 0 or all(have.count(port) >= number for port, number in expected.items()):
                break
            self._poll.poll(left * 1000)
        found, self._waiting = self._waiting, []
        return found

    def close(self) -> None:
        for opened in self._sockets.values():
            opened.close()


def _receive(opened: socket.socket) -> bytes | None:
    """One frame; empty where it is our own, None where there is none.

    The kernel takes a VLAN tag out of the frame, and passes it as auxiliary data; it is put back.
    """
    try:
        data, beside, _, address = opened.recvmsg(MOST_BYTES + 64, 256)
    except BlockingIOError:
        return None
    if address[2] == socket.PACKET_OUTGOING:
        return b""
    for level, kind, value in beside:
        if (level, kind) == (_SOL_PACKET, _PACKET_AUXDATA) and len(value) >= 20:
            status = int.from_bytes(value[:4], "little")
            if status & _TAG_VALID:
                tag = int.from_bytes(value[16:18], "little").to_bytes(2, "big")
                type_ = int.from_bytes(value[18:20], "little").to_bytes(2, "big") if status & _TAG_TYPE_VALID else b""
                data = data[:12] + (type_ or _VLAN_TYPES[0]) + tag + data[12:]
    return data
