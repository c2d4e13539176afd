"""Where the rows of one run come from, by window: a trace as NDJSON, or a run in a pair of Parquet files.

Neither is ever read whole. NDJSON is indexed while it is scanned, one place for each block of rows; a Parquet file says
where its row groups begin.
"""

from __future__ import annotations

import itertools
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from scatterproof.conformance.checks.rows import RowRules
from scatterproof.conformance.judge import rules_of
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import BadInput
from scatterproof.spec.storage import opened
from scatterproof.spec.trace import Header, Row, schema
from scatterproof.spec.trace_parquet import events_schema, reading, require_columns

BLOCK = 8192  # rows
GROUPS_KEPT = 2  # row groups in memory


class RunSource(Protocol):
    """One run. rows: how many it has, None while that is not known."""

    name: str
    header: Header

    @property
    def rows(self) -> int | None: ...

    def window(self, first: int, count: int) -> list[Row] | None:
        """Up to `count` rows from position `first`, fewer at the end of the run; None where reading has not come so
        far. Raises BadInput for a row that no check or picture may look at."""

    def blocks(self) -> Iterator[list[Row]]:
        """All rows, unchecked, `BLOCK` at a time. One thread runs through them once; other threads may ask for windows
        meanwhile."""


class NdjsonSource:
    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path
        try:
            with path.open("rb") as file:
                first = file.readline()
                self._starts = [(file.tell(), 2)]  # of each block: the byte, and the line
        except FileNotFoundError:
            raise BadInput(f"{path}: no such trace file; give the path of an existing one") from None
        except OSError as error:
            raise BadInput(f"{path}: the trace file cannot be read: {error.strerror}") from None
        if not first.strip():
            raise BadInput(f"{path}: empty; the first line of a trace is its header")
        self.header = trace_ndjson.decode_header(first, str(path))
        self._schema = schema(self.header.protocol)
        self._rules = rules_of(self.header, self.name)
        self._rows: int | None = None

    @property
    def rows(self) -> int | None:
        return self._rows

    def window(self, first: int, count: int) -> list[Row] | None:
        block = first // BLOCK
        if block >= len(self._starts):
            return None if self._rows is None else []
        with self._path.open("rb") as file:
            start, line = self._starts[block]
            file.seek(start)
            rows = self._decoded(file, line)
            found = [row for row, _ in itertools.islice(rows, first % BLOCK, first % BLOCK + count)]
        return _sound(found, first, self._rules, self.name)

    def blocks(self) -> Iterator[list[Row]]:
        done = 0
        with self._path.open("rb") as file:
            file.seek(self._starts[0][0])
            rows = self._decoded(file, self._starts[0][1])
            while block := [*itertools.islice(rows, BLOCK)]:
                done += len(block)
                if len(block) == BLOCK:
                    self._starts.append((file.tell(), block[-1][1] + 1))
                yield [row for row, _ in block]
        self._rows = done

    def _decoded(self, file: BinaryIO, number: int) -> Iterator[tuple[Row, int]]:
        """The rows from here on, each with the number of its line. Reads by `readline`, so that `tell` says where the
        next begins."""
        while line := file.readline():
            if line.strip():
                yield trace_ndjson.decode_row(line, self._schema, f"{self._path}: line {number}"), number
            number += 1


class ParquetSource:
    """The run of `header`, whose `rows` rows begin at row `first` of the events file."""

    def __init__(self, events: Path, header: Header, first: int, rows: int) -> None:
        self.name = f"{events}: run {header.run}"
        self.header = header
        self._path, self._first, self._rows = events, first, rows
        self._columns = events_schema(header.protocol).names[1:]
        self._rules = rules_of(header, self.name)
        with reading(events):
            self._file = pq.ParquetFile(opened(events))
            require_columns(events, self._file.schema_arrow, events_schema(header.protocol), 0)
            metadata = self._file.metadata
            sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        self._starts = [0, *itertools.accumulate(sizes)]
        if self._starts[-1] < first + rows:
            raise BadInput(f"{events}: has {self._starts[-1]} rows, its runs tell of {first + rows}; make it again")
        self._kept: OrderedDict[int, npt.NDArray[np.int64]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def rows(self) -> int:
        return self._rows

    def window(self, first: int, count: int) -> list[Row]:
        return _sound(self._window(first, count), first, self._rules, self.name)

    def blocks(self) -> Iterator[list[Row]]:
        for first in range(0, self._rows, BLOCK):
            yield self._window(first, BLOCK)

    def _window(self, first: int, count: int) -> list[Row]:
        at, end = self._first + first, self._first + min(first + count, self._rows)
        found: list[Row] = []
        while at < end:
            group = bisect_right(self._starts, at) - 1
            begin = self._starts[group]
            piece = self._group(group)[at - begin : end - begin]
            found += map(tuple, piece.tolist())
            at += len(piece)
        return found

    def _group(self, group: int) -> npt.NDArray[np.int64]:
        """The row group as a table of integers; the last `GROUPS_KEPT` that were used are in memory."""
        with self._lock, reading(self._path):
            if group not in self._kept:
                table = self._file.read_row_group(group, columns=self._columns)
                columns = [table.column(name).to_numpy() for name in self._columns]
                self._kept[group] = np.stack(columns, axis=1).astype(np.int64)
                while len(self._kept) > GROUPS_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(group)
            return self._kept[group]


def _sound(rows: list[Row], first: int, rules: RowRules, place: str) -> list[Row]:
    for position, row in enumerate(rows, first):
        rules.refuse_row(position, row, place)
    return rows
