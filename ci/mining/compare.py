"""Mining compared with a plain Spark scan, DuckDB and Polars: same files, same verdicts, each in a process of its
own."""

from __future__ import annotations

import importlib.util
import math
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ci.mining.material import enlarged, simulated
from ci.mining.tools import FastestTry
from ci.processes import Watch
from scatterproof.spark.protocol import benchmark_of
from scatterproof.spark.session import MASTER
from scatterproof.spec.errors import CannotRun

ROOT = Path(__file__).resolve().parent.parent.parent
TITLES = {
    "mine": "`mine`: all clauses, measures, report",
    "mine-these": "the same checks in Spark tasks, {clauses} clauses",
    "scan": "plain Spark scan of the same columns",
    "duckdb": "DuckDB SQL, the same {clauses} clauses",
    "polars": "Polars, the same {clauses} clauses",
}
# Least number of events, and the tries of corpora from that size on.
TRIES = ((30_000_000, 1), (3_000_000, 2), (0, 3))
WHOLE = 1_000_000  # events that are simulated; the rest is copies
# On disk: 7 bytes of Parquet, and what `mine` keeps of it.
BYTES_AN_EVENT, BYTES_BESIDE = 10, 200_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """One tool over one corpus. peak_bytes: of all its processes together."""

    tool: str
    events: int
    measured: FastestTry
    peak_bytes: int

    @property
    def events_a_second(self) -> float:
        return self.events / self.measured.seconds


def compare(protocol: str, sizes: Sequence[int], folder: Path, say: Callable[[str], None]) -> tuple[Timing, ...]:
    """Measure every tool on a corpus of each size, made in `folder` and removed again. Raises CannotRun where a tool or
    room on the disk is missing, where two tools do not find the same, or where no clause is broken: then the figures
    would say nothing."""
    lacking = [name for name in ("duckdb", "polars") if importlib.util.find_spec(name) is None]
    if lacking:
        raise CannotRun(f"{' and '.join(lacking)} not installed; ci/tools installs what is compared with")
    refuse_without_room(max(sizes), folder)
    say(f"simulating {min(WHOLE, *sizes):,} events, of which all corpora are copies")
    base = simulated(protocol, min(WHOLE, *sizes), folder / "base", MASTER)
    warm = folder / "warm"
    enlarged(base, base.events, warm)
    timings: list[Timing] = []
    for size in sorted(sizes):
        corpus = folder / f"{size}"
        events = enlarged(base, size, corpus, say)
        tries = next(tries for least, tries in TRIES if events >= least)
        here: list[Timing] = []
        for number, tool in enumerate(TITLES, 1):
            say(f"{tool} ({number} of {len(TITLES)}): {events:,} events, tries: {tries}")
            measured, peak = _measure(tool, corpus, warm, tries)
            here.append(Timing(tool=tool, events=events, measured=measured, peak_bytes=peak))
            say(statement(here[-1]))
        shutil.rmtree(corpus)
        require_agreement(here, benchmark_of(protocol).clauses)
        timings += here
    return tuple(timings)


def refuse_without_room(events: int, folder: Path) -> None:
    """CannotRun where the disk with this folder has no room for the corpus of so many events."""
    needed, free = events * BYTES_AN_EVENT + BYTES_BESIDE, shutil.disk_usage(folder).free
    if needed > free:
        raise CannotRun(
            f"{folder}: {free / 1e9:.1f} GB are free, and {events:,} events take some {needed / 1e9:.1f} GB; "
            "ask for fewer events, or let TMPDIR name a folder on a larger disk"
        )


