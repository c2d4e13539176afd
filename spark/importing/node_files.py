"""Makes rows from captures of the wire format, taken beside a network or at a node, and from logs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from scatterproof.conformance.protocol import Wire, load
from scatterproof.spark.importing.captures import Datagram, Record, datagram_of, records
from scatterproof.spark.importing.quarantine import Flaw, Quarantine
from scatterproof.spark.importing.rows import Event, Raw, Rows
from scatterproof.spark.importing.trace_files import decode_event, lines_of, renamed
from scatterproof.spark.mapping import Mapping
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.trace import Header, Row

_BATCH_LINES, _BATCH_BYTES = 1024, 1 << 22
CAPTURES = (".pcap", ".pcapng", ".cap")


class Skipped(NamedTuple):
    """Why a line or frame is of no event of the protocol; it is counted."""

    why: str


FoundRows = Iterator[Row | Skipped]


def wire_of(protocol: str) -> Wire:
    """Who reads the protocol's datagrams; CannotRun where nobody does."""
    wire = load(protocol).wire
    if wire is None:
        raise CannotRun(f"protocol {protocol!r} has no reader of its wire format; import logs instead of captures")
    return wire()


class Capture:
    """The rows of one capture. node: where it was taken; None where it shows what every node sends."""

    def __init__(
        self, path: Path, run: int, header: Header, mapping: Mapping, quarantine: Quarantine, node: NodeId | None
    ) -> None:
        self._path, self._run, self._node, self._quarantine = path, run, node, quarantine
        self._wire = wire_of(header.protocol)
        self._nodes = mapping.nodes
        self._count = len(header.topology.nodes)
        self._rows = Rows(mapping, header, clock_is_time=node is not None)
        self._next_seq: dict[LinkId, int] = {}
        self._link_at, self._seq_at = self._rows.index("link"), self._rows.index("link_seq")

    def rows(self) -> FoundRows:
        for record in records(self._path):
            datagram = record.flaw or datagram_of(record)
            if isinstance(datagram, str):
                self._put(record, Flaw(datagram, self._node))
            elif datagram is None:
                yield Skipped("no UDP datagram over IPv4")
            else:
                yield from self._of(record, datagram)

    def _of(self, record: Record, datagram: Datagram) -> FoundRows:
        ends = [self._named(end) for end in (datagram.source, datagram.target)]
        packets = self._wire.packets(datagram.payload)
        if None in ends and self._wire.tells_ends and not isinstance(packets, str):
            ends = [packets[0]["source"], packets[0]["target"]]
        source, target = ends
        if source is None or target is None:
            yield Skipped("not from a node to a node")
            return
        if self._node not in (None, source, target):
            yield Skipped("neither from nor to the node of the capture")
            return
        kind = "arrived" if self._node == target else "sent"
        node = target if kind == "arrived" else source
        if isinstance(packets, str):
            known = node if 0 <= node < self._count else None
            self._put(record, Flaw(f"no packet of the wire format: {packets}", known, kind), datagram.payload)
            return
        for packet in packets:
            columns = {name: value for name, value in packet.items() if name not in ("source", "target")}
            row = self._rows.make(
                {**columns, "kind": kind, "time_ns": record.time_ns, "from": source, "to": target}, node
            )
            if isinstance(row, Flaw):
                self._put(record, row, datagram.payload)
                continue
            if kind == "sent" and "link_seq" in packet:
                self._notice_gaps(row, source)
            yield row

    def _notice_gaps(self, row: Row, source: NodeId) -> None:
        """A number that the wire skips is a packet that the capture missed, or that was never sent. Nobody can tell, so
        the node's rows are in doubt."""
        link, number = row[self._link_at], row[self._seq_at]
        if number > self._next_seq.get(link, 0):
            self._quarantine.touch(
                source, "sent", f"link {link}: packets before number {number} are not in the capture"
            )
        self._next_seq[link] = max(number + 1, self._next_seq.get(link, 0))

    def _named(self, end: tuple[str, str]) -> NodeId | None:
        address, with_port = end
        return self._nodes.get(with_port, self._nodes.get(address))

    def _put(self, record: Record, flaw: Flaw, shown: bytes = b"") -> None:
        self._quarantine.put(self._run, self._path, record.number, flaw, (shown or record.frame).hex())


class LogReader:
    """The rows of one node's log, line by line."""

    def __init__(
        self, path: Path, run: int, header: Header, mapping: Mapping, quarantine: Quarantine, node: NodeId | None
    ) -> None:
        self._path, self._run, self._node, self._quarantine = path, run, node, quarantine
        self._mapping = mapping
        self._rows = Rows(mapping, header, clock_is_time=True)

    def rows(self) -> FoundRows:
        for batch in _batches((number, line) for number, line in lines_of(self._path) if line.strip()):
            lines = [line for _, line in batch]
            events = map(self._of_json, lines) if self._mapping.json else self._of_lines(lines)
            for (number, line), event in zip(batch, events, strict=True):
                if isinstance(event, Skipped):
                    yield event
                    continue
                row = event if isinstance(event, Flaw) else self._rows.make(event, self._node)
                if isinstance(row, Flaw):
                    self._quarantine.put(self._run, self._path, number, row, line)
                else:
                    yield row

    def _of_json(self, line: bytes) -> Event | Skipped | Flaw:
        try:
            return renamed(decode_event(line), self._mapping)
        except ValueError as error:
            short = "not a JSON object of simple values"
            return Flaw(f"{short}: {error}", self._node, short=short)

    def _of_lines(self, lines: Sequence[bytes]) -> list[Event | Skipped | Flaw]:
        """The events of the lines, each by the first pattern found in it."""
        none = Flaw("none of the mapping's patterns is found in the line", self._node)
        events: list[Event | Skipped | Flaw] = [none] * len(lines)
        left = list(range(len(lines)))
        for known in self._mapping.lines:
            found = known.pattern.search([lines[at] for at in left])
            for at, groups in zip(left, found, strict=True):
                if groups is not None:
                    event: dict[str, Raw] = {**known.constants, **groups}
                    events[at] = Skipped("a line that the mapping ignores") if known.ignored else event
            left = [at for at, groups in zip(left, found, strict=True) if groups is None]
        return events


def _batches(lines: Iterable[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    """A few lines at a time: one pattern is searched for in all of them at once."""
    batch: list[tuple[int, bytes]] = []
    size = 0
    for number, line in lines:
        batch.append((number, line))
        size += len(line)
        if len(batch) == _BATCH_LINES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
