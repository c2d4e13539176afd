"""What is to be written to a connection: filled by sessions and links, emptied by the driver.

Clauses: PS-FLOW, PS-QOS-BE.
"""

from __future__ import annotations

from dataclasses import dataclass

from scatterproof.impl.pubsub.channels.flow_rules import FLOW_RULES, FlowRules


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """In bytes that wait to be written. high, low: flow control is on from at or above, until strictly below.
    most: from here on all best effort is dropped. one_in: of how many one is dropped while it is on."""

    high: int = 16 << 20
    low: int = 8 << 20
    most: int = 64 << 20
    one_in: int = 2


class Outbox:
    """parts: what is to be written; size: its bytes. waiting: bytes that the driver has and the other end has not
    taken. closing: why the connection ends once all is written, None while it goes on. wire: the driver's. is_on: flow
    control; dropped: best-effort messages that it kept back."""

    __slots__ = (
        "_dirty",
        "_marks",
        "_rules",
        "_seen",
        "closing",
        "dropped",
        "is_on",
        "parts",
        "size",
        "waiting",
        "wire",
    )

    def __init__(self, dirty: list[Outbox], marks: Marks, rules: FlowRules = FLOW_RULES) -> None:
        self._dirty, self._marks, self._rules = dirty, marks, rules
        self.parts: list[bytes] = []
        self.size = self.waiting = self.dropped = self._seen = 0
        self.closing: str | None = None
        self.wire: object = None
        self.is_on = False

    def write(self, data: bytes) -> None:
        if self.closing is not None:
            return
        if not self.parts:
            self._dirty.append(self)
        self.parts.append(data)
        self.size += len(data)

    def close(self, reason: str) -> None:
        if self.closing is None:
            self.closing = reason
            if not self.parts:
                self._dirty.append(self)

    def admits(self, guaranteed: bool) -> bool:
        """Whether a message is sent now (PS-FLOW)."""
        size = self.size + self.waiting
        marks = self._marks
        self.is_on = self._rules.is_on(self.is_on, size, marks.high, marks.low)
        if not self.is_on:
            self._seen = 0
            return True
        self._seen += 1
        if not self._rules.is_dropped(self._seen, marks.one_in, size >= marks.most, guaranteed):
            return True
        self.dropped += 1
        return False
