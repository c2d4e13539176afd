"""The one UDP socket of a process, and what waits to be sent in one datagram to each peer."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from random import Random

from scatterproof.impl.broadcast.codec import HEADER, encode_all, size
from scatterproof.impl.broadcast.course_files import Host
from scatterproof.impl.drivers.sockets import MAX_DATAGRAM, bound
from scatterproof.spec.broadcast.messages import Packet
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.topology import NodeId

DATAGRAM_BYTES = 1_400  # below what an Ethernet frame has room for (wire.toml)
_MOST_PACKETS = (1 << 16) - 1


class Mesh:
    """Never blocks. What the system does not take is lost, as the network may lose anything: the links send it again.
    From which address a datagram comes is not looked at: it says whose it is. lose: the share that is not sent."""

    def __init__(self, me: NodeId, hosts: Sequence[Host], lose: float = 0.0) -> None:
        self._lose, self._draw = lose, Random(me).random
        self._addresses = [_resolve(host) for host in hosts]
        self.processes = len(hosts)
        self._waiting: dict[NodeId, list[Packet]] = {}
        self._bytes: dict[NodeId, int] = {}
        self.socket = _open(self._addresses[me], hosts[me])
        self._sendto = self.socket.sendto

    def put(self, packet: Packet) -> None:
        """Send the packet with the next datagram to its receiver."""
        peer, length = packet.receiver, size(packet)
        waiting = self._waiting.get(peer)
        if waiting is None:
            self._waiting[peer] = [packet]
            self._bytes[peer] = HEADER.size + length
            return
        total = self._bytes[peer] + length
        if total > DATAGRAM_BYTES or len(waiting) == _MOST_PACKETS:
            self._send(peer, waiting)
            self._waiting[peer] = [packet]
            self._bytes[peer] = HEADER.size + length
        else:
            waiting.append(packet)
            self._bytes[peer] = total

    def flush(self) -> None:
        """Send all that waits."""
        if self._waiting:
            for peer, packets in self._waiting.items():
                self._send(peer, packets)
            self._waiting.clear()

    def _send(self, peer: NodeId, packets: list[Packet]) -> None:
        if self._lose and self._draw() < self._lose:
            return
        # A full buffer, a peer that is not there, a network that is down: lost, and sent again.
        with suppress(OSError):
            self._sendto(encode_all(packets), self._addresses[peer])

    def arrived(self, most: int) -> Iterator[bytes]:
        """At most this many of the datagrams that have arrived."""
        receive = self.socket.recv
        for _ in range(most):
            try:
                yield receive(MAX_DATAGRAM)
            except BlockingIOError:
                return
            except OSError:
                # An error that an earlier datagram met on its way, told here.
                continue

    def close(self) -> None:
        self.socket.close()


def _resolve(host: Host) -> tuple[str, int]:
    try:
        found = socket.getaddrinfo(host.name, host.port, socket.AF_INET, socket.SOCK_DGRAM)
    except (OSError, UnicodeError):
        raise BadInput(f"host {host.name!r} has no IPv4 address; give one that the machine can resolve") from None
    address, port = found[0][4][:2]
    return str(address), int(port)


def _open(address: tuple[str, int], host: Host) -> socket.socket:
    try:
        return bound(address)
    except OSError as error:
        raise CannotRun(
            f"no UDP socket at host {host.name}, port {host.port}: {error.strerror}; free the port or choose another"
        ) from None
