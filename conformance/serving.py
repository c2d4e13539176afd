"""Servers of products: each on a free port of loopback, with a folder of its own, until it is ended."""

from __future__ import annotations

import shutil
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from scatterproof.conformance.supervisor import LIMITS, Child, Limits, stop
from scatterproof.spec.errors import CannotRun

LOOPBACK, ELSEWHERE, START_S = "127.0.0.1", "127.0.0.2", 60.0


def program(name: str) -> str | None:
    """The path of a program: on PATH, or beside this interpreter."""
    beside = Path(sys.executable).parent / name
    return shutil.which(name) or (str(beside) if beside.is_file() else None)


def free_ports(count: int) -> list[int]:
    """This many free ports, all different."""
    with ExitStack() as opened:
        sockets = [opened.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((LOOPBACK, 0))
        return [one.getsockname()[1] for one in sockets]


class Served:
    """A program that listens on this port; what it writes is in the folder."""

    def __init__(self, name: str, command: Sequence[str], port: int, folder: Path, limits: Limits = LIMITS) -> None:
        self.port, self._words = port, command
        self._name, self._folder, self._limits = name, folder, limits
        self.begin()

    def begin(self) -> None:
        """Returns when it takes connections."""
        self._child = Child(self._name, self._words, self._folder, self._limits)
        deadline = time.monotonic() + START_S
        while True:
            try:
                # From its own address a connection to a free port can meet itself, and take the port from the server.
                socket.create_connection((LOOPBACK, self.port), timeout=1, source_address=(ELSEWHERE, 0)).close()
            except OSError:
                if time.monotonic() > deadline or not self._child.is_running():
                    self.end()
                    told = self._folder / f"{self._name}.stderr"
                    raise CannotRun(f"{self._name} took no connection; see {told}") from None
                time.sleep(0.02)
            else:
                return

    def kill(self) -> None:
        """End it without warning, as a crash does; `begin` starts it anew."""
        self._child.reap()

    def end(self) -> None:
        self._child.terminate()
        stop([self._child])

    def restart(self, kill: bool) -> None:
        """Stop it, or kill it, and start it again."""
        if kill:
            self._child.kill()
        self.end()
        self.begin()
