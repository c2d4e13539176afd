"""Messages that take all paths at once: the first copy of each goes on, to clients and to all neighbours but the one
that it came from, and the others are dropped.

Each message is stamped where it begins, in rising order, and each link keeps the order. So a stamp at or below the last
one that was passed on has come already or, for best effort, was overtaken.

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
    """origin: the name and incarnation of this appliance.
    passed: by origin, the stamp of the last guaranteed message that was passed on.
    """

    def __init__(self, origin: str, passed: Mapping[str, int], ledger: Ledger, rules: Rules) -> None:
        self._origin, self._ledger, self._rules = origin, ledger, rules
        self._passed = dict(passed)
        self._last_ns = self._passed.get(origin, 0)
        # Best effort: the last stamp by origin and topic, for recent ones; by origin, the bound for other topics.
        self._latest: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._forgotten: dict[str, int] = {}

    def begin(self, message: Message) -> Message:
        """The message with its origin and stamp; copies of it that come back are dropped."""
        self._last_ns = max(message.made_ns, self._last_ns + 1)
        begun = replace(message, made_ns=self._last_ns, origin=self._origin)
        self.is_first(begun)
        return begun

    def is_first(self, message: Message) -> bool:
        """Whether this is the first copy, which is passed on; no later one is."""
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
