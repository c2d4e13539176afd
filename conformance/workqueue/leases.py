"""What the checks of leases share: the messages, who holds each and for how long, and what clients have in hand.

A call takes effect at one moment of its box. A lease of L ns that was granted in the box [called, returned] ends in
[called + L, returned + L], give or take a margin: strictly below that it surely lasts, strictly above it surely has
ended. Rows `delivered` and `returned` are learnt when the next row comes, so that checks see what was known before
them. Memory: all messages, as a deleted one may come back. A row looks at lists only (`lease_lists`), bounded by what
waits ahead of a message, is held, or has its deduplication id.
"""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import CALLED, CRASHED, DELIVERED, RETURNED
from scatterproof.conformance.checks.step import Bins, Table, derive
from scatterproof.conformance.checks.tables import change, field, find, put, remove
from scatterproof.conformance.workqueue.lease_aside import is_alone, is_nothing, learn_of_aside, show_aside
from scatterproof.conformance.workqueue.lease_lists import (
    come_in,
    go_out,
    wait,
    wait_no_more,
)
from scatterproof.conformance.workqueue.lease_puts import learn_of_put, note_put
from scatterproof.conformance.workqueue.lease_records import (
    ASKED,
    BACK_BY,
    BACK_FROM,
    CALLED_NS,
    CANCEL,
    DELETE,
    DELETED_NS,
    ENDS_BY,
    ENDS_FROM,
    EXTEND,
    EXTENDS,
    GIVE_BACK,
    GOT,
    GRANT,
    GROUP,
    HAD_AT,
    HAD_NS,
    HAND_AT,
    HAND_BEHIND,
    HAND_FIRST,
    HAND_NS,
    HANDED,
    HOLDER,
    HOLDER_OP,
    IN_CALL,
    LEASE,
    MESSAGE_FIELDS,
    MOST,
    MOST_ENTRIES,
    OF,
    OLD_FROM,
    OPERATION,
    PUT,
    RECEIPT,
    RECEIVE,
    RECEIVE_ASIDE,
    ROLE_BY,
    ROLE_FROM,
    ROLE_WAS,
    SEEN,
    SERIAL,
    SHOWN_NS,
    TRIES,
    USER_FIELDS,
    USES,
    LeaseRow,
    Leases,
    Promise,
    earlier,
    entries,
    in_call,
    is_done,
    later,
    named,
    receiving,
)
from scatterproof.conformance.workqueue.records import FOREVER, NEVER, OK, REFUSED, UNKNOWN, add
from scatterproof.spec.trace import Kind

KINDS = (Kind.CALLED, Kind.RETURNED, Kind.DELIVERED, Kind.CRASHED)


@register_jitable
def note_called(row: LeaseRow, promise: Promise, book: Leases) -> None:
    """Note what a call may do from now on."""
    users, now = book.users, row.time_ns
    own = find(users, (row.node,))
    first, behind, role_from, role_by, had_ns, had_at = 0, 0, NEVER, NEVER, NEVER, -1
    if own >= 0:
        first, behind = field(users, own, HAND_FIRST), field(users, own, HAND_BEHIND)
        role_from, role_by = field(users, own, ROLE_FROM), field(users, own, ROLE_BY)
        had_ns, had_at = field(users, own, HAD_NS), field(users, own, HAD_AT)
    uses, role_was = 0, role_by
    if row.call == PUT:
        for at in range(entries(row.most)):
            note_put(at, row, promise, book)
    elif row.call in (DELETE, EXTEND, GIVE_BACK) and first < behind:
        uses = min(entries(row.most), behind - first) if row.call == DELETE else 1
        last = row.newest == 1
        for at in range(uses):
            use_from_hand(at, behind - 1 - at if last else first + at, row, promise, book)
        if row.call != EXTEND:
            first, behind = (first, behind - uses) if last else (first + uses, behind)
    elif row.call == CANCEL:
        role_from = NEVER
        for serial in range(first, behind):
            cancel_one(find(book.hands, (row.node, serial)), now, promise, book)
    if row.call == RECEIVE or (row.call == EXTEND and not is_of_aside(row.node, uses, book)):
        role_by = FOREVER
    head = (row.call, now, row.operation, row.lease_ns, row.most, 0, uses, first, behind)
    put(users, (row.node,), (*head, had_ns, had_at, role_from, role_by, role_was))


