"""Child processes under supervision: limits on what they write and how long they take, and an end to all of them.

Protocol-agnostic. What a child does wrong comes back as a `Failure`, never as an exception. A child has a session of
its own; its stdout is read line by line here and kept in a file, its stderr goes to a file. It is asked to stop, then
terminated, then killed. What it has started ends with it, and all of them with the harness
(`scatterproof.conformance.guarded`).
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from scatterproof.conformance.guarded import Guarded
from scatterproof.spec.errors import CannotRun

MARK = "SCATTERPROOF_CHILD"  # in the environment of a child, and of all that it starts, unless they clear it
_marks = count()
_CHUNK_BYTES = 1 << 16
_LOOK_S = 0.1
_ENDS_WITHIN_S = 2.0  # from the end of its stdout on, if it ends
_GONE_WITHIN_S = 5.0  # what forks faster than it can be killed is left to its guardian
_LEFT_BYTES = 1 << 20  # what a pipe may hold when nobody writes to it any more
_MEND = "check the folder and the disk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """answer_s: for the next line, apart from what the child waits for a processor.
    answers_s: for all lines together.
    stop_s: for each way to end.
    total_bytes: of all lines.
    file_bytes: of any file that the child writes.
    log_bytes: of the log that is read while it is written.
    """

    answer_s: float = 10.0
    answers_s: float = 300.0
    stop_s: float = 2.0
    line_bytes: int = 1 << 20
    total_bytes: int = 1 << 28
    file_bytes: int = 1 << 30
    log_bytes: int = 1 << 27


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class ChildFailure:
    """What a child did wrong, as the end of a sentence that begins with its name."""

    reason: str


class Child:
    """One process. Not for use by several threads."""

    def __init__(self, name: str, command: Sequence[str], folder: Path, limits: Limits = LIMITS) -> None:
        """Start `command`; `<name>.stdout` and `<name>.stderr` are in `folder`. Raises CannotRun when it cannot be."""
        self.name = name
        self.limits = limits
        self._pending = bytearray()  # for its stdin
        self._unread = bytearray()  # of its stdout
        self._searched = 0  # bytes of it, in which no line ends
        self._total = 0
        self._open = True  # its stdout
        self._waited = 0.0  # seconds, for its lines
        self.mark = f"{os.getpid()}-{next(_marks)}"
        self._lost = ""  # why what it wrote is not kept
        self._stdout_path, self._stderr_path = folder / f"{name}.stdout", folder / f"{name}.stderr"
        with ExitStack() as theirs, ExitStack() as ours:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                self._kept = ours.enter_context(self._stdout_path.open("wb", buffering=0))
                stderr = theirs.enter_context(self._stderr_path.open("wb"))
            except OSError as error:
                raise CannotRun(f"{folder}: cannot keep what {name} writes: {error.strerror}; {_MEND}") from None
            try:
                stdin, self._stdin = os.pipe()
                theirs.callback(os.close, stdin)
                ours.callback(self.close_stdin)
                self._stdout, stdout = os.pipe()
                theirs.callback(os.close, stdout)
                ours.callback(os.close, self._stdout)
                environment = {**os.environ, MARK: self.mark}
                self._process = Guarded(command, (stdin, stdout, stderr.fileno()), environment, limits.file_bytes)
                ours.callback(self._process.close)
            except OSError as error:
                raise CannotRun(f"{command[0]}: cannot be started: {error.strerror}; check the command") from None
            self._resources = ours.pop_all()
        os.set_blocking(self._stdin, False)
        os.set_blocking(self._stdout, False)
        self._poll = select.poll()
        self._poll.register(self._stdout, select.POLLIN)

    @property
    def process(self) -> int:
        """Its id."""
        return self._process.pid

    def tell(self, line: bytes) -> None:
        """Send one line, without waiting; what does not fit into the pipe goes when the next line is waited for."""
        self._pending += line
        self._pending += b"\n"
        self._write()

    def line(self, timeout_s: float | None = None) -> bytes | ChildFailure:
        """The next line of its stdout, without the end of line."""
        line = self._next_line()
        if line is not None:
            return line
        patience = self.limits.answer_s if timeout_s is None else timeout_s
        begun = time.monotonic()
        found = self._wait_for_line(begun + min(patience, self.limits.answers_s - self._waited), patience)
        self._waited += time.monotonic() - begun
        return found

    def _next_line(self) -> bytes | None:
        end = self._unread.find(b"\n", self._searched)
        self._searched = len(self._unread) if end < 0 else 0
        if end < 0:
            return None
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line

    def _wait_for_line(self, deadline: float, patience: float) -> bytes | ChildFailure:
        """Read until there is a line; or what the child does in its place."""
        waited_ns: int | None = None  # of a child that does not answer at once
        while (line := self._next_line()) is None:
            self.refuse_loss()
            if len(self._unread) > self.limits.line_bytes:
                return self._failure(f"wrote a line of more than {self.limits.line_bytes} bytes")
            if self._total > self.limits.total_bytes:
                return self._failure(f"wrote more than {self.limits.total_bytes} bytes")
            if not self._open:
                return self._ended()
            left = deadline - time.monotonic()
            if left <= 0:
                left += max(0, self.waited_ns() - (waited_ns or 0)) / 1e9
            if left <= 0 and self._waited + patience > self.limits.answers_s:
                return self._failure(f"took more than {self.limits.answers_s:g} s for its answers together")
            if left <= 0:
                return self._failure(f"gave no answer for {patience:g} s")
            if not self._exchange(min(left, _LOOK_S)) and waited_ns is None:
                waited_ns = self.waited_ns()
        return line

    def has_more(self) -> bool:
        """Whether it has written what nobody has read yet."""
        return bool(self._unread)

    def drain(self) -> None:
        """Take in what it has written so far, and send what waits."""
        self._exchange(0)

    def is_running(self) -> bool:
        return self._process.code() is None

    def waited_ns(self) -> int:
        """For how long it has waited for a processor so far; 0 where the system does not tell (it does on Linux)."""
        try:
            with open(f"/proc/{self._process.pid}/schedstat", "rb") as file:
                return int(file.read().split()[1])
        except (OSError, IndexError):
            return 0

    def close_stdin(self) -> None:
        self._pending.clear()
        if self._stdin >= 0:
            os.close(self._stdin)
            self._stdin = -1

    def terminate(self) -> None:
        self._process.signal(signal.SIGTERM)

    def kill(self) -> None:
        """Have it killed, with all that it has started; `reap` waits for that."""
        self._process.kill()

    def reap(self) -> int:
        """Kill it, and all that it has started; close everything. The exit code (negative: the signal)."""
        self._process.kill()
        self._process.is_gone(_GONE_WITHIN_S)
        most = self._total + _LEFT_BYTES
        while self._open and self._total < most and self._exchange(0):
            pass
        self._close_stdout()
        self._resources.close()
        code = self._process.code()
        return -signal.SIGKILL if code is None else code

    def refuse_loss(self) -> None:
        """Raise CannotRun when something that it wrote could not be kept."""
        if self._lost:
            raise CannotRun(self._lost)

    def _exchange(self, seconds: float) -> bool:
        """Wait for something to read, or to write if anything waits; whether something was read."""
        waiting = bool(self._pending) and self._write()
        if waiting:
            self._poll.register(self._stdin, select.POLLOUT)
        ready = self._poll.poll(seconds * 1000)
        if waiting:
            self._poll.unregister(self._stdin)
        for descriptor, _ in ready:
            if descriptor == self._stdout:
                return self._read()
        return False

    def _write(self) -> bool:
        """Write what the pipe takes; whether anything is left."""
        try:
            del self._pending[: os.write(self._stdin, self._pending)]
        except BlockingIOError:
            return True
        except OSError:
            self._pending.clear()  # It is gone, or has closed its stdin; reading will tell.
        return bool(self._pending)

    def _read(self) -> bool:
        if self._total > self.limits.total_bytes:
            return False  # it waits until somebody ends it
        try:
            chunk = os.read(self._stdout, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not chunk:
            self._close_stdout()
            return False
        self._total += len(chunk)
        if self._total <= self.limits.total_bytes:
            self._keep(chunk)
        self._unread += chunk
        return True

    def _keep(self, chunk: bytes) -> None:
        try:
            while chunk and not self._lost:
                chunk = chunk[self._kept.write(chunk) :]
        except OSError as error:
            self._lost = f"{self._stdout_path}: cannot keep what {self.name} writes: {error.strerror}; {_MEND}"

    def _close_stdout(self) -> None:
        """Nothing comes from there any more, or nobody cares."""
        if self._open:
            self._open = False
            self._poll.unregister(self._stdout)

    def _ended(self) -> ChildFailure:
        """Its stdout is closed: say how it ended, once it has."""
        wait([self], _ENDS_WITHIN_S)
        code = self._process.code()
        if code is None:
            return self._failure("closed its stdout")
        if code >= 0:
            return self._failure(f"ended with exit code {code}")
        return self._failure(f"was ended by {signal.Signals(-code).name}")

    def _failure(self, reason: str) -> ChildFailure:
        with self._stderr_path.open("rb") as stderr:
            stderr.seek(max(0, self._stderr_path.stat().st_size - 4096))
            words = stderr.read().decode("utf-8", "replace").strip().splitlines()
        return ChildFailure(f"{reason}; stderr ends: {words[-1][:300]}" if words else reason)


def wait(children: Iterable[Child], seconds: float) -> bool:
    """Wait until all have ended; whether they have. Keeps reading, so that none waits for a full pipe."""
    deadline = time.monotonic() + seconds
    pause = 0.001
    running = list(children)
    while running := [child for child in running if child.is_running()]:
        if time.monotonic() >= deadline:
            return False
        for child in running:
            child.drain()
        time.sleep(pause)
        pause = min(2 * pause, 0.02)
    return True


def stop(children: Sequence[Child], last_line: bytes | None = None, patience_s: float | None = None) -> list[str]:
    """End all children together and collect them: the last line and the end of stdin, then SIGTERM, then SIGKILL.

    Returns what there is to say of those that did not end by themselves with exit code 0. Raises CannotRun, when all
    have ended, for what they wrote and could not be kept.
    """
    if patience_s is None:
        patience_s = max((child.limits.stop_s for child in children), default=0.0)
    how: dict[int, str] = {}
    for child in children:
        if last_line is not None:
            child.tell(last_line)
        child.close_stdin()
    if not wait(children, patience_s):
        for number, child in enumerate(children):
            if child.is_running():
                how[number] = "did not stop when it was asked to"
                child.terminate()
        if not wait(children, patience_s):
            how |= {
                n: "did not stop on SIGTERM and was killed" for n, child in enumerate(children) if child.is_running()
            }
    for child in children:
        child.kill()
    codes = [child.reap() for child in children]
    for child in children:
        child.refuse_loss()
    for number, code in enumerate(codes):
        if code:
            how.setdefault(number, f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}")
    return [f"{children[number].name} {what}" for number, what in sorted(how.items())]
