"""The rows of many nodes as one sequence: each node's in its order, otherwise by time, at one time submissions and
calls first, as what others are given then may come of them; and, where packets are numbered on their links, each
arrival after its sending.

Rows wait in files, not in memory: of each node a batch is held, and of each link the numbers of its packets as
intervals."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from pathlib import Path

import numpy as np

from scatterproof.spec.topology import LinkId
from scatterproof.spec.trace import Kind, Row, TraceSchema

BATCH_ROWS = 4096


class Numbers:
    """A set of whole numbers that come nearly in order, kept as intervals: its memory depends on the gaps alone."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []

    def add(self, number: int) -> None:
        firsts, lasts = self._firsts, self._lasts
        at = bisect_right(firsts, number)  # the interval before is the only one that may hold it
        if at and number <= lasts[at - 1]:
            return
        joins_before = at > 0 and lasts[at - 1] == number - 1
        joins_behind = at < len(firsts) and firsts[at] == number + 1
        if joins_before and joins_behind:
            lasts[at - 1] = lasts.pop(at)
            firsts.pop(at)
        elif joins_before:
            lasts[at - 1] = number
        elif joins_behind:
            firsts[at] = number
        else:
            firsts.insert(at, number)
            lasts.insert(at, number)

    def __contains__(self, number: int) -> bool:
        at = bisect_right(self._firsts, number)
        return at > 0 and number <= self._lasts[at - 1]

    @property
    def last(self) -> int:
        """The greatest, or -1."""
        return self._lasts[-1] if self._lasts else -1


class NodeRows:
    """The rows of one node on disk: written once, in their order, then read once."""

    def __init__(self, path: Path, names: TraceSchema) -> None:
        self._path = path
        self._width = len(names.columns)
        self._waiting: list[Row] = []
        self._file = path.open("wb")

    def add(self, row: Row) -> None:
        self._waiting.append(row)
        if len(self._waiting) >= BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            np.array(self._waiting, dtype=np.int64).tofile(self._file)
            self._waiting.clear()

    def read(self) -> Iterator[Row]:
        self._flush()
        self._file.close()
        with self._path.open("rb") as file:
            while len(batch := np.fromfile(file, np.int64, BATCH_ROWS * self._width)):
                yield from map(tuple, batch.reshape(-1, self._width).tolist())


class Links:
    """The packets of all links, as the logs number them.

    unnumbered: whether a packet arrived whose number no log has.
    """

    def __init__(self, names: TraceSchema) -> None:
        self._kind_at, self._link_at, self._seq_at = (names.index(name) for name in ("kind", "link", "link_seq"))
        self.sent: dict[LinkId, Numbers] = defaultdict(Numbers)
        self.arrived: dict[LinkId, Numbers] = defaultdict(Numbers)
        self.unnumbered = False

    def note(self, row: Row) -> None:
        kind, number = row[self._kind_at], row[self._seq_at]
        if kind == Kind.SENT:
            self.sent[row[self._link_at]].add(number)
        elif kind == Kind.ARRIVED:
            self.unnumbered |= number < 0
            self.arrived[row[self._link_at]].add(number)

    def is_lost(self, link: LinkId, number: int) -> bool:
        """Whether the packet has not arrived and a later one has: on a FIFO link it was lost."""
        return number < self.arrived[link].last and number not in self.arrived[link]


class Merge:
    """links: None where only times order the rows of different nodes.
    overtaken_are_lost: whether overtaken packets of a link are surely lost; then rows that say so are added.
    contradictory: whether packets arrived ahead of their sendings; known at the end of `rows`.
    last_ns: the greatest time so far.
    """

    def __init__(
        self,
        nodes: Sequence[NodeRows],
        names: TraceSchema,
        links: Links | None,
        overtaken_are_lost: Callable[[LinkId], bool],
    ) -> None:
        self._nodes = nodes
        self._names = names
        self._links = links
        self._overtaken_are_lost = overtaken_are_lost
        self.contradictory = False
        self.last_ns = 0

    def rows(self) -> Iterator[Row]:
        time_at, kind_at, link_at, seq_at = map(self._names.index, ("time_ns", "kind", "link", "link_seq"))
        links = self._links

        def turn(row: Row, node: int) -> tuple[int, bool, int]:
            return row[time_at], row[kind_at] not in (Kind.SUBMITTED, Kind.CALLED), node

        streams = [node.read() for node in self._nodes]
        heads = {node: row for node, stream in enumerate(streams) if (row := next(stream, None)) is not None}
        ready = [turn(row, node) for node, row in heads.items()]
        heapify(ready)
        out: dict[LinkId, Numbers] = defaultdict(Numbers)
        waiting: dict[tuple[LinkId, int], list[int]] = {}
        released = -1  # a node whose row must not wait any more
        while ready or waiting:
            if not ready:
                # Every node waits for another: the logs contradict each other. The earliest goes first.
                self.contradictory = True
                released = min((heads[node][time_at], node) for nodes in waiting.values() for node in nodes)[1]
                waiting = {packet: [n for n in nodes if n != released] for packet, nodes in waiting.items()}
                waiting = {packet: nodes for packet, nodes in waiting.items() if nodes}
                heappush(ready, turn(heads[released], released))
            node = heappop(ready)[-1]
            row = heads[node]
            kind, link, number = row[kind_at], row[link_at], row[seq_at]
            arrives = kind == Kind.ARRIVED and node != released
            if links is not None and arrives and number in links.sent[link] and number not in out[link]:
                waiting.setdefault((link, number), []).append(node)
                continue
            released = -1
            self.last_ns = max(self.last_ns, row[time_at])
            yield row
            if links is not None and kind == Kind.SENT:
                out[link].add(number)
                if links.is_lost(link, number) and self._overtaken_are_lost(link):
                    yield (*row[:kind_at], int(Kind.LOST), *row[kind_at + 1 :])
                for woken in waiting.pop((link, number), []):
                    heappush(ready, turn(heads[woken], woken))
            following = next(streams[node], None)
            if following is None:
                del heads[node]
            else:
                heads[node] = following
                heappush(ready, turn(following, node))