@register_jitable
def use_from_hand(at: int, number: int, row: LeaseRow, promise: Promise, book: Leases) -> None:
    """Note a call about the message at place `number` in hand. at: its place among those that the call is about."""
    messages, hands, call = book.messages, book.hands, row.call
    entry = find(hands, (row.node, number))
    serial, grant = field(hands, entry, OF), field(hands, entry, GRANT)
    if call != EXTEND:
        remove(hands, entry)
    one = find(messages, (serial,))
    if one < 0:
        put(book.uses, (row.node, at), (serial, grant, NEVER, grant))
        return
    seen, old_from = field(messages, one, HANDED), field(messages, one, ENDS_FROM)
    put(book.uses, (row.node, at), (serial, grant, old_from, seen))
    if call == EXTEND:
        add(messages, one, EXTENDS, 1)
        go_out(serial, book)
    elif call == DELETE:
        add(messages, one, ASKED, 1)
    if grant == seen:
        may_end = earlier(later(row.time_ns, row.lease_ns), promise.margin_ns) if call == EXTEND else NEVER
        change(messages, one, ENDS_FROM, min(old_from, may_end))
        if call == GIVE_BACK and promise.back_order == 2:
            move_behind(serial, row.time_ns, book)


@register_jitable
def is_of_aside(node: int, uses: int, book: Leases) -> bool:
    """Whether the message that a call is about was handed out as set aside: then the call makes nobody a consumer."""
    one = find(book.messages, (field(book.uses, find(book.uses, (node, 0)), OF),)) if uses > 0 else -1
    return one >= 0 and field(book.messages, one, SHOWN_NS) < FOREVER


@register_jitable
def move_behind(serial: int, now: int, book: Leases) -> None:
    """Note that the message may be behind the others of its group from now on."""
    slot = find(book.messages, (serial,))
    wait_no_more(serial, book)
    change(book.messages, slot, BACK_FROM, now)
    wait(serial, book)


@register_jitable
def cancel_one(entry: int, now: int, promise: Promise, book: Leases) -> None:
    """Note that a `cancel` may end the lease of a message in hand. entry: its slot in `hands`."""
    hands, messages = book.hands, book.messages
    serial = field(hands, entry, OF)
    one = find(messages, (serial,))
    if one < 0 or field(hands, entry, GRANT) != field(messages, one, HANDED):
        return
    change(hands, entry, OLD_FROM, field(messages, one, ENDS_FROM))
    change(messages, one, ENDS_FROM, NEVER)
    if promise.back_order == 2:
        move_behind(serial, now, book)


@register_jitable
def learn_returned(
    node: int, time_ns: int, outcome: int, done: int, position: int, promise: Promise, book: Leases
) -> None:
    """Learn from a return. done: see `is_done`."""
    users = book.users
    own = find(users, (node,))
    if own < 0:
        return
    call, uses = field(users, own, IN_CALL), field(users, own, USES)
    if call == PUT:
        for at in range(entries(field(users, own, MOST))):
            learn_of_put(at, node, time_ns, outcome, done, position, promise, book)
    elif call == RECEIVE and is_nothing(own, outcome, book) and is_alone(RECEIVE, node, promise, book):
        learn_of_aside(field(users, own, CALLED_NS), time_ns, promise, book)
    elif call in (RECEIVE, RECEIVE_ASIDE):
        book.loose[int(call == RECEIVE_ASIDE)] += int(outcome == UNKNOWN)
    elif call == CANCEL:
        learn_of_cancel(node, time_ns, outcome, book)
    for at in range(uses):
        entry = find(book.uses, (node, at))
        one = find(book.messages, (field(book.uses, entry, OF),))
        if one >= 0 and outcome != UNKNOWN:
            learn_of_message(at, node, one, time_ns, is_done(at, outcome, done, OK), promise, book)
        elif call == DELETE:
            wait_no_more(field(book.uses, entry, OF), book)
    learn_of_role(call, own, time_ns, outcome, promise, book)
    change(users, own, IN_CALL, 0)