def _measure(tool: str, corpus: Path, warm: Path, tries: int) -> tuple[FastestTry, int]:
    command = [sys.executable, "-m", "ci.mining.tools", tool, str(corpus), str(warm), str(tries)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with Watch(process.pid) as watch:
        said, complaint = process.communicate()
    if process.returncode:
        raise CannotRun(f"{tool} on {corpus} ended with {process.returncode}: {complaint.strip().splitlines()[-1:]}")
    return msgspec.json.decode(said.splitlines()[-1], type=FastestTry), watch.peak_bytes


def require_agreement(timings: Sequence[Timing], clauses: Sequence[str]) -> None:
    """CannotRun unless every tool that judges has counted the same violations of each of these clauses, and there are
    some."""
    judging = {timing.tool: timing.measured.counts for timing in timings if timing.measured.counts is not None}
    for clause in clauses:
        found = {tool: counts.get(clause, 0) for tool, counts in judging.items()}
        if len(set(found.values())) > 1:
            counted = ", ".join(f"{tool} {count}" for tool, count in found.items())
            raise CannotRun(f"the tools do not agree on {clause}: {counted}; figures of different verdicts say nothing")
    if not any(counts.get(clause, 0) for counts in judging.values() for clause in clauses):
        raise CannotRun("nothing is broken in the corpus; ask for more events, of which some are damaged")


def statement(timing: Timing) -> str:
    measured = timing.measured
    return (
        f"{timing.tool}: {timing.events_a_second:,.0f} events/s ({timing.events:,} in {measured.seconds:.2f} s, "
        f"{measured.cpu_seconds:.1f} s of processors; ready after {measured.ready_seconds:.1f} s; "
        f"{timing.peak_bytes / 1e9:.2f} GB in all processes)"
    )


def table(protocol: str, timings: Sequence[Timing]) -> Iterator[str]:
    """Markdown: events a second and peak memory of each tool at each size, how they grow, and their ratios. Processor
    time comes first, as other work on the machine changes it least."""
    clauses = benchmark_of(protocol).clauses
    sizes = sorted({timing.events for timing in timings})
    by = {(timing.tool, timing.events): timing for timing in timings}
    heads = [f"{size:,} events" for size in sizes]
    what = "million events per second of processor (per second; peak memory)"
    yield f"| {what} | {' | '.join(heads)} | growth exponent (in all, last two) |"
    yield "|---" * (len(sizes) + 2) + "|"
    for tool, title in TITLES.items():
        own = [by[tool, size] for size in sizes]
        cells = [
            f"{one.events / one.measured.cpu_seconds / 1e6:.2f} ({one.events_a_second / 1e6:.2f}; "
            f"{one.peak_bytes / 1e9:.2f} GB)"
            for one in own
        ]
        yield f"| {title.format(clauses=len(clauses))} | {' | '.join(cells)} | {_exponent(own)} |"
    for tool, other in (("mine", "scan"), ("mine-these", "scan"), ("mine-these", "duckdb"), ("mine-these", "polars")):
        pairs = [(by[tool, size], by[other, size]) for size in sizes]
        ratios = [
            f"{two.measured.cpu_seconds / one.measured.cpu_seconds:.2f} "
            f"({one.events_a_second / two.events_a_second:.2f})"
            for one, two in pairs
        ]
        yield f"| {tool} / {other} | {' | '.join(ratios)} | |"
    ready = [f"{tool} {max(by[tool, size].measured.ready_seconds for size in sizes):.1f} s" for tool in TITLES]
    found = by["mine-these", sizes[-1]].measured.counts or {}
    yield ""
    yield f"Not counted: imports, session, compilation and a first pass: {', '.join(ready)}."
    counted = ", ".join(f"{name} {found.get(name, 0):,}" for name in clauses)
    yield f"Violations found alike at the greatest size: {counted}."


def _exponent(timings: Sequence[Timing]) -> str:
    """Growth exponent of the processor time: from the smallest size to the largest, and between the last two."""
    if len(timings) < 2:
        return ""
    last = timings[-1]
    since = [timings[0]] if len(timings) == 2 else [timings[0], timings[-2]]
    return ", ".join(
        f"{math.log(last.measured.cpu_seconds / one.measured.cpu_seconds) / math.log(last.events / one.events):.2f}"
        for one in since
    )
