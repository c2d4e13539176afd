"""What is known of messages from their puts."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.tables import change, field, find, put
from scatterproof.conformance.workqueue.lease_lists import (
    enter,
    first_of_list,
    forget,
    id_of,
    next_of,
    wait,
    wait_no_more,
)
from scatterproof.conformance.workqueue.lease_records import (
    ALIKE,
    MOST,
    OPERATION,
    PUT_AT,
    PUT_CALLED,
    PUT_NS,
    SERIAL,
    SURE,
    LeaseRow,
    Leases,
    Promise,
    is_done,
    later,
)
from scatterproof.conformance.workqueue.records import FOREVER, NEVER, OK, UNKNOWN

# A message that is put: PUT_AT to DELETED_NS, BACK_BY to TRIES, and its places in lists.
_NEVER_HANDED_OUT = (-1, 0, 0, -1, -1, 0, NEVER, -1, NEVER, NEVER, 0, 0, FOREVER)
_NOT_BACK = (FOREVER, FOREVER, FOREVER, 0)
_IN_NO_LIST = (0,) * 12


@register_jitable
def note_put(at: int, row: LeaseRow, promise: Promise, book: Leases) -> None:
    """Note entry `at`, from 0, of a put that is called."""
    book.made[0] += 1
    serial, now = book.made[0], row.time_ns
    dedup = row.dedup + at if 0 < row.dedup <= FOREVER - at else 0  # there is no greater number
    name = (row.node, row.operation, 1 + at)
    put(book.names, name, (serial, 0))
    body = row.digest if at == 0 else -1  # a call names one, and its entries may differ
    head = (*name, row.group, dedup, now, FOREVER)
    put(book.messages, (serial,), (*head, *_NEVER_HANDED_OUT, now, *_NOT_BACK, body, *_IN_NO_LIST))
    wait(serial, book)
    if dedup > 0:
        slot = find(book.messages, (serial,))
        enter(book.ids, id_of(book.messages, slot, promise.by_group), book.messages, serial, ALIKE)


@register_jitable
def learn_of_put(
    at: int, node: int, time_ns: int, outcome: int, done: int, position: int, promise: Promise, book: Leases
) -> None:
    """Learn how entry `at`, from 0, of a put ended. done: see `is_done`."""
    messages, users = book.messages, book.users
    own = find(users, (node,))
    name = find(book.names, (node, field(users, own, OPERATION), 1 + at))
    serial = field(book.names, name, SERIAL)
    one = find(messages, (serial,))
    if outcome == UNKNOWN:
        wait_no_more(serial, book)
    elif is_done(at, outcome, done, OK):
        change(messages, one, PUT_NS, time_ns)
        change(messages, one, PUT_AT, position)
        change(messages, one, SURE, int(is_first(one, promise, book)))
        if field(messages, one, SURE) == 0:
            wait_no_more(serial, book)
    else:
        forget(serial, promise.by_group, book)
        put(book.names, (node, field(users, own, OPERATION), 1 + at), (0, int(field(users, own, MOST) > 1)))


@register_jitable
def is_first(one: int, promise: Promise, book: Leases) -> bool:
    """Whether the message, whose put has just returned ok, is surely no copy: the windows of all others with its id
    were surely over."""
    messages = book.messages
    serial = first_of_list(book.ids, id_of(messages, one, promise.by_group))
    while serial > 0:
        other = find(messages, (serial,))
        over_ns = later(later(field(messages, other, PUT_NS), promise.window_ns), promise.margin_ns)
        if other != one and over_ns >= field(messages, one, PUT_CALLED):
            return False
        serial = next_of(messages, other, ALIKE)
    return True
