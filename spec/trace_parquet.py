"""Traces as Parquet, many runs to a pair of files: the events, and the runs' headers.

Events: int64 columns, `run` and then those of the trace schema; the rows of a run stand together and in their order, a
run is never split over files, and row groups begin with a run, or go on with one that is longer than a group. Runs, in
the order of their events: `run` and `rows` (int64), `seed` (int64), `protocol` (string) and `header`, the header as
JSON. Both carry the version in their metadata. Columns that this version does not know are passed over.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.storage import opened
from scatterproof.spec.trace import VERSION, Header, Row, Trace, schema

ROW_GROUP_ROWS = 1_000_000
# Columns that go up along a run are kept as differences, all others by a dictionary.
_DIFFERENCES = frozenset({"time_ns", "clock_ns", "link_seq"})

_METADATA_KEY = b"scatterproof_trace"
_METADATA = {_METADATA_KEY: str(VERSION).encode()}
_RUNS = pa.schema(
    [
        pa.field("run", pa.int64(), nullable=False),
        pa.field("rows", pa.int64(), nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("protocol", pa.string(), nullable=False),
        pa.field("header", pa.string(), nullable=False),
    ],
    metadata=_METADATA,
)


def events_schema(protocol: str) -> pa.Schema:
    """The Arrow schema of an events file."""
    names = ("run", *schema(protocol).columns)
    return pa.schema([pa.field(name, pa.int64(), nullable=False) for name in names], metadata=_METADATA)


def events_writer(file: Path, columns: pa.Schema) -> pq.ParquetWriter:
    """Writes an events file with these columns, in what takes least time to decode (figures: docs/figures.md)."""
    by_dictionary = [name for name in columns.names if name not in _DIFFERENCES]
    differences = {name: "DELTA_BINARY_PACKED" for name in columns.names if name in _DIFFERENCES}
    return pq.ParquetWriter(file, columns, compression="lz4", use_dictionary=by_dictionary, column_encoding=differences)


def write_runs(events: Path, runs: Path, traces: Iterable[Trace]) -> None:
    """Write traces of one protocol, each with a run number (header.run) of its own, taking one at a time.

    Both files appear whole or not at all. Raises BadInput for a run number twice, two protocols, or no trace.
    """
    headers: list[Header] = []
    counts: list[int] = []
    with _atomically(events) as events_file, _atomically(runs) as runs_file:
        writer: pq.ParquetWriter | None = None
        waiting: list[pa.Table] = []
        seen: set[int] = set()
        try:
            for trace in traces:
                header = trace.header
                if writer is None:
                    columns = events_schema(header.protocol)
                    writer = events_writer(events_file, columns)
                elif header.protocol != headers[0].protocol:
                    raise BadInput(f"{events}: run {header.run} is of {header.protocol}; give each protocol its files")
                if header.run in seen:
                    raise BadInput(f"{events}: run {header.run} comes twice; give each run its own number")
                seen.add(header.run)
                if sum(len(table) for table in waiting) + len(trace.rows) > ROW_GROUP_ROWS:
                    _write(writer, waiting)
                waiting.append(_table(trace, columns))
                headers.append(header)
                counts.append(len(trace.rows))
            if writer is None:
                raise BadInput(f"{events}: there is no trace to write; give at least one")
            _write(writer, waiting)
        finally:
            if writer is not None:
                writer.close()
        pq.write_table(headers_table(headers, counts), runs_file)


def read_runs(events: Path, runs: Path) -> Iterator[Trace]:
    """The traces of a pair of files, one at a time. Raises BadInput naming file, row group and column."""
    headers = read_headers(runs)
    rows = _rows(events, headers[0][0].protocol)
    for header, count in headers:
        found: list[Row] = []
        while len(found) < count:
            run, row = next(rows, (None, ()))
            if run != header.run:
                raise BadInput(
                    f"{events}: run {header.run} has {len(found)} rows, {runs} tells of {count}; make it again"
                )
            found.append(row)
        yield Trace(header, found)
    if next(rows, None) is not None:
        raise BadInput(f"{events}: has rows after those of the runs in {runs}; make it again")


def _rows(path: Path, protocol: str) -> Iterator[tuple[int, Row]]:
    wanted = events_schema(protocol)
    with reading(path), pq.ParquetFile(opened(path)) as file:
        for group in range(file.num_row_groups):
            require_columns(path, file.schema_arrow, wanted, group)
            table = file.read_row_group(group, columns=wanted.names)
            for name in wanted.names:
                if table.column(name).null_count:
                    raise BadInput(
                        f"{path}: row group {group}: column {name} has empty places; every row needs a value"
                    )
            run, *columns = (table.column(name).to_pylist() for name in wanted.names)
            yield from zip(run, zip(*columns, strict=True), strict=True)


def read_headers(path: Path) -> list[tuple[Header, int]]:
    """The header and the number of rows of each run in a runs file, in the order of their events."""
    found: list[tuple[Header, int]] = []
    for run, rows, protocol, text in zip(*_runs_columns(path, "run", "rows", "protocol", "header"), strict=True):
        try:
            header = msgspec.json.decode(text, type=Header)
        except msgspec.DecodeError as error:
            raise BadInput(f"{path}: the header of run {run} is not a trace header: {error}") from None
        if header.trace != VERSION or header.run != run:
            raise BadInput(
                f"{path}: the header of run {run} is of run {header.run}, version {header.trace}; make it again"
            )
        if header.protocol != protocol:
            raise BadInput(f"{path}: the header of run {run} is of {header.protocol}, not of {protocol}; make it again")
        found.append((header, rows))
    return found


def read_counts(path: Path) -> list[tuple[int, int, str]]:
    """Number, rows and protocol of each run in a runs file, without its header, which takes long to decode."""
    return list(zip(*_runs_columns(path, "run", "rows", "protocol"), strict=True))


def _runs_columns(path: Path, *names: str) -> list[list[Any]]:
    """These columns of a runs file. BadInput where it holds no run."""
    with reading(path), pq.ParquetFile(opened(path)) as file:
        require_columns(path, file.schema_arrow, _RUNS, 0)
        table = file.read(columns=list(names), use_threads=False)  # it is small
    if not table.num_rows:
        raise BadInput(f"{path}: names no run; make it again")
    return [table.column(name).to_pylist() for name in names]


def require_columns(path: Path, found: pa.Schema, wanted: pa.Schema, group: int) -> None:
    """Raises BadInput when a file's version, or a wanted column, is not as this version reads it."""
    version = (found.metadata or {}).get(_METADATA_KEY, b"").decode("utf-8", "replace")
    if version not in ("", str(VERSION)):
        raise BadInput(f"{path}: trace version {version}, this version reads {VERSION}; make the file again")
    for field in wanted:
        if field.name not in found.names:
            raise BadInput(
                f"{path}: row group {group}: column {field.name} is missing; there are {', '.join(found.names)}"
            )
        if found.names.count(field.name) > 1:
            raise BadInput(f"{path}: row group {group}: column {field.name} is there twice; keep one of them")
        if found.field(field.name).type != field.type:
            kind = found.field(field.name).type
            raise BadInput(f"{path}: row group {group}: column {field.name} is {kind}; make it {field.type}")


