"""The rules of the queue with correlated message groups: what the clauses argue about, as small pure functions.

Numbers of groups, messages, tokens and operations count from 1. A group's place is its number in the queue.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum


class Lock(IntEnum):
    NONE = 0
    SEND = 1
    RECEIVE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the selection procedure looks at in a group.

    place: in the queue.
    waits: for the last group of its correlation.
    last: it is marked as that.
    """

    group: int
    correlation: int
    priority: int
    place: int
    lock: Lock
    waits: bool = False
    last: bool = False


def is_new(operation: int, last: int) -> bool:
    """Whether a request is carried out, `last` being its client's last call that was (Q-CALL-ONCE)."""
    return operation > last


def place_of(begun: int, closed: int) -> int:
    """A group's place, of those at which it was begun and closed (Q-ORDER-CORR)."""
    return begun


def rank(priority: int, place: int) -> tuple[int, int]:
    """Of two correlations that with the lower rank of its first group is served first (Q-PRIORITY)."""
    return (priority, place)


def head_of(groups: Sequence[Standing]) -> Standing:
    """The group of a correlation that has to be handed out first (Q-ORDER-CORR)."""
    return min(groups, key=lambda group: group.place)


def is_listed(receive_locked: bool) -> bool:
    """Whether a correlation may be looked at, of which a group is locked for receiving or none is (Q-NEXT)."""
    return not receive_locked


def is_ready(send_locked: bool) -> bool:
    """Whether the first group of a correlation can be handed out (Q-LOCK-SEND)."""
    return not send_locked


def is_complete(waits: bool, last_came: bool) -> bool:
    """Whether the first group of a correlation need not wait any more. last_came: a group that is marked as the last of
    the correlation is closed (Q-CORR-LAST)."""
    return last_came or not waits


def lock_when_handed(usual: Lock) -> Lock:
    """The lock of a group that is handed out, usually that for receiving (Q-NEXT)."""
    return usual


def next_token(token: int) -> int:
    """The token of a group's next lock (Q-CRASH-DEAD)."""
    return token + 1


def is_current(token: int, present: int) -> bool:
    """Whether a call is that of the lock's holder, `present` being the token of the group's last lock."""
    return token == present


def next_message(last: int) -> int:
    """The id of a message behind this one (Q-META)."""
    return last + 1


def may_pop(message: int, first: int) -> bool:
    """Whether a message may be popped, `first` being the first that was not, 0 for none (Q-ORDER-MSG)."""
    return message == first


def is_finished(left: int) -> bool:
    """Whether a group with this many messages left can be removed by who processes it (Q-ATOMIC)."""
    return left == 0


def tries_with(tries: int) -> int:
    """How often a group or message was handed out, this time included (Q-RETRY)."""
    return tries + 1


def sets_aside(tries: int, most: int) -> bool:
    """Whether a message that was handed out so often is set aside when it would be handed out again. most: how often it
    may be; 0 for ever (Q-POISON)."""
    return 0 < most <= tries


def is_freed(receiving: bool, own: bool) -> bool:
    """Whether a start of a receiver releases a lock. receiving: for receiving, not for sending. own: held under the
    receiver's server id (Q-CRASH-BOOT)."""
    return receiving and own


def is_dead(heard_ns: int, before_ns: int) -> bool:
    """Whether a lock's holder is taken for dead that called last at `heard_ns` (Q-CRASH-SEND, Q-CRASH-DEAD)."""
    return heard_ns < before_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the store is handed: a literal rule or a mutant is another function."""

    is_new: Callable[[int, int], bool] = is_new
    place_of: Callable[[int, int], int] = place_of
    rank: Callable[[int, int], tuple[int, ...]] = rank
    head_of: Callable[[Sequence[Standing]], Standing] = head_of
    is_listed: Callable[[bool], bool] = is_listed
    is_ready: Callable[[bool], bool] = is_ready
    is_complete: Callable[[bool, bool], bool] = is_complete
    lock_when_handed: Callable[[Lock], Lock] = lock_when_handed
    next_token: Callable[[int], int] = next_token
    is_current: Callable[[int, int], bool] = is_current
    next_message: Callable[[int], int] = next_message
    may_pop: Callable[[int, int], bool] = may_pop
    is_finished: Callable[[int], bool] = is_finished
    tries_with: Callable[[int], int] = tries_with
    sets_aside: Callable[[int, int], bool] = sets_aside
    is_freed: Callable[[bool, bool], bool] = is_freed
    is_dead: Callable[[int, int], bool] = is_dead


RULES = Rules()
