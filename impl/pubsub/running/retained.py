"""The retained messages of an appliance, by topic. Of two on one topic the later one stays.

Clauses: PS-RETAIN.
"""

from __future__ import annotations

from scatterproof.impl.pubsub.matching import matches
from scatterproof.impl.pubsub.running.ledger import Ledger
from scatterproof.impl.pubsub.running.table import Subscription
from scatterproof.impl.pubsub.translation.messages import Message
from scatterproof.impl.pubsub.translation.names import NATIVE


class RetainedMessages(dict[str, Message]):
    """By topic. An empty message stays while there are neighbours: one of them may still have what it deleted."""

    def keep(self, message: Message, ledger: Ledger, *, alone: bool) -> bool:
        """Keep a message if it is later than the topic's kept one; returns whether it is. alone: whether there are no
        neighbours."""
        old = self.get(message.topic)
        if old is not None and (old.made_ns, old.payload) >= (message.made_ns, message.payload):
            return False
        if not message.payload and alone:
            self.pop(message.topic, None)
            ledger.note("drop_retained", message.topic)
            return True
        self[message.topic] = message
        ledger.note("put_retained", message.topic, message.payload, message.level, message.made_ns)
        return True

    def matching(self, one: Subscription) -> list[Message]:
        """The retained messages that a new subscription gets first; none for a shared one."""
        if one.group or not self:
            return []
        steps = NATIVE.filter(one.filter)
        if all(step.whole for step in steps):
            found = [self[one.filter]] if one.filter in self else []
        else:
            found = [message for topic, message in self.items() if matches(steps, tuple(topic.split(".")))]
        return [each for each in found if each.payload and not (one.hides and each.topic.startswith("$"))]
