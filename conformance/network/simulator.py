"""The only simulator: drives the nodes of any protocol over its links, and records what an outsider can see.

The harness is the network and the clock. The same schedule gives the same trace, byte for byte: delays are drawn by
(seed, link, index), and events at one instant have a fixed order: failures, then losses, then submissions and calls,
then timers and arrivals in the order in which they were set and sent. Packets of one link keep their order where links
are FIFO.
"""

# Rows are sums of tuples: unpacking into a new tuple takes half as long again.
# ruff: noqa: RUF005

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any, cast

from scatterproof.conformance.network.clocks import local_clocks
from scatterproof.conformance.network.contract import (
    FAILURES,
    CallRecorder,
    Lives,
    MessageRecorder,
    NodeFailed,
    Observer,
    RowRecorder,
    said_of,
)
from scatterproof.conformance.network.delays import delays_of, latest_arrivals
from scatterproof.conformance.network.outages import Outages
from scatterproof.conformance.network.planned import CALL, HELD, LAST, LOSS, STOP, SUBMISSION, TIMER, Entry, planned
from scatterproof.spec.core import (
    AnyCore,
    Began,
    Called,
    ClientEvent,
    Deliver,
    PacketArrived,
    Refuse,
    Return,
    Send,
    Submitted,
    TimerFired,
)
from scatterproof.spec.schedule import Call, Failure, FailureKind, FaultKind, Schedule, Submission
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.trace import ABSENT, CLEAN, QUIESCENT, Kind, Row

# Plain integers, as in rows.
_SENT, _ARRIVED, _DELIVERED, _LOST = int(Kind.SENT), int(Kind.ARRIVED), int(Kind.DELIVERED), int(Kind.LOST)
_SUBMITTED, _BEGUN, _REFUSED = int(Kind.SUBMITTED), int(Kind.BEGUN), int(Kind.REFUSED)
_CALLED, _RETURNED, _ENDED = int(Kind.CALLED), int(Kind.RETURNED), int(Kind.ENDED)
_FAILED_ROW = {
    FailureKind.CRASH: int(Kind.CRASHED),
    FailureKind.CUT: int(Kind.CRASHED),
    FailureKind.RESTART: int(Kind.RESTARTED),
    FailureKind.MEND: int(Kind.RESTARTED),
    FailureKind.PAUSE: int(Kind.PAUSED),
    FailureKind.RESUME: int(Kind.RESUMED),
}
_EFFECTS = {_SENT: "sent", _DELIVERED: "delivered", _BEGUN: "began", _REFUSED: "refused", _RETURNED: "returned"}

MAX_EVENTS = 10_000_000
# Events at one instant after which a run is stuck: this many, and more for each node, link and message.
MAX_AT_ONE_INSTANT = 2_000
_MORE_FOR_EACH = 100
_MANY_ROWS = 10_000
_SHOWN = 4_096  # events, whose rows an observer sees at once
_LOOKED_AT = 100  # events of a stuck run, to say why it is
_BILLION = 1_000_000_000


