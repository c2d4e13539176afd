"""CPU time and memory of a process and all its descendants, from /proc: also of Java, and of its Python workers."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from pathlib import Path
from types import TracebackType

SAMPLED_EVERY_S = 0.1
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")
# Fields of /proc/<pid>/stat after the name, counted from 0.
_PARENT, _TIMES, _RESIDENT = 1, slice(11, 15), 21


def _statuses() -> dict[int, list[str]]:
    """By process, the fields of its stat file after the name; the name may hold any character."""
    found: dict[int, list[str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            found[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
    return found


def _of_tree(root: int) -> list[list[str]]:
    statuses, children = _statuses(), defaultdict[int, list[int]](list)
    for process, status in statuses.items():
        children[int(status[_PARENT])].append(process)
    found, waiting = [], [root]
    while waiting:
        process = waiting.pop()
        if process in statuses:
            found.append(statuses[process])
            waiting += children[process]
    return found


def cpu_seconds(root: int) -> float:
    """CPU seconds of the process and its descendants, also of those that have ended and been waited for."""
    return sum(int(ticks) for status in _of_tree(root) for ticks in status[_TIMES]) / _TICK


def resident_bytes(root: int) -> int:
    """Resident memory of the process and its descendants; an upper bound, as shared memory counts once for each."""
    return sum(int(status[_RESIDENT]) for status in _of_tree(root)) * _PAGE


def most_resident_bytes(process: int) -> int:
    """Peak resident memory of one process so far."""
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


class Watch:
    """A context that samples `resident_bytes` of a process.

    peak_bytes: the greatest sample.
    """

    def __init__(self, root: int) -> None:
        self.peak_bytes = 0
        self._root = root
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def _sample(self) -> None:
        while not self._over.wait(SAMPLED_EVERY_S):
            self.peak_bytes = max(self.peak_bytes, resident_bytes(self._root))

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
