"""Rows that could not be read: kept as they were, counted, and considered in the verdicts that they touch.

A row that is lost may have been any event of its node. So the nodes that lost rows are no longer *complete* in the
header, for the kind of the row or, where that is unknown, for every kind; and where the node is unknown, all nodes. The
judge then says *inconclusive* of every clause that reads those.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec.structs import replace

from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Header

TEXT_CHARACTERS = 200
ROWS_AT_ONCE = 10_000
NO_RUN = -1
SCHEMA = pa.schema(
    [
        ("run", pa.int64()),
        ("file", pa.string()),
        ("line", pa.int64()),
        ("node", pa.int64()),
        ("reason", pa.string()),
        ("text", pa.string()),
    ]
)


class Flaw(NamedTuple):
    """Why an event is no row; node and kind (by name) as far as they are known. short: the reason without values."""

    reason: str
    node: NodeId | None = None
    kind: str | None = None
    short: str = ""


class Quarantine:
    """A context that writes the table at `path`, unless it would be empty.

    reasons: how often each reason was given.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: list[tuple[int, str, int, int, str, str]] = []
        self._writer: pq.ParquetWriter | None = None
        self._resources = ExitStack()
        self._touched: set[tuple[NodeId | None, str | None]] = set()
        self._between: set[tuple[NodeId | None, str | None]] = set()
        self._doubted: set[tuple[NodeId | None, str | None]] = set()
        self._notes: list[str] = []
        self._of_run = 0
        self.reasons: Counter[str] = Counter()

    def __enter__(self) -> Quarantine:
        return self

    @property
    def of_run(self) -> int:
        """How many rows of the present run are here."""
        return self._of_run

    def put(self, run: int, file: Path, line: int, flaw: Flaw, text: str | bytes, *, may_be_next: bool = False) -> None:
        """Keep a row that could not be read.

        line: counted from 1; in a capture, the number of the record.
        may_be_next: the row may belong to the run after this one as well.
        """
        if isinstance(text, bytes):
            text = text[: 4 * TEXT_CHARACTERS].decode("utf-8", "backslashreplace")
        node = -1 if flaw.node is None else flaw.node
        self._waiting.append((run, str(file), line, node, flaw.reason, _storable(text)[:TEXT_CHARACTERS]))
        self.reasons[flaw.short or flaw.reason] += 1
        self._of_run += 1
        place = (flaw.node, flaw.kind)
        self._touched.add(place)
        if may_be_next:
            self._between.add(place)
        if len(self._waiting) >= ROWS_AT_ONCE:
            self._flush()

    def touch(self, node: NodeId | None, kind: str | None, why: str) -> None:
        """Note that events may be missing there, though no unreadable row shows it. Of each place the first reason is
        kept."""
        if (node, kind) not in self._doubted:
            self._doubted.add((node, kind))
            self._notes.append(why)

    def skip_run(self) -> None:
        """Forget what was met: it belongs to no run."""
        self._begin(set())

    def _begin(self, touched: set[tuple[NodeId | None, str | None]]) -> None:
        self._touched, self._between, self._of_run = touched, set(), 0
        self._doubted, self._notes = set(), []

    def header(self, header: Header) -> Header:
        """The run's header without what is in doubt now; the next run begins."""
        complete: dict[str, tuple[NodeId, ...]] = {
            kind: tuple(node for node in nodes if not self.doubts(node, kind))
            for kind, nodes in header.complete.items()
        }
        notes = (*header.notes, *self._notes)
        if self._of_run:
            notes += (f"{self._of_run} rows could not be read; they are in quarantine",)
        self._begin(self._between)
        return replace(header, complete=complete, notes=notes)

    def doubts(self, node: NodeId, kind: str) -> bool:
        """Whether such rows of the node may be missing in the run that is being read."""
        doubted = self._touched | self._doubted
        return any(place in doubted for place in ((node, kind), (node, None), (None, kind), (None, None)))

    def _flush(self) -> None:
        if self._writer is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = self._resources.enter_context(pq.ParquetWriter(self._path, SCHEMA, compression="zstd"))
        columns = [list(column) for column in zip(*self._waiting, strict=True)]
        self._writer.write_table(pa.table(columns, schema=SCHEMA))
        self._waiting.clear()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._resources:
            if error is None and self._waiting:
                self._flush()


def _storable(text: str) -> str:
    """Bytes that are no UTF-8 came in as surrogates, which no table takes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
