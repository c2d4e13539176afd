"""The tools that mining is compared with find what it finds, and figures of other findings are refused."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ci.mining.compare import Timing, refuse_without_room, require_agreement, table
from ci.mining.material import enlarged, networks, simulated
from ci.mining.tools import FastestTry
from ci.processes import Watch, cpu_seconds, resident_bytes
from scatterproof.conformance.judge import judge_compiled
from scatterproof.spark.judge_part import count_part
from scatterproof.spark.protocol import benchmark_of, load
from scatterproof.spark.read import parts_of
from scatterproof.spark.tests.material import PROTOCOLS
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.trace_parquet import read_runs

COMPARED = [protocol for protocol in PROTOCOLS if load(protocol).benchmark is not None]
each_compared = pytest.mark.parametrize("protocol", COMPARED)


@pytest.mark.slow
@each_compared
def test_every_tool_finds_the_same_violations(session: SparkSession, tmp_path: Path, protocol: str) -> None:
    base = simulated(protocol, 200_000, tmp_path / "base", "local[2]")
    corpus = tmp_path / "corpus"
    assert enlarged(base, 2 * base.events, corpus) == 2 * base.events
    clauses, parts = benchmark_of(protocol).clauses, parts_of(corpus)
    counted = sum((count_part(part, frozenset(clauses)) for part in parts), Counter[str]())
    judged = Counter[str]()
    for part in parts:
        for trace in read_runs(part.events, part.runs_file):
            judged.update({one.clause: one.broken for one in judge_compiled(trace) if one.clause in clauses})
    assert counted == +judged
    assert len(counted) >= len(clauses) // 2
    files = [part.events for part in parts]
    benchmark = benchmark_of(protocol)
    for name in ("duckdb", "polars"):
        if importlib.util.find_spec(name) is None:
            warnings.warn(pytest.PytestWarning(f"not run: {name} is not installed"), stacklevel=1)
            continue
        if name == "duckdb":
            found = benchmark.by_duckdb(importlib.import_module("duckdb").connect(), files, *networks(corpus))
        else:
            found = benchmark.by_polars(files, *networks(corpus))
        assert +found == counted


def timing(tool: str, events: int, seconds: float, counts: dict[str, int] | None) -> Timing:
    measured = FastestTry(seconds=seconds, cpu_seconds=seconds, ready_seconds=1, counts=counts)
    return Timing(tool=tool, events=events, measured=measured, peak_bytes=10**9)


def test_figures_of_different_verdicts_are_refused() -> None:
    alike = [
        timing("mine", 10, 1, {"X-1": 2, "X-2": 0}),
        timing("scan", 10, 1, None),
        timing("duckdb", 10, 1, {"X-1": 2}),
    ]
    require_agreement(alike, ("X-1", "X-2"))
    for counts in ({"X-1": 3}, {}, {"X-1": 2, "X-2": 1}):
        with pytest.raises(CannotRun, match=r"the tools do not agree on X-[12]: mine"):
            require_agreement([*alike, timing("polars", 10, 1, counts)], ("X-1", "X-2"))
    with pytest.raises(CannotRun, match="nothing is broken in the corpus"):
        require_agreement(alike, ("X-2",))


def test_a_corpus_without_room_is_refused(tmp_path: Path) -> None:
    refuse_without_room(10_000, tmp_path)
    with pytest.raises(CannotRun, match="GB are free, and 1,000,000,000,000,000,000 events"):
        refuse_without_room(10**18, tmp_path)


@each_compared
def test_the_table_has_ratios_and_growth(protocol: str) -> None:
    tools = {"mine": 4.0, "mine-these": 1.0, "scan": 2.0, "duckdb": 8.0, "polars": 3.0}
    found = dict.fromkeys(benchmark_of(protocol).clauses, 1)
    timings = [timing(tool, 10**6, seconds, found) for tool, seconds in tools.items()]
    timings += [timing(tool, 10**8, 200 * seconds, found) for tool, seconds in tools.items()]
    lines = list(table(protocol, timings))
    assert all(line.endswith(" 1.15 |") for line in lines[2:7])
    assert "| mine-these / duckdb | 8.00 (8.00) | 8.00 (8.00) | |" in lines
    assert "| mine / scan | 0.50 (0.50) | 0.50 (0.50) | |" in lines


def test_memory_and_time_are_those_of_the_whole_tree() -> None:
    here, large = os.getpid(), 300_000_000
    before = cpu_seconds(here)
    child = f"x = b'x' * {large}; print('ready', flush=True); input()"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with Watch(here) as watch:
        process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert resident_bytes(process.pid) > large
        while watch.peak_bytes < large:  # it looks again and again
            pass
        process.communicate(b"\n")
    assert process.returncode == 0
    assert cpu_seconds(here) > before
    assert resident_bytes(process.pid) == 0
