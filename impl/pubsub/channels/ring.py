"""Recent messages in a ring of slots, to which queues refer (document 001, figure 6d).

A reference is a slot and the number of the message that was put there. The document's is the slot alone, and leads to
another message once the slot has been overwritten.

Clauses: PS-RING. TLA+: `MessageRing`.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from scatterproof.impl.pubsub.channels.flow_rules import FLOW_RULES, FlowRules

Message = TypeVar("Message")


class Reference(NamedTuple):
    slot: int
    number: int


class Ring(Generic[Message]):
    """last: the number of the message that was put last, from 1."""

    def __init__(self, size: int, rules: FlowRules = FLOW_RULES) -> None:
        self._rules = rules
        self._slots: list[tuple[int, Message] | None] = [None] * size
        self.last = 0

    def __len__(self) -> int:
        """How many slots it has."""
        return len(self._slots)

    def put(self, message: Message) -> Reference:
        """Where it is now, in the place of the oldest."""
        slot = self.last % len(self._slots)
        self.last += 1
        self._slots[slot] = self.last, message
        return Reference(slot, self.last)

    def at(self, reference: Reference) -> Message | None:
        """What is referred to; None where another message has taken its slot."""
        found = self._slots[reference.slot]
        return found[1] if found is not None and self._rules.is_there(reference.number, found[0]) else None
