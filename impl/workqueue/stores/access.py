"""The access interface of the queue's store (Q-STORE): what senders, receivers and cleaning ask of it, call by call.

A group has one of four states. It is *sending* from open to close (Q-LOCK-SEND), then *waiting* until it is the first
of its correlation, and the last one came where it waits for that, then *ready*, and *receiving* while a worker holds
it. Its place in the queue is that of its open, since a group that is still being sent holds back what was opened after
it in its correlation (Q-ORDER-CORR).

Each lock has a fencing token, which rises with each lock of the group. A call with another token than the group's
present one, or with the token of a lock that was released, is refused and changes nothing (Q-CRASH-SEND,
Q-CRASH-DEAD).

A call returns (ok), raises `Refused` or `Unavailable` (it had no effect), or raises `OutcomeUnknown` (it may have had
one). The effect of a call that returned is durable (Q-DURABLE): it outlives every process, the database's own too, and
a power failure. Only the tries that `read_message` counts may be lost in a power failure.

One object of this kind is for one thread at a time; a factory makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from scatterproof.spec.errors import BadInput, CannotRun, ScatterproofError

# Of identifiers in UTF-8. PostgreSQL has an index over them, whose entries are below 2,700 bytes.
NAME_BYTES = 1000
_INT64 = 1 << 63


class Refused(ScatterproofError):
    """The call had no effect, and will have none if it is made again: the lock is not the caller's any more, or the
    call is not allowed in this state."""


class Unavailable(CannotRun):
    """The store could not do it now (not reachable, full, busy for too long). The call had no effect; it may be made
    again."""


class OutcomeUnknown(CannotRun):
    """The store was lost while the call was being made final: it may have had its effect, or may have none."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A group that was opened, and the token of its send lock."""

    group: int
    token: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedGroup:
    """A group that is locked for receiving (Q-META).

    priority: 1 is the highest.
    last_message: the id of its last message.
    group_retries: how often the group was handed out, this time included.
    """

    group: int
    token: int
    type: int
    priority: int
    correlation: str
    last_message: int
    group_retries: int


@dataclass(frozen=True, slots=True)
class GroupMessage:
    """A message of a group.

    message: from 1 within the group.
    retries: how often it was read, this time included.
    """

    message: int
    body: bytes
    retries: int


