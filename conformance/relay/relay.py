"""The relay: one loop, and a socket for each ordered pair of processes.

The address that process a knows as b's is a socket of the relay. A datagram that a sends there leaves towards b from
the socket that b knows as a, so that programs that look at their peers' addresses see what they expect. Where a sends
from another port than its own, the datagram leaves from a further socket (a door), as without a relay b would see
another port, too; what b answers there goes to that port.
"""

from __future__ import annotations

import heapq
import selectors
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType

from scatterproof.conformance.relay.faults import Fate, Fates, Faults
from scatterproof.conformance.relay.news import News
from scatterproof.conformance.relay.ports import LOOPBACK, Address, dropped_by_system, opened, room_for
from scatterproof.spec.errors import CannotRun

_BLOCK = 256  # fates of a pair drawn at a time, at most
_BLOCKS = 1 << 17  # fates of all pairs that are drawn ahead, at most
_BATCH = 32  # datagrams taken from one socket before the next has its turn
_BUFFER_BYTES = 1 << 22  # asked of the system for each socket; it may grant less
_DATAGRAM_BYTES = 1 << 16
_ENTRY_BYTES = 256  # what a waiting datagram takes beside its contents


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayBounds:
    """queue_bytes: of all datagrams that wait; each pair has an equal share.
    doors: how many one process may have, for what it sends from other ports than its own; None for two to each other
        process. The system may allow fewer.
    """

    queue_bytes: int = 1 << 28
    doors: int | None = None


BOUNDS = RelayBounds()


@dataclass(slots=True)
class Counts:
    """Datagrams of one ordered pair.

    received: by the relay.
    sent: by the relay, copies too.
    lost, duplicated, reordered: by the faults.
    parted: by a partition.
    overflowed: the pair's queue was full.
    refused: the system did not take it.
    undoored: sent without a door, as none was left.
    """

    received: int = 0
    received_bytes: int = 0
    sent: int = 0
    lost: int = 0
    parted: int = 0
    duplicated: int = 0
    reordered: int = 0
    overflowed: int = 0
    refused: int = 0
    undoored: int = 0

    def plain(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__slots__}


class _Pair:
    """What goes from `source` to `target`."""

    __slots__ = ("_next", "counts", "doors", "fates", "number", "place", "queued", "source", "target")

    def __init__(self, number: int, source: int, target: int) -> None:
        self.number, self.source, self.target = number, source, target
        self.counts = Counts()
        self.fates: Sequence[Fate] = ()
        self.place = 0  # in the block of fates
        self._next = 0  # first index of the next block
        self.queued = 0  # bytes
        self.doors: dict[int, socket.socket] = {}  # by the source's port

    def draw(self, fates: Fates, count: int) -> None:
        self.fates = fates(self.number, self._next, count)
        self._next += count
        self.place = 0


@dataclass(frozen=True, slots=True)
class _Inlet:
    """A socket at which the relay receives what goes along `pair`. to_port: where a door leads; None for other
    inlets."""

    socket: socket.socket
    pair: _Pair
    to_port: int | None


# (when it leaves, a number that keeps the order, pair, socket, address, contents)
_Waiting = tuple[int, int, _Pair, socket.socket, Address, bytes]


