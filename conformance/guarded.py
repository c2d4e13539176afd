"""Commands that end with all that they start, and with this process; `scatterproof.conformance.keeper` sees to it."""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_COMMAND = (sys.executable, "-I", "-S", str(Path(__file__).with_name("keeper.py")))
_ENDS_WITHIN_S = 5.0


class Guarded:
    """A command, started in a session of its own, and all that it has started. pid: the command's."""

    def __init__(
        self,
        command: Sequence[str],
        files: tuple[int, int, int],
        environment: Mapping[str, str],
        file_bytes: int,
        *,
        lingers: bool = False,
    ) -> None:
        """Start it in this process's working folder. files: its stdin, stdout and stderr; they stay open here, too.
        file_bytes: of any file that it writes. lingers: what it has started stays when it has ended, until `kill`.
        Raises OSError when it cannot be started."""
        self._lead, theirs = socket.socketpair()
        self._poll = select.poll()
        self._poll.register(self._lead, select.POLLIN)
        self._said: dict[str, list[Any]] = {}
        self._half = b""  # of a line
        self._gone = False
        asked = {
            "command": list(command),
            "environment": dict(environment),
            "folder": os.getcwd(),
            "file_bytes": file_bytes,
            "lingers": lingers,
        }
        try:
            with theirs:
                _keeper.guard(theirs, files)
            self._lead.sendall(json.dumps(asked).encode() + b"\n")
            while not self._said and self._listen(None):
                pass
            if "failed" in self._said:
                raise OSError(0, *self._said["failed"])
        except OSError:
            self._lead.close()
            raise
        self.pid: int = self._said.get("started", [0])[0]  # it may have killed its guardian already
        _open.add(self)

    def code(self) -> int | None:
        """The exit code of the command (negative: the signal that ended it); None while it runs."""
        self._listen(0)
        if self._gone:
            self._said.setdefault("ended", [-signal.SIGKILL])  # before its guardian could look, or with it
        return self._said["ended"][0] if "ended" in self._said else None

    def signal(self, number: int) -> None:
        """To its whole group, as a terminal does; nothing happens once the command has ended."""
        with suppress(OSError):
            self._lead.send(bytes([number]))

    def kill(self) -> None:
        """Have it, and all that it has started, killed; does not wait."""
        with suppress(OSError):
            self._lead.shutdown(socket.SHUT_WR)

    def is_gone(self, within_s: float) -> bool:
        """Whether nothing is left of it, which is waited for: once it has ended, or is to be killed."""
        deadline = time.monotonic() + within_s
        while not self._gone and self._listen(max(0.0, deadline - time.monotonic())):
            pass
        return self._gone

    def close(self) -> None:
        """What is left of it is killed."""
        self._lead.close()
        self._gone = True
        _open.discard(self)

    def _listen(self, seconds: float | None) -> bool:
        """Take in what its guardian says; whether it said anything in time, or ended."""
        if self._gone or not self._poll.poll(None if seconds is None else 1000 * seconds):
            return False
        try:
            heard = self._lead.recv(1 << 12)
        except ConnectionResetError:  # it did not read all that it was told
            heard = b""
        self._gone = not heard
        *lines, self._half = (self._half + heard).split(b"\n")
        for word, *rest in map(json.loads, lines):
            self._said[word] = rest
        return True


class _Keeper:
    """The process that forks the guardians: started with the first command, and ended with this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def guard(self, lead: socket.socket, files: Sequence[int]) -> None:
        """Have a guardian made for a command with these files, which listens to `lead`. Raises OSError."""
        with self._lock:
            if self._process is None or self._control is None or self._process.poll() is not None:
                self.forget()
                self._control, theirs = socket.socketpair()
                with theirs:
                    self._process = subprocess.Popen(
                        _COMMAND,
                        stdin=theirs.fileno(),
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        start_new_session=True,
                    )
            socket.send_fds(self._control, [b"!"], [lead.fileno(), *files])

    def forget(self) -> None:
        """Close our end; it ends when nobody holds one."""
        if self._control is not None:
            self._control.close()

    def end(self) -> None:
        self.forget()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_ENDS_WITHIN_S)


def _begin_anew() -> None:
    """After a fork: what this process holds a copy of shall end with the one that started it, not with this one."""
    global _keeper
    _keeper.forget()
    _keeper = _Keeper()
    for one in list(_open):
        one.close()


_keeper = _Keeper()
_open: weakref.WeakSet[Guarded] = weakref.WeakSet()
os.register_at_fork(after_in_child=_begin_anew)
atexit.register(lambda: _keeper.end())
