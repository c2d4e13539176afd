"""What the checks of leases share: which messages there are, who holds each and for how long, and what clients have in
hand.

A call takes effect at one moment of its box. A lease of L ns that was granted in the box [called, returned] ends in
[called + L, returned + L], a margin more or less: strictly below it surely lasts, strictly above it surely does not.
Rows `delivered` and `returned` are learnt when the next row comes, so that checks see what was known before them.
Memory: all messages, for a deleted one may come back.
"""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import CALLED, CRASHED, DELIVERED, RETURNED
from scatterproof.conformance.checks.step import Bins, State, Table, TableState, derive
from scatterproof.conformance.checks.tables import change, field, find, put, remove, room, used
from scatterproof.conformance.workqueue.lease_records import (
    ASKED,
    BEHIND,
    CALLED_NS,
    DELETE,
    DELETED_NS,
    ENDS_BY,
    ENDS_FROM,
    EXTEND,
    EXTENDS,
    FIRST,
    GIVE_BACK,
    GOT,
    GRANT,
    HAND_AT,
    HAND_GRANT,
    HAND_NS,
    HAND_NUMBER,
    HAND_SENDER,
    HANDED,
    HOLDER,
    HOLDER_OP,
    IN_CALL,
    LEASE,
    MESSAGE_FIELDS,
    OF_NUMBER,
    OF_SENDER,
    OLD_FROM,
    OPERATION,
    PUT,
    PUT_AT,
    PUT_CALLED,
    PUT_NS,
    RECEIPT,
    RECEIVE,
    SEEN,
    SURE,
    USER_FIELDS,
    Leases,
    earlier,
    later,
    receiving,
    same_id,
)
from scatterproof.conformance.workqueue.records import FOREVER, NEVER, OK, REFUSED, UNKNOWN, add
from scatterproof.spec.trace import Kind

KINDS = (Kind.CALLED, Kind.RETURNED, Kind.DELIVERED, Kind.CRASHED)


@register_jitable
def note_called(
    node: int,
    time_ns: int,
    call: int,
    operation: int,
    told: tuple[int, int, int, int, int],
    margin_ns: int,
    book: Leases,
) -> None:
    """What a call may do from now on. told: group, dedup, most, newest, lease_ns."""
    messages, _, users, _ = book
    group, dedup, most, newest, lease_ns = told
    own = find(users, (node,))
    first, behind = (field(users, own, FIRST), field(users, own, BEHIND)) if own >= 0 else (0, 0)
    about = (-1, -1, 0, 0, NEVER)
    if call == PUT and find(messages, (node, operation)) < 0:
        head = (node, operation, group, dedup, time_ns, FOREVER, -1, 0, 0, -1, -1, 0)
        put(messages, (node, operation), (*head, NEVER, -1, NEVER, NEVER, 0, 0, FOREVER))
    elif call in (DELETE, EXTEND, GIVE_BACK) and first < behind:
        last = newest == 1
        about = use_from_hand(node, behind - 1 if last else first, time_ns, call, lease_ns, margin_ns, book)
        if call != EXTEND:
            first, behind = first + int(not last), behind - int(last)
    put(users, (node,), (call, time_ns, operation, lease_ns, most, 0, *about, first, behind))


@register_jitable
def use_from_hand(
    node: int, serial: int, time_ns: int, call: int, lease_ns: int, margin_ns: int, book: Leases
) -> tuple[int, int, int, int, int]:
    """A call about the message in hand with this number: OF_SENDER, OF_NUMBER, GRANT, SEEN, OLD_FROM."""
    messages, hands, _, _ = book
    entry = find(hands, (node, serial))
    sender, number = field(hands, entry, HAND_SENDER), field(hands, entry, HAND_NUMBER)
    grant = field(hands, entry, HAND_GRANT)
    if call != EXTEND:
        remove(hands, entry)
    one = find(messages, (sender, number))
    if one < 0:
        return -1, -1, 0, 0, NEVER
    seen, old_from = field(messages, one, HANDED), field(messages, one, ENDS_FROM)
    if call == EXTEND:
        add(messages, one, EXTENDS, 1)
    elif call == DELETE:
        add(messages, one, ASKED, 1)
    if grant == seen:
        may_end = earlier(later(time_ns, lease_ns), margin_ns) if call == EXTEND else NEVER
        change(messages, one, ENDS_FROM, min(old_from, may_end))
    return sender, number, grant, seen, old_from


@register_jitable
def learn_returned(
    node: int, time_ns: int, outcome: int, position: int, window_ns: int, by_group: int, margin_ns: int, book: Leases
) -> None:
    """A call is over."""
    messages, _, users, loose = book
    own = find(users, (node,))
    if own < 0 or field(users, own, IN_CALL) == 0:
        return
    call = field(users, own, IN_CALL)
    change(users, own, IN_CALL, 0)
    if call == PUT:
        one = find(messages, (node, field(users, own, OPERATION)))
        if one >= 0 and outcome == REFUSED:
            remove(messages, one)
        elif one >= 0 and outcome == OK:
            change(messages, one, PUT_NS, time_ns)
            change(messages, one, PUT_AT, position)
            change(messages, one, SURE, int(is_first(one, window_ns, by_group, margin_ns, messages)))
    elif call == RECEIVE:
        loose[0] += int(outcome == UNKNOWN)
    elif outcome != UNKNOWN:
        one = find(messages, (field(users, own, OF_SENDER), field(users, own, OF_NUMBER)))
        if one >= 0:
            learn_of_message(call, own, one, time_ns, outcome, margin_ns, messages, users)


