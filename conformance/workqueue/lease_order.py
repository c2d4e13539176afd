"""Questions that the checks of leases share: what is held, what is ahead of a message, what is there."""

from __future__ import annotations

from collections.abc import Callable

from numba.extending import register_jitable

from scatterproof.conformance.checks.step import Check, Outcome, check
from scatterproof.conformance.checks.tables import field, find, room, used
from scatterproof.conformance.workqueue.lease_aside import is_due, is_free
from scatterproof.conformance.workqueue.lease_lists import first_of_list, may_be_held, next_of
from scatterproof.conformance.workqueue.lease_records import (
    BACK_BY,
    BACK_FROM,
    CALLED_NS,
    ENDS_FROM,
    FIRST,
    GOT,
    GROUP,
    HAND_BEHIND,
    HAND_NS,
    HANDED,
    HOLDER,
    HOLDER_OP,
    IN_CALL,
    LAST,
    LEASE,
    NUMBER,
    OF,
    OPERATION,
    OUT,
    PUT_CALLED,
    PUT_NS,
    RECEIVE_ASIDE,
    SENDER,
    SHOWN_NS,
    WAITING,
    LeaseRow,
    Leases,
    Promise,
    comes_first,
    earlier,
    is_before,
    later,
)
from scatterproof.conformance.workqueue.leases import leases
from scatterproof.conformance.workqueue.records import FOREVER
from scatterproof.spec.trace import Kind, Order

# Why a message must be handed out ahead of another of its group: it comes back to its place; it is there, and ahead by
# the profile's order; its last holder is no consumer any more; both are entries of one batch.
AT_PLACE, BACK, LEFT, IN_BATCH = range(4)


def check_of_leases(clause: str, *ways: str) -> Callable[[Callable[..., Outcome]], Check]:
    """As `check`, for rows `delivered` and `returned`. The step reads what was known before the row. Boxes of different
    clients are compared by their times, so the order of links is enough."""
    return check(clause, kinds=(Kind.DELIVERED, Kind.RETURNED), order=Order.LINK, ways=ways, derived=(leases,))


@register_jitable
def holds_now(slot: int, own: int, row: LeaseRow, book: Leases) -> bool:
    """Whether the message was handed out in the receive that the row's client is in; others may have had it since."""
    messages, users = book.messages, book.users
    if field(messages, slot, HAND_NS) < field(users, own, CALLED_NS):
        return False
    if field(messages, slot, HOLDER) == row.node and field(messages, slot, HOLDER_OP) == field(users, own, OPERATION):
        return True
    behind = field(users, own, HAND_BEHIND)
    for at in range(behind - field(users, own, GOT), behind):
        if find(messages, (field(book.hands, find(book.hands, (row.node, at)), OF),)) == slot:
            return True
    return False


@register_jitable
def has_others(one: int, book: Leases) -> bool:
    """Whether more than one message of the group waits, or any may be held."""
    key = (field(book.messages, one, GROUP), 0)
    waiting = find(book.groups, key)
    if waiting >= 0 and field(book.groups, waiting, FIRST) != field(book.groups, waiting, LAST):
        return True
    return first_of_list(book.outs, key) > 0


@register_jitable
def has_left(slot: int, row: LeaseRow, promise: Promise, book: Leases) -> bool:
    """Whether the message is left to Q-CONSUMER-ONE: another consumer had it last."""
    if promise.one_consumer == 0 or field(book.messages, slot, HANDED) == 0:
        return False
    return field(book.messages, slot, HOLDER) != row.node


@register_jitable
def held_in_group(one: int, own: int, row: LeaseRow, promise: Promise, book: Leases) -> int:
    """The slot of a held message that hides this one, or -1. Where messages are hidden one by one, only its own lease
    hides it. Set-aside messages and the others do not hide each other."""
    messages, found, begun_ns = book.messages, -1, field(book.users, own, CALLED_NS)
    until_ns = max(begun_ns, earlier(later(begun_ns, field(book.users, own, LEASE)), promise.margin_ns))
    serial = first_of_list(book.outs, (field(messages, one, GROUP), 0))
    while serial > 0:
        slot = find(messages, (serial,))
        serial = next_of(messages, slot, OUT)
        if holds_now(slot, own, row, book) or has_left(slot, row, promise, book):
            continue
        if slot != one and (field(messages, slot, SHOWN_NS) < FOREVER) != (
            field(book.users, own, IN_CALL) == RECEIVE_ASIDE
        ):
            continue
        # Of two receives that overlap either may come first: then the lease of this one lasts as the other ends.
        lasts = field(messages, slot, ENDS_FROM) > row.time_ns and field(messages, slot, HAND_NS) < until_ns
        if lasts and (promise.back_order == 0 or slot == one) and comes_first(messages, slot, found):
            found = slot
    return found


