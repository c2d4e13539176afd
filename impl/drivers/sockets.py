"""A node's UDP sockets on loopback: one for each ingress link, whose port names the link, and one to send from."""

from __future__ import annotations

import socket
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import TracebackType

from scatterproof.spec.errors import CannotRun
from scatterproof.spec.topology import LinkId

_LOOPBACK = "127.0.0.1"
_BUFFER_BYTES = 8 << 20
_SO_RCVBUFFORCE = 33  # Linux: beyond the system's limit, for processes that may
MAX_DATAGRAM = 65_535
# Datagrams taken from one socket in a row, so that a flooded link starves neither the others nor the timer.
_TURN = 64


class Sockets:
    """Sending never blocks: what the system does not take at once waits in `backlog`, in order. Otherwise two nodes
    that each wait for the other to read would wait for ever."""

    def __init__(self, ingress: tuple[LinkId, ...]) -> None:
        self.ingress: dict[LinkId, socket.socket] = {}
        self.backlog: deque[tuple[LinkId, bytes]] = deque()
        self._peers: dict[LinkId, tuple[str, int]] = {}
        self._sources: dict[LinkId, int] = {}
        try:
            self.out = bound((_LOOPBACK, 0))
            for link in ingress:
                self.ingress[link] = bound((_LOOPBACK, 0))
        except OSError as error:
            self.close()
            raise CannotRun(f"no UDP socket on {_LOOPBACK}: {error.strerror}; close other programs' sockets") from None

    def ports(self) -> dict[LinkId, int]:
        return {link: opened.getsockname()[1] for link, opened in self.ingress.items()}

    def connect(self, peers: Mapping[LinkId, int]) -> None:
        """Note the port that each egress link leads to."""
        self._peers = {link: (_LOOPBACK, port) for link, port in peers.items()}

    def send(self, link: LinkId, datagram: bytes) -> None:
        self.backlog.append((link, datagram))
        self.flush()

    def flush(self) -> None:
        """Send what waits, until the system takes no more. Raises CannotRun where it refuses a datagram."""
        while self.backlog:
            link, datagram = self.backlog[0]
            try:
                self.out.sendto(datagram, self._peers[link])
            except BlockingIOError:
                return
            except OSError as error:
                raise CannotRun(f"link {link}: a datagram cannot be sent: {error.strerror}") from None
            self.backlog.popleft()

    def arrived(self, link: LinkId) -> Iterator[tuple[int, bytes]]:
        """Datagrams that wait on an ingress link, up to a turn, each with the port that it came from."""
        opened = self.ingress[link]
        for _ in range(_TURN):
            try:
                datagram, source = opened.recvfrom(MAX_DATAGRAM)
            except BlockingIOError:
                return
            yield source[1], datagram

    def expects(self, link: LinkId, source: int) -> bool:
        """Whether a datagram on this link may come from this port: the link's first packet settles it."""
        return self._sources.get(link, source) == source

    def settle(self, link: LinkId, source: int) -> None:
        self._sources.setdefault(link, source)

    def close(self) -> None:
        for opened in self.ingress.values():
            opened.close()
        if hasattr(self, "out"):
            self.out.close()

    def __enter__(self) -> Sockets:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def bound(address: tuple[str, int]) -> socket.socket:
    """A UDP socket at the address that does not block, with buffers as large as the system grants. Raises OSError."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        opened.setblocking(False)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        if sys.platform == "linux":
            # A process that may not exceed the system's limit keeps it.
            with suppress(PermissionError):
                opened.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
        opened.bind(address)
    except OSError:
        opened.close()
        raise
    return opened
