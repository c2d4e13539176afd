"""What `queue work` runs: a program for each message, or printing; and what ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from select import select
from socket import socketpair
from threading import Lock
from types import FrameType

from scatterproof.impl.workqueue.handling import Context, Handler
from scatterproof.impl.workqueue.stores.access import GroupMessage, LockedGroup
from scatterproof.spec.errors import BadInput

_STOPPING = (signal.SIGINT, signal.SIGTERM)


class Stopping:
    """While it is entered, the first Ctrl-C or SIGTERM calls `stop` and says so on standard error, and a second one
    calls `end`, too. They are heard at once where the main thread is in `sleep`."""

    def __init__(self, stop: Callable[[], None], end: Callable[[], None]) -> None:
        self._stop, self._end = stop, end
        self.number: int | None = None  # of the first one that came
        self._before: dict[int, object] = {}
        self._heard, self._came = socketpair()

    def __enter__(self) -> Stopping:
        self._came.setblocking(False)
        signal.set_wakeup_fd(self._came.fileno())
        self._before = {number: signal.signal(number, self._take) for number in _STOPPING}
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)  # type: ignore[arg-type]
        signal.set_wakeup_fd(-1)
        self._heard.close()
        self._came.close()

    def sleep(self, seconds: float) -> None:
        """Until a signal comes, or for so long. A lock or `time.sleep` would miss one that comes just as it begins."""
        if select([self._heard], [], [], seconds)[0]:
            self._heard.recv(64)

    def _take(self, number: int, _: FrameType | None) -> None:
        if self.number is not None:
            self._end()
        else:
            self.number = number
            os.write(2, f"{signal.Signals(number).name}: ends after the message in hand; again ends it too\n".encode())
        self._stop()


class ProgramRunner:
    """Runs the same program for each message. Where it cannot be started, the worker dies of BadInput, and the message
    stays in the queue."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)
        self._lock = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()

    def handler(self) -> Handler:
        return _Program(self)

    def end(self) -> None:
        """End all that run now."""
        with self._lock:
            for process in self._running:
                process.terminate()

    def run(self, body: bytes, environment: dict[str, str]) -> int:
        """Its exit code; below 0 for a signal."""
        try:
            # In a session of its own: Ctrl-C on the terminal lets it finish.
            process = subprocess.Popen(
                self._words, stdin=subprocess.PIPE, env={**os.environ, **environment}, start_new_session=True
            )
        except OSError as error:
            raise BadInput(f"--run: {self._words[0]} cannot be started: {error.strerror}") from None
        with self._lock:
            self._running.add(process)
        try:
            process.communicate(body)  # a program that does not read it is none the worse
        finally:
            with self._lock:
                self._running.discard(process)
        return process.returncode


class _Program:
    def __init__(self, programs: ProgramRunner) -> None:
        self._programs = programs

    def start_group(self, group: LockedGroup, context: Context) -> None:
        """Nothing to do."""

    def process(self, message: GroupMessage, group: LockedGroup, context: Context) -> bool:
        told = {
            "GROUP": group.group,
            "MESSAGE": message.message,
            "LAST_MESSAGE": group.last_message,
            "CORRELATION": group.correlation,
            "TYPE": group.type,
            "PRIORITY": group.priority,
            "RETRIES": context.retries,
            "GROUP_RETRIES": context.group_retries,
        }
        environment = {f"SCATTERPROOF_{name}": str(value) for name, value in told.items()}
        return self._programs.run(message.body, environment) == 0

    def end_group(self, group: LockedGroup) -> None:
        """Nothing to do."""


class _Printing:
    _lock = Lock()

    def start_group(self, group: LockedGroup, context: Context) -> None:
        """Nothing to do."""

    def process(self, message: GroupMessage, group: LockedGroup, context: Context) -> bool:
        with self._lock:
            sys.stdout.buffer.write(message.body + b"\n")
            sys.stdout.buffer.flush()  # before it is taken off the queue
        return True

    def end_group(self, group: LockedGroup) -> None:
        """Nothing to do."""


def printed() -> Handler:
    """A handler that writes each message to standard output."""
    return _Printing()
