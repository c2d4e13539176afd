"""The relay between nodes that have real sockets, with a socket for each link of a network. It does to the packets of a
link what a schedule says: delays, losses, cut links, nodes that are gone. Links are FIFO: a packet that waits holds up
those behind it, so that none arrives out of order."""

from __future__ import annotations

import heapq
import selectors
import socket
import sys
import time
from array import array
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType

from scatterproof.conformance.network.delays import Delays
from scatterproof.conformance.relay.ports import LOOPBACK, dropped_by_system, sends_from
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Fault, FaultKind
from scatterproof.spec.topology import LinkId

_BUFFER_BYTES = 1 << 22
_SO_RCVBUFFORCE = 33  # Linux: beyond the system's limit, for processes that may
_DATAGRAM_BYTES = 1 << 16
_BATCH = 64  # datagrams taken from one socket before the next has its turn
_DRAINED = 1 << 15  # datagrams, more than a socket's buffer holds: a source that floods is not waited for
MOST_DATAGRAMS = 1 << 20  # of one link
MOST_WAITING_BYTES = 1 << 27  # of all links together

Source = tuple[int, bytes]  # the id of a process, and the mark in its environment and in that of its children

LOST, WAITING, CARRIED = 0, 1, 2  # what became of a datagram


@dataclass(slots=True)
class Carriage:
    """What the relay did on one link.

    fates: LOST, WAITING or CARRIED, by datagram, from 0.
    lost_ns: by datagram, when it was lost.
    first: the datagram from which the schedule's faults are counted, None before `begin`.
    lost, delayed: how many the schedule lost or delayed.
    strange: how many came from others than the link's source; they are dropped.
    """

    inlet: socket.socket
    fates: array[int] = field(default_factory=lambda: array("b"))
    lost_ns: dict[int, int] = field(default_factory=dict)
    first: int | None = None
    lost: int = 0
    delayed: int = 0
    strange: int = 0
    source: Source | None = None  # where the link begins; None when it carries what anybody sends
    target: int | None = None  # the port where it ends; None when nobody is there
    cut: bool = False
    free_from: int = 0  # when the last one leaves

    @property
    def received(self) -> int:
        return len(self.fates)

    def lose(self, index: int, now: int) -> None:
        self.fates[index] = LOST
        self.lost_ns[index] = now


