"""What a queue with leases sets aside: Q-DEADLETTER."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import DELIVERED
from scatterproof.conformance.checks.step import HOLDS, SILENT, Outcome, violated
from scatterproof.conformance.checks.tables import field, find
from scatterproof.conformance.workqueue.lease_aside import is_alone, is_empty, is_owed, left_aside, unheard
from scatterproof.conformance.workqueue.lease_lists import first_of_list, next_of
from scatterproof.conformance.workqueue.lease_order import check_of_leases, holds_now
from scatterproof.conformance.workqueue.lease_records import (
    CALLED_NS,
    GROUP,
    HAND_AT,
    NUMBER,
    PUT_AT,
    RECEIVE,
    RECEIVE_ASIDE,
    SHOWN,
    SHOWN_NS,
    TRIES,
    LeaseRow,
    Leases,
    Promise,
    comes_first,
    in_call,
    is_before,
    named,
    receiving,
)
from scatterproof.conformance.workqueue.records import FOREVER


@check_of_leases(
    "Q-DEADLETTER",
    "message {found} of {sender} is handed out once more, and was {expected} times, as often as it may be, or as set "
    "aside",
    "message {found} of {sender} is handed out as set aside, and was handed out {expected} times at the most before",
    "messages {found} and {expected} of one group, set aside, are handed out in another order than they were put in",
    "nothing is handed out of what is set aside, and message {expected} is there",
)
def set_aside_in_order(row: LeaseRow, promise: Promise, book: Leases) -> Outcome:
    messages, own = book.messages, in_call(book.users, row.node, RECEIVE_ASIDE)
    if is_empty(own, row, book):
        if not is_alone(RECEIVE_ASIDE, row.node, promise, book):
            return SILENT
        left = left_aside(own, row.time_ns, book)
        return HOLDS if left < 0 else violated(3, field(messages, left, NUMBER), 0, field(messages, left, PUT_AT))
    one = named(row.sender, row.number, row.message, book)
    if row.kind != DELIVERED or one < 0:
        return SILENT
    tries = field(messages, one, TRIES)
    if own < 0:
        own = receiving(book.users, row.node)
        was = own >= 0 and field(messages, one, SHOWN_NS) < field(book.users, own, CALLED_NS)
        if was or (own >= 0 and tries >= promise.most_tries):
            return violated(0, tries, row.number, field(messages, one, HAND_AT))
        return SILENT
    is_first = field(messages, one, SHOWN_NS) == FOREVER
    most = tries + unheard(RECEIVE, row.node, promise, book)
    if is_first and most < promise.most_tries:
        return violated(1, most, row.number, field(messages, one, HAND_AT))
    other = out_of_order(one, is_first, own, row, book)
    return (
        HOLDS if other < 0 else violated(2, field(messages, other, NUMBER), row.number, field(messages, other, HAND_AT))
    )


@register_jitable
def out_of_order(one: int, is_first: bool, own: int, row: LeaseRow, book: Leases) -> int:
    """The slot of a set-aside message of the group that is out of order with this one, or -1: one put ahead of it, not
    done and left out of this receive; or one put behind it that came earlier, or comes in the same receive."""
    messages, found, begun_ns = book.messages, -1, field(book.users, own, CALLED_NS)
    serial = first_of_list(book.shown, (field(messages, one, GROUP), 0))
    while serial > 0:
        slot = find(messages, (serial,))
        serial = next_of(messages, slot, SHOWN)
        now = holds_now(slot, own, row, book)
        late = is_first and is_before(messages, one, slot) and (now or field(messages, slot, SHOWN_NS) < begun_ns)
        left = is_before(messages, slot, one) and is_owed(slot, book) and not now
        if (late or left) and comes_first(messages, slot, found):
            found = slot
    return found
