"""What waits on one channel: references into the ring, thinned out or conflated while flow control is on; and which of
several channels is served next.

Clauses: PS-FLOW, PS-QOS-CONF, PS-QOS-BE, PS-RING, PS-PRIO. TLA+: `ChannelFlow`.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from scatterproof.impl.pubsub.channels.flow_rules import FLOW_RULES, FlowRules
from scatterproof.impl.pubsub.channels.ring import Reference, Ring

Message = TypeVar("Message")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """In messages. high, low: flow control is on from at or above, until strictly below. one_in: of how many one is
    dropped while it is on. conflates: whether the newest of a topic takes the place of the one that waits instead."""

    high: int
    low: int
    one_in: int = 2
    conflates: bool = False


@dataclass(slots=True)
class _Waiting:
    reference: Reference
    topic: str
    guaranteed: bool


class ChannelQueue(Generic[Message]):
    """dropped: best-effort messages that were not queued, or whose slot was taken while they waited; conflated: those
    whose place a newer one has taken. is_on: flow control."""

    def __init__(self, ring: Ring[Message], marks: Marks, rules: FlowRules = FLOW_RULES) -> None:
        self._ring, self._marks, self._rules = ring, marks, rules
        self._waiting: OrderedDict[int, _Waiting] = OrderedDict()
        self._latest: dict[str, int] = {}  # of each topic, the best-effort message that waits
        self._seen = 0
        self.is_on = False
        self.dropped = self.conflated = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, reference: Reference, topic: str, *, guaranteed: bool) -> None:
        """Guaranteed ones are never dropped, and keep their slots until they are taken."""
        self._turn()
        if self.is_on and not guaranteed and not self._has_room(reference, topic):
            return
        self._waiting[reference.number] = _Waiting(reference, topic, guaranteed)
        if guaranteed:
            self._ring.pin(reference)
        else:
            self._latest[topic] = reference.number
        self._turn()

    def _has_room(self, reference: Reference, topic: str) -> bool:
        if self._marks.conflates:
            old = self._latest.get(topic)
            if old is None:
                return True
            if self._rules.conflates(reference.number, old):
                waiting = self._waiting.pop(old)
                waiting.reference = reference
                self._waiting[reference.number] = waiting
                self._latest[topic] = reference.number
            self.conflated += 1
            return False
        self._seen += 1
        if self._rules.is_dropped(self._seen, self._marks.one_in, False, False):
            self.dropped += 1
            return False
        return True

    def take(self) -> Message | None:
        """The next to be sent; None where nothing waits."""
        while self._waiting:
            number, one = self._waiting.popitem(last=False)
            if self._latest.get(one.topic) == number:
                del self._latest[one.topic]
            message = self._ring.at(one.reference)
            if one.guaranteed:
                self._ring.unpin(one.reference)
            self._turn()
            if message is not None:
                return message
            self.dropped += 1
        return None

    def _turn(self) -> None:
        was_on = self.is_on
        self.is_on = self._rules.is_on(was_on, len(self._waiting), self._marks.high, self._marks.low)
        if not self.is_on:
            self._seen = 0


@dataclass(slots=True)
class Ready:
    """A channel that has something to send. again: it is what was asked for again. since: from when on it has
    waited."""

    name: str
    priority: int
    again: bool
    since: int


class Scheduler:
    """Which channel is served next: what is asked for again first, then by priority, then who has waited longest."""

    def __init__(self, rules: FlowRules = FLOW_RULES) -> None:
        self._rules = rules
        self._ready: deque[Ready] = deque()
        self._turn = 0

    def ready(self, name: str, priority: int, *, again: bool = False) -> None:
        self._turn += 1
        self._ready.append(Ready(name, priority, again, self._turn))

    def next(self) -> str | None:
        """And it waits no more."""
        best = _first(self._ready, self._rules)
        if best is None:
            return None
        self._ready.remove(best)
        return best.name


def _first(ready: Iterable[Ready], rules: FlowRules) -> Ready | None:
    best: Ready | None = None
    for one in ready:
        if best is None or rules.goes_first(one.again, one.priority, best.again, best.priority):
            best = one
    return best