@register_jitable
def is_first(one: int, window_ns: int, by_group: int, margin_ns: int, messages: TableState) -> bool:
    """Whether the message, whose put has just returned ok, is surely no copy: of all others with its id the window was
    surely over."""
    for other in range(room(messages)):
        if other == one or not used(messages, other) or not same_id(messages, one, other, by_group):
            continue
        over_ns = later(later(field(messages, other, PUT_NS), window_ns), margin_ns)
        if over_ns >= field(messages, one, PUT_CALLED):
            return False
    return True


@register_jitable
def learn_of_message(
    call: int,
    own: int,
    one: int,
    time_ns: int,
    outcome: int,
    margin_ns: int,
    messages: TableState,
    users: TableState,
) -> None:
    """What a call about a message did, that returned ok or was refused."""
    grant, seen, handed = field(users, own, GRANT), field(users, own, SEEN), field(messages, one, HANDED)
    called_ns, lease_ns = field(users, own, CALLED_NS), field(users, own, LEASE)
    old_from = field(users, own, OLD_FROM)
    # It has no effect while somebody else holds the message, and surely takes effect while its own lease lasts.
    fenced = grant < seen and seen == handed and field(messages, one, ENDS_FROM) > time_ns
    lasted = grant == handed and old_from > time_ns
    if call == EXTEND:
        add(messages, one, EXTENDS, -1)
    if outcome == REFUSED:
        if grant == handed:
            change(messages, one, ENDS_FROM, old_from)
        if call == DELETE:
            add(messages, one, ASKED, -1)
    elif call == EXTEND:
        by_ns = later(later(time_ns, lease_ns), margin_ns)
        if lasted:
            change(messages, one, ENDS_FROM, earlier(later(called_ns, lease_ns), margin_ns))
            change(messages, one, ENDS_BY, by_ns)
        elif not fenced:
            change(messages, one, ENDS_BY, max(by_ns, field(messages, one, ENDS_BY)))
    elif lasted:
        change(messages, one, ENDS_BY, min(time_ns, field(messages, one, ENDS_BY)))
        if call == DELETE:
            change(messages, one, DELETED_NS, min(time_ns, field(messages, one, DELETED_NS)))
    elif fenced and call == DELETE:
        add(messages, one, ASKED, -1)


@register_jitable
def learn_delivered(
    node: int, time_ns: int, sender: int, number: int, receipt: int, position: int, margin_ns: int, book: Leases
) -> None:
    """A message is handed out to a client that is in a receive."""
    messages, hands, users, _ = book
    own, one = receiving(users, node), find(messages, (sender, number))
    if own < 0:
        return
    grant, called_ns, lease_ns = 0, field(users, own, CALLED_NS), field(users, own, LEASE)
    if one >= 0:
        grant = field(messages, one, HANDED) + 1
        by_ns = later(later(time_ns, lease_ns), margin_ns)
        # Of two receives that overlap either may have come first.
        if field(messages, one, HAND_NS) >= called_ns:
            by_ns = max(by_ns, field(messages, one, ENDS_BY))
        change(messages, one, HANDED, grant)
        change(messages, one, RECEIPT, receipt)
        change(messages, one, HOLDER, node)
        change(messages, one, HOLDER_OP, field(users, own, OPERATION))
        change(messages, one, HAND_NS, time_ns)
        change(messages, one, HAND_AT, position)
        change(messages, one, ENDS_FROM, earlier(later(called_ns, lease_ns), margin_ns))
        change(messages, one, ENDS_BY, by_ns)
    behind = field(users, own, BEHIND)
    put(hands, (node, behind), (sender, number, grant))
    change(users, own, BEHIND, behind + 1)
    add(users, own, GOT, 1)


@register_jitable
def note_crash(node: int, book: Leases) -> None:
    """A client that crashes in a call never hears of it, and has nothing in hand when it begins anew."""
    _, hands, users, loose = book
    own = find(users, (node,))
    if own < 0:
        return
    loose[0] += int(field(users, own, IN_CALL) == RECEIVE)
    change(users, own, IN_CALL, 0)
    for serial in range(field(users, own, FIRST), field(users, own, BEHIND)):
        remove(hands, find(hands, (node, serial)))
    change(users, own, FIRST, 0)
    change(users, own, BEHIND, 0)


# messages, hands, users, loose: as in `lease_records`. last: the last row `delivered` or `returned`, where it is to be
# learnt: its kind, then its columns.
@derive(
    kinds=KINDS,
    messages=Table(2, MESSAGE_FIELDS),
    hands=Table(2, 3),
    users=Table(1, USER_FIELDS),
    loose=Bins(1),
    last=Bins(8),
)
def leases(
    position: int,
    kind: int,
    node: int,
    link: int,
    time_ns: int,
    sender: int,
    number: int,
    call: int,
    operation: int,
    outcome: int,
    group: int,
    receipt: int,
    dedup: int,
    most: int,
    newest: int,
    lease_ns: int,
    window_ns: int,
    by_group: int,
    margin_ns: int,
    messages: TableState,
    hands: TableState,
    users: TableState,
    loose: State,
    last: State,
) -> None:
    book = (messages, hands, users, loose)
    if last[0] == DELIVERED:
        learn_delivered(last[1], last[2], last[4], last[5], last[6], last[3], margin_ns, book)
    elif last[0] == RETURNED:
        learn_returned(last[1], last[2], last[7], last[3], window_ns, by_group, margin_ns, book)
    last[0] = -1
    if kind == CALLED:
        note_called(node, time_ns, call, operation, (group, dedup, most, newest, lease_ns), margin_ns, book)
    elif kind in (DELIVERED, RETURNED):
        last[0], last[1], last[2], last[3] = kind, node, time_ns, position
        last[4], last[5], last[6], last[7] = sender, number, receipt, outcome
    elif link < 0 and kind == CRASHED:
        note_crash(node, book)