@dataclass(frozen=True, slots=True)
class Taken:
    """What a worker goes on with.

    finished: whether the group that it had was removed.
    group: the next one; None where no group is ready.
    message: the first message of it; None where all were popped.
    """

    finished: bool
    group: LockedGroup | None
    message: GroupMessage | None


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What cleaning did: groups of dead senders that were removed, and locks of dead receivers that were released."""

    removed: int
    released: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """A message that was set aside (Q-POISON)."""

    group: int
    message: int
    correlation: str
    type: int
    priority: int
    retries: int
    reason: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """How much is in the store now.

    sending, waiting, ready, receiving: groups, by state.
    messages: those that were not popped.
    set_aside: messages that were set aside.
    oldest_ns: the least time at which a present lock was last used, on the store's clock; None without locks.
    """

    sending: int
    waiting: int
    ready: int
    receiving: int
    messages: int
    set_aside: int
    oldest_ns: int | None


class Access(Protocol):
    """The calls of a store; see the module. Every call may raise Unavailable; each that changes something,
    OutcomeUnknown."""

    def open_group(
        self, *, type: int, priority: int, correlation: str, server: str, last: bool | None = None
    ) -> Opened:
        """Open a new group, last in the queue and locked for sending by a sender on this server. Raises BadInput for
        what no group may have (`check_group`).

        last: True for the last group of its correlation; False for one that waits until the last one, opened after it,
            is closed (Q-CORR-LAST); None for one that does not wait."""
        ...

    def send_message(self, group: int, token: int, body: bytes) -> int:
        """Add a message to the group, and return its id. Refused without the send lock. The lock counts as used now."""
        ...

    def close_group(self, group: int, token: int) -> None:
        """End sending: all messages become visible at once (Q-ATOMIC), and the send lock is released. An empty group is
        removed, as by `flush_group`. Refused without the send lock."""
        ...

    def flush_group(self, group: int, token: int) -> None:
        """Cancel: remove the whole group. Refused without the send lock."""
        ...

    def send_group(
        self,
        *,
        type: int,
        priority: int,
        correlation: str,
        server: str,
        bodies: Sequence[bytes],
        last: bool | None = None,
    ) -> int:
        """Open, fill and close a group in one step, and return its number. After OutcomeUnknown it is there whole, or
        not at all. Raises BadInput for what no group may have, and for no messages."""
        ...

    def next_group(self, server: str) -> LockedGroup | None:
        """Lock the ready group that comes first, by priority and then by place (Q-NEXT), for receiving on this server;
        None where no group is ready. Ready is the first group of a correlation, if it is locked neither way and
        waits for nothing. Selecting and locking are one step: of several callers each has another correlation."""
        ...

    def read_message(self, group: int, token: int) -> GroupMessage | None:
        """The first message that was not popped; None where all were. Counts the try, so that a message that kills its
        worker is noticed, too; a power failure may undo this count, a crash of the database may not. Refused without
        the receive lock, which counts as used now."""
        ...

    def pop_message(self, group: int, token: int, message: int) -> None:
        """Dequeue the group's first message. Refused without the receive lock, and for any other message (Q-ORDER-MSG).
        The lock counts as used now."""
        ...

    def pop_and_read(self, group: int, token: int, message: int) -> GroupMessage | None:
        """`pop_message` and then `read_message`, in one step. Refused as the first of them."""
        ...

    def pop_group(self, group: int, token: int) -> None:
        """Remove a group all of whose messages were dequeued: its correlation is free. Refused without the receive
        lock, and while it has messages."""
        ...

    def take(self, server: str, finished: tuple[int, int] | None = None) -> Taken:
        """`pop_group` of the group that is finished, given as its number and token, then `next_group`, and
        `read_message` of that one, in one step. Where the first would be refused, the others are made nevertheless."""
        ...

    def release_group(self, group: int, token: int, *, unread: bool = False) -> None:
        """Give a group back, to be handed out again from its first message on. unread: the last read of a message was
        no try. Refused without the receive lock."""
        ...

    def set_aside_message(self, group: int, token: int, message: int, reason: str) -> None:
        """Dequeue as `pop_message`, and keep the message with the reason why it cannot be processed (Q-POISON)."""
        ...

    def unlock_server_groups(self, server: str) -> int:
        """Release the *receive* locks held under this server id, as a receiver does when it starts (Q-CRASH-BOOT);
        returns how many. Send locks stay: their groups are not whole."""
        ...

    def clean(self, senders_before_ns: int, receivers_before_ns: int) -> Cleaned:
        """Remove each group whose send lock, and release each receive lock, that was last used strictly before the
        time given, on the store's clock (Q-CRASH-SEND, Q-CRASH-DEAD)."""
        ...

    def now_ns(self) -> int:
        """The store's clock, by which the use of locks is measured: one for all clients."""
        ...

    def contents(self) -> Contents:
        """How much there is."""
        ...

    def set_aside(self, most: int = 100) -> Sequence[SetAside]:
        """Up to `most` messages that were set aside, ordered by group and message."""
        ...

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake`, from another thread, when a group may have become ready; returns what ends that. These calls are
        hints, which may be lost or never come: a listener has to poll, too."""
        ...

    def close(self) -> None:
        """Close connections; locks stay. Nothing may be called afterwards."""
        ...


Factory: TypeAlias = Callable[[], Access]


def check_group(type: int, priority: int, correlation: str, server: str) -> None:
    """Raise BadInput for what no group may have: a number beyond 64 bits, a priority below 1, a name that is too long
    or is no text."""
    for what, number, least in (("type", type, -_INT64), ("priority", priority, 1)):
        if not least <= number < _INT64:
            raise BadInput(f"{what} is {number}; give a whole number from {least} to {_INT64 - 1}")
    check_name("correlation", correlation)
    check_name("server", server)


def check_bodies(bodies: Sequence[bytes]) -> None:
    """Raise BadInput for a group without messages."""
    if not bodies:
        raise BadInput("a group holds at least one message; give some, or send none")


def check_name(what: str, name: str) -> None:
    """Raise BadInput for a name that some store could not keep."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise BadInput(f"{what} {name!r} is no text in UTF-8") from None
    if size > NAME_BYTES or "\0" in name:
        raise BadInput(f"{what} has {size} bytes; give at most {NAME_BYTES}, none of them zero")


def refused(call: str, group: int, token: int) -> Refused:
    """The error for a call without its lock, or out of turn."""
    return Refused(
        f"{call} of group {group} with token {token}: refused; it has not this lock now, or is not at this point"
    )