@register_jitable
def learn_of_role(call: int, own: int, time_ns: int, outcome: int, promise: Promise, book: Leases) -> None:
    """Learn until when a client may be the one consumer. A call of unknown outcome may make it that at any later
    moment."""
    users = book.users
    was = field(users, own, ROLE_WAS)
    if field(users, own, ROLE_BY) < FOREVER and call != CANCEL:
        return
    if call in (RECEIVE, EXTEND) and outcome == OK:
        by_ns = later(later(time_ns, field(users, own, LEASE)), promise.margin_ns)
        change(users, own, ROLE_BY, max(was, by_ns))
    elif outcome == REFUSED:
        change(users, own, ROLE_BY, was)
    elif outcome == OK and was < FOREVER:
        change(users, own, ROLE_BY, min(was, time_ns))


@register_jitable
def learn_of_message(at: int, node: int, one: int, time_ns: int, done: bool, promise: Promise, book: Leases) -> None:
    """Learn what a call did to the message at place `at` of those that it is about. done: carried out, not refused."""
    messages, users, uses = book.messages, book.users, book.uses
    own, entry = find(users, (node,)), find(uses, (node, at))
    call, called_ns, lease_ns = field(users, own, IN_CALL), field(users, own, CALLED_NS), field(users, own, LEASE)
    serial, grant = field(uses, entry, OF), field(uses, entry, GRANT)
    seen, old_from, handed = field(uses, entry, SEEN), field(uses, entry, OLD_FROM), field(messages, one, HANDED)
    # It has no effect while somebody else holds the message, and surely takes effect while its own lease lasts.
    fenced = seen == handed and field(messages, one, ENDS_FROM) > time_ns
    lasted = grant == handed and old_from > time_ns
    if call == EXTEND:
        add(messages, one, EXTENDS, -1)
    if not done:
        if grant == handed:
            change(messages, one, ENDS_FROM, old_from)
        if call == DELETE:
            add(messages, one, ASKED, -1)
    elif call == EXTEND:
        by_ns = later(later(time_ns, lease_ns), promise.margin_ns)
        if lasted:
            from_ns = earlier(later(called_ns, lease_ns), promise.margin_ns)
            change(messages, one, ENDS_FROM, from_ns)
            change(messages, one, ENDS_BY, by_ns)
            if field(messages, one, SHOWN_NS) == FOREVER:
                change(users, own, ROLE_FROM, max(from_ns, field(users, own, ROLE_FROM)))
        elif not fenced:
            change(messages, one, ENDS_BY, max(by_ns, field(messages, one, ENDS_BY)))
    elif lasted:
        change(messages, one, ENDS_BY, time_ns)
        if call == DELETE:
            change(messages, one, DELETED_NS, min(time_ns, field(messages, one, DELETED_NS)))
        else:
            change(messages, one, BACK_BY, time_ns)
    elif fenced and call == DELETE:
        add(messages, one, ASKED, -1)
    if call == DELETE and done and not fenced:
        wait_no_more(serial, book)


@register_jitable
def learn_of_cancel(node: int, time_ns: int, outcome: int, book: Leases) -> None:
    """Learn from a `cancel`: its client has nothing in hand. Where it returned ok, all its leases have ended; where it
    was refused, they last."""
    messages, hands, users = book.messages, book.hands, book.users
    own = find(users, (node,))
    for number in range(field(users, own, HAND_FIRST), field(users, own, HAND_BEHIND)):
        entry = find(hands, (node, number))
        one = find(messages, (field(hands, entry, OF),))
        if one < 0 or field(hands, entry, GRANT) != field(messages, one, HANDED):
            continue
        if outcome == REFUSED:
            change(messages, one, ENDS_FROM, field(hands, entry, OLD_FROM))
        elif outcome == OK:
            change(messages, one, ENDS_BY, min(time_ns, field(messages, one, ENDS_BY)))
            if field(hands, entry, OLD_FROM) > time_ns:
                change(messages, one, BACK_BY, time_ns)
    drop_hand(node, book)


@register_jitable
def drop_hand(node: int, book: Leases) -> None:
    users = book.users
    own = find(users, (node,))
    for number in range(field(users, own, HAND_FIRST), field(users, own, HAND_BEHIND)):
        remove(book.hands, find(book.hands, (node, number)))
    change(users, own, HAND_FIRST, field(users, own, HAND_BEHIND))


