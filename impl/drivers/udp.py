"""A node as a process with UDP sockets (`python -m scatterproof.impl.drivers.udp [IUT]`): the datagram mode of
spec/adapter.py.

IUT: another kind of node of the protocol than its reference core, by its name for `--iut`.
One loop waits for stdin, datagrams, the core's deadline and signals. The local clock is the machine's monotonic clock
plus an offset. Ends with exit code 0 at `stop`, at the end of stdin and on SIGTERM or SIGINT; with 2 after bad input;
with 3 without a log or sockets.
"""

from __future__ import annotations

import io
import os
import selectors
import socket
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from scatterproof.impl.drivers import lines
from scatterproof.impl.drivers.log import NodeLogWriter
from scatterproof.impl.drivers.sockets import Sockets
from scatterproof.impl.drivers.udp_node import UdpNode
from scatterproof.impl.protocol import load, maker
from scatterproof.spec.adapter import Connect, Init, Listening, Ready, Stop, Stopped, Submit
from scatterproof.spec.core import LocalProtocolError
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import MAX_OFFSET_NS

_CHUNK_BYTES = 1 << 16


class UdpSession:
    """Carries out what the harness says, line after line: init, connect, any number of submits, stop."""

    def __init__(self, out: BinaryIO, selector: selectors.BaseSelector, resources: ExitStack, iut: str = "") -> None:
        self._out = out
        self._selector = selector
        self._resources = resources
        self._lines = 0
        self._iut = iut
        self._init: Init | None = None
        self._sockets: Sockets | None = None
        self._connected = False
        self.node: UdpNode | None = None

    def take(self, text: bytes) -> bool:
        """Carry out one line; returns whether more may follow. Raises BadInput for one that does not fit."""
        self._lines += 1
        place = f"stdin: line {self._lines}"
        if self._init is None:
            self._listen(lines.decode_init(text, place), place)
            return True
        line = lines.decode(text, place)
        if isinstance(line, Stop):
            # Whoever reads `stopped` may read the log: it is written out after every event.
            self._resources.close()
            lines.write(self._out, [Stopped()])
            return False
        if isinstance(line, Connect) and not self._connected:
            self._connect(line, place)
        elif isinstance(line, Submit) and self._connected:
            self._submit(line, place)
        else:
            expected = "submit or stop" if self._connected else "connect"
            raise BadInput(f"{place} has type {lines.type_of(line)!r}; now comes {expected}")
        return True

    def _listen(self, init: Init, place: str) -> None:
        """Open log and sockets, and say where the ingress links arrive."""
        if init.log is None:
            raise BadInput(f"{place}: init names no log; in datagram mode a node writes its own")
        if abs(init.clock_offset_ns) > MAX_OFFSET_NS:
            raise BadInput(f"{place}: clock_offset_ns is {init.clock_offset_ns}; give at most {MAX_OFFSET_NS}")
        core = maker(init.config.protocol, self._iut)(init.config)
        log = self._resources.enter_context(NodeLogWriter(Path(init.log), init.config.node))
        self._sockets = self._resources.enter_context(Sockets(init.config.ingress))
        self.node = UdpNode(init, load(init.config.protocol), core, log, self._sockets)
        self._resources.callback(_tell_refusals, self.node)
        self._init = init
        lines.write(self._out, [Listening(self._sockets.ports())])

    def _connect(self, line: Connect, place: str) -> None:
        """Note where the egress links lead, and begin to read datagrams: only now can they be answered."""
        assert self._init is not None
        assert self._sockets is not None
        wanted = set(self._init.config.egress)
        if set(line.peers) != wanted:
            raise BadInput(f"{place}: peers are given for links {sorted(line.peers)}; the egress are {sorted(wanted)}")
        for link, port in line.peers.items():
            if not 0 < port < 1 << 16:
                raise BadInput(f"{place}: link {link} leads to port {port}; ports are 1 to 65535")
        self._sockets.connect(line.peers)
        for link, opened in self._sockets.ingress.items():
            self._selector.register(opened, selectors.EVENT_READ, link)
        self._connected = True
        lines.write(self._out, [Ready()])

    def _submit(self, line: Submit, place: str) -> None:
        assert self.node is not None
        try:
            self.node.submit(tuple((message.receiver, message.payload) for message in line.messages))
        except LocalProtocolError as error:
            raise BadInput(f"{place}: {error}") from None

    def turn(self) -> float | None:
        """Do what is due; returns the seconds until something is due again, None for never."""
        if self.node is None or self._sockets is None or not self._connected:
            return None
        self.node.wake()
        out, waiting = self._sockets.out, bool(self._sockets.backlog)
        watched = out in self._selector.get_map()
        if waiting and not watched:
            self._selector.register(out, selectors.EVENT_WRITE)
        elif watched and not waiting:
            self._selector.unregister(out)
        return self.node.seconds_to_deadline()

    def flush(self) -> None:
        if self._sockets is not None:
            self._sockets.flush()


def _tell_refusals(node: UdpNode) -> None:
    """One line on stderr when datagrams were refused."""
    if node.refused:
        counts = ", ".join(f"{reason} {count}" for reason, count in sorted(node.refused.items()))
        print(f"node {node.node} refused {node.refused.total()} datagrams: {counts}", file=sys.stderr)


def serve(source: int, out: BinaryIO, alarm: socket.socket, iut: str = "") -> None:
    """Run a node until `stop`, the end of the source or a signal, which arrives as a byte from `alarm`."""
    rest = b""
    # select, not epoll: it takes files as well, and waits for microseconds where epoll waits for milliseconds.
    with selectors.SelectSelector() as selector, ExitStack() as resources:
        selector.register(alarm, selectors.EVENT_READ)
        selector.register(source, selectors.EVENT_READ)
        session = UdpSession(out, selector, resources, iut)
        while True:
            for key, events in selector.select(session.turn()):
                if key.fileobj is alarm:
                    return
                if key.fd == source:
                    chunk = os.read(source, _CHUNK_BYTES)
                    *whole, rest = (rest + chunk).split(b"\n")
                    if not all(session.take(text) for text in whole) or not chunk:
                        return
                elif events & selectors.EVENT_WRITE:
                    session.flush()
                elif session.node is not None:
                    session.node.take(key.data)


def main() -> int:
    # Unbuffered, so that nothing is left to flush when the harness has gone.
    out = io.FileIO(sys.stdout.fileno(), "w", closefd=False)
    return lines.run_until_signal(lambda alarm: serve(sys.stdin.fileno(), out, alarm, "".join(sys.argv[1:2])))


if __name__ == "__main__":
    sys.exit(main())
