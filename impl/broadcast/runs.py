"""Runs of messages, and sets of numbers that collapse to a prefix and what is beyond it (BC-PL-MEMORY, BC-URB-GC)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from scatterproof.impl.broadcast.settings import MAX_RUN
from scatterproof.spec.topology import NodeId

PrefixWith: TypeAlias = Callable[[int, dict[int, int]], int]


class Run(msgspec.Struct, frozen=True, gc=False):
    """Messages `first` to `last` of `creator`, all with this payload (empty where they are more than one). clock: that
    of the first (spec/broadcast/messages.py), or empty."""

    creator: NodeId
    first: int
    last: int
    payload: bytes = b""
    clock: tuple[int, ...] = ()

    def part(self, first: int, last: int) -> Run:
        """Messages `first` to `last` of the run, with the clock of the first of them."""
        clock = self.clock
        if clock and first != self.first:
            own = self.creator
            clock = (*clock[:own], clock[own] + first - self.first, *clock[own + 1 :])
        return Run(self.creator, first, last, self.payload, clock)


class Numbers:
    """A set of numbers from 1: all up to `prefix`, and the intervals `beyond` it, first to last."""

    __slots__ = ("_prefix_with", "beyond", "prefix")

    def __init__(self, prefix_with: PrefixWith) -> None:
        self._prefix_with = prefix_with
        self.prefix = 0
        self.beyond: dict[int, int] = {}

    def add(self, first: int, last: int) -> None:
        """Add numbers that are all missing."""
        beyond = self.beyond
        beyond[first] = last
        prefix = self._prefix_with(self.prefix, beyond)
        while self.prefix < prefix:
            self.prefix = beyond.pop(self.prefix + 1)

    def missing(self, first: int, last: int) -> list[tuple[int, int]]:
        """The intervals of `first` to `last` that are not in the set, in rising order."""
        first = max(first, self.prefix + 1)
        parts: list[tuple[int, int]] = []
        if self.beyond:
            for start, end in sorted(self.beyond.items()):
                if start > last:
                    break
                if start > first:
                    parts.append((first, start - 1))
                first = max(first, end + 1)
        if first <= last:
            parts.append((first, last))
        return parts

    def __contains__(self, number: int) -> bool:
        return number <= self.prefix or not self.missing(number, number)


class Waiting:
    """Runs that wait for their turn. Those without payload and clock grow together with their neighbours, so that what
    waits for a peer that has crashed does not grow with the number of messages."""

    __slots__ = ("_ends", "_spans", "_whole")

    def __init__(self) -> None:
        self._whole: deque[Run] = deque()
        # By creator: first to last of each span, and back.
        self._spans: dict[NodeId, dict[int, int]] = {}
        self._ends: dict[NodeId, dict[int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._whole or self._spans)

    def __len__(self) -> int:
        """How many runs wait, each as long as it may be."""
        return len(self._whole) + sum(map(len, self._spans.values()))

    def add(self, run: Run) -> None:
        """Messages that do not wait yet."""
        if run.payload or run.clock:
            self._whole.append(run)
            return
        spans = self._spans.setdefault(run.creator, {})
        ends = self._ends.setdefault(run.creator, {})
        first = ends.pop(run.first - 1, run.first)
        last = spans.pop(run.last + 1, run.last)
        spans[first] = last
        ends[last] = first

    def take(self) -> Run:
        """The next run, of at most MAX_RUN messages; creators take turns."""
        if self._whole:
            return self._whole.popleft()
        creator = next(iter(self._spans))
        spans, ends = self._spans.pop(creator), self._ends[creator]
        first = next(iter(spans))
        last = spans.pop(first)
        end = min(last, first + MAX_RUN - 1)
        if end < last:
            spans[end + 1] = last
            ends[last] = end + 1
        else:
            del ends[last]
        if spans:
            self._spans[creator] = spans
        else:
            del self._ends[creator]
        return Run(creator, first, end)


@dataclass(slots=True, eq=False)
class Segment:
    """Messages that the same processes are known to have, as bits of `heard`."""

    run: Run
    heard: int


class Segments:
    """Disjoint segments of one creator's messages."""

    __slots__ = ("_starts", "by_first")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self.by_first: dict[int, Segment] = {}

    def add(self, run: Run, heard: int) -> Segment:
        segment = self.by_first[run.first] = Segment(run, heard)
        insort(self._starts, run.first)
        return segment

    def remove(self, segment: Segment) -> None:
        first = segment.run.first
        del self.by_first[first]
        del self._starts[bisect_right(self._starts, first) - 1]

    def _cut(self, at: int) -> None:
        """See to it that no segment has `at` inside."""
        place = bisect_right(self._starts, at) - 1
        if place < 0:
            return
        segment = self.by_first[self._starts[place]]
        run = segment.run
        if run.first < at <= run.last:
            segment.run = run.part(run.first, at - 1)
            self.add(run.part(at, run.last), segment.heard)

    def within(self, first: int, last: int) -> tuple[list[Segment], list[tuple[int, int]]]:
        """The segments of `first` to `last`, cut to fit, and the intervals between them that no segment has."""
        self._cut(first)
        self._cut(last + 1)
        found: list[Segment] = []
        gaps: list[tuple[int, int]] = []
        for start in self._starts[bisect_right(self._starts, first - 1) : bisect_right(self._starts, last)]:
            segment = self.by_first[start]
            if first < start:
                gaps.append((first, start - 1))
            found.append(segment)
            first = segment.run.last + 1
        if first <= last:
            gaps.append((first, last))
        return found, gaps
