"""What is known of messages that are set aside, and of receives that are handed nothing."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import RETURNED
from scatterproof.conformance.checks.tables import change, field, find, room, used
from scatterproof.conformance.workqueue.lease_lists import enter, first_of_list, may_be_held, next_of
from scatterproof.conformance.workqueue.lease_records import (
    ASIDE_NS,
    ASKED,
    CALLED_NS,
    ENDS_FROM,
    FIRST,
    GOT,
    GROUP,
    MOST,
    OUT,
    RECEIVE,
    RECEIVE_ASIDE,
    SHOWN,
    SHOWN_NS,
    SURE,
    TRIES,
    WAITING,
    LeaseRow,
    Leases,
    Promise,
    comes_first,
    in_call,
)
from scatterproof.conformance.workqueue.records import FOREVER, OK


@register_jitable
def is_alone(call: int, node: int, promise: Promise, book: Leases) -> bool:
    """Whether surely no other receive of this kind got what is there: none is going on, or of unknown outcome."""
    return unheard(call, node, promise, book) == 0


@register_jitable
def unheard(call: int, node: int, promise: Promise, book: Leases) -> int:
    """How many receives of this kind may get messages unseen: of unknown outcome, or with other clients in them."""
    found = book.loose[int(call == RECEIVE_ASIDE)]
    for other in range(promise.node_count):
        found += int(other != node and in_call(book.users, other, call) >= 0)
    return found


@register_jitable
def is_nothing(own: int, outcome: int, book: Leases) -> bool:
    """Whether a receive that asked for messages returns ok without one."""
    return outcome == OK and field(book.users, own, MOST) >= 1 and field(book.users, own, GOT) == 0


@register_jitable
def is_empty(own: int, row: LeaseRow, book: Leases) -> bool:
    """As `is_nothing`, for a row. own: the slot of its client, which is in a receive; else -1."""
    return row.kind == RETURNED and own >= 0 and is_nothing(own, row.outcome, book)


@register_jitable
def is_free(group: int, aside: bool, since_ns: int, until_ns: int, book: Leases) -> bool:
    """Whether, from one time to the other, surely nobody held a message of the group that hides set-aside ones (aside)
    or the others (not aside). A message that surely is of one kind hides none of the other."""
    serial = first_of_list(book.outs, (group, 0))
    while serial > 0:
        slot = find(book.messages, (serial,))
        shown_ns = field(book.messages, slot, SHOWN_NS)
        if aside:
            hides = shown_ns < FOREVER or field(book.messages, slot, ENDS_FROM) <= until_ns
        else:
            hides = shown_ns >= since_ns
        if hides and may_be_held(slot, since_ns, book):
            return False
        serial = next_of(book.messages, slot, OUT)
    return True


@register_jitable
def is_owed(slot: int, book: Leases) -> bool:
    """Whether the message was surely taken, is no copy, and no call may have deleted it."""
    return field(book.messages, slot, SURE) == 1 and field(book.messages, slot, ASKED) == 0


@register_jitable
def is_due(slot: int, node: int, promise: Promise, book: Leases) -> bool:
    """Whether it is owed and surely not set aside: never handed out as that, and less often than it may be."""
    if field(book.messages, slot, SHOWN_NS) < FOREVER:
        return False
    if promise.most_tries > 0:
        tries = field(book.messages, slot, TRIES) + unheard(RECEIVE, node, promise, book)
        if tries >= promise.most_tries:
            return False
    return is_owed(slot, book)


@register_jitable
def show_aside(slot: int, serial: int, time_ns: int, book: Leases) -> None:
    """Note that a message is handed out as set aside."""
    messages = book.messages
    if field(messages, slot, SHOWN_NS) == FOREVER:
        change(messages, slot, ASIDE_NS, min(time_ns, field(messages, slot, ASIDE_NS)))
        change(messages, slot, SHOWN_NS, time_ns)
        enter(book.shown, (field(messages, slot, GROUP), 0), messages, serial, SHOWN)


@register_jitable
def learn_of_aside(since_ns: int, time_ns: int, promise: Promise, book: Leases) -> None:
    """Learn from a receive that began at since_ns, was alone and got nothing: messages that nothing hid, and that were
    handed out as often as they may be, are set aside now."""
    messages = book.messages
    for at in range(room(book.groups) if promise.most_tries > 0 and promise.one_consumer == 0 else 0):
        serial = field(book.groups, at, FIRST) if used(book.groups, at) else 0
        if serial == 0:
            continue
        if not is_free(field(messages, find(messages, (serial,)), GROUP), False, since_ns, time_ns, book):
            continue
        while serial > 0:
            slot = find(messages, (serial,))
            serial = next_of(messages, slot, WAITING)
            if is_owed(slot, book) and field(messages, slot, TRIES) >= promise.most_tries:
                change(messages, slot, ASIDE_NS, min(time_ns, field(messages, slot, ASIDE_NS)))


@register_jitable
def left_aside(own: int, until_ns: int, book: Leases) -> int:
    """The slot of a message that was set aside before this receive began, and that none hid until its return; or -1."""
    messages, found, begun_ns = book.messages, -1, field(book.users, own, CALLED_NS)
    for at in range(room(book.groups)):
        serial = field(book.groups, at, FIRST) if used(book.groups, at) else 0
        if serial == 0:
            continue
        if not is_free(field(messages, find(messages, (serial,)), GROUP), True, begun_ns, until_ns, book):
            continue
        while serial > 0:
            slot = find(messages, (serial,))
            serial = next_of(messages, slot, WAITING)
            there = is_owed(slot, book) and field(messages, slot, ASIDE_NS) < begun_ns
            if there and comes_first(messages, slot, found):
                found = slot
    return found
