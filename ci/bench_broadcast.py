"""Deliveries a second and memory of the broadcast program: real processes on this machine, over its loopback sockets.

Each process drops its share of the datagrams that it sends, by a seed of its own. All start at once; a run is timed
until all is delivered, by the outputs, from when a tenth was.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random

from ci.processes import most_resident_bytes
from scatterproof.conformance.broadcast.programs.tester import FilesTester
from scatterproof.conformance.broadcast.programs.workload import Task
from scatterproof.conformance.relay.ports import free_addresses
from scatterproof.impl.broadcast import program
from scatterproof.impl.broadcast.course_files import Host
from scatterproof.impl.broadcast.sockets import Mesh
from scatterproof.spec.broadcast.messages import Level, Packet
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.topology import NodeId

_ROOT = Path(__file__).parents[1]
_POLL_S = 0.02
_LIMIT_S = 900.0
# Level, processes, messages of each, share that is lost.
RUNS: tuple[tuple[Level, int, int, float], ...] = (
    (Level.PL, 9, 200_000, 0.0),
    (Level.URB, 9, 50_000, 0.0),
    (Level.FIFO, 3, 200_000, 0.0),
    (Level.FIFO, 9, 50_000, 0.0),
    (Level.FIFO, 9, 50_000, 0.1),
    (Level.FIFO, 9, 50_000, 0.3),
    (Level.FIFO, 32, 5_000, 0.0),
    (Level.FIFO, 32, 5_000, 0.3),
    (Level.FIFO, 128, 300, 0.0),
    (Level.LCB, 9, 50_000, 0.0),
    (Level.LCB, 9, 50_000, 0.3),
)


class LossyMesh(Mesh):
    """Drops a share of the datagrams before they are sent."""

    lose = 0.0

    def __init__(self, me: NodeId, hosts: Sequence[Host]) -> None:
        super().__init__(me, hosts)
        self._draw = Random(me).random

    def _send(self, peer: NodeId, packets: list[Packet]) -> None:
        if self._draw() >= self.lose:
            super()._send(peer, packets)


def programs() -> Iterator[tuple[str, str]]:
    """What is measured, and the figure, of all RUNS."""
    for level, processes, messages, lose in RUNS:
        load = os.getloadavg()[0]
        a_second, peak_bytes = measure(task_of(level, processes, messages), lose)
        what = f"{level}, {processes} processes, {messages} messages each, {lose:.0%} of datagrams lost"
        figure = f"{a_second:,.0f} deliveries/s in all, {peak_bytes / 2**20:.0f} MB a process; load before {load:.2f}"
        yield f"broadcast program, {what}", figure


def task_of(level: Level, processes: int, messages: int) -> Task:
    """At level pl all send to process 1; at level lcb each depends on the one before it and the one after it."""
    if level is Level.PL:
        return Task(level=level, processes=processes, messages=messages, receiver=1)
    ring = [((at - 2) % processes + 1, at % processes + 1) for at in range(1, processes + 1)]
    dependencies = ((), *ring) if level is Level.LCB else ()
    return Task(level=level, processes=processes, messages=messages, dependencies=dependencies)


def measure(task: Task, lose: float) -> tuple[float, int]:
    """Deliveries a second in one run, and the most memory of any process. Raises CannotRun when a process fails or not
    all is delivered in time."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as running:
        folders = [Path(name, str(process)) for process in range(task.processes)]
        for folder in folders:
            folder.mkdir()
        tester, addresses = FilesTester(task, folders), free_addresses(task.processes)
        given = [tester.write(process, addresses) for process in range(task.processes)]
        start = time.monotonic()
        children = [running.enter_context(_start(values, task.level, lose)) for values in given]
        for child in children:
            running.callback(child.terminate)
        since, share = start, 0.0  # when a tenth was seen to be delivered, and how much it was
        while True:
            now, seen = time.monotonic(), tester.look(range(task.processes))
            if seen.complete:  # all at one look, on a busy machine: then it is timed from the start
                break
            if not share and 10 * seen.deliveries >= task.deliveries:
                since, share = now, seen.deliveries / task.deliveries
            if now - start > _LIMIT_S or any(child.poll() is not None for child in children):
                raise CannotRun(
                    f"after {now - start:.0f} s there are {seen.deliveries} deliveries of {task.deliveries}"
                )
            time.sleep(_POLL_S)
        memory = max(most_resident_bytes(child.pid) for child in children)
    return task.deliveries * (1 - share) / max(now - since, 1e-9), memory


def _start(values: Mapping[str, str], level: Level, lose: float) -> subprocess.Popen[bytes]:
    words = [word for name in ("id", "hosts", "output") for word in (f"--{name}", values[name])]
    words += ["--level", str(level), values["config"]]
    return subprocess.Popen([sys.executable, "-m", "ci.bench_broadcast", str(lose), *words], cwd=_ROOT)


if __name__ == "__main__":
    # One process of a run.
    LossyMesh.lose = float(sys.argv[1])
    sys.exit(program.main(sys.argv[2:], LossyMesh))
