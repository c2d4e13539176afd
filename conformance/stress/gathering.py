"""Where programs wait for one another before they begin, and say that they have begun with everything: two TCP servers,
as the course's command line of 2020 has them (`--barrier`, `--signal`)."""

from __future__ import annotations

import socket
import socketserver
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Barrier, BrokenBarrierError, Thread

from scatterproof.conformance.relay.ports import LOOPBACK
from scatterproof.spec.errors import CannotRun

PLACEHOLDERS = ("barrier", "signal")
_BYTES = 1 << 12


class _Server(socketserver.ThreadingTCPServer):
    """gate: what each connection waits for; None when it may stay as long as it likes, and tells nobody anything."""

    daemon_threads = True
    request_queue_size = 128  # programs start together
    gate: Barrier | None = None


class _Connection(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        with suppress(OSError, BrokenBarrierError):  # the program has gone, or the run is over
            if self.server.gate is not None:
                self.server.gate.wait()
                self.request.shutdown(socket.SHUT_WR)
            # It may say who it is. What nobody has read would make a reset of the connection's end.
            while self.request.recv(_BYTES):
                pass


@contextmanager
def gathering(processes: int) -> Iterator[dict[str, str]]:
    """The placeholders' values while both serve. Who connects to the barrier waits there until all programs have; then
    the connection ends. Raises CannotRun when the system gives no port."""
    gate = Barrier(processes)
    places = {}
    with ExitStack() as stack:
        for name in PLACEHOLDERS:
            try:
                server = stack.enter_context(_Server((LOOPBACK, 0), _Connection))
            except OSError as error:
                raise CannotRun(f"no TCP port on {LOOPBACK}: {error.strerror}; close other programs' sockets") from None
            server.gate = gate if name == "barrier" else None
            Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
            stack.callback(server.shutdown)
            places[name] = f"{LOOPBACK}:{server.server_address[1]}"
        stack.callback(gate.abort)
        yield places
