"""States and violations at any row of a run, whatever it is stored as, are those of the run read from its beginning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from scatterproof.conformance.explorer import sources, timeline
from scatterproof.conformance.explorer.sources import NdjsonSource, ParquetSource, RunSource
from scatterproof.conformance.explorer.tests.runs import hasty, lossy
from scatterproof.conformance.explorer.timeline import Timeline
from scatterproof.conformance.judge import judge
from scatterproof.conformance.views import RowView
from scatterproof.spec import trace_ndjson, trace_parquet
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Kind, Trace

Make = Callable[[Trace, Path], RunSource]


def as_ndjson(trace: Trace, folder: Path) -> RunSource:
    trace_ndjson.write(folder / "trace.ndjson", trace)
    return NdjsonSource(folder / "trace.ndjson")


def as_parquet(trace: Trace, folder: Path) -> RunSource:
    """The trace as a Parquet file, the second of three runs in it."""
    events, runs = folder / "events.parquet", folder / "runs.parquet"
    traces = [
        msgspec.structs.replace(trace, header=msgspec.structs.replace(trace.header, run=number)) for number in range(3)
    ]
    trace_parquet.write_runs(events, runs, traces)
    return ParquetSource(events, traces[1].header, len(trace.rows), len(trace.rows))


@pytest.fixture(params=[as_ndjson, as_parquet])
def make(request: pytest.FixtureRequest) -> Make:
    found: Make = request.param
    return found


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks, so that even a short run has many blocks and copies, and these grow sparse."""
    monkeypatch.setattr(sources, "BLOCK", 16)
    monkeypatch.setattr(timeline, "BLOCK", 16)
    monkeypatch.setattr(timeline, "NEAR", 8)
    monkeypatch.setattr(timeline, "NEAR_COPIES", 3)
    monkeypatch.setattr(timeline, "COPIES", 4)
    monkeypatch.setattr(timeline, "FARTHEST", 1 << 30)


def test_windows_are_the_rows(make: Make, tmp_path: Path) -> None:
    trace = lossy()
    source = make(trace, tmp_path)
    assert [row for block in source.blocks() for row in block] == trace.rows
    assert source.rows == len(trace.rows)
    for first, count in ((0, 5), (15, 2), (16, 40), (len(trace.rows) - 3, 100), (len(trace.rows), 1)):
        assert source.window(first, count) == trace.rows[first : first + count]


def test_states_at_any_row_are_those_from_the_beginning(make: Make, tmp_path: Path) -> None:
    trace = lossy()
    line = Timeline(make(trace, tmp_path))
    line.scan()
    assert line.problem == ""
    assert line.read == len(trace.rows)
    nodes = range(len(trace.header.topology.nodes))
    expected = []
    view = RowView(trace.header)
    for row in trace.rows:
        view.see(row)
        expected.append([view.state(node) for node in nodes])
    last = len(trace.rows) - 1
    for position in (0, last, 1, last // 2, last // 2 - 1, last // 2 + 1, last // 3, 15, 16, 17, last):
        assert line.states(position) == expected[position]


def test_what_is_too_far_ahead_waits_until_it_was_read(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline, "FARTHEST", 130)
    line = Timeline(make(lossy(), tmp_path))
    last = len(lossy().rows) - 1
    assert last > 260
    assert line.states(5) is not None
    assert line.states(last) is None
    line.scan()
    assert line.states(last) is not None


@pytest.mark.parametrize("compiled", [False, True])
def test_violations_are_those_that_judging_finds(
    make: Make, compiled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline, "COMPILED_FROM", 0 if compiled else 1 << 30)
    trace = hasty()
    judged = judge(trace, shown=1000)
    expected = {(one.position, one.clause): one.sentence for result in judged for one in result.violations}
    line = Timeline(make(trace, tmp_path))
    line.scan()
    found = line.violations(0, len(trace.rows))
    told = {
        (one.position, clause): sentence
        for one in found
        for clause, sentence in line.sentences([one], trace.rows[one.position])
    }
    assert told == expected
    positions = sorted({position for position, _ in expected})
    assert line.next_violation(-1, 1) == positions[0]
    assert line.next_violation(positions[0], 1) == positions[1]
    assert line.next_violation(positions[1], -1) == positions[0]
    assert line.next_violation(positions[0], -1) is None
    assert line.next_violation(positions[-1], 1) is None
    assert [one.position for one in line.violations(positions[1], positions[1])] == [positions[1]]


def test_what_a_trace_cannot_show_is_no_violation(make: Make, tmp_path: Path) -> None:
    trace = hasty()
    header = msgspec.structs.replace(trace.header, complete={})
    line = Timeline(make(msgspec.structs.replace(trace, header=header), tmp_path))
    line.scan()
    assert line.broken == 0


def test_bad_row_ends_the_reading_and_says_where(tmp_path: Path) -> None:
    trace_ndjson.write(tmp_path / "trace.ndjson", lossy())
    lines = (tmp_path / "trace.ndjson").read_bytes().splitlines()
    lines[40] = b"nonsense"
    (tmp_path / "trace.ndjson").write_bytes(b"\n".join(lines))
    line = Timeline(NdjsonSource(tmp_path / "trace.ndjson"))
    line.scan()
    assert line.ended
    assert "line 41" in line.problem


def test_run_that_no_check_may_judge_says_why(make: Make, tmp_path: Path) -> None:
    trace = hasty()
    first = trace.column("kind").index(Kind.SUBMITTED)
    rows = [*trace.rows[:first], *trace.rows[first + 1 :]]
    line = Timeline(make(msgspec.structs.replace(trace, rows=rows), tmp_path))
    line.scan()
    assert "submissions" in line.problem


def test_file_that_is_no_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such trace file"):
        NdjsonSource(tmp_path / "missing.ndjson")
    (tmp_path / "empty.ndjson").write_text("")
    with pytest.raises(BadInput, match="empty"):
        NdjsonSource(tmp_path / "empty.ndjson")
    (tmp_path / "other.ndjson").write_text("{}\n")
    with pytest.raises(BadInput, match="line 1 is not a trace header"):
        NdjsonSource(tmp_path / "other.ndjson")
