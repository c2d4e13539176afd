"""The bytes that wait to be written to a connection: sessions and links fill it, the driver empties it.

Everything is written at once while the other end takes it. Once much is on its way, best effort waits on channels of
the connection, one a priority, as references into the ring of recent messages: there it is thinned out or conflated,
and goes on as the other end takes more. Everything else, guaranteed messages among it, goes ahead and is never dropped:
sessions and links limit how much of it there is at once.

Clauses: PS-FLOW, PS-QOS-BE, PS-QOS-CONF, PS-RING, PS-PRIO, PS-SLOW.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import TypeAlias

from scatterproof.impl.pubsub.channels.flow_rules import FLOW_RULES, FlowRules
from scatterproof.impl.pubsub.channels.queue import ChannelQueue, Marks, Scheduler
from scatterproof.impl.pubsub.channels.ring import Ring
from scatterproof.impl.pubsub.translation.messages import Carried

Way: TypeAlias = Callable[[Carried], bytes]
URGENT, USUAL = 0, 1  # priorities
SLOW, BACK = "slow consumers", "slow consumers that came back"


class Flow:
    """What the outboxes of an appliance share.

    counts: of what was done.
    dirty: the outboxes that the driver has to empty or close.
    """

    def __init__(self, marks: Marks, counts: Counter[str], rules: FlowRules = FLOW_RULES) -> None:
        self.marks, self.counts, self.rules = marks, counts, rules
        self.ring: Ring[Carried] = Ring(marks.slots, rules)
        self.dirty: list[Outbox] = []


class Outbox:
    """parts: bytes that are not written yet.
    size: how many bytes there are in parts.
    waiting: bytes that the driver has and the other end has not taken.
    closing: why the connection ends once all is written, None while it goes on.
    is_abandoned: whether it ends at once.
    wire: the driver's connection.
    is_slow: whether best effort goes through the channels.
    """

    __slots__ = (
        *("_channels", "_flow", "_scheduler"),
        *("closing", "is_abandoned", "is_slow", "parts", "size", "waiting", "wire"),
    )

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._channels: dict[int, ChannelQueue[Carried, Way]] = {}
        self._scheduler = Scheduler(flow.rules)
        self.parts: list[bytes] = []
        self.size = self.waiting = 0
        self.closing: str | None = None
        self.wire: object = None
        self.is_slow = self.is_abandoned = False

    def write(self, data: bytes) -> None:
        if self.closing is not None:
            return
        if not self.parts:
            self._flow.dirty.append(self)
        self.parts.append(data)
        self.size += len(data)

    def close(self, reason: str) -> None:
        if self.closing is None:
            self.closing = reason
            if not self.parts:
                self._flow.dirty.append(self)

    def abandon(self, reason: str) -> None:
        """End the connection at once: nobody takes what is on its way."""
        self.is_abandoned = True
        self.close(reason)

    def keeps_up(self) -> bool:
        """Whether a best-effort message is written at once; otherwise it goes to `wait`."""
        if not self.is_slow and self._is_full():
            self.is_slow = True
            self._flow.counts[SLOW] += 1
        return not self.is_slow

    def wait(self, carried: Carried, key: Hashable, way: Way) -> bool:
        """Let a best-effort message wait. Returns whether it is to be sent later, or a newer one of its key and topic
        instead. way: makes its bytes."""
        priority = URGENT if carried.urgent else USUAL
        channel = self._channels.get(priority)
        if channel is None:
            flow = self._flow
            channel = self._channels[priority] = ChannelQueue(flow.ring, flow.marks, flow.rules, flow.counts)
        if carried.reference is None:
            carried.reference = self._flow.ring.put(carried)
        waited = len(channel) > 0
        kind = key, carried.message.topic
        accepted = channel.put(carried.reference, kind, way, conflates=carried.conflates)
        if not waited and len(channel):
            self._scheduler.ready(priority, priority)
        return accepted

    def pump(self) -> None:
        """Write what waits, as far as there is room for it."""
        while self.is_slow and not self._is_full():
            priority = self._scheduler.next()
            if priority is None:
                self.is_slow = False
                self._flow.counts[BACK] += 1
                return
            found = self._channels[priority].take()
            if found is not None:
                self.write(found[1](found[0]))
            if len(self._channels[priority]):
                self._scheduler.ready(priority, priority)

    def forget(self) -> None:
        """Drop all that waits: the client may no longer be allowed to get it."""
        self._channels.clear()
        self._scheduler = Scheduler(self._flow.rules)

    def _is_full(self) -> bool:
        return self._flow.rules.is_slow(self.size + self.waiting, self._flow.marks.room)
