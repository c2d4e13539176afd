"""Lists of messages, so that a check of leases need not look at all of them. WAITING: what may have to be handed out,
in the order of the rows since when it may. OUT: what may be held. ALIKE: what has one deduplication id. SHOWN: what was
handed out as set aside."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.step import TableState
from scatterproof.conformance.checks.tables import change, field, find, put, remove
from scatterproof.conformance.workqueue.lease_records import (
    ALIKE,
    CALLED_NS,
    DEDUP,
    ENDS_BY,
    EXTENDS,
    FIRST,
    GROUP,
    LAST,
    OUT,
    RECEIVE_ASIDE,
    SHOWN,
    WAITING,
    Leases,
    Promise,
    in_call,
    receiving,
)
from scatterproof.conformance.workqueue.records import FOREVER

_AHEAD, _BEHIND = 1, 2


@register_jitable
def enter(ends: TableState, key: tuple[int, int], messages: TableState, serial: int, which: int) -> None:
    """Put a message at the end of a list, unless it is in the list."""
    own = find(messages, (serial,))
    if field(messages, own, which) == 1:
        return
    at = find(ends, key)
    ahead = field(ends, at, LAST) if at >= 0 else 0
    change(messages, own, which, 1)
    change(messages, own, which + _AHEAD, ahead)
    change(messages, own, which + _BEHIND, 0)
    if ahead > 0:
        change(messages, find(messages, (ahead,)), which + _BEHIND, serial)
        change(ends, at, LAST, serial)
    else:
        put(ends, key, (serial, serial))


@register_jitable
def leave(ends: TableState, key: tuple[int, int], messages: TableState, serial: int, which: int) -> None:
    """Take a message out of a list; an empty list is removed."""
    own, at = find(messages, (serial,)), find(ends, key)
    if field(messages, own, which) == 0:
        return
    ahead, behind = field(messages, own, which + _AHEAD), field(messages, own, which + _BEHIND)
    change(messages, own, which, 0)
    if ahead > 0:
        change(messages, find(messages, (ahead,)), which + _BEHIND, behind)
    else:
        change(ends, at, FIRST, behind)
    if behind > 0:
        change(messages, find(messages, (behind,)), which + _AHEAD, ahead)
    else:
        change(ends, at, LAST, ahead)
    if field(ends, at, FIRST) == 0:
        remove(ends, at)


@register_jitable
def first_of_list(ends: TableState, key: tuple[int, int]) -> int:
    """The serial number of a list's first message; 0 for none."""
    at = find(ends, key)
    return field(ends, at, FIRST) if at >= 0 else 0


@register_jitable
def next_of(messages: TableState, slot: int, which: int) -> int:
    return field(messages, slot, which + _BEHIND)


@register_jitable
def id_of(messages: TableState, slot: int, by_group: int) -> tuple[int, int]:
    """The key of ALIKE: the deduplication id, ahead of it the group where ids belong to groups, else 0."""
    return (field(messages, slot, GROUP) if by_group == 1 else 0, field(messages, slot, DEDUP))


@register_jitable
def wait(serial: int, book: Leases) -> None:
    """From now on the message may have to be handed out."""
    group = field(book.messages, find(book.messages, (serial,)), GROUP)
    enter(book.groups, (group, 0), book.messages, serial, WAITING)


@register_jitable
def wait_no_more(serial: int, book: Leases) -> None:
    slot = find(book.messages, (serial,))
    if slot >= 0:
        leave(book.groups, (field(book.messages, slot, GROUP), 0), book.messages, serial, WAITING)


@register_jitable
def go_out(serial: int, book: Leases) -> None:
    """From now on it may be held."""
    group = field(book.messages, find(book.messages, (serial,)), GROUP)
    enter(book.outs, (group, 0), book.messages, serial, OUT)


@register_jitable
def may_be_held(slot: int, since_ns: int, book: Leases) -> bool:
    """Whether a message that was handed out may have been held at this time or later."""
    return field(book.messages, slot, EXTENDS) > 0 or field(book.messages, slot, ENDS_BY) >= since_ns


@register_jitable
def come_in(group: int, promise: Promise, book: Leases) -> None:
    """Take out of a group's list OUT what surely nobody held since the oldest receive in progress began: neither that
    one nor a later one can find it held."""
    since_ns = oldest_receive(promise, book)
    serial = first_of_list(book.outs, (group, 0))
    while serial > 0:
        slot = find(book.messages, (serial,))
        behind = next_of(book.messages, slot, OUT)
        if not may_be_held(slot, since_ns, book):
            leave(book.outs, (group, 0), book.messages, serial, OUT)
        serial = behind


@register_jitable
def oldest_receive(promise: Promise, book: Leases) -> int:
    """When the oldest receive in progress began, of either kind, in ns. There must be one."""
    found = FOREVER
    for node in range(promise.node_count):
        own = max(receiving(book.users, node), in_call(book.users, node, RECEIVE_ASIDE))
        if own >= 0:
            found = min(found, field(book.users, own, CALLED_NS))
    return found


@register_jitable
def forget(serial: int, by_group: int, book: Leases) -> None:
    """Remove a message whose put was refused."""
    slot = find(book.messages, (serial,))
    wait_no_more(serial, book)
    leave(book.outs, (field(book.messages, slot, GROUP), 0), book.messages, serial, OUT)
    leave(book.shown, (field(book.messages, slot, GROUP), 0), book.messages, serial, SHOWN)
    leave(book.ids, id_of(book.messages, slot, by_group), book.messages, serial, ALIKE)
    remove(book.messages, slot)
