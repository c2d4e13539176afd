"""What waits on one channel: references into the ring, thinned out or conflated while flow control is on; and which of
several channels is served next.

Best effort waits here, and is what flow control drops; guaranteed messages wait in sessions and links.

Clauses: PS-FLOW, PS-QOS-CONF, PS-QOS-BE, PS-RING, PS-PRIO. TLA+: `ChannelFlow`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from scatterproof.impl.pubsub.channels.flow_rules import FLOW_RULES, FlowRules
from scatterproof.impl.pubsub.channels.ring import Reference, Ring

Message = TypeVar("Message")
Way = TypeVar("Way")
DROPPED, CONFLATED = "dropped", "conflated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """high, low: messages that wait on a channel; flow control is on from at or above, until strictly below. one_in: of
    how many one is dropped while it is on. slots: of the ring of recent messages. room: bytes on their way to one end
    from which on what is best effort waits."""

    high: int = 4096
    low: int = 2048
    one_in: int = 2
    slots: int = 1 << 14
    room: int = 1 << 20


@dataclass(slots=True)
class _Waiting(Generic[Way]):
    reference: Reference
    kind: Hashable
    way: Way


class ChannelQueue(Generic[Message, Way]):
    """counts: of the messages that were not queued or whose slot was taken while they waited, and of those whose place
    a newer one has taken. is_on: flow control."""

    def __init__(
        self,
        ring: Ring[Message],
        marks: Marks,
        rules: FlowRules = FLOW_RULES,
        counts: Counter[str] | None = None,
    ) -> None:
        self._ring, self._marks, self._rules = ring, marks, rules
        self._waiting: dict[int, _Waiting[Way]] = {}  # by place, the oldest first
        self._latest: dict[Hashable, int] = {}  # of each kind, the place of the last that waits
        self._seen = self._last = 0
        self._swept_at = len(ring)
        self.is_on = False
        self.counts: Counter[str] = Counter() if counts is None else counts

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, reference: Reference, kind: Hashable, way: Way, *, conflates: bool = False) -> bool:
        """Whether it waits now, or another one of its kind does in its stead. way: how it is sent. conflates: whether
        the newest of its kind takes the place of the one that waits, while flow control is on."""
        self._drop_overwritten()
        self._turn()
        if self.is_on and conflates:
            old = self._waiting.get(self._latest.get(kind, 0))
            if old is not None:
                self.counts[CONFLATED] += 1
                if self._rules.conflates(reference.number, old.reference.number):
                    old.reference, old.way = reference, way
                return True
        elif self.is_on:
            self._seen += 1
            if self._rules.is_dropped(self._seen, self._marks.one_in):
                self.counts[DROPPED] += 1
                return False
        self._last += 1
        self._waiting[self._last] = _Waiting(reference, kind, way)
        self._latest[kind] = self._last
        self._turn()
        return True

    def take(self) -> tuple[Message, Way] | None:
        """The next to be sent; None where nothing waits."""
        self._drop_overwritten()
        found = None
        if self._waiting:
            one = self._pop(next(iter(self._waiting)))
            message = self._ring.at(one.reference)
            assert message is not None  # what was overwritten has been dropped
            found = message, one.way
        self._turn()
        return found

    def _drop_overwritten(self) -> None:
        """Those at the front, and now and then all, as what is conflated stays in front with a new reference."""
        while self._waiting and self._is_overwritten(next(iter(self._waiting))):
            self._drop(next(iter(self._waiting)))
        if len(self._waiting) >= self._swept_at:
            for place in [place for place in self._waiting if self._is_overwritten(place)]:
                self._drop(place)
            self._swept_at = max(len(self._ring), 2 * len(self._waiting))

    def _is_overwritten(self, place: int) -> bool:
        return self._ring.at(self._waiting[place].reference) is None

    def _drop(self, place: int) -> None:
        self._pop(place)
        self.counts[DROPPED] += 1

    def _pop(self, place: int) -> _Waiting[Way]:
        one = self._waiting.pop(place)
        if self._latest[one.kind] == place:
            del self._latest[one.kind]
        return one

    def _turn(self) -> None:
        self.is_on = self._rules.is_on(self.is_on, len(self._waiting), self._marks.high, self._marks.low)
        if not self.is_on:
            self._seen = 0


@dataclass(slots=True)
class Ready:
    """A channel that has something to send. again: it is what was asked for again. since: from when on it has
    waited."""

    name: int
    priority: int
    again: bool
    since: int


class Scheduler:
    """Which channel is served next: what is asked for again first, then by priority, then who has waited longest."""

    def __init__(self, rules: FlowRules = FLOW_RULES) -> None:
        self._rules = rules
        self._ready: deque[Ready] = deque()
        self._turn = 0

    def ready(self, name: int, priority: int, *, again: bool = False) -> None:
        self._turn += 1
        self._ready.append(Ready(name, priority, again, self._turn))

    def next(self) -> int | None:
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
