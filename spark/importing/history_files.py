"""Jepsen histories, operation by operation: with the header that `histories export` writes, or with the mapping's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from scatterproof.conformance.linear.interchange import as_row, header_of
from scatterproof.conformance.linear.jepsen import events
from scatterproof.spark.importing.quarantine import Flaw, Quarantine
from scatterproof.spark.importing.rows import Rows
from scatterproof.spark.importing.trace_files import Runs, renamed
from scatterproof.spark.mapping import Mapping
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Row, schema


def history_runs(path: Path, run: int, mapping: Mapping, quarantine: Quarantine) -> Runs:
    """The one run of a history. Raises BadInput for a file that is no history, and where no header is given."""
    with path.open(encoding="utf-8", errors="replace") as file:
        header = header_of(path, file.readline().rstrip("\n")) or mapping.header
    if header is None:
        raise BadInput(f"{path}: does not say which network it is of; give --mapping with a header")
    if header.protocol != mapping.protocol:
        raise BadInput(f"{path}: the history is of protocol {header.protocol!r}, not of {mapping.protocol}")
    if not header.topology.clients():
        raise BadInput(f"{path}: the header has no client that could have made the calls; give nodes of that role")
    header = msgspec.structs.replace(header, run=run)
    rows, topology, kinds = Rows(mapping, header), header.topology, schema(header.protocol).kinds

    def made() -> Iterator[Row]:
        for position, found in enumerate(events(path)):
            event = as_row(found, position, topology, kinds)
            row = None if event is None else rows.make(renamed(event, mapping))
            if isinstance(row, Flaw):
                quarantine.put(run, path, found.line, row, str(event).encode())
            elif row is not None:
                yield row

    yield run, header, made()
