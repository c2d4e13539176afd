"""Native messages: what all protocols are translated to and from (PS-TRANSLATE)."""

from __future__ import annotations

import msgspec

from scatterproof.impl.pubsub.channels.ring import Reference


class Message(msgspec.Struct, frozen=True, array_like=True):
    """A native message.

    topic: in the document's grammar.
    level: 0 best effort, 1 at least once, 2 exactly once.
    retain: whether it takes the place of the topic's retained message; an empty payload deletes that.
    reply: where the publisher waits for answers, a native topic; empty for nowhere.
    made_ns: when it came to its first appliance, Unix time; the time stamp of PS-LATENCY, and of what is retained.
    origin: where it takes all paths at once, the appliance that it began at; its messages have rising stamps.
    """

    topic: str
    payload: bytes
    level: int = 0
    retain: bool = False
    reply: str = ""
    made_ns: int = 0
    origin: str = ""


class Carried:
    """A message inside an appliance, which queues refer to. translated: what it is in foreign protocols, made once.
    kept: its number in the cache engine, 0 for none, and how many queues have it there. reference: to it in the ring of
    recent messages, where a slow consumer needs it. urgent, conflates: how those are served. was_sent: to a member of a
    group, which has left without an acknowledgement."""

    __slots__ = ("conflates", "kept", "message", "queues", "reference", "translated", "urgent", "was_sent")

    def __init__(self, message: Message, kept: int = 0) -> None:
        self.message = message
        self.translated: dict[str, bytes] = {}
        self.kept, self.queues = kept, 0
        self.reference: Reference | None = None
        self.urgent = self.conflates = self.was_sent = False
