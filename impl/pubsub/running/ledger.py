"""What the core wants to be stored, in its order. The driver stores it before it sends anything that says so
(PS-PERSISTED, PS-QOS-GD)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from scatterproof.impl.pubsub.running.messages import Want
from scatterproof.impl.pubsub.translation.messages import Carried, Message

Value: TypeAlias = str | int | bytes | None
# The name of a statement of the store, and its values.
Change: TypeAlias = tuple[str, tuple[Value, ...]]


@dataclass(slots=True)
class KeptSession:
    """A durable session, as it was stored.

    subscribed: native filter, group, level, and whether topics that begin with $ are kept from it.
    waiting: place, level, packet id (0: not sent yet), whether released, whether retained, group, number of the
        message.
    received: the packet ids of level 2 that came and were not released.
    """

    user: str
    subscribed: list[tuple[str, str, int, bool]] = field(default_factory=list)
    waiting: list[tuple[int, int, int, bool, bool, str, int]] = field(default_factory=list)
    received: set[int] = field(default_factory=set)


@dataclass(slots=True)
class KeptLink:
    """A link, as it was stored.

    incarnation: of the neighbour.
    taken: the number of the last message that was taken from it.
    sent: the last number that was given to a message for it.
    unheard: messages that it has not acknowledged: number on the link, plain, groups, number of the message.
    """

    incarnation: str = ""
    taken: int = 0
    sent: int = 0
    wants: list[Want] = field(default_factory=list)
    unheard: list[tuple[int, bool, str, int]] = field(default_factory=list)


@dataclass(slots=True)
class Kept:
    """What a store had when it was opened.

    incarnation: of the appliance.
    configuration: the text of the last one that was known.
    passed: by origin, the stamp of the last guaranteed message that took all paths.
    """

    incarnation: str
    messages: dict[int, Message] = field(default_factory=dict)
    sessions: dict[str, KeptSession] = field(default_factory=dict)
    links: dict[str, KeptLink] = field(default_factory=dict)
    retained: list[Message] = field(default_factory=list)
    configuration: str | None = None
    passed: dict[str, int] = field(default_factory=dict)


class Ledger:
    """Collects changes. is_kept: whether there is a store; without one nothing is written down."""

    def __init__(self, *, is_kept: bool, last_message: int = 0) -> None:
        self.is_kept = is_kept
        self.changes: list[Change] = []
        self._last = last_message

    def note(self, statement: str, *values: Value) -> None:
        if self.is_kept:
            self.changes.append((statement, values))

    def hold(self, carried: Carried) -> int:
        """One more queue has the message. Returns its number in the store, 0 without one."""
        if not self.is_kept:
            return 0
        if not carried.kept:
            self._last += 1
            carried.kept = self._last
        if not carried.queues:
            one = carried.message
            told = one.topic, one.payload, one.level, one.retain, one.reply, one.made_ns, one.origin
            self.note("put_message", carried.kept, *told)
        carried.queues += 1
        return carried.kept

    def release(self, carried: Carried) -> None:
        """One queue fewer has the message; after the last it is dropped from the store."""
        if self.is_kept and carried.queues:
            carried.queues -= 1
            if not carried.queues:
                self.note("drop_message", carried.kept)
