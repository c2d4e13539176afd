"""Writing runs to a pair of Parquet files (spec/trace_parquet.py) piece by piece: a run may be longer than memory, and
its header is asked for when its rows are written, since only then all is known of it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from scatterproof.spec.errors import CannotRun
from scatterproof.spec.trace import Header, Row
from scatterproof.spec.trace_parquet import events_schema, events_writer, headers_table

# Rows that wait in memory: fewer than in `trace_parquet`, where whole runs are in memory anyhow.
ROW_GROUP_ROWS = 1 << 18

Columns = Mapping[str, npt.NDArray[np.int64]]


class RunsWriter:
    """As a context: `add` pieces of a run, then `end` it, then the next. Both files appear whole when the context ends
    well, or not at all. Nothing is written when no run was ended."""

    def __init__(self, events: Path, runs: Path, protocol: str) -> None:
        self._events, self._runs = events, runs
        self._schema = events_schema(protocol)
        self._names = self._schema.names[1:]
        self._headers: list[Header] = []
        self._counts: list[int] = []
        # Pieces of the run that is being written, and whole runs before it that share its row group.
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0
        self._cut = False  # whether a row group ended within the run
        self.rows = 0  # of the run that is being written
        self._resources = ExitStack()

    def __enter__(self) -> RunsWriter:
        try:
            for path in (self._events, self._runs):
                path.parent.mkdir(parents=True, exist_ok=True)
            folder = tempfile.TemporaryDirectory(dir=self._events.parent, prefix=f".{self._events.name}.")
            self._scratch = Path(self._resources.enter_context(folder))
            self._writer = self._resources.enter_context(events_writer(self._scratch / "events", self._schema))
        except OSError as error:
            raise CannotRun(f"{self._events}: cannot be written: {error.strerror}; check the folder") from None
        return self

    def add(self, run: int, columns: Columns) -> None:
        """The next rows of the run, as arrays of one length by column."""
        count = len(columns["kind"])
        if not count:
            return
        if self._waiting_rows + count > ROW_GROUP_ROWS and self.rows == 0:
            self._flush()  # this run begins a row group
        arrays = [np.full(count, run, np.int64), *(columns[name] for name in self._names)]
        self._waiting.append(pa.table(arrays, schema=self._schema))
        self._waiting_rows += count
        self.rows += count
        if self._waiting_rows >= ROW_GROUP_ROWS:
            self._flush()
            self._cut = True

    def add_rows(self, run: int, rows: Iterable[Row]) -> None:
        """As `add`, for rows; as many at once as memory may hold."""
        found = list(rows)
        if found:
            table = np.array(found, dtype=np.int64)
            self.add(run, {name: np.ascontiguousarray(table[:, at]) for at, name in enumerate(self._names)})

    def end(self, header: Header) -> None:
        """All rows of the run header.run have been added."""
        self._headers.append(header)
        self._counts.append(self.rows)
        self.rows = 0
        if self._cut:
            self._flush()
        self._cut = False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._resources:
            if error is not None:
                return
            self._flush()
            self._writer.close()
            if not self._headers:
                return
            try:
                pq.write_table(headers_table(self._headers, self._counts), self._scratch / "runs")
                (self._scratch / "runs").replace(self._runs)
                (self._scratch / "events").replace(self._events)
            except OSError as failed:
                raise CannotRun(f"{self._events}: cannot be written: {failed.strerror}; check the disk") from None

    def _flush(self) -> None:
        if not self._waiting:
            return
        try:
            self._writer.write_table(pa.concat_tables(self._waiting).combine_chunks(), row_group_size=ROW_GROUP_ROWS)
        except OSError as error:
            raise CannotRun(f"{self._events}: cannot be written: {error.strerror}; check the disk") from None
        self._waiting.clear()
        self._waiting_rows = 0
