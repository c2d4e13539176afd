"""Messages that take all paths at once: the first copy of each goes on, to clients and to all neighbours but the one
that it came from, and the others are dropped.

Each message is stamped where it begins, in rising order, and each link keeps the order: so what is at or below the last
that was passed on has come already, or, of best effort, was overtaken.

Clauses: PS-MULTIPATH, PS-ORDER. TLA+: `IsFirst` of Multipath.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from msgspec.structs import replace

from scatterproof.impl.pubsub.rules import Rules
from scatterproof.impl.pubsub.running.ledger import Ledger
from scatterproof.impl.pubsub.translation.messages import Message

_KEPT = 1 << 16


class Paths:
    """origin: the name of this appliance, and of its life as far as it remembers. passed: by origin, the last
    guaranteed message that was passed on, by its stamp."""

    def __init__(self, origin: str, passed: Mapping[str, int], ledger: Ledger, rules: Rules) -> None:
        self._origin, self._ledger, self._rules = origin, ledger, rules
        self._passed = dict(passed)
        self._last_ns = self._passed.get(origin, 0)
        # Best effort: the last by origin and topic, of those that came lately; and by origin, what all else is above.
        self._latest: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._forgotten: dict[str, int] = {}

    def begin(self, message: Message) -> Message:
        """As it goes out from here."""
        self._last_ns = max(message.made_ns, self._last_ns + 1)
        begun = replace(message, made_ns=self._last_ns, origin=self._origin)
        self.is_first(begun)
        return begun

    def is_first(self, message: Message) -> bool:
        """Whether it is passed on; then no copy of it is any more."""
        if self._rules.is_guaranteed(message.level):
            first = self._rules.is_first(message.made_ns, self._passed.get(message.origin, 0))
            if first:
                self._passed[message.origin] = message.made_ns
                self._ledger.note("put_passed", message.origin, message.made_ns)
            return first
        key = message.origin, message.topic
        last = self._latest.get(key, self._forgotten.get(message.origin, 0))
        if not self._rules.is_first(message.made_ns, last):
            return False
        self._latest[key] = message.made_ns
        self._latest.move_to_end(key)
        if len(self._latest) > _KEPT:
            (origin, _), least = self._latest.popitem(last=False)
            self._forgotten[origin] = max(least, self._forgotten.get(origin, 0))
        return True
