"""Uniform reliable broadcast (BC-URB): forward at the first reception, deliver what a majority has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from scatterproof.impl.broadcast.link import Refusal
from scatterproof.impl.broadcast.rules import Rules
from scatterproof.impl.broadcast.runs import Numbers, Run, Segment, Segments
from scatterproof.spec.topology import NodeId

Forward: TypeAlias = Callable[[NodeId, Run], None]


class Uniform:
    """pending: by creator, what is not delivered. delivered: by creator, the numbers alone (BC-URB-GC).

    A delivered message may be forgotten here, for it was forwarded at its first reception, and the links keep what a
    peer has not acknowledged.
    """

    def __init__(self, me: NodeId, processes: int, rules: Rules, forward: Forward) -> None:
        self._me = me
        self._processes = processes
        self._rules = rules
        self._forward = forward
        self._peers = tuple(peer for peer in range(processes) if peer != me)
        self._begun = 0
        self.pending = [Segments() for _ in range(processes)]
        self.delivered = [Numbers(rules.prefix_with) for _ in range(processes)]

    def begin(self, run: Run) -> list[Run]:
        """Broadcast a run of one's own; what can be delivered."""
        self._begun = run.last
        return self._first_time(run, 0, self._me)

    def check(self, run: Run) -> None:
        """Raise Refusal for messages that cannot be."""
        if run.creator == self._me and run.last > self._begun:
            raise Refusal(f"forwards message {run.last} of this process, which has begun {self._begun}")
        segment = self.pending[run.creator].by_first.get(run.first)
        if segment is not None and segment.run.payload != run.payload:
            raise Refusal(f"message {run.first} of process {run.creator} has come with another payload before")

    def receive(self, forwarder: NodeId, run: Run) -> list[Run]:
        """Note that `forwarder` has the run; what can be delivered now, in the order in which it was completed."""
        bit = 1 << forwarder
        segment = self.pending[run.creator].by_first.get(run.first)
        if segment is not None and segment.run.last == run.last:
            return self._heard(segment, bit)
        if self._rules.enters_pending(True):
            parts = [(run.first, run.last)]
        else:
            parts = self.delivered[run.creator].missing(run.first, run.last)
        found: list[Run] = []
        for first, last in parts:
            segments, gaps = self.pending[run.creator].within(first, last)
            for segment in segments:
                found += self._heard(segment, bit)
            for start, end in gaps:
                found += self._first_time(run.part(start, end), bit, forwarder)
        return found

    def _first_time(self, run: Run, bit: int, forwarder: NodeId) -> list[Run]:
        """Forward a run before anything else is done with it: who has delivered has forwarded."""
        for peer in self._peers:
            if self._rules.forwards_to(peer, forwarder, run.creator):
                self._forward(peer, run)
        segment = self.pending[run.creator].add(run, 0)
        return self._heard(segment, self._rules.heard_first(1 << self._me, bit))

    def _heard(self, segment: Segment, bits: int) -> list[Run]:
        segment.heard |= bits
        if not self._rules.majority(segment.heard, self._processes):
            return []
        run = segment.run
        self.pending[run.creator].remove(segment)
        self.delivered[run.creator].add(run.first, run.last)
        return [run]
