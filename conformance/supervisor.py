"""Child processes under supervision: limits on what they write and how long they take, and an end to all of them.

Protocol-agnostic. What a child does wrong comes back as a `Failure`, never as an exception. A child has a session of
its own; its stdout is read line by line here and kept in a file, its stderr goes to a file. It is asked to stop, then
terminated, then killed with its whole process group; on Linux, what has left that group is found by a mark in its
environment, and killed, too. Should the harness die, its stdin ends and, on Linux, it is killed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

from spec.errors import CannotRun

_PR_SET_PDEATHSIG = 1
_CHUNK_BYTES = 1 << 16
_LOOK_S = 0.1
MARK = "SCATTERPROOF_CHILD"  # in the environment of a child, and of all that it starts
_STRAYS_END_WITHIN_S = 5.0  # what forks faster than this can look for it is left to others
_marks = count()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """answer_s: for the next line. answers_s: for all lines together. stop_s: for each way to end. total_bytes: of all
    lines. file_bytes: of any file that the child writes. log_bytes: of the log that is read while it is written."""

    answer_s: float = 10.0
    answers_s: float = 300.0
    stop_s: float = 2.0
    line_bytes: int = 1 << 20
    total_bytes: int = 1 << 28
    file_bytes: int = 1 << 30
    log_bytes: int = 1 << 27


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Failure:
    """What a child did wrong, as the end of a sentence that begins with its name."""

    reason: str


class Child:
    """One process. Not for use by several threads; start it from a thread that outlives it."""

    def __init__(self, name: str, command: Sequence[str], folder: Path, limits: Limits = LIMITS) -> None:
        """Start `command`; `<name>.stdout` and `<name>.stderr` are in `folder`. Raises CannotRun when it cannot be."""
        self.name = name
        self.limits = limits
        self._pending = bytearray()  # for its stdin
        self._buffer = bytearray()  # from its stdout, without an end of line so far
        self._lines: deque[bytes] = deque()
        self._total = 0
        self._open = True  # its stdout
        self._waited = 0.0  # seconds, for its lines
        self.mark = f"{os.getpid()}-{next(_marks)}"
        self._stdout_path, self._stderr_path = folder / f"{name}.stdout", folder / f"{name}.stderr"
        kept = None
        started: Sequence[str] = command
        if launcher := _launcher():
            most = _most(limits.file_bytes, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
            started = (*launcher, f"--fsize={most}:", *command)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            kept = self._stdout_path.open("wb", buffering=0)
            if launcher:
                _look_for(command[0])
            with self._stderr_path.open("wb") as stderr:
                self._process = subprocess.Popen(
                    list(started),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    env={**os.environ, MARK: self.mark},
                    bufsize=0,
                    start_new_session=True,
                    preexec_fn=None if launcher else confine(os.getpid(), limits.file_bytes),
                )
        except (OSError, subprocess.SubprocessError) as error:
            if kept is not None:
                kept.close()
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise CannotRun(f"{command[0]}: cannot be started: {reason}; check the command") from None
        self._kept = kept
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin.fileno(), self._process.stdout.fileno()
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

    def line(self, timeout_s: float | None = None) -> bytes | Failure:
        """The next line of its stdout, without the end of line."""
        if self._lines:
            return self._lines.popleft()
        patience = self.limits.answer_s if timeout_s is None else timeout_s
        begun = time.monotonic()
        failure = self._wait_for_line(begun + min(patience, self.limits.answers_s - self._waited), patience)
        self._waited += time.monotonic() - begun
        return self._lines.popleft() if failure is None else failure

    def _wait_for_line(self, deadline: float, patience: float) -> Failure | None:
        """Read until there is a line; or what the child does in its place."""
        while not self._lines:
            if len(self._buffer) > self.limits.line_bytes:
                return self._failure(f"wrote a line of more than {self.limits.line_bytes} bytes")
            if self._total > self.limits.total_bytes:
                return self._failure(f"wrote more than {self.limits.total_bytes} bytes")
            if not self._open:
                return self._ended()
            left = deadline - time.monotonic()
            if left <= 0 and self._waited + patience > self.limits.answers_s:
                return self._failure(f"took more than {self.limits.answers_s:g} s for its answers together")
            if left <= 0:
                return self._failure(f"gave no answer for {patience:g} s")
            # Children of its own may hold its stdout open when it has ended.
            if not self._exchange(min(left, _LOOK_S)) and not self.is_running() and not self._exchange(0):
                return self._ended()
        return None

    def has_more(self) -> bool:
        """Whether it has written what nobody has read yet."""
        return bool(self._lines or self._buffer)

    def drain(self) -> None:
        """Take in what it has written so far, and send what waits."""
        self._exchange(0)

    def is_running(self) -> bool:
        return self._process.returncode is None and self._how_it_ended() is None

    def waited_ns(self) -> int:
        """For how long it has waited for a processor so far; 0 where the system does not tell (it does on Linux)."""
        try:
            with open(f"/proc/{self._process.pid}/schedstat", "rb") as file:
                return int(file.read().split()[1])
        except (OSError, IndexError):
            return 0

    def close_stdin(self) -> None:
        self._pending.clear()
        assert self._process.stdin is not None
        self._process.stdin.close()

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def reap(self) -> int:
        """Kill what is left of its group, collect it and close everything; the exit code (negative: the signal). What
        has left its group is for `end_strays`."""
        if self._process.returncode is None:
            # Its id cannot pass to another process before it is collected.
            self._signal(signal.SIGKILL)
            self._process.wait()
            self._finish()
        return self._process.returncode

    def _finish(self) -> None:
        while self._open and self._total <= self.limits.total_bytes and self._exchange(0):
            pass
        self.close_stdin()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._kept.close()

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
        try:
            chunk = os.read(self._stdout, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not chunk:
            self._open = False
            self._poll.unregister(self._stdout)
            return False
        self._total += len(chunk)
        if self._total <= self.limits.total_bytes:
            self._kept.write(chunk)
        first, *rest = chunk.split(b"\n")
        self._buffer += first
        for part in rest:
            self._lines.append(bytes(self._buffer))
            self._buffer = bytearray(part)
        return True

    def _ended(self) -> Failure:
        """Its stdout is closed: say how it ended, once it has."""
        if not wait([self], 0.5):
            return self._failure("closed its stdout")
        ended = self._how_it_ended()
        assert ended is not None
        if ended.si_code == os.CLD_EXITED:
            return self._failure(f"ended with exit code {ended.si_status}")
        return self._failure(f"was ended by {signal.Signals(ended.si_status).name}")

    def _how_it_ended(self) -> os.waitid_result | None:
        """Looks without collecting it, so that its id stays its own."""
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)

    def _failure(self, reason: str) -> Failure:
        with self._stderr_path.open("rb") as stderr:
            stderr.seek(max(0, self._stderr_path.stat().st_size - 4096))
            words = stderr.read().decode("utf-8", "replace").strip().splitlines()
        return Failure(f"{reason}; stderr ends: {words[-1][:300]}" if words else reason)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


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

    Returns what there is to say of those that did not end by themselves with exit code 0.
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
    codes = [child.reap() for child in children]
    end_strays(children)
    for number, code in enumerate(codes):
        if code:
            how.setdefault(number, f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}")
    return [f"{children[number].name} {what}" for number, what in sorted(how.items())]


def end_strays(children: Sequence[Child]) -> None:
    """Kill what the children have started, and what has left their process groups since: a daemon, say; and wait until
    it is gone, as a killed process is there until it next gets a processor. Where there is no /proc it is not found."""
    marks = {f"{MARK}={child.mark}".encode() for child in children}
    deadline = time.monotonic() + _STRAYS_END_WITHIN_S
    pause = 0.001
    while strays := [pid for pid in _processes() if not marks.isdisjoint(_environment(pid))]:
        for pid in strays:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() >= deadline:
            return
        time.sleep(pause)
        pause = min(2 * pause, 0.02)


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _environment(pid: int) -> list[bytes]:
    """What the process was started with; nothing of one that is gone, or another user's."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


