"""Figures of corpora and mining: events a second in Spark tasks, reading included, beside one core without Spark.

python -m ci.bench_spark PROTOCOL [EVENTS]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from scatterproof.conformance.judge import columns_of, kernel
from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.protocol import load
from scatterproof.impl.protocol import load as implemented
from scatterproof.spark.configurations import FAULTY_PACKETS, draw_run
from scatterproof.spark.corpus import make_corpus
from scatterproof.spark.judge_part import judge_part, warm
from scatterproof.spark.kinds import RunKind
from scatterproof.spark.layout import MINED, events_path, runs_path
from scatterproof.spark.mine import mine
from scatterproof.spark.protocol import compared
from scatterproof.spark.read import Part, parts_of
from scatterproof.spark.session import MASTER, session_on
from scatterproof.spec.schedule import FaultKind, Schedule
from scatterproof.spec.topology import Topology
from scatterproof.spec.trace import Trace
from scatterproof.spec.trace_parquet import write_runs

SEED = 1
FILES = 8
LONG_RUN_EVENTS = 200_000
SHORT_RUN_EVENTS = 3_000  # about what a drawn run has
MAX_SHORT_RUNS = 256

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    what: str
    events: int
    seconds: float

    @property
    def events_a_second(self) -> float:
        return self.events / self.seconds

    def __str__(self) -> str:
        return f"{self.what}: {self.events_a_second:,.0f} events/s ({self.events:,} in {self.seconds:.2f} s)"


def bench(
    protocol: str, events: int, master: str = MASTER, say: Callable[[object], None] = print
) -> tuple[Figure, ...]:
    """Make and mine corpora: one of short runs as they are drawn, and for each kind that the protocol compares one of
    long runs, with about `events` events."""
    figures: list[Figure] = []

    def told(what: str, size: int, seconds: float) -> None:
        figures.append(Figure(what=what, events=size, seconds=seconds))
        say(figures[-1])

    with tempfile.TemporaryDirectory(prefix="scatterproof-bench-") as folder, session_on(master):
        short = Path(folder) / "short"
        corpora = {"short runs": short}
        make_corpus(protocol, FILES, SEED, short, files=FILES)  # the first tasks start Python and load the project
        runs = max(FILES, min(MAX_SHORT_RUNS, events // SHORT_RUN_EVENTS))
        manifest, seconds = _timed(lambda: make_corpus(protocol, runs, SEED, short, files=FILES))
        told("corpus: simulated and written in Spark tasks", manifest.events, seconds)
        for kind in compared(protocol):
            trace = _long_run(protocol, kind, min(LONG_RUN_EVENTS, events))
            copies = max(FILES, events // len(trace.rows))
            name = f"long runs ({kind.name})"
            corpora[name] = Path(folder) / f"long {kind.name}"
            _write_copies(corpora[name], trace, copies)
            size = copies * len(trace.rows)
            told(f"{name}: kernel alone, one core, columns in memory", size, _kernel_seconds(trace, copies))
        for name, corpus in corpora.items():
            parts = parts_of(corpus)
            size = sum(part.rows for part in parts)
            warm(parts)  # otherwise so few rows would be interpreted
            told(f"{name}: reading and kernel, one core", size, _timed(partial(_judge, parts))[1])
            told(f"{name}: mined in Spark tasks, first time", size, _timed(partial(_mine, corpus))[1])
            told(f"{name}: mined in Spark tasks, again", size, _timed(partial(_mine, corpus))[1])
    return tuple(figures)


def _timed(work: Callable[[], Value]) -> tuple[Value, float]:
    begun = time.perf_counter()
    value = work()
    return value, time.perf_counter() - begun


def _mine(corpus: Path) -> None:
    """Mine all files, and write the page; kept results are removed first, as known files are not judged again."""
    shutil.rmtree(corpus / MINED, ignore_errors=True)
    mine(corpus, MASTER)


def _judge(parts: Sequence[Part]) -> None:
    for part in parts:
        for run in judge_part(part):
            run.results()


def _kernel_seconds(trace: Trace, copies: int) -> float:
    """Seconds of the kernel on `copies` runs with columns in memory; one more run, not counted, compiles it."""
    around, columns = load(trace.header.protocol).surroundings(trace.header), columns_of(trace)
    compiled = kernel(trace.header.protocol)

    def work() -> None:
        for _ in range(copies):
            compiled.run(around).feed(columns)

    compiled.run(around).feed(columns)
    return _timed(work)[1]


def _long_run(protocol: str, kind: RunKind, wanted: int) -> Trace:
    """A drawn run with its submissions and faults repeated until it has about `wanted` events. All compared kinds have
    the same network and submissions; of their faults only losses are kept."""
    make_core = implemented(protocol).make_core
    networks = all_suit(compared(protocol))
    losses = tuple(fault for fault in kind.faults if fault is FaultKind.LOSE)
    drawn = draw_run(protocol, SEED, 0, replace(kind, suits=networks, faults=losses)).schedule
    once, twice = (len(simulate(_repeated(drawn, times), make_core).rows) for times in (1, 2))
    return simulate(_repeated(drawn, 1 + max(0, wanted - once) // (twice - once)), make_core)


def all_suit(kinds: Sequence[RunKind]) -> Callable[[Topology], bool]:
    return lambda topology: all(kind.suits(topology) for kind in kinds)


def _repeated(schedule: Schedule, times: int) -> Schedule:
    """The schedule `times` times in a row. On each link, faults come again after FAULTY_PACKETS packets."""
    period = 1 + max(submission.time_ns for submission in schedule.submissions)
    return msgspec.structs.replace(
        schedule,
        submissions=tuple(
            msgspec.structs.replace(submission, time_ns=submission.time_ns + turn * period)
            for turn in range(times)
            for submission in schedule.submissions
        ),
        faults=tuple(
            msgspec.structs.replace(fault, index=fault.index + turn * FAULTY_PACKETS)
            for turn in range(times)
            for fault in schedule.faults
        ),
    )


def _write_copies(corpus: Path, trace: Trace, copies: int) -> None:
    """The trace under `copies` run numbers, shared out to FILES files."""
    for file in range(FILES):
        runs = (Trace(msgspec.structs.replace(trace.header, run=run), trace.rows) for run in range(file, copies, FILES))
        write_runs(events_path(corpus, file), runs_path(corpus, file), runs)


def main(arguments: Sequence[str]) -> None:
    bench(arguments[0], int(arguments[1]) if len(arguments) > 1 else 5_000_000)


if __name__ == "__main__":
    main(sys.argv[1:])
