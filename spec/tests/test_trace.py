"""Traces as NDJSON and Parquet: read back as written, and refused with file and place."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scatterproof.spec import trace_ndjson, trace_parquet
from scatterproof.spec.clauses import SPEC
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import Link, Node, Role, Topology
from scatterproof.spec.trace import ABSENT, Header, Kind, Order, Row, Trace, digest_of, schema
from scatterproof.spec.trace_parquet import read_runs, write_runs

NETWORK = Topology((Node("a", Role.HOST), Node("b", Role.HOST)), (Link(0, 1),))
NAMES = schema("totalorder").columns


def row(kind: Kind, **columns: int) -> Row:
    return tuple(({"kind": int(kind)} | columns).get(name, ABSENT) for name in NAMES)


def trace(run: int, length: int = 3, *, notes: tuple[str, ...] = ()) -> Trace:
    header = Header(
        "totalorder", NETWORK, {"environment": "C"}, {"sent": (0, 1)}, Order.GLOBAL, run=run, seed=run + 5, notes=notes
    )
    edges = [(1 << 63) - 1, -(1 << 63), 0]
    rows = [row(Kind.SENT, time_ns=edges[at % 3], node=0, link=0, link_seq=at) for at in range(length)]
    return Trace(header, [*rows, row(Kind.ENDED, time_ns=9, flags=3)])


@pytest.mark.parametrize("payload", [b"", b"x", bytes(100)])
def test_a_digest_is_the_upper_63_bits_of_eight_bytes(payload: bytes) -> None:
    assert f"{digest_of(payload):063b}" == f"{int(blake2b(payload, digest_size=8).hexdigest(), 16):064b}"[:63]


def test_order_node_is_weakest_and_global_strongest() -> None:
    assert Order.GLOBAL.includes(Order.LINK)
    assert Order.LINK.includes(Order.NODE)
    assert not Order.NODE.includes(Order.LINK)


def test_a_protocol_may_add_nothing_to_the_common_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "trace.toml").write_text("version = 1\n")
    (tmp_path / "common_trace.toml").write_text((SPEC / "common_trace.toml").read_text())
    monkeypatch.setattr("scatterproof.spec.trace.__file__", str(tmp_path / "trace.py"))
    assert schema("toy").columns == NAMES[: len(schema("toy").columns)]
    assert schema("toy").packets == {}


def test_ndjson_is_read_back_as_written(tmp_path: Path) -> None:
    trace_ndjson.write(tmp_path / "t.ndjson", trace(1, notes=("cut", "short")))

    assert trace_ndjson.read(tmp_path / "t.ndjson") == trace(1, notes=("cut", "short"))


def test_ndjson_passes_over_columns_that_it_does_not_know() -> None:
    text = trace_ndjson.encode(trace(1)).replace(b'"kind":"ended"', b'"kind":"ended","mood":"good"')

    assert trace_ndjson.decode(text, "t") == trace(1)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (b'"kind":"ended"', b'"kind":"over"', "line 5 has kind 'over'"),
        (b'"time_ns":9,', b'"time_ns":9223372036854775808,', "line 5: time_ns is 9223372036854775808"),
        (b'"time_ns":9,', b'"time_ns":true,', "line 5: time_ns is True"),
        (b'"time_ns":9,', b'"time_ns":9,"time_ns" : 8,"mood":"a\\":b",', "line 5 has column time_ns twice; keep one"),
        (b'"time_ns":9,', b'"time_ns":,', "line 5 is not a JSON object"),
        (b'"trace":1', b'"trace":2', "trace version 2"),
        (b'"order":"global"', b'"order":"none"', "line 1 is not a trace header"),
        (b'{"protocol":"totalorder"', b'{"protocol":"../etc"', "protocol '../etc' is unknown"),
    ],
)
def test_ndjson_that_is_broken_is_refused_with_its_line(old: bytes, new: bytes, sentence: str) -> None:
    text = trace_ndjson.encode(trace(1))
    assert old in text

    with pytest.raises(BadInput, match=sentence):
        trace_ndjson.decode(text.replace(old, new), "t.ndjson")


def test_parquet_gives_every_run_back(tmp_path: Path) -> None:
    traces = [trace(7, 3), trace(2, 0), trace(3, 5, notes=("cut",))]
    write_runs(tmp_path / "e.parquet", tmp_path / "r.parquet", traces)

    assert list(read_runs(tmp_path / "e.parquet", tmp_path / "r.parquet")) == traces
    assert pq.read_table(tmp_path / "r.parquet").column("rows").to_pylist() == [4, 1, 6]


def test_parquet_row_groups_begin_with_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_parquet, "ROW_GROUP_ROWS", 10)
    traces = [trace(run, 5) for run in range(4)] + [trace(4, 24)]
    write_runs(tmp_path / "e.parquet", tmp_path / "r.parquet", traces)
    with pq.ParquetFile(tmp_path / "e.parquet") as file:
        groups = [file.read_row_group(at).column("run").to_pylist() for at in range(file.num_row_groups)]

    assert groups == [[0] * 6, [1] * 6, [2] * 6, [3] * 6, [4] * 10, [4] * 10, [4] * 5]
    assert list(read_runs(tmp_path / "e.parquet", tmp_path / "r.parquet")) == traces


def test_parquet_without_a_column_is_refused_with_file_row_group_and_column(tmp_path: Path) -> None:
    events, runs = tmp_path / "e.parquet", tmp_path / "r.parquet"
    write_runs(events, runs, [trace(1)])
    pq.write_table(pq.read_table(events).drop_columns(["barrier"]), events)

    with pytest.raises(BadInput, match=r"e\.parquet: row group 0: column barrier is missing"):
        list(read_runs(events, runs))


def test_parquet_with_another_type_or_an_empty_place_is_refused(tmp_path: Path) -> None:
    events, runs = tmp_path / "e.parquet", tmp_path / "r.parquet"
    write_runs(events, runs, [trace(1)])
    table = pq.read_table(events)
    at = table.column_names.index("barrier")
    pq.write_table(table.set_column(at, "barrier", table.column("barrier").cast(pa.string())), events)
    with pytest.raises(BadInput, match="column barrier is string; make it int64"):
        list(read_runs(events, runs))
    pq.write_table(table.set_column(at, "barrier", pa.array([1, 2, None, 4], pa.int64())), events)
    with pytest.raises(BadInput, match="row group 0: column barrier has empty places"):
        list(read_runs(events, runs))


@pytest.mark.parametrize("name", ["run", "barrier"])
def test_parquet_with_a_column_twice_is_refused(tmp_path: Path, name: str) -> None:
    events, runs = tmp_path / "e.parquet", tmp_path / "r.parquet"
    write_runs(events, runs, [trace(0)])
    table = pq.read_table(events)
    pq.write_table(table.append_column(name, table.column(name)), events)
    with pytest.raises(BadInput, match=rf"e\.parquet: row group 0: column {name} is there twice; keep one"):
        list(read_runs(events, runs))


def test_parquet_passes_over_columns_that_it_does_not_know(tmp_path: Path) -> None:
    events, runs = tmp_path / "e.parquet", tmp_path / "r.parquet"
    write_runs(events, runs, [trace(1)])
    pq.write_table(pq.read_table(events).append_column("mood", pa.array(["good"] * 4)), events)

    assert list(read_runs(events, runs)) == [trace(1)]


def test_parquet_whose_rows_and_runs_disagree_is_refused(tmp_path: Path) -> None:
    events, runs = tmp_path / "e.parquet", tmp_path / "r.parquet"
    write_runs(events, runs, [trace(1)])
    pq.write_table(pq.read_table(events).slice(0, 2), events)

    with pytest.raises(BadInput, match="run 1 has 2 rows"):
        list(read_runs(events, runs))


def test_parquet_that_fails_half_way_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="run 1 comes twice"):
        write_runs(tmp_path / "e.parquet", tmp_path / "r.parquet", [trace(1), trace(1)])

    assert list(tmp_path.iterdir()) == []


def test_parquet_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.parquet").write_bytes(b"PAR1")

    with pytest.raises(BadInput, match="cannot be read as Parquet"):
        list(read_runs(tmp_path / "e.parquet", tmp_path / "r.parquet"))
