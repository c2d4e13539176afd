"""Benchmark of the explorer: from the command to the first rows that Chromium shows, with ten million events in one run
as Parquet and with a million as NDJSON; then a step, a jump to the end, and reading and judging the rest in the
background. Wall time."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from ci.bench_schedules import PROTOCOL, busy_schedule
from ci.processes import most_resident_bytes
from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.network.topologies import fat_tree
from scatterproof.conformance.report.tests.browser import Tab, launched, why_not
from scatterproof.impl.totalorder import make_core
from scatterproof.spark.layout import Manifest, RunEntry, events_path, runs_path, write_manifest
from scatterproof.spec import trace_ndjson
from scatterproof.spec.topology import Topology
from scatterproof.spec.trace import Header, Kind, Row, Trace, schema
from scatterproof.spec.trace_writer import RunsWriter

EVENTS = 10_000_000
NDJSON_EVENTS = 1_000_000
HOSTS = 8


def explorer() -> Iterator[tuple[str, str]]:
    reason = why_not()
    if reason is not None:
        yield "explorer", f"not run: {reason}"
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _corpus(folder / "corpus", EVENTS)
        yield from _measured(f"explorer, {EVENTS:,} events as Parquet", [str(folder / "corpus"), "--run", "0"])
        header, rows = _rows(NDJSON_EVENTS)
        trace_ndjson.write(folder / "trace.ndjson", Trace(header, rows))
        del rows
        yield from _measured(f"explorer, {NDJSON_EVENTS:,} events as NDJSON", [str(folder / "trace.ndjson")])


def _measured(what: str, words: list[str]) -> Iterator[tuple[str, str]]:
    with launched() as browser:
        tab = Tab(browser, bypass_csp=True)  # the conditions that we wait for are scripts, too
        tab.page.set_default_timeout(1_200_000)
        start = time.perf_counter()
        command = [sys.executable, "-m", "scatterproof.cli", "explore", *words, "--no-browser"]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert child.stdout is not None
            address = child.stdout.readline().strip()
            served = time.perf_counter() - start
            opened = time.perf_counter()
            tab.page.goto(address)
            tab.page.locator("#rows tr[aria-current]").wait_for()
            painted = time.perf_counter() - opened
            yield (
                f"{what}: first rows shown",
                f"{painted:.2f} s after the address was there, {served:.1f} s after the start",
            )
            tab.page.wait_for_function("document.querySelector('#told').textContent.includes('violation')")
            steps = _timed(tab, "ArrowRight", "1")
            yield f"{what}: a step on, while it is read", f"{steps * 1000:.0f} ms"
            tab.page.wait_for_function("!document.querySelector('#told').textContent.includes('so far')")
            yield f"{what}: read and judged beside", f"{time.perf_counter() - opened:.0f} s"
            last = int(tab.page.locator("#of").inner_text().replace(",", "").removeprefix("of ")) - 1
            yield f"{what}: from the first row to the last", f"{_timed(tab, 'End', str(last)) * 1000:.0f} ms"
            yield f"{what}: a step back there", f"{_timed(tab, 'ArrowLeft', str(last - 1)) * 1000:.0f} ms"
            peak_bytes = most_resident_bytes(child.pid)
            yield f"{what}: memory of the command at its peak", f"{peak_bytes / 2**10 / 1e6:.2f} GB"
        finally:
            child.terminate()
            child.wait()


def _timed(tab: Tab, key: str, row: str) -> float:
    start = time.perf_counter()
    tab.page.keyboard.press(key)
    tab.page.locator(f"#rows tr[aria-current][data-row='{row}']").wait_for()
    return time.perf_counter() - start


def _busy() -> Trace:
    return simulate(busy_schedule(fat_tree(HOSTS, radix=4), 20_000, 1), make_core)


def _corpus(folder: Path, events: int) -> None:
    """One long run: a busy run repeated, each time later. Repetitions keep the timestamps of the first, and so break
    clauses: there is a violation to jump to."""
    trace = _busy()
    names = schema(PROTOCOL).columns
    table = np.array([row for row in trace.rows if row[names.index("kind")] != Kind.ENDED], dtype=np.int64)
    length = int(table[:, names.index("time_ns")].max()) + 1
    (folder / "events").mkdir(parents=True)
    with RunsWriter(events_path(folder, 0), runs_path(folder, 0), PROTOCOL) as writer:
        for turn in range(-(-events // len(table))):
            piece = table[: events - turn * len(table)].copy()
            for column in ("time_ns", "clock_ns"):
                piece[:, names.index(column)] += turn * length
            writer.add(0, {name: np.ascontiguousarray(piece[:, at]) for at, name in enumerate(names)})
        writer.end(trace.header)
    topology: Topology = trace.header.topology
    entry = RunEntry(
        run=0,
        seed=trace.header.seed,
        family="busy",
        hosts=len(topology.hosts()),
        switches=len(topology.switches()),
        links=len(topology.links),
        parameters=trace.header.parameters,
        submissions=0,
        events=events,
        file=0,
        source="ci/bench",
    )
    write_manifest(folder, Manifest(protocol=PROTOCOL, seed=0, files=1, events=events, runs=(entry,)))


def _rows(count: int) -> tuple[Header, list[Row]]:
    trace = _busy()
    rows = [row for row in trace.rows if row[schema(PROTOCOL).index("kind")] != Kind.ENDED]
    header = msgspec.structs.replace(trace.header, notes=("repeated",))
    return header, [rows[at % len(rows)] for at in range(count)]
