"""Import as a whole, over Spark, and mining what came in."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from scatterproof.conformance.broadcast.tests import runs as broadcast
from scatterproof.conformance.judge import judge
from scatterproof.conformance.tests import runs as totalorder
from scatterproof.conformance.verdict import Verdict
from scatterproof.spark.importing import import_traces as module
from scatterproof.spark.importing.import_traces import import_traces
from scatterproof.spark.layout import read_manifest
from scatterproof.spark.mine import mine
from scatterproof.spec import trace_ndjson, trace_writer
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Trace
from scatterproof.spec.trace_parquet import read_headers, read_runs
from scatterproof.spec.trace_writer import RunsWriter

CONFORMING = {
    "totalorder": totalorder.conforming("star", "C"),
    "broadcast": broadcast.conforming("urb", "plain", 3),
}


@pytest.mark.slow
@pytest.mark.parametrize("protocol", CONFORMING)
def test_what_is_imported_is_mined_and_what_was_not_read_is_told(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    monkeypatch.setattr(module, "SOURCES_A_FILE", 2)
    trace, sources = CONFORMING[protocol], tmp_path / "in"
    for number in range(5):
        trace_ndjson.write(sources / f"{number}.ndjson", trace)
    lines = (sources / "3.ndjson").read_bytes().splitlines()
    (sources / "3.ndjson").write_bytes(b"\n".join([*lines[:-4], b"{}", *lines[-3:]]))
    (sources / "notes.txt").write_text("nothing")
    seen: list[tuple[int, int]] = []
    result = import_traces(protocol, [sources], tmp_path / "out", on_progress=lambda *at: seen.append(at))
    assert (result.sources, result.files, result.runs) == (5, 3, 5)
    assert result.events == 5 * len(trace.rows) - 1
    assert (result.quarantined, sum(result.reasons.values())) == (1, 1)
    assert result.passed_over == (str(sources / "notes.txt"),)
    assert seen[-1][0] == seen[-1][1] == sum(path.stat().st_size for path in sources.glob("*.ndjson"))
    manifest = read_manifest(tmp_path / "out")
    assert [(entry.run, entry.quarantined) for entry in manifest.runs] == [(0, 0), (1, 0), (2, 0), (3, 1), (4, 0)]
    mined = mine(tmp_path / "out")
    assert (mined.runs, mined.events, mined.quarantined) == (5, result.events, 1)
    assert mined.holds
    passed = {one.clause for one in judge(trace) if one.verdict is Verdict.PASS}
    for clause in mined.clauses:
        if clause.clause in passed:
            assert clause.runs in (
                {Verdict.PASS: 4, Verdict.INCONCLUSIVE: 1},
                {Verdict.PASS: 5},  # nothing of it was in the row that was lost
            )
    assert any(clause.runs.get(Verdict.INCONCLUSIVE) == 1 for clause in mined.clauses if clause.clause in passed)


@pytest.mark.slow
def test_sources_that_number_a_run_alike_are_refused(session: SparkSession, tmp_path: Path) -> None:
    trace = CONFORMING["totalorder"]
    (tmp_path / "header.json").write_bytes(msgspec.json.encode(trace.header))
    (tmp_path / "m.toml").write_text('header = "header.json"\n')
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("run,kind,time_ns,node\n5,delivered,1,0\n")
    with pytest.raises(BadInput, match=r"b.csv: run 5 is in .*a.csv, too; import them by themselves"):
        import_traces("totalorder", [tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "out", tmp_path / "m.toml")
    assert not (tmp_path / "out").exists()


def test_when_no_run_can_be_read_the_reasons_are_told(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text("hello\n")
    with pytest.raises(BadInput, match=r"a.ndjson: no run could be read; 1 times: no header"):
        import_traces("totalorder", [tmp_path / "a.ndjson"], tmp_path / "out")


def test_a_run_is_written_in_pieces_and_row_groups_begin_with_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = CONFORMING["totalorder"]
    monkeypatch.setattr(trace_writer, "ROW_GROUP_ROWS", len(trace.rows) * 7 // 2)
    repeats = {0: 1, 1: 5, 2: 1, 3: 1}
    headers = {run: msgspec.structs.replace(trace.header, run=run) for run in repeats}
    with RunsWriter(tmp_path / "events", tmp_path / "runs", "totalorder") as writer:
        for run, times in repeats.items():
            for _ in range(times):
                writer.add_rows(run, trace.rows)
            writer.end(headers[run])
    found = list(read_runs(tmp_path / "events", tmp_path / "runs"))
    assert found == [Trace(headers[run], trace.rows * times) for run, times in repeats.items()]
    assert read_headers(tmp_path / "runs") == [(headers[run], len(trace.rows) * n) for run, n in repeats.items()]
    file = pq.ParquetFile(tmp_path / "events")
    groups = [file.read_row_group(group).column("run").to_pylist() for group in range(file.num_row_groups)]
    # Short runs share a group; what is left of a long one shares its own with no other.
    assert [sorted(set(group)) for group in groups] == [[0, 1], [1], [1], [2, 3]]


def test_nothing_is_written_when_writing_fails(tmp_path: Path) -> None:
    trace = CONFORMING["totalorder"]

    def write() -> None:
        with RunsWriter(tmp_path / "events", tmp_path / "runs", "totalorder") as writer:
            writer.add_rows(0, trace.rows)
            raise BadInput("no")

    with pytest.raises(BadInput, match="no"):
        write()
    assert not list(tmp_path.iterdir())
