"""Reading a corpus by column: which runs a pair of files holds, and their events in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from scatterproof.spark.layout import UNFINISHED
from scatterproof.spec.errors import BadInput
from scatterproof.spec.storage import Remote, opened
from scatterproof.spec.trace import Header
from scatterproof.spec.trace_parquet import events_schema, read_counts, read_headers, reading, require_columns

BATCH_ROWS = 1 << 17
_PAGE, _APART = 512, 24  # numbers


class Pair(NamedTuple):
    """Files that belong together by their name."""

    events: Path
    runs_file: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A sound pair of files; rows and runs: how many they hold."""

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
    return sound_parts(pairs_of(corpus))


def pairs_of(corpus: Path) -> list[Pair]:
    """The pairs of files, unread, in order; BadInput when there is none, or when a file lacks its other half."""
    if isinstance(corpus, Remote) and (corpus / UNFINISHED).is_dir():
        raise BadInput(f"{corpus}: is not whole; it is being made, or else run the command that has begun it again")
    if not corpus.is_dir():
        raise BadInput(f"{corpus}: no such folder; give one that `corpus` has made")
    events = sorted((corpus / "events").glob("*.parquet"))
    if not events:
        raise BadInput(f"{corpus}: holds no traces (events/*.parquet); give a folder that `corpus` has made")
    pairs = [Pair(path, corpus / "runs" / path.name) for path in events]
    there = {path.name for path in (corpus / "runs").glob("*.parquet")}
    for pair in pairs:
        if pair.events.name not in there:
            raise BadInput(f"{pair.runs_file}: missing; it holds the headers of the runs in {pair.events}")
    return pairs


def sound_parts(pairs: Sequence[Pair], protocol: str | None = None) -> list[Part]:
    """What these files hold; BadInput when one is not sound, or when they are not all of one protocol. Headers are
    looked at when they are judged. protocol: the one that they must be of, where it is known."""
    counts = [read_counts(pair.runs_file) for pair in pairs]
    _refuse_mixed_protocols([pair.runs_file for pair in pairs], counts, protocol)
    return [_part(*pair, here) for pair, here in zip(pairs, counts, strict=True)]


def read_spans(part: Part) -> list[RunSpan]:
    """The runs of a pair of files, in the order of their rows."""
    spans: list[RunSpan] = []
    first = 0
    for header, rows in read_headers(part.runs_file):
        spans.append(RunSpan(header=header, first=first, rows=rows))
        first += rows
    return spans


def read_batches(
    part: Part, columns: Sequence[str], batch_rows: int = BATCH_ROWS
) -> Iterator[dict[str, npt.NDArray[np.int64]]]:
    """The events, `batch_rows` at a time, as one contiguous array a column, which is the file's own memory."""
    # No buffer ahead: in the end it would hold the whole file, and so a run of any length.
    with reading(part.events), pq.ParquetFile(opened(part.events), pre_buffer=False) as file:
        # Without Arrow's threads: tasks fill the cores, and handing columns to threads costs a tenth more.
        for batch in file.iter_batches(batch_rows, columns=list(columns), use_threads=False):
            for name in columns:
                if batch.column(name).null_count:
                    raise BadInput(f"{part.events}: column {name} has empty places; every row needs a value")
            yield {name: _numbers(batch.column(name)) for name in columns}


class SideBySide:
    """Copies columns so that they do not push one another out of the processor's caches. Arrow puts each at the start
    of a page, and equal places of more than eight pages share a place of a cache: a check that reads a row in twenty
    columns would wait for each of them. What it gives is read-only, and valid until it gives the next."""

    def __init__(self, rows: int) -> None:
        self._width = -(-rows // _PAGE) * _PAGE + _APART
        self._whole = self._shown = np.empty(0, np.int64)

    def __call__(self, columns: Mapping[str, npt.NDArray[np.int64]]) -> dict[str, npt.NDArray[np.int64]]:
        if len(self._whole) < len(columns) * self._width:
            self._whole = np.empty(len(columns) * self._width, np.int64)
            self._shown = self._whole.view()
            self._shown.flags.writeable = False
        found, at = {}, 0
        for name, values in columns.items():
            end = at + len(values)
            self._whole[at:end] = values
            found[name] = self._shown[at:end]
            at += self._width
        return found


def _numbers(column: pa.Array) -> npt.NDArray[np.int64]:
    """The memory of a column without empty places. Arrow's own way to it loads pandas, which takes as long as judging a
    million rows."""
    buffer = column.buffers()[1]
    whole: npt.NDArray[np.int64] = np.frombuffer(b"" if buffer is None else buffer, np.int64)
    return whole[column.offset : column.offset + len(column)]


def quarantined_rows(corpus: Path) -> int:
    """How many rows import could not read."""
    count = 0
    for path in sorted((corpus / "quarantine").glob("*.parquet")):
        with reading(path), pq.ParquetFile(opened(path)) as file:
            count += file.metadata.num_rows
    return count


def _refuse_mixed_protocols(
    runs_files: Sequence[Path], counts: Sequence[Sequence[tuple[int, int, str]]], known: str | None
) -> None:
    protocol = known or counts[0][0][2]
    for runs_file, here in zip(runs_files, counts, strict=True):
        for run, _, own in here:
            if own != protocol:
                raise BadInput(
                    f"{runs_file}: run {run} is of {own}, those before it are of {protocol}; "
                    "mine each protocol's traces by themselves"
                )


def _part(events: Path, runs_file: Path, counts: Sequence[tuple[int, int, str]]) -> Part:
    protocol = counts[0][2]
    with reading(events), pq.ParquetFile(opened(events)) as file:
        require_columns(events, file.schema_arrow, events_schema(protocol), 0)
        rows = file.metadata.num_rows
    promised = sum(count for _, count, _ in counts)
    if rows != promised:
        raise BadInput(f"{events}: has {rows} rows, {runs_file} tells of {promised}; make it again")
    return Part(events=events, runs_file=runs_file, protocol=protocol, rows=rows, runs=len(counts))
