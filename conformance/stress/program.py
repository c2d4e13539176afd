"""A program of somebody else as a process: it may fork, flood, hang, ignore signals, write without end or crash.

Unlike a `Child` it is not spoken to: it reads and writes files. Its stdout and stderr go to a file each, of which the
beginning and the latest are kept. It and all that it starts end when it is collected
(`scatterproof.conformance.guarded`); a mark in their environment says whose they are, as long as they leave it there.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from scatterproof.conformance.guarded import Guarded
from scatterproof.spec.errors import CannotRun

MARK = "SCATTERPROOF_PROGRAM"

_KEPT_HEAD_BYTES = 1 << 20
_LOG_BYTES = 1 << 24
_LOOK_S = 0.02
_GONE_WITHIN_S = 30.0  # what the system may take to end what is killed
_READ_BYTES = 1 << 16
_LINES, _SHOWN = 3, 200  # how much of stderr is told: lines, and characters of each
_RAISED = re.compile(r"(Exception|Error)\b|^panic|panicked at|^terminate called|[Aa]ssert|^fatal", re.MULTILINE)
_OF_STACK = re.compile(r"\s+(at |File |\.\.\. \d|\^)|Traceback ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """file_bytes: of any file that a program writes.
    log_bytes: of its stdout and stderr, each.
    """

    file_bytes: int = 1 << 30
    log_bytes: int = _LOG_BYTES


BOUNDS = Bounds()


class Program:
    """One process and its descendants. Start it from a thread that outlives it."""

    def __init__(self, name: str, command: Sequence[str], folder: Path, run: str, bounds: Bounds = BOUNDS) -> None:
        """Start `command` in this process's working folder; its logs are in `folder`. `run` is a text that no other run
        has. Raises CannotRun when it cannot be started."""
        self.name, self._bounds = name, bounds
        self.mark = f"{run}/{name}"
        self.logs_cut = False
        self._stderr = folder / "stderr"
        self._logs: list[int] = []
        try:
            for log in ("stdout", "stderr"):
                # Appending, so that what is written after a cut does not leave a hole.
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
                self._logs.append(os.open(folder / log, flags, 0o666))
            with open(os.devnull) as nothing:
                files = (nothing.fileno(), self._logs[0], self._logs[1])
                environment = {**os.environ, MARK: self.mark}
                self._process = Guarded(command, files, environment, bounds.file_bytes, lingers=True)
        except OSError as error:
            self._close_logs()
            raise CannotRun(f"{command[0]}: cannot be started: {error.strerror}; check the command") from None

    def signal(self, number: int) -> None:
        """To its whole group, as a terminal does; nothing happens once it is collected."""
        self._process.signal(number)

    def is_running(self) -> bool:
        """Whether the process that was started runs."""
        return self._process.code() is None

    def how_it_ended(self) -> str:
        """As the end of a sentence that begins with its name; empty while it runs."""
        code = self._process.code()
        if code is None:
            return ""
        return f"ended with exit code {code}" if code >= 0 else f"was ended by {_signal_name(-code)}"

    def last_words(self) -> str:
        """The last lines of its stderr, without those that only say where something was; long ones are cut."""
        return " / ".join(line[:_SHOWN] for line in self._told(from_end=True)[-_LINES:])

    def first_raised(self) -> str:
        """The first line of its stderr that names an exception; empty where there is none."""
        return next((line[:_SHOWN] for line in self._told(from_end=False) if _RAISED.search(line)), "")

    def _told(self, *, from_end: bool) -> list[str]:
        """The lines at the beginning or the end of its stderr, but for empty ones and those of a stack."""
        try:
            with self._stderr.open("rb") as stderr:
                if from_end:
                    stderr.seek(max(0, os.fstat(stderr.fileno()).st_size - _READ_BYTES))
                words = stderr.read(_READ_BYTES).decode("utf-8", "replace")
        except OSError:  # the program removed it
            return []
        return [line.strip() for line in words.splitlines() if line.strip() and not _OF_STACK.match(line)]

    def trim_logs(self) -> None:
        """Cut logs that have grown too long: the first megabyte stays, and what comes from now on."""
        for log in self._logs:
            if os.fstat(log).st_size > self._bounds.log_bytes:
                self.logs_cut = True
                os.ftruncate(log, min(_KEPT_HEAD_BYTES, self._bounds.log_bytes))

    def collect(self) -> None:
        """Kill it, and all that it has started, whatever these have done to hide."""
        self._process.kill()
        self._process.is_gone(_GONE_WITHIN_S)
        self._process.close()
        self.trim_logs()
        self._close_logs()

    def _close_logs(self) -> None:
        for log in self._logs:
            os.close(log)
        self._logs.clear()


def marked(run: str) -> Mapping[str, Sequence[int]]:
    """The running processes of a run, by mark; empty where the system does not tell (it does on Linux)."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    needle = f"{MARK}={run}/".encode()
    with suppress(FileNotFoundError):
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                # A process that ends meanwhile, or belongs to somebody else, is none of ours.
                with suppress(OSError):
                    environment = Path(entry.path, "environ").read_bytes()
                    if needle in environment:
                        name = environment.partition(needle)[2].partition(b"\0")[0].decode("utf-8", "replace")
                        found[f"{run}/{name}"].append(int(entry.name))
    return found


def kill_marked(run: str, marks: Iterable[str] | None = None, patience_s: float = 5.0) -> int:
    """Kill the run's processes (those with the marks, or all), until none is left; how many there were at first.

    Those that fork faster than they are killed are stopped first. Zombies have no environment, so they do not count.
    """
    wanted = None if marks is None else frozenset(marks)
    deadline = time.monotonic() + patience_s
    first: int | None = None
    while True:
        pids = [pid for mark, pids in marked(run).items() if wanted is None or mark in wanted for pid in pids]
        first = len(pids) if first is None else first
        if not pids or time.monotonic() > deadline:
            return first
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        time.sleep(_LOOK_S / 4)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
