"""Logs of separate processes, read as they grow, and merged into one sequence of rows that agrees with causality."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from pathlib import Path

from scatterproof.conformance.checks.rows import row_rules
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import LinkId, NodeId, Topology
from scatterproof.spec.trace import ABSENT, Kind, Row, schema
from scatterproof.spec.trace_ndjson import decode_row

_CHUNK_BYTES = 1 << 20


class NodeLog:
    """The log of one node. `rows` are those read so far, `moved` how many of them are of a message, `answered` of
    something else for a host; `flaw` says why no more can be taken from it. most_bytes: of the log; one that is longer
    is taken up to there."""

    def __init__(
        self, path: Path, node: NodeId, protocol: str, topology: Topology, most_bytes: int | None = None
    ) -> None:
        self.rows: list[Row] = []
        self.flaw: str | None = None
        self.delivered = self.submitted = self.moved = self.answered = 0
        self.node = node
        self._path = path
        self._names = schema(protocol)
        self._at = {
            name: self._names.index(name) for name in ("node", "kind", "link", "link_seq", "receiver", "digest")
        }
        self._rules = row_rules(protocol, topology)
        self._sent: dict[LinkId, int] = defaultdict(int)
        self._arrived: dict[LinkId, int] = defaultdict(int)
        self._read = 0  # bytes
        self._rest = b""
        self._lines = 0
        self._most_bytes = most_bytes

    def read_more(self) -> None:
        """Take in the whole lines that were added since; the last one may still be in the making."""
        if self.flaw is not None or not self._path.is_file():
            return
        with self._path.open("rb") as file:
            file.seek(self._read)
            while self.flaw is None and (chunk := file.read(_CHUNK_BYTES)):
                self._read += len(chunk)
                if self._most_bytes is not None and self._read > self._most_bytes:
                    self.flaw = f"{self._path.name}: the log has more than {self._most_bytes} bytes"
                    return
                *whole, self._rest = (self._rest + chunk).split(b"\n")
                for line in whole:
                    self._take(line)

    def _take(self, line: bytes) -> None:
        self._lines += 1
        if self.flaw is not None:
            return
        place = f"{self._path.name}: line {self._lines}"
        try:
            row = decode_row(line, self._names, place)
        except BadInput as error:
            self.flaw = str(error)
            return
        self.flaw = self._flaw_of(row, place)
        if self.flaw is None:
            self.rows.append(row)
            self._arrived[row[self._at["link"]]] += row[self._at["kind"]] == Kind.ARRIVED
            self.submitted += row[self._at["kind"]] == Kind.SUBMITTED
            self.delivered += row[self._at["kind"]] == Kind.DELIVERED
            self.moved += row[self._at["digest"]] != ABSENT
            self.answered += row[self._at["digest"]] == ABSENT and row[self._at["receiver"]] != ABSENT

    def sent(self, link: LinkId) -> int:
        """How many packets were sent on the link."""
        return self._sent[link]

    def arrived(self, link: LinkId) -> int:
        """How many packets arrived from the link."""
        return self._arrived[link]

    def _flaw_of(self, row: Row, place: str) -> str | None:
        """What no honest log has: another node's rows, strange links, link numbers that do not count."""
        node, kind, link, seq = (row[self._at[name]] for name in ("node", "kind", "link", "link_seq"))
        if node != self.node:
            return f"{place}: node is {node} in the log of node {self.node}"
        if kind in (Kind.LOST, Kind.ENDED):
            return f"{place}: a node cannot know of {self._names.kind(kind)!r}"
        flaw = self._rules.flaw(row)
        if flaw is not None:
            return f"{place} has {flaw}"
        if kind == Kind.SENT:
            if seq != self._sent[link]:
                return f"{place}: link_seq is {seq} where packet {self._sent[link]} of link {link} was sent"
            self._sent[link] += 1
        return None


def merge(
    logs: Sequence[Sequence[Row]], protocol: str, known_lost: Collection[tuple[int, int]] = ()
) -> tuple[list[Row], list[str]]:
    """One sequence of the rows of all nodes: each node's in its order, a packet's arrival after its sending, otherwise
    by time_ns and node; of one moment, what is called ahead of what returns, since either may have been first. A packet
    that is known to be lost, by link and number, or that later ones on its link overtook, is lost: its row follows the
    sending.

    The second value says what is wrong: rows that wait for one another (then they are left out).
    """
    names = schema(protocol)
    time_at, kind_at, link_at, seq_at = (names.index(name) for name in ("time_ns", "kind", "link", "link_seq"))
    sent = {(row[link_at], row[seq_at]) for rows in logs for row in rows if row[kind_at] == Kind.SENT}
    lost = _lost(logs, sent, kind_at, link_at, seq_at) | set(known_lost)
    merged: list[Row] = []
    out: set[tuple[int, int]] = set()
    waiting: dict[tuple[int, int], list[int]] = defaultdict(list)
    next_at = [0] * len(logs)

    def head(node: int) -> tuple[int, bool, int]:
        row = logs[node][next_at[node]]
        return row[time_at], row[kind_at] == Kind.RETURNED, node

    heads = [head(node) for node, rows in enumerate(logs) if rows]
    heapify(heads)
    while heads:
        node = heappop(heads)[-1]
        row = logs[node][next_at[node]]
        packet = (row[link_at], row[seq_at])
        if row[kind_at] == Kind.ARRIVED and packet in sent and packet not in out:
            waiting[packet].append(node)
            continue
        merged.append(row)
        next_at[node] += 1
        woken = [node]
        if row[kind_at] == Kind.SENT:
            out.add(packet)
            woken += waiting.pop(packet, [])
            if packet in lost:
                merged.append((*row[:kind_at], int(Kind.LOST), *row[kind_at + 1 :]))
        for one in woken:
            if next_at[one] < len(logs[one]):
                heappush(heads, head(one))
    stuck = sorted(node for nodes in waiting.values() for node in nodes)
    notes = [f"the logs of nodes {stuck} contradict each other: packets arrived before they were sent"] if stuck else []
    return merged, notes


def in_flight(rows: Sequence[Row], protocol: str) -> Iterator[Row]:
    """The SENT rows of packets that neither arrived nor are recorded as lost."""
    names = schema(protocol)
    kind_at, link_at, seq_at = (names.index(name) for name in ("kind", "link", "link_seq"))
    gone = {(row[link_at], row[seq_at]) for row in rows if row[kind_at] in (Kind.ARRIVED, Kind.LOST)}
    return (row for row in rows if row[kind_at] == Kind.SENT and (row[link_at], row[seq_at]) not in gone)


def ended_row(protocol: str, time_ns: int, flags: int) -> Row:
    known: Mapping[str, int] = {"time_ns": time_ns, "kind": int(Kind.ENDED), "flags": flags}
    return tuple(known.get(name, ABSENT) for name in schema(protocol).columns)


def _lost(
    logs: Sequence[Sequence[Row]], sent: set[tuple[int, int]], kind_at: int, link_at: int, seq_at: int
) -> set[tuple[int, int]]:
    """Links are FIFO: what did not arrive while a later packet did will never arrive."""
    arrived = {(row[link_at], row[seq_at]) for rows in logs for row in rows if row[kind_at] == Kind.ARRIVED}
    newest: dict[int, int] = {}
    for link, seq in arrived & sent:
        newest[link] = max(seq, newest.get(link, -1))
    return {(link, seq) for link, seq in sent - arrived if seq < newest.get(link, -1)}