def _table(trace: Trace, columns: pa.Schema) -> pa.Table:
    width = len(columns) - 1
    values = np.fromiter(chain.from_iterable(trace.rows), np.int64, len(trace.rows) * width).reshape(-1, width)
    run = np.full(len(trace.rows), trace.header.run, np.int64)
    return pa.table([run, *(np.ascontiguousarray(values[:, at]) for at in range(width))], schema=columns)


def _write(writer: pq.ParquetWriter, waiting: list[pa.Table]) -> None:
    """Write the waiting runs as one row group; a longer run fills several of its own."""
    if waiting:
        writer.write_table(pa.concat_tables(waiting).combine_chunks(), row_group_size=ROW_GROUP_ROWS)
        waiting.clear()


def headers_table(headers: list[Header], counts: list[int]) -> pa.Table:
    # A seed has 64 bits at most in a file of integers; the header has it whole.
    seeds = [header.seed if -(1 << 63) <= header.seed < 1 << 63 else header.seed % (1 << 63) for header in headers]
    columns = [
        [header.run for header in headers],
        counts,
        seeds,
        [header.protocol for header in headers],
        [msgspec.json.encode(header).decode() for header in headers],
    ]
    return pa.table([pa.array(c, type=f.type) for c, f in zip(columns, _RUNS, strict=True)], schema=_RUNS)


@contextmanager
def _atomically(path: Path) -> Iterator[Path]:
    """A file beside `path` to write to, which takes its place when all has gone well."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
            fresh = Path(folder) / path.name
            yield fresh
            fresh.replace(path)
    except OSError as error:
        raise CannotRun(f"{path}: cannot be written: {error.strerror}; check the folder and the disk") from None


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Errors that are raised within become BadInput that names the file."""
    try:
        yield
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise BadInput(f"{path}: cannot be read as Parquet: {reason}; make the file again") from None
