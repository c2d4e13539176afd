"""The runs of one source, written row by row in the layout of corpora; rows that could not be read are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from scatterproof.conformance.network.run import catalogue_version
from scatterproof.conformance.protocol import load
from scatterproof.spark.importing.history_files import history_runs
from scatterproof.spark.importing.merging import Links, Merge, NodeRows
from scatterproof.spark.importing.node_files import CAPTURES, Capture, FoundRows, LogReader, Skipped
from scatterproof.spark.importing.quarantine import Quarantine
from scatterproof.spark.importing.sources import NodeFile, Source, SourceKind
from scatterproof.spark.importing.trace_files import csv_runs, ndjson_runs
from scatterproof.spark.layout import RunEntry, entry_of_header
from scatterproof.spark.mapping import Mapping
from scatterproof.spec.scratch import scratch_folder
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT, Header, Kind, Order, Row, TraceSchema, schema
from scatterproof.spec.trace_writer import RunsWriter

ROWS_AT_ONCE = 1 << 15
# What a capture can show of a node, taken beside the network or at the node itself.
_SEEN_BESIDE, _SEEN_AT_NODE = ("sent",), ("sent", "arrived")
_READERS = {SourceKind.NDJSON: ndjson_runs, SourceKind.CSV: csv_runs, SourceKind.HISTORY: history_runs}


class Importing:
    """Takes sources, one after the other, into one pair of files.

    entries: the runs so far.
    skipped: how many lines and frames are of no event, by reason.
    """

    def __init__(self, mapping: Mapping, writer: RunsWriter, quarantine: Quarantine, file: int) -> None:
        self._mapping = mapping
        self._names: TraceSchema = schema(mapping.protocol)
        self._writer = writer
        self._quarantine = quarantine
        self._file = file
        self.entries: list[RunEntry] = []
        self.skipped: Counter[str] = Counter()

    def take(self, source: Source) -> None:
        """Raises BadInput for a file that gives no row at all."""
        match source.kind:
            case SourceKind.NDJSON | SourceKind.CSV | SourceKind.HISTORY:
                for run, header, rows in _READERS[source.kind](
                    source.path, source.run, self._mapping, self._quarantine
                ):
                    submitted = self._write(run, self._with_end(rows, None))
                    self._end(source, header, submitted)
            case SourceKind.NODES:
                self._take_nodes(source, source.files, per_node=True)
            case SourceKind.CAPTURE | SourceKind.LOG:
                self._take_nodes(source, (NodeFile(source.path, ABSENT),), per_node=False)

    def _take_nodes(self, source: Source, files: Sequence[NodeFile], *, per_node: bool) -> None:
        header = self._mapping.header
        assert header is not None  # sources without a header of their own were refused
        header = replace(header, run=source.run, catalogue=catalogue_version(header.protocol))
        captured = [node_file for node_file in files if node_file.path.suffix.lower() in CAPTURES]
        if captured:
            kinds = _SEEN_AT_NODE if per_node else _SEEN_BESIDE
            header = self._as_captured(header, kinds, logs_too=len(captured) < len(files))
        with scratch_folder("import") as scratch:
            links = Links(self._names)
            nodes = self._parsed(source.run, header, files, scratch, links)
            if per_node:
                there = {node_file.node for node_file in files}
                for node in set(range(len(header.topology.nodes))) - there:
                    self._quarantine.touch(node, None, f"there is no file of node {header.topology.nodes[node].name}")
            header, causal = _order(header, links, merged=len(nodes) > 1)
            sure = self._sure_of_losses(header) if causal else set[int]()
            if per_node:
                header = _with_losses_of(header, sure)
            merge = Merge(nodes, self._names, links if causal else None, lambda link: link in sure)
            submitted = self._write(source.run, self._with_end(merge.rows(), merge))
            if merge.contradictory:
                note = "packets arrived before they were sent: rows of different nodes are in no order"
                header = replace(header, order=Order.NODE, notes=(*header.notes, note))
            self._end(source, header, submitted)

    def _parsed(
        self, run: int, header: Header, files: Sequence[NodeFile], scratch: Path, links: Links
    ) -> list[NodeRows]:
        nodes: list[NodeRows] = []
        for number, node_file in enumerate(files):
            node = None if node_file.node == ABSENT else node_file.node
            kind = Capture if node_file.path.suffix.lower() in CAPTURES else LogReader
            found: FoundRows = kind(node_file.path, run, header, self._mapping, self._quarantine, node).rows()
            rows = NodeRows(scratch / str(number), self._names)
            for row in found:
                if isinstance(row, Skipped):
                    self.skipped[row.why] += 1
                else:
                    rows.add(row)
                    links.note(row)
            nodes.append(rows)
        return nodes

    def _as_captured(self, header: Header, kinds: Sequence[str], *, logs_too: bool) -> Header:
        """Deliveries and the like are in no capture, whatever the mapping promises."""
        if logs_too:
            return header
        lost = sorted(kind for kind, nodes in header.complete.items() if nodes and kind not in kinds)
        note = f"a capture does not show what is {', '.join(lost)}" if lost else ""
        complete = {kind: nodes for kind, nodes in header.complete.items() if kind in kinds}
        return replace(header, complete=complete, notes=(*header.notes, *([note] if note else [])))

    def _sure_of_losses(self, header: Header) -> set[int]:
        """Links whose arrivals are all recorded, and in order: a packet that others overtook there was lost."""
        if not load(header.protocol).fifo_links:
            return set()
        recorded = header.complete.get("arrived", ())

        def sure(target: NodeId) -> bool:
            return target in recorded and not self._quarantine.doubts(target, "arrived")

        return {number for number, link in enumerate(header.topology.links) if sure(link.target)}

    def _with_end(self, rows: Iterator[Row], merge: Merge | None) -> Iterator[Row]:
        """The rows, and at the end how the run ended, if the mapping says so and the source does not."""
        if self._mapping.ended is None:
            yield from rows
            return
        time_at, kind_at = self._names.index("time_ns"), self._names.index("kind")
        last_ns, ended = 0, False
        for row in rows:
            last_ns, ended = max(last_ns, row[time_at]), row[kind_at] == Kind.ENDED
            yield row
        if not ended:
            known = {"time_ns": last_ns, "kind": int(Kind.ENDED), "flags": self._mapping.ended}
            yield tuple(known.get(column, ABSENT) for column in self._names.columns)

    def _write(self, run: int, rows: Iterator[Row]) -> int:
        """Write all rows; returns how many are submissions."""
        kind_at, submitted = self._names.index("kind"), 0
        while batch := list(islice(rows, ROWS_AT_ONCE)):
            submitted += sum(row[kind_at] == Kind.SUBMITTED for row in batch)
            self._writer.add_rows(run, batch)
        return submitted

    def _end(self, source: Source, header: Header, submitted: int) -> None:
        self.entries.append(
            entry_of_header(
                header,
                events=self._writer.rows,
                file=self._file,
                kind=source.kind.value,
                source=source.path,
                submissions=submitted,
                quarantined=self._quarantine.of_run,
            )
        )
        self._writer.end(self._quarantine.header(header))


def _with_losses_of(header: Header, sure: set[int]) -> Header:
    """No node can log what the network lost, whatever the mapping promises: it is known of these links alone."""
    topology, lost = header.topology, Kind.LOST.name.lower()
    known = tuple(node for node in header.complete.get(lost, ()) if sure.issuperset(topology.egress(node)))
    return replace(header, complete={**header.complete, lost: known} if lost in header.complete else header.complete)


def _order(header: Header, links: Links, *, merged: bool) -> tuple[Header, bool]:
    """The header with the strongest order that rows of several files can have, and whether arrivals follow their
    sendings."""
    if not merged:
        return header, False
    if header.order is Order.NODE:
        return header, False
    if links.unnumbered:
        note = "packets arrived without their numbers: rows of different nodes are in no order"
        return replace(header, order=Order.NODE, notes=(*header.notes, note)), False
    return replace(header, order=Order.LINK), True
