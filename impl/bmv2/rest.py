"""When a process has done all its work: all of its threads sleep, and none has run between two looks at them.

A quiet period shows only that nothing was seen: on a busy machine the switch may not have had its turn. So the kernel
is asked. A thread that has something to do is runnable from the moment that it is woken. If at one instant all threads
sleep, no packet is on its way through the switch. Two looks that agree in every thread's number of context switches
enclose such an instant.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import NamedTuple

_LOOK_S = 0.0002
# A packet that was taken in has woken the thread that reads the ports, and the one that runs the ingress pipeline.
WOKEN_BY_A_PACKET = 2
_STATE = re.compile(rb"^State:\s+(\S)", re.MULTILINE)
_SWITCHES = re.compile(rb"^(?:non)?voluntary_ctxt_switches:\s+(\d+)", re.MULTILINE)


class Thread(NamedTuple):
    asleep: bool
    switches: int


Threads = dict[str, Thread]


def look(pid: int) -> Threads:
    """The threads of a process by their ids; none when it has ended."""
    threads: Threads = {}
    try:
        for name in os.listdir(f"/proc/{pid}/task"):
            threads[name] = parse(Path(f"/proc/{pid}/task/{name}/status").read_bytes())
    except (FileNotFoundError, ProcessLookupError):
        return look(pid) if Path(f"/proc/{pid}/task").exists() else {}
    return threads


def parse(status: bytes) -> Thread:
    """What a thread's `status` says."""
    state = _STATE.search(status)
    return Thread(
        state is not None and state.group(1) in b"SI", sum(int(number) for number in _SWITCHES.findall(status))
    )


def woken(before: Threads, after: Threads) -> int:
    """How many threads have run in between."""
    return sum(1 for name, thread in after.items() if before.get(name) != thread)


def wait(pid: int, before: Threads, *, least_woken: int, patience_s: float, unwoken_s: float = 0.05) -> bool:
    """Wait until the process rests and at least this many threads have run since `before`. Returns False when patience
    or the process ends first.

    Where it rests for `unwoken_s` and fewer threads have run, that is enough, too.
    """
    begun = time.monotonic()
    resting_since: float | None = None
    while (now := time.monotonic()) - begun < patience_s:
        first = look(pid)
        second = look(pid) if all(thread.asleep for thread in first.values()) else {}
        if not first:
            return False
        if first == second:
            resting_since = resting_since or now
            if woken(before, second) >= least_woken or now - resting_since >= unwoken_s:
                return True
        else:
            resting_since = None
        time.sleep(_LOOK_S)
    return False