@register_jitable
def learn_delivered(
    node: int, time_ns: int, name: tuple[int, int, int], receipt: int, position: int, promise: Promise, book: Leases
) -> None:
    """Learn that a message is handed out to a client in a receive. name: sender, number and entry."""
    messages, users, margin_ns = book.messages, book.users, promise.margin_ns
    own, one = receiving(users, node), named(name[0], name[1], name[2], book)
    is_aside = own < 0
    own = in_call(users, node, RECEIVE_ASIDE) if is_aside else own
    if own < 0:
        return
    grant, called_ns, lease_ns = 0, field(users, own, CALLED_NS), field(users, own, LEASE)
    from_ns, serial = earlier(later(called_ns, lease_ns), margin_ns), 0
    if one >= 0:
        come_in(field(messages, one, GROUP), promise, book)
        grant = field(messages, one, HANDED) + 1
        by_ns = later(later(time_ns, lease_ns), margin_ns)
        # Of two receives that overlap either may have come first.
        if field(messages, one, HAND_NS) >= called_ns:
            by_ns = max(by_ns, field(messages, one, ENDS_BY))
        change(messages, one, HANDED, grant)
        add(messages, one, TRIES, int(not is_aside))
        change(messages, one, RECEIPT, receipt)
        change(messages, one, HOLDER, node)
        change(messages, one, HOLDER_OP, field(users, own, OPERATION))
        change(messages, one, HAND_NS, time_ns)
        change(messages, one, HAND_AT, position)
        change(messages, one, ENDS_FROM, from_ns)
        change(messages, one, ENDS_BY, by_ns)
        change(messages, one, BACK_BY, FOREVER)
        serial = field(book.names, find(book.names, name), SERIAL)
        go_out(serial, book)
        if is_aside:
            show_aside(one, serial, time_ns, book)
    behind = field(users, own, HAND_BEHIND)
    put(book.hands, (node, behind), (serial, grant, NEVER))
    change(users, own, HAND_BEHIND, behind + 1)
    add(users, own, GOT, 1)
    if is_aside:
        return
    if field(users, own, ROLE_FROM) <= time_ns:
        change(users, own, HAD_NS, time_ns)
        change(users, own, HAD_AT, position)
    change(users, own, ROLE_FROM, max(from_ns, field(users, own, ROLE_FROM)))


@register_jitable
def note_crash(node: int, promise: Promise, book: Leases) -> None:
    """A client that crashes in a call never learns its outcome, and begins anew with nothing in hand. The store decides
    whether it is still a consumer."""
    users = book.users
    own = find(users, (node,))
    if own < 0:
        return
    learn_returned(node, 0, UNKNOWN, 0, -1, promise, book)
    change(users, own, ROLE_FROM, NEVER)
    drop_hand(node, book)


@derive(
    kinds=KINDS,
    names=Table(3, 2, at_once=MOST_ENTRIES),
    messages=Table(1, MESSAGE_FIELDS, at_once=MOST_ENTRIES),
    groups=Table(2, 2),
    outs=Table(2, 2, at_once=2),
    ids=Table(2, 2, at_once=MOST_ENTRIES),
    shown=Table(2, 2),
    hands=Table(2, 3),
    uses=Table(2, 4, at_once=MOST_ENTRIES),
    users=Table(1, USER_FIELDS),
    loose=Bins(2),
    made=Bins(1),
    heard=Bins(10),
)
def leases(row: LeaseRow, promise: Promise, book: Leases) -> None:
    heard = book.heard
    if heard[0] == DELIVERED:
        learn_delivered(heard[1], heard[2], (heard[4], heard[5], heard[6]), heard[7], heard[3], promise, book)
    elif heard[0] == RETURNED:
        learn_returned(heard[1], heard[2], heard[8], heard[9], heard[3], promise, book)
    heard[0] = -1
    if row.kind == CALLED:
        note_called(row, promise, book)
    elif row.kind in (DELIVERED, RETURNED):
        heard[0], heard[1], heard[2], heard[3] = row.kind, row.node, row.time_ns, row.position
        heard[4], heard[5], heard[6], heard[7] = row.sender, row.number, max(1, row.message), row.receipt
        heard[8], heard[9] = row.outcome, row.carried
    elif row.link < 0 and row.kind == CRASHED:
        note_crash(row.node, promise, book)
