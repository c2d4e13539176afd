"""`explore` as users meet it: an address and an end by Ctrl-C, and one sentence for what is no trace."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from scatterproof.commands import explore
from scatterproof.conformance.case import select
from scatterproof.conformance.explorer.server import Explorer
from scatterproof.conformance.explorer.timeline import Timeline
from scatterproof.conformance.report import folder
from scatterproof.conformance.report.tests.runs import FAILING, failing
from scatterproof.spark.configurations import draw_run
from scatterproof.spark.corpus import simulate_run
from scatterproof.spark.layout import Manifest, RunEntry, events_path, runs_path, write_manifest
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace_parquet import write_runs
from scatterproof.tests.test_console import Console
from scatterproof.tests.test_console import console as console  # a fixture

PLACE = FAILING.replace("/", ".")


def test_address_is_printed_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    folder.write(tmp_path, failing())
    words = [
        sys.executable,
        "-m",
        "scatterproof.cli",
        "explore",
        str(tmp_path / PLACE / "trace.ndjson"),
        "--no-browser",
        "--row",
        "19",
    ]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            address, _, row = child.stdout.readline().strip().partition("#")
            with urllib.request.urlopen(f"{address}run", timeout=60) as answer:
                told = json.load(answer)
            child.send_signal(signal.SIGINT)
            _, said = child.communicate(timeout=60)
        finally:
            child.kill()  # it would serve for ever
    assert row == "19"
    assert told["schedule"]
    assert told["ended"] is False
    assert child.returncode == 0
    assert "Traceback" not in said


def test_what_is_no_trace_is_one_sentence(console: Console, tmp_path: Path) -> None:
    trace_ndjson.write(tmp_path / "trace.ndjson", next(r.trace for r in failing().results if r.trace is not None))
    (tmp_path / "nonsense").write_text("nonsense")
    for words, expected in (
        ([str(tmp_path / "missing")], "no such trace file"),
        ([str(tmp_path)], "say which run of a corpus"),
        ([str(tmp_path), "--run", "1"], "manifest"),
        ([str(tmp_path / "nonsense")], "line 1 is not a trace header"),
        ([str(tmp_path / "trace.ndjson"), "--protocol", "broadcast"], "not of broadcast"),
        ([str(tmp_path / "trace.ndjson"), "--schedule", str(tmp_path / "missing")], "no such schedule file"),
    ):
        code, _, said = console("explore", *words, "--no-browser")
        assert code == 2, said
        assert expected in said.replace("\n", " ")


def test_schedule_is_found_beside_the_trace_and_nothing_else_is_taken_for_one(tmp_path: Path) -> None:
    folder.write(tmp_path, failing())
    _, schedule = explore._trace(tmp_path / PLACE / "trace.ndjson")
    assert schedule == select("totalorder", [FAILING])[0].schedule
    (tmp_path / PLACE / "schedule.json").write_text("{}")
    assert explore._trace(tmp_path / PLACE / "trace.ndjson")[1] is None


def small_corpus(folder: Path, runs: int, seed: int) -> None:
    """As `make_corpus` makes it, but in this process."""
    traces = [simulate_run("totalorder", seed, run) for run in range(runs)]
    write_runs(events_path(folder, 0), runs_path(folder, 0), traces)
    entries = []
    for run, trace in enumerate(traces):
        drawn = draw_run("totalorder", seed, run)
        schedule, topology = drawn.schedule, drawn.schedule.topology
        entries.append(
            RunEntry(
                run=run,
                seed=schedule.seed,
                family=drawn.family,
                hosts=len(topology.hosts()),
                switches=len(topology.switches()),
                links=len(topology.links),
                parameters=schedule.parameters,
                submissions=len(schedule.submissions),
                events=len(trace.rows),
                file=0,
            )
        )
    events = sum(entry.events for entry in entries)
    write_manifest(folder, Manifest(protocol="totalorder", seed=seed, files=1, events=events, runs=tuple(entries)))


def test_run_of_a_corpus_is_opened_by_its_number(tmp_path: Path) -> None:
    small_corpus(tmp_path, runs=3, seed=3)
    for number in (0, 1, 2):
        source, schedule = explore._corpus(tmp_path, number)
        assert source.header.run == number
        assert schedule == draw_run("totalorder", 3, number).schedule
        line = Timeline(source)
        line.scan()
        assert (line.read, line.problem, line.broken) == (source.rows, "", 0)
        assert source.window(0, 1 << 40) == simulate_run("totalorder", 3, number).rows
        assert Explorer(line, schedule).answers["at"]({"row": str(line.read - 1)})
    with pytest.raises(BadInput, match="no run 7"):
        explore._corpus(tmp_path, 7)


@pytest.mark.parametrize("port", ["-1", "65536", "x"])
def test_port_that_cannot_be_is_wrong_usage(console: Console, port: str, tmp_path: Path) -> None:
    assert console("explore", str(tmp_path), "--port", port)[0] == 2
