"""A channel that several consumers share, as by multicast, and the channels of their own for those that are slow.

A consumer that is too far behind gets what it lacks on a channel of its own, at its own pace, and comes back when it
has all that was put on the shared one. It sees neither a gap nor a repeat, and the others nothing of it.

Clauses: PS-SLOW, PS-RING.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from scatterproof.impl.pubsub.channels.flow_rules import FLOW_RULES, FlowRules
from scatterproof.impl.pubsub.channels.ring import Ring

Message = TypeVar("Message")


@dataclass(slots=True)
class Consumer:
    """taken: the number of the last message that it has said it has; sent: of the last that was sent to it. alone:
    whether it has a channel of its own."""

    taken: int
    sent: int
    alone: bool = False


class SharedChannel(Generic[Message]):
    """most: how far behind a consumer may be on the shared channel, in messages; strictly less than the ring has slots.
    consumers: by name."""

    def __init__(self, slots: int, most: int, rules: FlowRules = FLOW_RULES) -> None:
        assert most < slots
        self._ring: Ring[Message] = Ring(slots, rules)
        self._most, self._rules = most, rules
        self.consumers: dict[str, Consumer] = {}

    def join(self, name: str) -> None:
        """From the next message on."""
        self.consumers[name] = Consumer(self._ring.last, self._ring.last)

    def leave(self, name: str) -> None:
        self._let_go(self.consumers.pop(name))

    def put(self, message: Message) -> list[str] | None:
        """To whom it is sent on the shared channel; None where the slowest still needs the oldest, and the publisher
        has to wait."""
        if self._ring.put(message) is None:
            return None
        number = self._ring.last
        for consumer in self.consumers.values():
            if consumer.taken == number - 1:
                self._need_next(consumer)
            if self._rules.is_slow(number - consumer.taken, self._most):
                consumer.alone = True
        shared = [name for name, consumer in self.consumers.items() if not consumer.alone]
        for name in shared:
            self.consumers[name].sent = number
        return shared

    def took(self, name: str, number: int) -> None:
        """It has all up to this one."""
        consumer = self.consumers[name]
        if consumer.taken < number <= consumer.sent:
            self._let_go(consumer)
            consumer.taken = number
            self._need_next(consumer)
        if self._rules.is_back(consumer.taken, self._ring.last + 1):
            consumer.alone = False

    def next_for(self, name: str) -> Message | None:
        """What a consumer is sent next on a channel of its own; None where it has none, or nothing is left."""
        consumer = self.consumers[name]
        if not consumer.alone or consumer.sent >= self._ring.last:
            return None
        consumer.sent += 1
        message = self._ring.at(self._ring.reference(consumer.sent))
        assert message is not None  # it was not taken, so its slot is kept
        return message

    def _need_next(self, consumer: Consumer) -> None:
        """The slot of the first that it has not taken stays as it is, and so do those behind it."""
        if consumer.taken < self._ring.last:
            self._ring.pin(self._ring.reference(consumer.taken + 1))

    def _let_go(self, consumer: Consumer) -> None:
        if consumer.taken < self._ring.last:
            self._ring.unpin(self._ring.reference(consumer.taken + 1))