@register_jitable
def ahead_of(why: int, one: int, own: int, row: LeaseRow, promise: Promise, book: Leases) -> int:
    """The slot of a message of the group that surely had to be handed out before this one, or -1. WAITING is in the
    order of BACK_FROM, so that the search can stop early."""
    messages, found, until_ns = book.messages, -1, field(book.messages, one, BACK_FROM)
    serial = first_of_list(book.groups, (field(messages, one, GROUP), 0))
    while serial > 0:
        slot = find(messages, (serial,))
        serial = next_of(messages, slot, WAITING)
        if field(messages, slot, BACK_FROM) > until_ns:
            break
        if not is_due(slot, row.node, promise, book) or holds_now(slot, own, row, book):
            continue
        if is_ahead(why, slot, one, own, row, promise, book) and comes_first(messages, slot, found):
            found, until_ns = slot, field(messages, slot, BACK_FROM)
    return found


@register_jitable
def in_one_batch(slot: int, one: int, book: Leases) -> bool:
    """Whether both were put by one call, and neither was ever handed out."""
    messages = book.messages
    if field(messages, slot, HANDED) > 0 or field(messages, one, HANDED) > 0:
        return False
    if field(messages, slot, SENDER) != field(messages, one, SENDER):
        return False
    return field(messages, slot, NUMBER) == field(messages, one, NUMBER)


@register_jitable
def is_ahead(why: int, slot: int, one: int, own: int, row: LeaseRow, promise: Promise, book: Leases) -> bool:
    """Whether the message is ahead for this reason, one of those above; each belongs to one clause."""
    messages, left = book.messages, has_left(slot, row, promise, book)
    together = promise.batches > 0 and in_one_batch(slot, one, book)
    if why == LEFT:
        return left and is_before(messages, slot, one)
    if why == IN_BATCH:
        return together and is_before(messages, slot, one)
    if left or together:
        return False
    if why == AT_PLACE:
        return is_before(messages, slot, one)
    if not is_there(slot, field(book.users, own, CALLED_NS), row.node, book):
        return False
    if promise.back_order == 1:
        return is_before(messages, slot, one)
    by_ns = field(messages, slot, BACK_BY) if field(messages, slot, HANDED) > 0 else field(messages, slot, PUT_NS)
    if field(messages, one, HANDED) == 0:
        return by_ns < field(messages, one, PUT_CALLED)
    return field(messages, one, BACK_BY) < FOREVER and by_ns < field(messages, one, BACK_FROM)


@register_jitable
def is_there(slot: int, since_ns: int, node: int, book: Leases) -> bool:
    """Whether the message was surely put before this time, or by this client, and surely nobody has held it since."""
    messages = book.messages
    if field(messages, slot, SENDER) != node and field(messages, slot, PUT_NS) >= since_ns:
        return False
    return not may_be_held(slot, since_ns, book)


@register_jitable
def available(own: int, row: LeaseRow, promise: Promise, book: Leases) -> int:
    """The slot of a message that surely was there as the receive began, and free until it returned; or -1. Where groups
    are hidden whole, nobody held any message of its group."""
    messages, found, begun_ns = book.messages, -1, field(book.users, own, CALLED_NS)
    for at in range(room(book.groups)):
        if not used(book.groups, at):
            continue
        serial = field(book.groups, at, FIRST)
        group = field(messages, find(messages, (serial,)), GROUP)
        if promise.back_order == 0 and not is_free(group, False, begun_ns, row.time_ns, book):
            continue
        best, since_ns = -1, 0
        while serial > 0:
            slot = find(messages, (serial,))
            serial = next_of(messages, slot, WAITING)
            if best >= 0 and field(messages, slot, BACK_FROM) > since_ns:
                break
            there = is_there(slot, begun_ns, row.node, book) and is_due(slot, row.node, promise, book)
            if there and comes_first(messages, slot, best):
                best, since_ns = slot, field(messages, slot, BACK_FROM)
        if best >= 0 and comes_first(messages, best, found):
            found = best
    return found
