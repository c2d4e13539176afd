"""Files in any other layout are sorted into runs, and judged as the runs that they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from scatterproof.conformance.broadcast.tests import runs as broadcast
from scatterproof.conformance.judge import judge
from scatterproof.conformance.tests import runs as totalorder
from scatterproof.spark import arrange as module
from scatterproof.spark.arrange import arrange
from scatterproof.spark.layout import events_path, read_manifest, runs_path
from scatterproof.spark.mapping import Mapping, no_mapping, read_mapping
from scatterproof.spark.mine import mine
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import ABSENT, Header, Trace, schema
from scatterproof.spec.trace_parquet import headers_table, read_runs

CONFORMING = {
    "totalorder": [totalorder.conforming(network, "C") for network in ("star", "chain", "one way")],
    "broadcast": [broadcast.conforming("urb", shape, 3) for shape in ("plain", "a crash", "a pause")],
}
PROTOCOLS = tuple(CONFORMING)
WIDE = ("digest", "timestamp", "barrier", "greatest", "ack_barrier", "loss_record")


def numbered(protocol: str) -> list[Trace]:
    """Run numbers that are neither dense nor in order."""
    return [
        Trace(msgspec.structs.replace(trace.header, run=run), trace.rows)
        for run, trace in zip((70, 3, -5), CONFORMING[protocol], strict=True)
    ]


def table(traces: list[Trace], *, position: bool = True) -> pa.Table:
    names = schema(traces[0].header.protocol).columns
    rows = [(trace.header.run, at, *row) for trace in traces for at, row in enumerate(trace.rows)]
    columns = dict(zip(("run", "position", *names), zip(*rows, strict=True), strict=True))
    return pa.table(columns if position else {name: columns[name] for name in ("run", *names)})


def shuffled(found: pa.Table, seed: int = 1) -> pa.Table:
    order = list(range(len(found)))
    Random(seed).shuffle(order)
    return found.take(order)


def headers(folder: Path, traces: list[Trace]) -> None:
    (folder / "runs").mkdir(parents=True)
    pq.write_table(headers_table([trace.header for trace in traces], [0] * len(traces)), folder / "runs" / "x.parquet")


def read_back(corpus: Path) -> list[Trace]:
    return [
        trace
        for file in range(read_manifest(corpus).files)
        for trace in read_runs(events_path(corpus, file), runs_path(corpus, file))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_rows_of_interleaved_runs_in_several_files_and_any_order(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    monkeypatch.setattr(module, "BYTES_A_FILE", 5_000)
    traces = numbered(protocol)
    every = shuffled(table(traces))
    third = len(every) // 3
    for file in range(3):
        path = tmp_path / "in" / f"day={file}" / "x.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(every.slice(file * third, third if file < 2 else None), path)
    headers(tmp_path / "in", traces)
    corpus = arrange(tmp_path / "in", no_mapping(protocol), session)
    assert sorted(read_back(corpus), key=lambda trace: trace.header.run) == sorted(
        traces, key=lambda trace: trace.header.run
    )
    assert read_manifest(corpus).files > 1
    result = mine(tmp_path / "in", mapping=no_mapping(protocol))
    assert (result.runs, result.events, result.holds) == (3, len(every), True)
    assert result.path == str(tmp_path / "in" / "arranged")
    by_clause = {one.clause: one.held for one in result.clauses}
    for number, one in enumerate(judge(traces[0])):
        assert by_clause[one.clause] == sum(judge(trace)[number].held for trace in traces)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_one_run_without_a_column_of_runs_in_the_users_own_words(
    session: SparkSession, tmp_path: Path, protocol: str
) -> None:
    trace = CONFORMING[protocol][0]
    names = schema(protocol)
    words = {code: f"did {name}" for name, code in names.kinds.items()}
    columns = {name: trace.column(name) for name in names.columns}
    told: dict[str, pa.Array] = {
        name: pa.array([None if value == ABSENT else value for value in values], pa.int32())
        for name, values in columns.items()
        if name not in ("time_ns", "clock_ns", "kind", "sender", *WIDE)
    }
    told |= {name: pa.array(columns[name]) for name in WIDE if name in columns}
    told["at"] = pa.array([at * 1000 for at in range(len(trace.rows))], pa.int64())
    told["what"] = pa.array([words[kind] for kind in columns["kind"]])
    told["sender"] = pa.array([None if value == ABSENT else str(value) for value in columns["sender"]])
    ordered = pa.table(told)
    pq.write_table(shuffled(ordered), tmp_path / "mine.parquet")
    (tmp_path / "header.json").write_bytes(msgspec.json.encode(trace.header))
    (tmp_path / "m.toml").write_text(
        'header = "header.json"\n[columns]\ntime_ns = "at"\nkind = "what"\n[constants]\nclock_ns = -1\n'
        '[units]\ntime_ns = "us"\n[kinds]\n' + "".join(f'"did {name}" = "{name}"\n' for name in names.kinds)
    )
    corpus = arrange(tmp_path / "mine.parquet", read_mapping(tmp_path / "m.toml", protocol), session)
    assert corpus == tmp_path / "mine.parquet.arranged"
    (found,) = read_back(corpus)
    assert found.column("time_ns") == [at * 1_000_000 for at in range(len(trace.rows))]
    for name in names.columns:
        if name not in ("time_ns", "clock_ns"):
            assert found.column(name) == trace.column(name), name


def test_rows_of_one_time_keep_the_order_of_their_files(session: SparkSession, tmp_path: Path) -> None:
    """Spark reads the larger file first."""
    trace, folder = CONFORMING["totalorder"][0], tmp_path / "in"
    times, rows = trace.column("time_ns"), table([CONFORMING["totalorder"][0]], position=False)
    cut = next(at for at in range(1, len(times)) if times[at] == times[at - 1])
    folder.mkdir()
    pq.write_table(rows.slice(0, cut), folder / "a.parquet")
    pq.write_table(rows.slice(cut), folder / "b.parquet", row_group_size=7)
    (found,) = read_back(arrange(folder, with_header(trace.header), session))
    assert found.rows == trace.rows


def with_header(header: Header) -> Mapping:
    return msgspec.structs.replace(no_mapping(header.protocol), header=header)


def without(column: str) -> Callable[[pa.Table], pa.Table]:
    return lambda found: found.drop_columns([column])


BAD: dict[str, tuple[Callable[[pa.Table], pa.Table], str]] = {
    "no column": (without("barrier"), r"b.parquet: row group 0: column barrier is missing; there are run, .*constants"),
    "a column of texts": (
        lambda found: found.set_column(2, "time_ns", [[str(time) for time in found.column("time_ns").to_pylist()]]),
        r"b.parquet: row group 0: column time_ns is string; make it int64",
    ),
    "no rows": (lambda found: found.slice(0, 0), "in: holds no rows; give files with events"),
    "an unknown run": (
        lambda found: found.set_column(0, "run", [np.full(len(found), 8)]),
        "in: run 8 has no header; give --mapping with one, or a table `runs`",
    ),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_files_are_one_sentence(session: SparkSession, tmp_path: Path, bad: str) -> None:
    spoil, sentence = BAD[bad]
    traces = numbered("totalorder")
    folder = tmp_path / "in"
    headers(folder, traces)
    pq.write_table(spoil(table(traces)), folder / "b.parquet")
    with pytest.raises(BadInput, match=sentence) as raised:
        arrange(folder, no_mapping("totalorder"), session)
    assert "\n" not in str(raised.value)
    assert not (folder / "arranged").exists()


def test_files_that_are_not_there_are_one_sentence(session: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="gone: no such file or folder"):
        arrange(tmp_path / "gone", no_mapping("totalorder"), session)
    with pytest.raises(BadInput, match=r"holds no traces \(\*.parquet\)"):
        arrange(tmp_path, no_mapping("totalorder"), session)


@pytest.mark.parametrize(("folder", "sentence"), [("gone", "gone: no such file or folder"), (".", "holds no traces")])
def test_what_is_not_there_is_told_before_spark_is_asked(tmp_path: Path, folder: str, sentence: str) -> None:
    # Nobody answers there; and where a session of other tests is running, no other can be had.
    with pytest.raises(BadInput, match=sentence):
        mine(tmp_path / folder, "spark://127.0.0.1:1", mapping=no_mapping("totalorder"))