class Relay:
    """Carries datagrams while `run` is called. `homes` are the addresses at which the processes (from 0) listen."""

    def __init__(self, homes: Sequence[Address], faults: Faults, seed: int, bounds: RelayBounds = BOUNDS) -> None:
        """Opens all sockets; raises CannotRun when the system does not give them."""
        count = len(homes)
        doors = 2 * (count - 1) if bounds.doors is None else bounds.doors
        granted = room_for(count * (count - 1), count * doors)
        self._doors_left = [granted // max(1, count)] * count
        self._homes, self._faults = list(homes), faults
        self._fates = Fates(seed, faults)
        self._buffer = memoryview(bytearray(_DATAGRAM_BYTES))
        self._waiting: list[_Waiting] = []
        self._serial = 0
        self.news = News()
        self._start: int | None = None
        self._selector = selectors.DefaultSelector()
        self._sockets: dict[tuple[int, int], socket.socket] = {}
        self._pairs: dict[tuple[int, int], _Pair] = {}
        self._inlets: list[_Inlet] = []
        try:
            for number, (source, target) in enumerate((a, b) for a in range(count) for b in range(count) if a != b):
                pair = self._pairs[source, target] = _Pair(number, source, target)
                self._sockets[source, target] = self._open(pair, None)
        except OSError as error:
            self.close()
            raise CannotRun(f"the relay's sockets cannot be opened: {error.strerror}; use fewer processes") from None
        self._block = max(8, min(_BLOCK, _BLOCKS // max(1, len(self._pairs))))
        self._most_queued = max(1 << 20, bounds.queue_bytes // max(1, len(self._pairs)))

    def address(self, process: int, peer: int) -> Address:
        """What `process` knows as the address of `peer`; its own is its home."""
        if process == peer:
            return self._homes[process]
        host, port = self._sockets[process, peer].getsockname()
        return host, port

    def start(self) -> None:
        """From now on the times of partitions count; until then there is no partition."""
        self._start = time.monotonic_ns()

    def run(self, until_s: float) -> None:
        """Carry datagrams until time.monotonic() is until_s, however many there are."""
        until = int(until_s * 1e9)
        while True:
            now = time.monotonic_ns()
            due = self._release(now)
            if now >= until:
                return
            wait = min(until, due) - now if due is not None else until - now
            for key, _ in self._selector.select(max(0, wait) / 1e9):
                self._receive(key.data)

    def counts(self) -> Mapping[tuple[int, int], Counts]:
        """By (source, target); the same objects as long as the relay runs."""
        return {key: pair.counts for key, pair in self._pairs.items()}

    @property
    def waiting(self) -> int:
        """Datagrams that are on their way."""
        return len(self._waiting)

    def traffic(self) -> int:
        """Datagrams received so far."""
        return sum(pair.counts.received for pair in self._pairs.values())

    def dropped_by_system(self) -> int | None:
        """How many datagrams the system dropped, as they came faster than the relay took them; None where it does not
        say (only Linux does)."""
        return dropped_by_system({inlet.socket.getsockname()[1] for inlet in self._inlets})

    def at_home(self) -> set[int] | None:
        """The processes whose home somebody has opened; None where the system does not say (only Linux does)."""
        ports = opened({port for _, port in self._homes})
        return None if ports is None else {p for p, (_, port) in enumerate(self._homes) if port in ports}

    def close(self) -> None:
        for inlet in self._inlets:
            inlet.socket.close()
        self._selector.close()

    def __enter__(self) -> Relay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, pair: _Pair, to_port: int | None) -> socket.socket:
        """A socket for what goes along `pair`. Raises OSError, and leaves nothing open then."""
        opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            opened.setblocking(False)
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
            opened.bind((LOOPBACK, 0))
            inlet = _Inlet(opened, pair, to_port)
            self._selector.register(opened, selectors.EVENT_READ, inlet)
        except OSError:
            opened.close()
            raise
        self._inlets.append(inlet)
        return opened

    def _receive(self, inlet: _Inlet) -> None:
        """Take what waits at a socket, up to a batch, and decide on each datagram."""
        pair, counts = inlet.pair, inlet.pair.counts
        receive, buffer = inlet.socket.recvfrom_into, self._buffer
        now = time.monotonic_ns()
        parted = self._start is not None and any(
            each.parts(pair.source, pair.target, now - self._start) for each in self._faults.partitions
        )
        home = self._homes[pair.source][1]
        usual = self._sockets[pair.target, pair.source]
        for _ in range(_BATCH):
            try:
                size, (_, port) = receive(buffer)
            except OSError:  # nothing more waits, or an error of an earlier datagram
                return
            counts.received += 1
            counts.received_bytes += size
            if pair.place == len(pair.fates):
                pair.draw(self._fates, self._block)
            fate = pair.fates[pair.place]
            pair.place += 1
            contents = bytes(self._buffer[:size])
            if parted or not fate:
                counts.parted += parted
                counts.lost += not parted
                self.news.lost(pair.number, contents, now)
            else:
                outlet = usual if port == home else self._door(pair, port)
                self._pass_on(pair, fate, now, outlet, inlet.to_port, contents)

    def _pass_on(
        self, pair: _Pair, fate: Fate, now: int, outlet: socket.socket, to_port: int | None, contents: bytes
    ) -> None:
        """Send at once what has no delay, and let the rest wait."""
        counts, faults, size = pair.counts, self._faults, len(contents) + _ENTRY_BYTES
        address = self._homes[pair.target] if to_port is None else (LOOPBACK, to_port)
        counts.duplicated += len(fate) - 1
        # Only a datagram that is held back takes longer than the delay and the greatest jitter.
        if faults.reorder and fate[0] > faults.delay_ns + faults.jitter_ns:
            counts.reordered += 1
        for delay in fate:
            if not delay:
                self._send(pair, outlet, address, contents, now)
            elif pair.queued + size > self._most_queued:
                counts.overflowed += 1
            else:
                pair.queued += size
                self._serial += 1
                entry = (now + delay, self._serial, pair, outlet, address, contents)
                heapq.heappush(self._waiting, entry)

    def _release(self, now: int) -> int | None:
        """Send what is due; returns when the next is, None if none waits."""
        waiting = self._waiting
        while waiting and waiting[0][0] <= now:
            _, _, pair, outlet, address, contents = heapq.heappop(waiting)
            pair.queued -= len(contents) + _ENTRY_BYTES
            self._send(pair, outlet, address, contents, now)
        return waiting[0][0] if waiting else None

    def _send(self, pair: _Pair, outlet: socket.socket, address: Address, contents: bytes, now: int) -> None:
        try:
            outlet.sendto(contents, address)
        except OSError:
            pair.counts.refused += 1
        else:
            pair.counts.sent += 1
            self.news.carried(pair.number, contents, now)

    def _door(self, pair: _Pair, port: int) -> socket.socket:
        """The socket from which the target gets what the source sends from this port."""
        door = pair.doors.get(port)
        if door is not None:
            return door
        if self._doors_left[pair.source]:
            self._doors_left[pair.source] -= 1
            try:
                pair.doors[port] = self._open(self._pairs[pair.target, pair.source], port)
            except OSError:
                pass  # no descriptor or port is left: it goes without a door
            else:
                return pair.doors[port]
        pair.counts.undoored += 1
        return self._sockets[pair.target, pair.source]
