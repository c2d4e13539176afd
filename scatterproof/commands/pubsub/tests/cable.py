"""A wire between two real appliances that can be cut, mended and made slow."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Cable:
    """Carries what is dialled at `port` to `target`, until it is cut; then nothing gets through until it is mended.

    delay_s: how long what comes is held.
    """

    def __init__(self, target: int) -> None:
        self._target, self._ends = target, list[socket.socket]()
        self.delay_s = 0.0
        self._lock, self._is_cut = threading.Lock(), False
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = self._door.getsockname()[1]
        self._start(self._listen)

    @staticmethod
    def _start(what: object, *given: object) -> None:
        threading.Thread(target=what, args=given, daemon=True).start()  # type: ignore[arg-type]

    def _listen(self) -> None:
        while True:
            try:
                near, _ = self._door.accept()
            except OSError:
                return  # closed
            try:
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                near.close()
                continue
            with self._lock:
                if self._is_cut:
                    _shut(near, far)
                    continue
                self._ends += [near, far]
            self._start(self._carry, near, far)
            self._start(self._carry, far, near)

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(1 << 16):
                threading.Event().wait(self.delay_s)
                target.sendall(data)
        except OSError:
            pass
        # To close it is not enough: while the other thread reads from it, the other side is told nothing.
        _shut(source, target)

    def cut(self) -> None:
        with self._lock:
            self._is_cut = True
            _shut(*self._ends)
            self._ends.clear()

    def mend(self) -> None:
        with self._lock:
            self._is_cut = False

    def close(self) -> None:
        self.cut()
        self._door.close()


def _shut(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):  # it has gone already
            end.shutdown(socket.SHUT_RDWR)
        end.close()
