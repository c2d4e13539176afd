"""Deliveries per second and memory of the program, with real processes on this machine:

    python -m impl.broadcast.bench [--processes 9] [--level fifo] [--messages M] [--lose 0.3] [-- PROGRAM OPTIONS]

Each process drops its share of the datagrams that it sends, by a seed of its own. All start at once; a run is timed
until the outputs are whole: from the start of the first process, and from when a tenth of the lines was written.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random

import msgspec

from impl.broadcast import program
from impl.broadcast.course_files import Host
from impl.broadcast.sockets import Mesh
from spec.broadcast.messages import Level, Packet
from spec.errors import CannotRun
from spec.topology import NodeId

_POLL_S = 0.02
_ROOT = Path(__file__).parents[2]
_LOSSY = "lossy"


class Figures(msgspec.Struct, frozen=True):
    """deliveries: in all. seconds: of the whole run. per_second: from a tenth of the output on. memory_mb: the largest
    resident set of any process. processor_s: what all processes used together."""

    level: str
    processes: int
    messages: int
    lose: float
    deliveries: int
    seconds: float
    per_second: float
    memory_mb: float
    processor_s: float
    load: float


class LossyMesh(Mesh):
    """Drops a share of the datagrams before they are sent."""

    lose = 0.0

    def __init__(self, me: NodeId, hosts: Sequence[Host]) -> None:
        super().__init__(me, hosts)
        self._draw = Random(me).random

    def _send(self, peer: NodeId, packets: list[Packet]) -> None:
        if self._draw() >= self.lose:
            super()._send(peer, packets)


def measure(
    processes: int, level: Level, messages: int, lose: float = 0.0, options: Sequence[str] = (), limit_s: float = 300.0
) -> Figures:
    """Run the program once. Raises CannotRun when a process fails or the outputs are not whole within `limit_s`."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name, ExitStack() as running:
        folder = Path(name)
        outputs = _prepare(folder, processes, level, messages)
        expected = _lines_and_bytes(processes, level, messages)
        start = time.monotonic()
        children = [
            running.enter_context(_start(folder, number, level, lose, options)) for number in range(1, processes + 1)
        ]
        running.callback(_end, children)
        tenth: float | None = None
        while True:
            now = time.monotonic()
            sizes = [path.stat().st_size if path.exists() else 0 for path in outputs]
            if tenth is None and 10 * sum(sizes) >= sum(expected):
                tenth = now
                tenth_share = sum(sizes) / sum(expected)
            if sizes == expected:
                break
            if now - start > limit_s or any(child.poll() is not None for child in children):
                raise CannotRun(f"after {now - start:.0f} s the outputs have {sizes} bytes of {expected}")
            time.sleep(_POLL_S)
        memory = max(_memory_mb(child.pid) for child in children)
        processor = sum(_processor_s(child.pid) for child in children)
    deliveries = messages * ((processes - 1) if level is Level.PL else processes * processes)
    assert tenth is not None
    return Figures(
        level=str(level),
        processes=processes,
        messages=messages,
        lose=lose,
        deliveries=deliveries,
        seconds=round(now - start, 2),
        per_second=round(deliveries * (1 - tenth_share) / max(now - tenth, 1e-9)),
        memory_mb=round(memory, 1),
        processor_s=round(processor, 2),
        load=round(load, 2),
    )


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


def figures() -> list[tuple[str, str]]:
    """What was measured, and the figure, of all RUNS; for ci/bench."""
    found: list[tuple[str, str]] = []
    for level, processes, messages, lose in RUNS:
        one = measure(processes, level, messages, lose, limit_s=900)
        what = f"{level}, {processes} processes, {messages} messages each, {lose:.0%} of datagrams lost"
        figure = f"{one.per_second:,} deliveries/s in all, {one.memory_mb:.0f} MB a process; load before {one.load}"
        found.append((what, figure))
    return found


def _prepare(folder: Path, processes: int, level: Level, messages: int) -> list[Path]:
    with ExitStack() as bound:
        ports: list[int] = []
        for _ in range(processes):
            one = bound.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            one.bind(("127.0.0.1", 0))
            ports.append(one.getsockname()[1])
    (folder / "hosts").write_text("".join(f"{at} 127.0.0.1 {port}\n" for at, port in enumerate(ports, 1)))
    config = f"{messages}\n"
    if level is Level.PL:
        config = f"{messages} 1\n"
    elif level is Level.LCB:
        # Each depends on the one before it and the one after it.
        for process in range(processes):
            config += f"{process + 1} {(process - 1) % processes + 1} {(process + 1) % processes + 1}\n"
    (folder / "config").write_text(config)
    return [folder / f"{number}.output" for number in range(1, processes + 1)]


def _lines_and_bytes(processes: int, level: Level, messages: int) -> list[int]:
    """How many bytes each output has in the end."""
    digits = sum(len(str(number)) for number in range(1, messages + 1))
    begun = digits + 3 * messages
    delivered = {one: digits + (4 + len(str(one))) * messages for one in range(1, processes + 1)}
    if level is Level.PL:
        return [sum(delivered.values()) - delivered[1], *[begun] * (processes - 1)]
    return [begun + sum(delivered.values())] * processes


def _start(folder: Path, number: int, level: Level, lose: float, options: Sequence[str]) -> subprocess.Popen[bytes]:
    words = ["--id", str(number), "--hosts", str(folder / "hosts"), "--output", str(folder / f"{number}.output")]
    words += ["--level", str(level), *options, str(folder / "config")]
    return subprocess.Popen([sys.executable, "-m", "impl.broadcast.bench", _LOSSY, str(lose), *words], cwd=_ROOT)


def _end(children: Sequence[subprocess.Popen[bytes]]) -> None:
    for child in children:
        child.send_signal(signal.SIGTERM)
    for child in children:
        child.wait()


def _memory_mb(process: int) -> float:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise CannotRun(f"process {process} tells nothing of its memory")


def _processor_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    if sys.argv[1:2] == [_LOSSY]:
        LossyMesh.lose = float(sys.argv[2])
        return program.main(sys.argv[3:], LossyMesh)
    parser = argparse.ArgumentParser(prog="python -m impl.broadcast.bench", description=__doc__)
    parser.add_argument("--processes", type=int, default=9)
    parser.add_argument("--level", type=Level, choices=list(Level), default=Level.FIFO)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--lose", type=float, default=0.0)
    parser.add_argument("--limit-s", type=float, default=300.0)
    parser.add_argument("options", nargs="*", help="for the program, behind --")
    asked = parser.parse_args()
    figures = measure(asked.processes, asked.level, asked.messages, asked.lose, asked.options, asked.limit_s)
    print(msgspec.json.encode(figures).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