class LinkRelay:
    """Carries datagrams while `turn` is called. delays: of all links of the network; faults: by link and number,
    counted from `begin` on."""

    def __init__(self, links: Iterable[LinkId], delays: Delays, faults: Sequence[Fault]) -> None:
        """Opens all sockets; raises CannotRun when the system does not give them."""
        self._delays = delays
        links = list(links)
        # No packet takes a link that is on no way between hosts: a fault there changes nothing in any mode.
        self._faults = {(fault.link, fault.index): fault for fault in faults if fault.link in links}
        self._waiting: list[tuple[int, int, LinkId, int, bytes]] = []  # when it leaves, order, link, number, contents
        self._serial = 0
        self._waiting_bytes = 0
        self._ports: dict[Source, dict[int, bool]] = {}  # that datagrams came from, and whether they are the source's
        self.flooded: set[LinkId] = set()  # those on which more came than the relay carries
        self._selector = selectors.DefaultSelector()
        self._links: dict[LinkId, Carriage] = {}
        try:
            for link in links:
                self._links[link] = Carriage(_open())
                self._selector.register(self._links[link].inlet, selectors.EVENT_READ, link)
        except OSError as error:
            self.close()
            raise CannotRun(f"the relay's sockets cannot be opened: {error.strerror}; use a smaller network") from None

    @property
    def links(self) -> Mapping[LinkId, Carriage]:
        return self._links

    def port(self, link: LinkId) -> int:
        """The UDP port that the link's source has to send to."""
        port: int = self._links[link].inlet.getsockname()[1]
        return port

    def lead(self, link: LinkId, port: int | None) -> None:
        """From now on the link leads to this port, or to nobody: then what arrives is lost."""
        self._links[link].target = port

    def admit(self, link: LinkId, process: int, mark: bytes) -> None:
        """From now on the link carries only what this process sends, and what processes with the mark in their
        environment do. The rest is dropped, where the system says who sent it (Linux)."""
        self._links[link].source = (process, mark)

    def begin(self) -> None:
        """From now on, faults count: the next datagram of each link is its first."""
        for link, carriage in self._links.items():
            self.drain(link)
            carriage.first = carriage.received

    def cut(self, link: LinkId) -> None:
        """Lose what is on the link, and all that is put on it."""
        self.drain(link)
        now = time.monotonic_ns()
        for _, _, _, index, contents in (entry for entry in self._waiting if entry[2] == link):
            self._waiting_bytes -= len(contents)
            self._links[link].lose(index, now)
        self._waiting = [entry for entry in self._waiting if entry[2] != link]
        heapq.heapify(self._waiting)
        self._links[link].cut = True

    def mend(self, link: LinkId) -> None:
        """Carry again what is put on the link from now on."""
        self.drain(link)
        self._links[link].cut = False

    def drain(self, link: LinkId) -> None:
        """Take in all that its source has sent so far."""
        for _ in range(_DRAINED // _BATCH):
            if not self._receive(link):
                return

    def turn(self, until_ns: int) -> None:
        """Send what is due, and wait for one more thing to do, until until_ns (monotonic time) at the latest."""
        due = self._release()
        wait = min(until_ns, due) if due is not None else until_ns
        for key, _ in self._selector.select(max(0, wait - time.monotonic_ns()) / 1e9):
            self._receive(key.data)

    def to_come(self) -> list[Fault]:
        """The faults whose packets nobody has sent yet."""
        return [fault for (link, index), fault in self._faults.items() if index >= self._counted(link)]

    def dropped_by_system(self, others: Iterable[int] = ()) -> int:
        """Datagrams that the system dropped at the relay's ports, and at the others, where it tells (Linux)."""
        ports = {opened.inlet.getsockname()[1] for opened in self._links.values()}
        return dropped_by_system({*ports, *others}) or 0

    def close(self) -> None:
        for carriage in self._links.values():
            carriage.inlet.close()
        self._selector.close()

    def __enter__(self) -> LinkRelay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _counted(self, link: LinkId) -> int:
        """How many datagrams of the link came since `begin`."""
        carriage = self._links[link]
        return 0 if carriage.first is None else carriage.received - carriage.first

    def _receive(self, link: LinkId) -> bool:
        """Take what waits at the link's socket, up to a batch; returns whether there may be more."""
        carriage = self._links[link]
        for _ in range(_BATCH):
            try:
                contents, (_, port) = carriage.inlet.recvfrom(_DATAGRAM_BYTES)
            except BlockingIOError:
                return False
            except OSError:  # an error of an earlier datagram
                continue
            if carriage.source is None or self._is_of(carriage.source, port):
                self._take(link, carriage, contents)
            else:
                carriage.strange += 1
        return True

    def _is_of(self, source: Source, port: int) -> bool:
        """Whether the port is the source's. Nobody knows the owner of a socket that is closed by now: it is taken for
        the source's, unless the source is known to have another."""
        own = self._ports.setdefault(source, {})
        if port not in own:
            known = sends_from(port, *source)
            if known is None:
                return True not in own.values()
            own[port] = known
        return own[port]

    def _take(self, link: LinkId, carriage: Carriage, contents: bytes) -> None:
        now, index = time.monotonic_ns(), carriage.received
        if index >= MOST_DATAGRAMS or self._waiting_bytes + len(contents) > MOST_WAITING_BYTES:
            self.flooded.add(link)
            return
        carriage.fates.append(WAITING)
        number = self._counted(link) - 1
        fault = self._faults.get((link, number))
        if fault is not None and fault.kind is FaultKind.LOSE:
            carriage.lost += 1
        carriage.delayed += fault is not None and fault.kind is FaultKind.DELAY
        if carriage.cut or (fault is not None and fault.kind is FaultKind.LOSE):
            carriage.lose(index, now)
            return
        late = fault.delay_ns if fault is not None else 0
        leaves = max(now + self._delays(link, max(0, number)) + late, carriage.free_from)
        carriage.free_from = leaves
        self._serial += 1
        self._waiting_bytes += len(contents)
        heapq.heappush(self._waiting, (leaves, self._serial, link, index, contents))

    def _release(self) -> int | None:
        """Send what is due; returns when the next is, None if none waits."""
        now = time.monotonic_ns()
        while self._waiting and self._waiting[0][0] <= now:
            _, _, link, index, contents = heapq.heappop(self._waiting)
            self._waiting_bytes -= len(contents)
            carriage = self._links[link]
            if carriage.target is None:
                carriage.lose(index, now)
                continue
            try:
                carriage.inlet.sendto(contents, (LOOPBACK, carriage.target))
            except OSError:
                carriage.lose(index, now)
            else:
                carriage.fates[index] = CARRIED
        return self._waiting[0][0] if self._waiting else None


def _open() -> socket.socket:
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.setblocking(False)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
    if sys.platform == "linux":
        with suppress(PermissionError):  # a process that may not exceed the system's limit keeps it
            opened.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
    opened.bind((LOOPBACK, 0))
    return opened
