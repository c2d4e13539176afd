"""The only simulator: drives the nodes of any protocol over FIFO links, and records what an outsider can see.

The harness is the network and the clock. Events at one instant happen in the order in which they were caused, so the
same schedule gives the same trace, byte for byte.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from conformance.network.clocks import local_clocks
from conformance.network.delays import LinkDelays
from spec.core import Core, Deliver, Effect, PacketArrived, Refuse, Send, Submitted, TimerFired
from spec.schedule import FaultKind, Schedule
from spec.topology import NodeId
from spec.trace import ABSENT, CLEAN, QUIESCENT, Kind, Row

AnyCore: TypeAlias = Core[Any, Any]
AnyEffect: TypeAlias = Effect[Any, Any]
Observer: TypeAlias = Callable[[int, Row], None]

_SUBMITTED, _SENT, _ARRIVED, _DELIVERED, _REFUSED, _LOST, _ENDED = (int(kind) for kind in Kind)
_SUBMISSION, _TIMER, _ARRIVAL = 0, 1, 2


class Recorder(Protocol):
    """What a protocol puts into the columns from `sender` on."""

    def submission(self, node: NodeId, messages: Sequence[tuple[NodeId, bytes]]) -> Sequence[Row]:
        """One tail for each message of the next submission at `node`."""
        ...

    def packet(self, packet: Any) -> Row: ...

    def delivery(self, node: NodeId, delivery: Any) -> Row: ...

    def ended(self, flags: int) -> Row: ...

    def carries_message(self, packet: Any) -> bool:
        """Whether the run is not over while this packet is in flight."""
        ...


class Simulation:
    """One run. `handled` counts arrivals, submissions and timers that a core handled."""

    def __init__(
        self,
        schedule: Schedule,
        nodes: Sequence[AnyCore],
        recorder: Recorder,
        horizon_ns: int,
        observe: Observer | None = None,
    ) -> None:
        links = schedule.topology.links
        self._schedule = schedule
        self._nodes = nodes
        self._recorder = recorder
        # Horizon: when everything that was sent has had the time to be delivered.
        self._horizon = horizon_ns
        self._end = horizon_ns if schedule.end_ns is None else schedule.end_ns
        self._observe = observe
        self._targets = [link.target for link in links]
        self._delays = [LinkDelays(schedule.seed, n, delay) for n, delay in enumerate(schedule.delays)]
        self._faults = {(fault.link, fault.index): fault for fault in schedule.faults}
        self._sent = [0] * len(links)
        self._free_from = [0] * len(links)  # the arrival of the last packet: links are FIFO
        self._clocks = local_clocks([schedule.clock(n) for n in range(len(nodes))])
        self._alarms: list[int | None] = [None] * len(nodes)
        self._heap: list[tuple[int, int, int, int, int, Any]] = []
        self._caused = 0
        self.rows: list[Row] = []
        self.handled = 0

    def run(self) -> list[Row]:
        """Run to the end; returns the rows."""
        for number, submission in enumerate(self._schedule.submissions):
            self._push(submission.time_ns, _SUBMISSION, submission.node, number, None)
        for node in range(len(self._nodes)):
            self._arm(0, node)
        heap, clocks, nodes, end = self._heap, self._clocks, self._nodes, self._end
        record, packet_tail = self._record, self._recorder.packet
        while heap and heap[0][0] <= end:
            now, _, what, node, number, packet = heapq.heappop(heap)
            clock = clocks[node].reading(now)
            if what == _ARRIVAL:
                link, seq = number >> 40, number & ((1 << 40) - 1)
                record((now, clock, node, _ARRIVED, link, seq, *packet_tail(packet)))
                effects = nodes[node].handle(PacketArrived(clock, link, packet))
            elif what == _TIMER:
                if self._alarms[node] != now:
                    continue
                self._alarms[node] = None
                effects = nodes[node].handle(TimerFired(clock))
            else:
                effects = nodes[node].handle(self._submit(now, clock, node, number))
            self.handled += 1
            if effects:
                self._carry_out(now, clock, node, effects)
            self._arm(now, node)
        self._finish()
        return self.rows

    def _submit(self, now: int, clock: int, node: NodeId, number: int) -> Submitted:
        submission = self._schedule.submissions[number]
        messages = tuple((message.receiver, message.payload) for message in submission.messages)
        for tail in self._recorder.submission(node, messages):
            self._record((now, clock, node, _SUBMITTED, ABSENT, ABSENT, *tail))
        return Submitted(clock, messages)

    def _carry_out(self, now: int, clock: int, node: NodeId, effects: Sequence[AnyEffect]) -> None:
        for effect in effects:
            cls = effect.__class__
            if cls is Send:
                self._send(now, clock, node, effect.link, effect.packet)  # type: ignore[union-attr]
            elif cls is Deliver:
                tail = self._recorder.delivery(node, effect.message)  # type: ignore[union-attr]
                self._record((now, clock, node, _DELIVERED, ABSENT, ABSENT, *tail))
            elif isinstance(effect, Refuse):
                empty = self._recorder.ended(ABSENT)
                self._record((now, clock, node, _REFUSED, effect.link, ABSENT, *empty))

    def _send(self, now: int, clock: int, node: NodeId, link: int, packet: Any) -> None:
        index = self._sent[link]
        self._sent[link] = index + 1
        tail = self._recorder.packet(packet)
        self._record((now, clock, node, _SENT, link, index, *tail))
        arrival = now + self._delays[link](index)
        copies = 1
        if self._faults and (fault := self._faults.get((link, index))) is not None:
            if fault.kind is FaultKind.LOSE:
                self._record((now, clock, node, _LOST, link, index, *tail))
                return
            arrival += fault.delay_ns
            copies += fault.kind is FaultKind.DUPLICATE
        if arrival < self._free_from[link]:
            arrival = self._free_from[link]
        self._free_from[link] = arrival
        for _ in range(copies):
            self._push(arrival, _ARRIVAL, self._targets[link], link << 40 | index, packet)

    def _push(self, time: int, what: int, node: NodeId, number: int, packet: Any) -> None:
        self._caused += 1
        heapq.heappush(self._heap, (time, self._caused, what, node, number, packet))

    def _arm(self, now: int, node: NodeId) -> None:
        """Ask for a wake-up at the node's deadline, unless an earlier or equal one is already set."""
        deadline = self._nodes[node].next_deadline()
        if deadline is None:
            self._alarms[node] = None
            return
        when = max(now, self._clocks[node].when(deadline))
        if self._alarms[node] != when:
            self._alarms[node] = when
            self._push(when, _TIMER, node, 0, None)

    def _record(self, row: Row) -> None:
        if self._observe is not None:
            self._observe(len(self.rows), row)
        self.rows.append(row)

    def _finish(self) -> None:
        """Close the trace: clean when nothing was cut short, quiescent when no message was left in flight."""
        clean = self._end >= self._horizon
        in_flight = any(
            what == _SUBMISSION or (what == _ARRIVAL and self._recorder.carries_message(packet))
            for _, _, what, _, _, packet in self._heap
        )
        flags = (CLEAN if clean else 0) | (QUIESCENT if clean and not in_flight else 0)
        self._record((self._end, ABSENT, ABSENT, _ENDED, ABSENT, ABSENT, *self._recorder.ended(flags)))
