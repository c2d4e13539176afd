"""When a process has done all its work: all of its threads sleep, and none has run between two looks at them.

A quiet period shows only that nothing was seen: on a busy machine the switch may not have had its turn. So the kernel
is asked. A thread that has something to do is runnable from the moment that it is woken. If at one instant all threads
sleep, no packet is on its way through the switch. Two looks that agree in what every thread has run, with all of them
asleep in between, enclose such an instant.

A thread's `schedstat` (the nanoseconds that it ran and waited, and how often it was given a core) costs the kernel a
seventh of its `status`, which counts switches beside its state.
"""

from __future__ import annotations

import os
import time
from io import FileIO
from pathlib import Path

from scatterproof.spec.errors import CannotRun

_LOOK_S = 0.0002
# A packet that was taken in has woken the thread that reads the ports, and the one that runs the ingress pipeline.
WOKEN_BY_A_PACKET = 2
_OWN = "/proc/self/schedstat"

# What each thread has run, as the kernel writes it, by the thread's id.
Threads = dict[str, bytes]


class Process:
    """A process that is looked at again and again: the files about its threads stay open, as opening them anew is most
    of what a look costs."""

    def __init__(self, pid: int) -> None:
        """Raises CannotRun where the kernel does not tell what threads have run."""
        if not os.path.exists(_OWN) or Path(_OWN).read_bytes().startswith(b"0 0 0"):
            raise CannotRun(f"{_OWN} tells nothing: run BMv2 on a kernel that was built with CONFIG_SCHED_INFO")
        self._folder = f"/proc/{pid}/task"
        self._links = 0
        self._run: dict[str, FileIO] = {}
        self._states: list[FileIO] = []

    def look(self) -> Threads:
        """What its threads have run; none when the process has ended."""
        while True:
            try:
                # To read about a thread that has ended raises; one more thread is one more link.
                if (links := os.stat(self._folder).st_nlink) != self._links:
                    self.close()
                    names = os.listdir(self._folder)
                    self._run = {name: FileIO(f"{self._folder}/{name}/schedstat") for name in names}
                    self._states = [FileIO(f"{self._folder}/{name}/stat") for name in names]
                    self._links = links
                return {name: _read(file) for name, file in self._run.items()}
            except (FileNotFoundError, ProcessLookupError):
                self.close()
                if not os.path.exists(self._folder):
                    return {}

    def sleeps(self) -> bool:
        """Whether each thread of the last look sleeps."""
        try:
            for place, file in enumerate(self._states):
                if not asleep(_read(file)):
                    # It is the first to be asked again, so that asking in vain costs little.
                    self._states.insert(0, self._states.pop(place))
                    return False
        except ProcessLookupError:
            self.close()
            return False
        return True

    def close(self) -> None:
        for file in (*self._run.values(), *self._states):
            file.close()
        self._links, self._run, self._states = 0, {}, []


def asleep(stat: bytes) -> bool:
    """What the beginning of a thread's `stat` says; the thread's name may have any character."""
    after = stat.rindex(b")") + 2
    return stat[after : after + 1] in b"SI"


def _read(file: FileIO) -> bytes:
    return os.pread(file.fileno(), 100, 0)


def woken(before: Threads, after: Threads) -> int:
    """How many threads have run in between."""
    return sum(1 for name, thread in after.items() if before.get(name) != thread)


def wait(process: Process, before: Threads, *, least_woken: int, patience_s: float, unwoken_s: float = 0.05) -> bool:
    """Wait until the process rests and at least this many threads have run since `before`. Returns False when patience
    or the process ends first.

    Where it rests for `unwoken_s` and fewer threads have run, that is enough, too.
    """
    begun = time.monotonic()
    resting_since: float | None = None
    while (now := time.monotonic()) - begun < patience_s:
        # Asked before and in between: a thread that goes to sleep says so before it does, and may think better of it.
        first = process.look() if process.sleeps() else None
        if first == {}:
            return False
        if first is not None and process.sleeps() and process.look() == first:
            resting_since = resting_since or now
            if woken(before, first) >= least_woken or now - resting_since >= unwoken_s:
                return True
        else:
            resting_since = None
        time.sleep(_LOOK_S)
    return False