@cache
def _launcher() -> tuple[str, ...]:
    """What a command is started through, so that it dies with its parent and its files are limited; the size follows.
    Nothing where that is not to be had. It saves what runs between fork and exec, for which the whole harness, a large
    process, would have to be forked."""
    dies, limited = (shutil.which(name) if sys.platform == "linux" else None for name in ("setpriv", "prlimit"))
    if dies is None or limited is None:
        return ()
    launcher = (dies, "--pdeathsig", "KILL", "--", limited, "--core=0")
    tried = subprocess.run([*launcher, "--fsize=1000:", dies, "--version"], capture_output=True, check=False)
    return launcher if tried.returncode == 0 else ()


def _look_for(program: str) -> None:
    """Raise OSError for a program that cannot be started, as starting it would: through the launcher it looks as if it
    had ended."""
    if shutil.which(program) is None:
        number = errno.EACCES if os.path.exists(program) else errno.ENOENT
        raise OSError(number, os.strerror(number))


def _most(file_bytes: int, hard: int) -> int:
    return file_bytes if hard == resource.RLIM_INFINITY else min(file_bytes, hard)


def confine(parent: int, file_bytes: int) -> Callable[[], None]:
    """What the child does before it becomes the command: it limits its files, and asks to die with its parent."""
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

    def confine_itself() -> None:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (_most(file_bytes, hard), hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if prctl is not None:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os.kill(os.getpid(), signal.SIGKILL)  # the harness died in between

    return confine_itself