class Simulation:
    """One run. `handled` counts the arrivals, submissions and timers that nodes handled; `notes` says why a run was
    cut short. `observe` is given all rows in turn, those of some thousand events at a time."""

    def __init__(
        self,
        schedule: Schedule,
        nodes: Sequence[AnyCore],
        recorder: RowRecorder,
        horizon_ns: int,
        observe: Observer | None = None,
        max_events: int = MAX_EVENTS,
        lives: Lives | None = None,
        *,
        fifo: bool = True,
    ) -> None:
        """horizon_ns: when everything that was sent has had the time to be delivered. lives: for failures of nodes.
        fifo: whether the packets of a link arrive in the order in which they were sent."""
        links = schedule.topology.links
        self._schedule = schedule
        self._handle = [node.handle for node in nodes]
        self._next_deadline = [node.next_deadline for node in nodes]
        self._recorder = recorder
        # Used only where the schedule has messages, or calls.
        self._messages, self._calls = cast("MessageRecorder", recorder), cast("CallRecorder", recorder)
        self._packet_tail = recorder.packet
        self._nothing = recorder.ended(ABSENT)
        self._horizon = horizon_ns
        self._end = horizon_ns if schedule.end_ns is None else schedule.end_ns
        self._observe = observe
        self._max_events = max_events
        self._sources = {link: ends.source for link, ends in enumerate(links)}
        self._targets = [link.target for link in links]
        self._delays = delays_of(schedule)
        self._lives = lives
        self._outages = Outages(schedule)
        self._faults = {(fault.link, fault.index): fault for fault in schedule.faults}
        # By link: the packets that may not simply arrive.
        faulty: list[set[int]] = [set() for _ in links]
        for link, index in self._faults:
            faulty[link].add(index)
        outages = frozenset(self._outages.links)
        self._oddities = [range(LAST) if link in outages else faulty[link] for link in range(len(links))]
        self._sent = [0] * len(links)
        # The arrival of the last packet, where links are FIFO.
        self._free_from = latest_arrivals(len(links), fifo=fifo)
        self._clocks = local_clocks([schedule.clock(node) for node in range(len(nodes))])
        self._alarms: list[int | None] = [None] * len(nodes)  # the deadline that a timer is set for
        # Of what is planned, latest first, one or more are in the heap: all of it would be most of the heap.
        self._planned = planned(schedule, self._outages, self._sources, self._end)
        self._heap: list[Entry] = []
        # In the order in which events are caused; losses are numbered below submissions, failures below losses.
        self._caused = count(len(schedule.submissions) + len(schedule.calls)).__next__
        self._operations = [0] * len(nodes)
        self._open: dict[NodeId, Call] = {}  # by client: the call that it is in
        self._waiting: dict[NodeId, list[Call]] = {}  # by client: the calls that it makes next
        self._now = 0
        self._last = 0  # the node that had the last event
        self._shown = 0  # rows that the observer has seen
        self.rows: list[Row] = []
        self.handled = 0
        self.notes: list[str] = []

    def run(self) -> list[Row]:
        """Run to the end; returns the rows."""
        self._heap.append(self._planned.pop())
        submissions = self._schedule.submissions
        size = len(self._handle) + len(self._targets) + sum(len(submission.messages) for submission in submissions)
        size += len(self._schedule.calls)
        at_one_instant = MAX_AT_ONE_INSTANT + _MORE_FOR_EACH * size
        before = -1
        # What a run makes has no cycles; the collector would go through all rows again and again, in vain.
        collecting = gc.isenabled()
        gc.disable()
        try:
            for node in range(len(self._handle)):
                self._arm(0, node, self._first_deadline(0, node))
            while not self._go_on(min(at_one_instant, self._max_events - self.handled)):
                if self.handled >= self._max_events:
                    raise NodeFailed(f"the run was cut at {self._now} ns, after {self.handled} events")
                if self._now == before:
                    raise self._stuck()
                before = self._now
        except NodeFailed as failure:
            self.notes.append(str(failure))
        finally:
            if collecting:
                if len(self.rows) > _MANY_ROWS and not gc.get_freeze_count():
                    # Rows become old unseen: to look through them would take a tenth of the run's time.
                    gc.freeze()
                    gc.unfreeze()
                gc.enable()
        self._finish()
        return self.rows

    def _first_deadline(self, now: int, node: NodeId) -> int | None:
        try:
            return self._next_deadline[node]()
        except FAILURES as error:
            raise self._failed(now, node, error) from error

    def _go_on(self, most: int) -> bool:
        """Take up to `most` events, and show their rows; returns whether the end was reached."""
        if self._observe is None:
            return self._take(most)
        for taken in range(0, most, _SHOWN):
            if self._take(min(_SHOWN, most - taken)):
                return True
            self._show(self._observe)
        return False

    def _take(self, most: int) -> bool:
        # What happens for every packet is in this loop and in local variables: calls would cost more than what they do.
        heap, append, sources, targets, sent = self._heap, self.rows.append, self._sources, self._targets, self._sent
        free_from, delays, oddities, alarms = self._free_from, self._delays.drawn, self._oddities, self._alarms
        starts, drifts = [clock.start for clock in self._clocks], [clock.drift for clock in self._clocks]
        handle, next_deadline, caused, packet_tail = self._handle, self._next_deadline, self._caused, self._packet_tail
        drifting, odd = any(drifts), any(oddities)
        for _ in range(most):
            now, _, link, index, packet, tail = heappop(heap)
            node = targets[link] if link >= 0 else index
            clock = now + starts[node] + (now * drifts[node] // _BILLION if drifting else 0)
            if link >= 0:
                append((now, clock, node, _ARRIVED, link, index) + tail)
                event: ClientEvent[Any] = PacketArrived(clock, link, packet)
            elif link == TIMER:
                if alarms[node] != packet:
                    continue  # the node has changed its mind since this timer was set
                alarms[node] = None
                event = TimerFired(clock)
            elif link == STOP:
                self._now = now
                return True
            else:
                if (asked := self._befall(now, clock, node, link, packet, tail)) is None:
                    continue
                event = asked
            try:
                effects = handle[node](event)
                deadline = next_deadline[node]()
            except FAILURES as error:
                raise self._failed(now, node, error) from error
            self.handled += 1
            for effect in effects:
                if isinstance(effect, Send):
                    link, packet = effect.link, effect.packet
                    if sources.get(link) != node:
                        raise self._failed(now, node, NodeFailed(f"sent on link {link}, which is no egress link of it"))
                    index = sent[link]
                    sent[link] = index + 1
                    tail = packet_tail(packet)
                    append((now, clock, node, _SENT, link, index) + tail)
                    if odd and index in oddities[link]:
                        self._send_oddly(now, clock, node, link, index, packet, tail)
                        continue
                    if index >= len(delays[link]):
                        self._delays.draw_more(link, sent)
                    arrival = now + delays[link][index]
                    if arrival < free_from[link]:
                        arrival = free_from[link]
                    free_from[link] = arrival
                    heappush(heap, (arrival, caused(), link, index, packet, tail))
                else:
                    self._note(now, clock, node, effect)
            if deadline != alarms[node]:
                self._arm(now, node, deadline)
        self._now, self._last = now, node
        return False

    def _stuck(self) -> NodeFailed:
        """Why the run is stuck: the node that is called most, what it asks for, and what it does."""
        turns: Counter[NodeId] = Counter()
        begun, after = self.handled, len(self.rows)
        for _ in range(_LOOKED_AT):
            self._go_on(1)
            turns[self._last] += 1
        node, often = turns.most_common(1)[0]
        effects = Counter(_EFFECTS[row[3]] for row in self.rows[after:] if row[2] == node and row[3] in _EFFECTS)
        did = ", ".join(f"{word} {number}" for word, number in effects.items()) or "did nothing"
        deadline, clock = self._alarms[node], self._clocks[node]
        shows = self._now + clock.start + self._now * clock.drift // _BILLION
        asks = "no tick" if deadline is None else f"a tick at {deadline} ns of its clock, which shows {shows}"
        return NodeFailed(
            f"the run does not get past {self._now} ns: it was cut after {begun} events. Of {_LOOKED_AT} more, node "
            f"{node} ({self._schedule.topology.nodes[node].name}) had {often}, in which it {did}; it asked for {asks}"
        )

    def _submit(self, now: int, clock: int, node: NodeId, submission: Submission) -> Submitted:
        messages = tuple((message.receiver, message.payload) for message in submission.messages)
        for tail in self._messages.submission(node, messages):
            self.rows.append((now, clock, node, _SUBMITTED, ABSENT, ABSENT, *tail))
        return Submitted(clock, messages)

    def _call(self, now: int, clock: int, node: NodeId, call: Call) -> Called | None:
        """The event for the client; None where it is still in another call, so that this one has to wait."""
        if node in self._open:
            self._waiting.setdefault(node, []).append(call)
            return None
        operation = self._operations[node] = self._operations[node] + 1
        self._open[node] = call
        tail = self._calls.called(node, operation, call)
        self.rows.append((now, clock, node, _CALLED, ABSENT, ABSENT, *tail))
        return Called(clock, operation, call.call, call.arguments, call.payload)

    def _note(self, now: int, clock: int, node: NodeId, effect: Deliver[Any] | Began[Any] | Return | Refuse) -> None:
        """Record an effect that stays at the node."""
        if isinstance(effect, Deliver):
            tail = self._messages.delivery(node, effect.message)
            self.rows.append((now, clock, node, _DELIVERED, ABSENT, ABSENT) + tail)
        elif isinstance(effect, Began):
            beginning = getattr(self._recorder, "beginning", None)
            tail = self._nothing if beginning is None else beginning(node, effect.message)
            self.rows.append((now, clock, node, _BEGUN, ABSENT, ABSENT) + tail)
        elif isinstance(effect, Return):
            if node not in self._open or effect.operation != self._operations[node]:
                failure = NodeFailed(f"returned from call {effect.operation}, which it was not in")
                raise self._failed(now, node, failure)
            call = self._open.pop(node)
            if waiting := self._waiting.get(node):
                heappush(self._heap, (now, self._caused(), CALL, node, waiting.pop(0), ()))
            tail = self._calls.returned(node, call, effect)
            self.rows.append((now, clock, node, _RETURNED, ABSENT, ABSENT, *tail))
        else:
            self.rows.append((now, clock, node, _REFUSED, effect.link, ABSENT, *self._nothing))

    def _send_oddly(self, now: int, clock: int, node: NodeId, link: LinkId, index: int, packet: Any, tail: Row) -> None:
        """Send with a fault, or on a link with failures. On a FIFO link a delayed packet holds up those behind it, and
        one that an outage loses does so until it is lost."""
        fault = self._faults.get((link, index))
        kind = None if fault is None else fault.kind
        if fault is None or kind is FaultKind.LOSE:
            late: tuple[int, ...] = () if kind is FaultKind.LOSE else (0,)
        else:
            late = (0, fault.delay_ns) if kind is FaultKind.DUPLICATE else (fault.delay_ns,)
        if not late:
            self.rows.append((now, clock, node, _LOST, link, index, *tail))
        for more in late:
            arrival = max(now + self._delays(link, index) + more, self._free_from[link])
            lost = self._outages.lost_at(link, now, arrival)
            if lost == now:
                self.rows.append((now, clock, node, _LOST, link, index, *tail))
            elif lost is not None:
                self._free_from[link] = lost
                heappush(self._heap, (lost, self._caused() - LAST, LOSS, node, (link, index, packet), tail))
            else:
                self._free_from[link] = arrival
                target = self._targets[link]
                if self._outages.awake(target, arrival) == arrival:
                    heappush(self._heap, (arrival, self._caused(), link, index, packet, tail))
                else:
                    heappush(self._heap, (arrival, self._caused(), HELD, target, (link, index, packet), tail))

    def _befall(self, now: int, clock: int, node: NodeId, mark: int, what: Any, tail: Row) -> Submitted | Called | None:
        """What the node's application hands it, a submission or a call. All else gives None: a failure is carried out,
        a packet is recorded as lost on its way, or waits at a paused node in the order of arrival."""
        if self._planned:
            heappush(self._heap, self._planned.pop())
        if mark in (SUBMISSION, CALL):
            return (self._submit if mark == SUBMISSION else self._call)(now, clock, node, what)
        if mark == LOSS:
            self.rows.append((now, clock, node, _LOST, *what[:2], *tail))
        elif mark == HELD:
            heappush(self._heap, (self._outages.awake(node, now), self._caused(), *what, tail))
        else:
            self._fail(now, clock, node, what)
        return None

    def _fail(self, now: int, clock: int, node: NodeId, what: Failure) -> None:
        self.rows.append((now, clock, node, _FAILED_ROW[what.kind], what.link, ABSENT, *self._nothing))
        if what.link != ABSENT or what.kind in (FailureKind.PAUSE, FailureKind.RESUME):
            return  # packets and timers allow for it already
        assert self._lives is not None
        if what.kind is FailureKind.CRASH:
            self._lives.crash(node)
            self._alarms[node] = None
            self._open.pop(node, None)
            self._waiting.pop(node, None)
            return
        core = self._lives.restart(node)
        self._handle[node], self._next_deadline[node] = core.handle, core.next_deadline
        self._arm(now, node, self._first_deadline(now, node))

    def _arm(self, now: int, node: NodeId, deadline: int | None) -> None:
        """Set a timer for the node's deadline; one in the past is due at once, after what was caused before."""
        self._alarms[node] = deadline
        if deadline is not None:
            when = self._outages.awake(node, max(now, self._clocks[node].when(deadline)))
            heappush(self._heap, (when, self._caused(), TIMER, node, deadline, ()))

    def _show(self, observe: Observer) -> None:
        if new := self.rows[self._shown :]:
            self._shown += len(new)
            observe(new)

    def _failed(self, now: int, node: NodeId, error: Exception) -> NodeFailed:
        self._now = now
        name = self._schedule.topology.nodes[node].name
        return NodeFailed(f"node {node} ({name}) failed at {now} ns: {said_of(error)}")

    def _finish(self) -> None:
        """Close the trace: clean when nothing was cut short, quiescent when no message was left in flight, not even
        one that is yet to be lost."""
        clean = self._end >= self._horizon and not self.notes
        in_flight = any(self._waiting.values()) or any(
            mark in (SUBMISSION, CALL, HELD)
            or (mark == LOSS and self._recorder.carries_message(what[-1]))
            or (mark >= 0 and self._recorder.carries_message(what))
            for _, _, mark, _, what, _ in self._heap + self._planned
        )
        flags = (CLEAN if clean else 0) | (QUIESCENT if clean and not in_flight else 0)
        end = self._now if self.notes else self._end
        self.rows.append((end, ABSENT, ABSENT, _ENDED, ABSENT, ABSENT, *self._recorder.ended(flags)))
        if self._observe is not None:
            self._show(self._observe)
