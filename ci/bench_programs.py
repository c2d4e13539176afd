"""Deliveries a second and memory of a protocol's own program: real processes on this machine, over its loopback
sockets.

Each process drops a share of the datagrams that it sends, by a seed of its own. All start at once. By the outputs, a
run is timed from a tenth of the deliveries to the last.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from ci.processes import most_resident_bytes
from scatterproof.conformance.protocol import programs_of
from scatterproof.conformance.relay.ports import free_addresses
from scatterproof.conformance.stress.contract import Workload
from scatterproof.impl.protocol import load
from scatterproof.spec.errors import CannotRun

PROTOCOL = "broadcast"
_ROOT = Path(__file__).parents[1]
_POLL_S = 0.02
_LIMIT_S = 900.0
# Level, processes, messages of each, share that is lost.
RUNS: tuple[tuple[str, int, int, float], ...] = (
    ("pl", 9, 200_000, 0.0),
    ("urb", 9, 50_000, 0.0),
    ("fifo", 3, 200_000, 0.0),
    ("fifo", 9, 50_000, 0.0),
    ("fifo", 9, 50_000, 0.1),
    ("fifo", 9, 50_000, 0.3),
    ("fifo", 32, 5_000, 0.0),
    ("fifo", 32, 5_000, 0.3),
    ("fifo", 128, 300, 0.0),
    ("lcb", 9, 50_000, 0.0),
    ("lcb", 9, 50_000, 0.3),
)


def programs() -> Iterator[tuple[str, str]]:
    """What is measured, and the figure, of all RUNS."""
    for level, processes, messages, lose in RUNS:
        load_before = os.getloadavg()[0]
        a_second, peak_bytes = measure(Workload(level=level, processes=processes, messages=messages, seed=1), lose)
        what = f"{level}, {processes} processes, {messages} messages each, {lose:.0%} of datagrams lost"
        memory = f"{peak_bytes / 2**20:.0f} MB a process"
        yield (
            f"{PROTOCOL} program, {what}",
            f"{a_second:,.0f} deliveries/s in all, {memory}; load before {load_before:.2f}",
        )


def measure(workload: Workload, lose: float) -> tuple[float, int]:
    """Deliveries a second in one run, and the peak memory of any process, in bytes. Raises CannotRun when a process
    fails or not all is delivered in time."""
    processes = range(workload.processes)
    with tempfile.TemporaryDirectory() as name, ExitStack() as running:
        folders = [Path(name, str(process)) for process in processes]
        for folder in folders:
            folder.mkdir()
        tester = programs_of(PROTOCOL).tester(workload, folders)
        addresses = running.enter_context(free_addresses(workload.processes))
        command = f"{load(PROTOCOL).program} --level {workload.level} --lose {lose}"
        commands = [command.format(**tester.write(process, addresses)) for process in processes]
        start = time.monotonic()
        seen = [(start, 0)]  # when, how many deliveries
        children = [
            running.enter_context(subprocess.Popen([sys.executable, *shlex.split(words)], cwd=_ROOT))
            for words in commands
        ]
        for child in children:
            running.callback(child.terminate)
        complete = False
        while not complete:
            if time.monotonic() - start > _LIMIT_S or any(child.poll() is not None for child in children):
                raise CannotRun(f"after {seen[-1][0] - start:.0f} s there are {seen[-1][1]} deliveries, and not all")
            time.sleep(_POLL_S)
            standing = tester.look(processes)
            complete = standing.complete
            seen.append((time.monotonic(), standing.deliveries))
        memory = max(most_resident_bytes(child.pid) for child in children)
    now, total = seen[-1]
    # On a busy machine the first look may show all deliveries: then the run is timed from its start.
    since, before = next((look for look in seen[1:-1] if 10 * look[1] >= total), seen[0])
    return (total - before) / max(now - since, 1e-9), memory
