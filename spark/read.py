"""Reading a corpus by column: which runs a pair of files holds, and their events in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from spec.errors import BadInput
from spec.trace import Header, Row, schema

BATCH_ROWS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A pair of files; rows and runs: how many they hold."""

    events: Path
    runs_file: Path
    protocol: str
    rows: int
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpan:
    """One run: rows first to first + rows - 1 of its events file."""

    header: Header
    first: int
    rows: int


def parts_of(corpus: Path) -> list[Part]:
    """The pairs of files of a corpus, in order; BadInput when there is none, or when one is not sound."""
    if not corpus.is_dir():
        raise BadInput(f"{corpus}: no such folder; give one that `corpus` has made")
    events = sorted((corpus / "events").glob("*.parquet"))
    if not events:
        raise BadInput(f"{corpus}: holds no traces (events/*.parquet); give a folder that `corpus` has made")
    return [_part(path, corpus / "runs" / path.name) for path in events]


def read_spans(part: Part) -> list[RunSpan]:
    """The runs of a pair of files, in the order of their rows."""
    spans: list[RunSpan] = []
    first = 0
    for header, rows in _headers(part.runs_file):
        spans.append(RunSpan(header=header, first=first, rows=rows))
        first += rows
    return spans


def read_batches(
    part: Part, columns: Sequence[str], batch_rows: int = BATCH_ROWS
) -> Iterator[dict[str, npt.NDArray[np.int64]]]:
    """The events, `batch_rows` at a time, as one contiguous writable array a column."""
    with _reading(part.events), pq.ParquetFile(part.events) as file:
        for batch in file.iter_batches(batch_rows, columns=list(columns)):
            # Copied: the kernel is compiled for arrays that are writable, as those of the other judges are.
            yield {name: np.array(batch.column(name), dtype=np.int64) for name in columns}


def read_rows(part: Part, positions: set[int]) -> dict[int, Row]:
    """The rows at these positions of the events file."""
    names = schema(part.protocol).columns
    found: dict[int, Row] = {}
    if not positions:
        return found
    wanted, first = np.array(sorted(positions)), 0
    for columns in read_batches(part, names):
        count = len(columns["kind"])
        here = wanted[(wanted >= first) & (wanted < first + count)]
        picked = (columns[name][here - first].tolist() for name in names)
        found |= dict(zip(here.tolist(), zip(*picked, strict=True), strict=True))
        first += count
    return found


def _part(events: Path, runs_file: Path) -> Part:
    if not runs_file.is_file():
        raise BadInput(f"{runs_file}: missing; it holds the headers of the runs in {events}")
    headers = _headers(runs_file)
    if not headers:
        raise BadInput(f"{runs_file}: names no run; make the corpus again")
    protocol = headers[0][0].protocol
    for header, _ in headers:
        if header.protocol != protocol:
            raise BadInput(
                f"{runs_file}: run {header.run} is of {header.protocol}, others are of {protocol}; "
                "mine each protocol's traces by themselves"
            )
    with _reading(events), pq.ParquetFile(events) as file:
        _require(events, file.schema_arrow, dict.fromkeys(("run", *schema(protocol).columns), pa.int64()))
        rows = file.metadata.num_rows
    promised = sum(rows for _, rows in headers)
    if rows != promised:
        raise BadInput(f"{events}: has {rows} rows, {runs_file} tells of {promised}; make the corpus again")
    return Part(events=events, runs_file=runs_file, protocol=protocol, rows=rows, runs=len(headers))


def _headers(path: Path) -> list[tuple[Header, int]]:
    """Each run's header and number of rows."""
    with _reading(path):
        _require(path, pq.read_schema(path), {"run": pa.int64(), "rows": pa.int64(), "header": pa.string()})
        table = pq.read_table(path, columns=["run", "rows", "header"])
    found: list[tuple[Header, int]] = []
    for run, rows, header in zip(*(column.to_pylist() for column in table.columns), strict=True):
        try:
            found.append((msgspec.json.decode(header, type=Header), rows))
        except msgspec.DecodeError as error:
            raise BadInput(f"{path}: the header of run {run} is not a trace header: {error}") from None
    return found


def _require(path: Path, found: pa.Schema, wanted: Mapping[str, pa.DataType]) -> None:
    for name, kind in wanted.items():
        if name not in found.names:
            raise BadInput(f"{path}: has no column {name}; it has {', '.join(found.names)}")
        if found.field(name).type != kind:
            raise BadInput(f"{path}: column {name} is {found.field(name).type}; make it {kind}")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise BadInput(f"{path}: cannot be read as Parquet: {reason}; make the file again") from None
