"""The rules of a queue with leases, as small pure functions under the names of spec/workqueue/modules/LeaseRules.tla.

Times are ns of the store's clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


def key_of(group: int, dedup: int, by_group: bool) -> tuple[int, int]:
    """What the store takes for one deduplication id (Q-DEDUP)."""
    return (group if by_group else 0, dedup)


def is_seen(since_ns: int, now: int, window_ns: int, waiting: bool) -> bool:
    """Whether a message is a copy, its id having been seen first at `since_ns`. waiting: a message with it is there
    still (Q-DEDUP)."""
    return now - since_ns < window_ns


def is_held(until_ns: int, now: int) -> bool:
    """Whether a lease lasts that was granted until then (Q-LEASE)."""
    return now < until_ns


def is_left(is_own: bool, held: bool) -> bool:
    """Whether a client may be the one consumer. is_own: it is. held: the role lasts, of whoever has it
    (Q-CONSUMER-ONE)."""
    return is_own or not held


def is_whole(done: Sequence[bool]) -> bool:
    """Whether a batch is carried out that is whole or not at all. done: what its entries could be (Q-BATCH)."""
    return all(done)


def may_hand_out(held: Sequence[bool]) -> bool:
    """Whether messages of a group may be handed out. held: whether somebody holds it, for each message of the group
    that is there, in order (Q-LEASE)."""
    return not any(held)


def is_tried_out(tries: int, most: int) -> bool:
    """Whether a message that was handed out so often is set aside when it would be handed out again. most: how often it
    may be; 0 for ever (Q-DEADLETTER)."""
    return 0 < most <= tries


def batch_of(room: int, there: int) -> int:
    """How many messages of a group, of those that are there, come into an answer with room for that many more
    (Q-LEASE-ALL, Q-BATCH)."""
    return min(room, there)


def back(place: int, last: int, behind: bool) -> int:
    """The place of a message that comes back, `last` being the last that is taken. behind: messages come back behind
    the others (Q-LEASE, Q-ACK-ORDER)."""
    return last + 1 if behind else place


def next_receipt(receipt: int) -> int:
    """The receipt of a message's next lease (Q-RECEIPT)."""
    return receipt + 1


def is_good(receipt: int, present: int, held: bool) -> bool:
    """Whether a call is carried out, `present` being the receipt of the message's last lease. held: which lasts still
    (Q-RECEIPT)."""
    return receipt == present and held


def extended(now: int, until_ns: int, lease_ns: int) -> int:
    """Until when a lease lasts that is extended (Q-LEASE)."""
    return now + lease_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseRules:
    """What the store is handed: a mutant is another function."""

    key_of: Callable[[int, int, bool], tuple[int, int]] = key_of
    is_seen: Callable[[int, int, int, bool], bool] = is_seen
    is_held: Callable[[int, int], bool] = is_held
    is_left: Callable[[bool, bool], bool] = is_left
    is_whole: Callable[[Sequence[bool]], bool] = is_whole
    may_hand_out: Callable[[Sequence[bool]], bool] = may_hand_out
    is_tried_out: Callable[[int, int], bool] = is_tried_out
    batch_of: Callable[[int, int], int] = batch_of
    back: Callable[[int, int, bool], int] = back
    next_receipt: Callable[[int], int] = next_receipt
    is_good: Callable[[int, int, bool], bool] = is_good
    extended: Callable[[int, int, int], int] = extended


LEASE_RULES = LeaseRules()
