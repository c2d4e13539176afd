"""Traces in single files, row by row: NDJSON with its header on the first line, CSV with the names of its columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec

from scatterproof.spark.importing.quarantine import NO_RUN, Flaw, Quarantine
from scatterproof.spark.importing.rows import Event, Raw, Rows
from scatterproof.spark.mapping import HELPERS, Mapping
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Header, Row, schema
from scatterproof.spec.trace_ndjson import decode_header

# A line beyond this is no event; it would only fill the memory.
MOST_LINE_BYTES = 1 << 20
# (run, header, rows) of each run in turn; take all rows of a run, then the next run.
Runs = Iterator[tuple[int, Header, Iterator[Row]]]
_EVENT = msgspec.json.Decoder(dict[str, str | int | float | bool | None])


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file, counted from 1, without their ends; of a line beyond MOST_LINE_BYTES, its beginning."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MOST_LINE_BYTES):
            number += 1
            yield number, line.rstrip(b"\r\n")
            while not line.endswith(b"\n") and (line := file.readline(MOST_LINE_BYTES)):
                pass


def decode_event(line: bytes) -> Event:
    """A JSON object of simple values; ValueError for anything else."""
    return _EVENT.decode(line)


def ndjson_runs(path: Path, run: int, mapping: Mapping, quarantine: Quarantine) -> Runs:
    """The one run of a trace file. A file without a sound header yields no run: it is in quarantine as a whole."""
    numbered = lines_of(path)
    number, first = next(numbered, (1, b""))
    try:
        header = decode_header(first, str(path))
        if header.protocol != mapping.protocol:
            raise BadInput(f"the trace is of protocol {header.protocol!r}, not of {mapping.protocol}")
    except BadInput as error:
        if mapping.header is None:
            quarantine.put(NO_RUN, path, number, Flaw(f"no run: {error}", short="no header"), first)
            quarantine.skip_run()
            return
        header = mapping.header
        numbered = chain(((number, first),), numbered)
    header = msgspec.structs.replace(header, run=run)
    rows = Rows(mapping, header)

    def decoded() -> Iterator[Row]:
        for number, line in numbered:
            if line.strip():
                row = _made(rows, line, mapping)
                if isinstance(row, Flaw):
                    quarantine.put(run, path, number, row, line)
                else:
                    yield row

    yield run, header, decoded()


def _made(rows: Rows, line: bytes, mapping: Mapping) -> Row | Flaw:
    try:
        event = decode_event(line)
    except ValueError as error:  # msgspec's among them
        return Flaw(f"not a JSON object of simple values: {error}", short="not a JSON object of simple values")
    return rows.make(renamed(event, mapping))


def renamed(event: Event, mapping: Mapping) -> Event:
    """The event by trace column; what has no name in the mapping keeps its own."""
    if not mapping.columns:
        return event
    return {**event, **{ours: event[theirs] for ours, theirs in mapping.columns.items() if theirs in event}}


def csv_runs(path: Path, run: int, mapping: Mapping, quarantine: Quarantine) -> Runs:
    """The runs of a CSV file: one, or those that its column `run` numbers; the rows of each run stand together. A cell
    is never longer than its line.

    Raises BadInput for a file whose first line does not name the columns that every row needs, for runs that are mixed,
    and where no header is given: no row of it can be read then.
    """
    header = mapping.header
    if header is None:
        raise BadInput(f"{path}: CSV has no header of its own; give one in the mapping: header = ...")
    lines = lines_of(path)
    named = _cells(next(lines, (1, b""))[1]) or []
    columns = mapping.columns
    known = (*schema(mapping.protocol).columns, *HELPERS, "run")
    place = {name: named.index(columns.get(name, name)) for name in known if columns.get(name, name) in named}
    for theirs in (columns.get(name, name) for name in place):
        if named.count(theirs) > 1:
            raise BadInput(f"{path}: line 1: column {theirs} is there twice; keep one of them")
    for name in ("kind", "time_ns"):
        if name not in place and name not in mapping.constants:
            raise BadInput(f"{path}: line 1: column {name} is missing; there are {', '.join(named) or 'none'}")
    return _Table(path, run, mapping, header, quarantine, place, len(named)).runs(lines)


def _cells(line: bytes) -> list[str] | None:
    try:
        return next(csv.reader([line.decode("utf-8", "surrogateescape")], strict=True), [])
    except csv.Error:
        return None


class _Line(NamedTuple):
    run: int
    number: int
    event: Event
    text: bytes


class _Table:
    """The rows of one CSV file, cut into runs."""

    def __init__(
        self,
        path: Path,
        run: int,
        mapping: Mapping,
        header: Header,
        quarantine: Quarantine,
        place: dict[str, int],
        width: int,
    ) -> None:
        self._path, self._run, self._mapping, self._header = path, run, mapping, header
        self._quarantine, self._place, self._width = quarantine, place, width
        self._next: _Line | None = None

    def runs(self, lines: Iterator[tuple[int, bytes]]) -> Runs:
        seen: set[int] = set()
        self._next = self._read(lines, None)
        while self._next is not None:
            run = self._next.run
            if run in seen:
                place = f"{self._path}: line {self._next.number}"
                raise BadInput(f"{place}: run {run} comes again after another; sort the file by run")
            seen.add(run)
            header = msgspec.structs.replace(self._header, run=run)
            yield run, header, self._rows(lines, run, header)

    def _rows(self, lines: Iterator[tuple[int, bytes]], run: int, header: Header) -> Iterator[Row]:
        rows = Rows(self._mapping, header)
        while self._next is not None and self._next.run == run:
            row = rows.make(self._next.event)
            if isinstance(row, Flaw):
                self._quarantine.put(run, self._path, self._next.number, row, self._next.text)
            else:
                yield row
            self._next = self._read(lines, run)

    def _read(self, lines: Iterator[tuple[int, bytes]], before: int | None) -> _Line | None:
        """The next row that has all its cells and whose run is known. before: the run of the previous row."""
        for number, text in lines:
            if not text.strip():
                continue
            cells = _cells(text)
            flaw = None
            if cells is None or len(cells) != self._width:
                found = "is not CSV" if cells is None else f"has {len(cells)} cells"
                flaw = Flaw(f"the line {found} under {self._width} columns", short="not as many cells as columns")
            else:
                event: dict[str, Raw] = {name: cells[at] for name, at in self._place.items()}
                try:
                    run = self._run if "run" not in self._place else int(str(event.pop("run")))
                except ValueError:
                    flaw = Flaw("run is no number")
            if flaw is None:
                return _Line(run, number, event, text)
            # Whose row it was is not known: that of the run before it, or of the one behind it.
            known = self._run if "run" not in self._place else NO_RUN if before is None else before
            self._quarantine.put(known, self._path, number, flaw, text, may_be_next="run" in self._place)
        return None
