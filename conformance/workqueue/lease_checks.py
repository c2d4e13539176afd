"""What a queue with leases hands out, and what receipts and deduplication ids do: Q-LEASE, Q-LEASE-ALL, Q-RECEIPT,
Q-DEDUP."""

from __future__ import annotations

from collections.abc import Callable

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import DELIVERED, RETURNED
from scatterproof.conformance.checks.step import HOLDS, SILENT, Check, Outcome, State, TableState, check, violated
from scatterproof.conformance.checks.tables import field, find, room, used
from scatterproof.conformance.workqueue.lease_records import (
    ASKED,
    CALLED_NS,
    DEDUP,
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
    HAND_AT,
    HAND_NS,
    HANDED,
    HOLDER,
    HOLDER_OP,
    IN_CALL,
    LEASE,
    MOST,
    NUMBER,
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
    SENDER,
    SURE,
    comes_first,
    earlier,
    is_before,
    later,
    receiving,
    same_id,
)
from scatterproof.conformance.workqueue.leases import leases
from scatterproof.conformance.workqueue.records import OK, REFUSED, UNKNOWN
from scatterproof.spec.trace import Kind, Order


def check_of_leases(clause: str, *ways: str) -> Callable[[Callable[..., Outcome]], Check]:
    """As `check`, of rows `delivered` and `returned`; the step reads what is known before its row. Boxes of different
    clients are compared by their times, so that no more than the order of links is needed."""
    return check(clause, kinds=(Kind.DELIVERED, Kind.RETURNED), order=Order.LINK, ways=ways, derived=(leases,))


@check_of_leases(
    "Q-LEASE",
    "message {found} of {sender} is handed out while {expected_node} holds a message of its group",
    "message {found} of {sender} is handed out, and message {expected}, which was put into its group before it, is not",
)
def returns_to_its_place(
    kind: int,
    node: int,
    time_ns: int,
    sender: int,
    number: int,
    margin_ns: int,
    messages: TableState,
    users: TableState,
) -> Outcome:
    own, one = receiving(users, node), find(messages, (sender, number))
    if kind != DELIVERED or own < 0 or one < 0:
        return SILENT
    operation, begun_ns = field(users, own, OPERATION), field(users, own, CALLED_NS)
    until_ns = max(begun_ns, earlier(later(begun_ns, field(users, own, LEASE)), margin_ns))
    held, ahead, at_stake = -1, -1, field(messages, one, HANDED) > 0
    for other in range(room(messages)):
        if not used(messages, other) or field(messages, other, GROUP) != field(messages, one, GROUP):
            continue
        at_stake = at_stake or other != one
        handed = field(messages, other, HANDED) > 0
        if handed and field(messages, other, HOLDER) == node and field(messages, other, HOLDER_OP) == operation:
            if other == one:  # twice in one answer
                held = other
        elif handed and field(messages, other, ENDS_FROM) > time_ns and field(messages, other, HAND_NS) < until_ns:
            # Of two receives that overlap either may come first: then the lease of this one lasts as the other ends.
            held = other if comes_first(messages, other, held) else held
        elif other != one and is_due(messages, other) and is_before(messages, other, one):
            ahead = other if comes_first(messages, other, ahead) else ahead
    if held >= 0:
        return violated(0, field(messages, held, HOLDER), number, field(messages, held, HAND_AT))
    if ahead >= 0:
        return violated(1, field(messages, ahead, NUMBER), number, field(messages, ahead, PUT_AT))
    return HOLDS if at_stake else SILENT


@register_jitable
def is_due(messages: TableState, slot: int) -> bool:
    """Whether the message was surely taken, is no copy, and nobody has called what may delete it."""
    return field(messages, slot, SURE) == 1 and field(messages, slot, ASKED) == 0


@check_of_leases(
    "Q-LEASE-ALL", "nothing is handed out, and message {expected} was there, of whose group nobody held any"
)
def available_is_handed_out(
    kind: int, node: int, outcome: int, node_count: int, messages: TableState, users: TableState, loose: State
) -> Outcome:
    own = receiving(users, node)
    if kind != RETURNED or own < 0 or outcome != OK or field(users, own, MOST) < 1:
        return SILENT
    if field(users, own, GOT) > 0:
        return HOLDS
    for other in range(node_count):
        if other != node and receiving(users, other) >= 0:
            return SILENT
    if loose[0] > 0:
        return SILENT
    found, begun_ns = -1, field(users, own, CALLED_NS)
    for one in range(room(messages)):
        if not used(messages, one) or not is_due(messages, one):
            continue
        if field(messages, one, SENDER) != node and field(messages, one, PUT_NS) >= begun_ns:
            continue
        if is_free(messages, field(messages, one, GROUP), begun_ns) and comes_first(messages, one, found):
            found = one
    return HOLDS if found < 0 else violated(0, field(messages, found, NUMBER), 0, field(messages, found, PUT_AT))


@register_jitable
def is_free(messages: TableState, group: int, since_ns: int) -> bool:
    """Whether surely nobody has held a message of the group at this time, or later."""
    for slot in range(room(messages)):
        if not used(messages, slot) or field(messages, slot, GROUP) != group or field(messages, slot, HANDED) == 0:
            continue
        if field(messages, slot, EXTENDS) > 0 or field(messages, slot, ENDS_BY) >= since_ns:
            return False
    return True


@check_of_leases(
    "Q-RECEIPT",
    "a call about message {found} is refused, while the lease of its receipt lasts",
    "message {found} of {sender} is handed out, and was deleted at {expected} ns",
    "message {found} of {sender} is handed out with receipt {expected}, as it was before",
)
def ended_lease_is_fenced(
    kind: int,
    node: int,
    time_ns: int,
    sender: int,
    number: int,
    outcome: int,
    receipt: int,
    messages: TableState,
    users: TableState,
) -> Outcome:
    own = find(users, (node,))
    if own < 0:
        return SILENT
    call = field(users, own, IN_CALL)
    if kind == DELIVERED:
        one = find(messages, (sender, number))
        if one < 0 or call != RECEIVE or field(messages, one, HANDED) == 0:
            return SILENT
        if field(messages, one, DELETED_NS) < field(users, own, CALLED_NS):
            return violated(1, field(messages, one, DELETED_NS), number, field(messages, one, HAND_AT))
        same = field(messages, one, RECEIPT) == receipt
        return violated(2, receipt, number, field(messages, one, HAND_AT)) if same else HOLDS
    one = find(messages, (field(users, own, OF_SENDER), field(users, own, OF_NUMBER)))
    if one < 0 or call not in (DELETE, EXTEND, GIVE_BACK) or outcome == UNKNOWN:
        return SILENT
    lasts = field(users, own, GRANT) == field(messages, one, HANDED) and field(users, own, OLD_FROM) > time_ns
    if outcome == REFUSED and lasts:
        return violated(0, 0, field(users, own, OF_NUMBER), field(messages, one, HAND_AT))
    return HOLDS


@check_of_leases(
    "Q-DEDUP",
    "message {found} of {sender} is handed out, and message {expected} with its deduplication id was, put within the "
    "window",
    "message {found} is refused, a copy of message {expected}, which was put within the window",
    "message {found} of {sender} is handed out, a copy of message {expected}, which was put within the window",
)
def duplicates_deliver_once(
    kind: int,
    node: int,
    time_ns: int,
    sender: int,
    number: int,
    outcome: int,
    window_ns: int,
    by_group: int,
    margin_ns: int,
    messages: TableState,
    users: TableState,
) -> Outcome:
    own = find(users, (node,))
    if own < 0 or field(users, own, IN_CALL) != (RECEIVE if kind == DELIVERED else PUT):
        return SILENT
    if kind == RETURNED and outcome != REFUSED:
        return SILENT
    key = (sender, number) if kind == DELIVERED else (node, field(users, own, OPERATION))
    one, found, at_stake = find(messages, key), -1, False
    if one < 0 or field(messages, one, DEDUP) < 1:
        return SILENT
    for other in range(room(messages)):
        if other == one or not used(messages, other) or not same_id(messages, one, other, by_group):
            continue
        at_stake = True
        handed = kind == DELIVERED and field(messages, other, HANDED) > 0
        if handed and are_near(messages, one, other, window_ns, margin_ns):
            found = other if comes_first(messages, other, found) else found
    if found >= 0:
        return violated(0, field(messages, found, NUMBER), number, field(messages, found, HAND_AT))
    first = first_of(messages, one, min(time_ns, field(messages, one, PUT_NS)), by_group, window_ns, margin_ns)
    if first >= 0:
        way = 1 if kind == RETURNED else 2
        return violated(
            way, field(messages, first, NUMBER), field(messages, one, NUMBER), field(messages, first, PUT_AT)
        )
    return HOLDS if at_stake and kind == DELIVERED else SILENT


@register_jitable
def first_of(messages: TableState, one: int, put_by_ns: int, by_group: int, window_ns: int, margin_ns: int) -> int:
    """A message put before this one, which is surely in the window of that, or of what that is itself a copy of; -1 for
    none. put_by_ns: when this one was taken, or refused, at the latest."""
    found = -1
    for other in range(room(messages)):
        if other == one or not used(messages, other) or not same_id(messages, one, other, by_group):
            continue
        lasts = is_before(messages, other, one)
        for first in range(room(messages)):
            if first == one or not used(messages, first) or not same_id(messages, other, first, by_group):
                continue
            over_ns = later(later(field(messages, first, PUT_NS), window_ns), margin_ns)
            if is_before(messages, other, first) or over_ns < field(messages, other, PUT_CALLED):
                continue
            ends_ns = earlier(later(field(messages, first, PUT_CALLED), window_ns), margin_ns)
            lasts = lasts and ends_ns > put_by_ns
        if lasts and comes_first(messages, other, found):
            found = other
    return found


@register_jitable
def are_near(messages: TableState, one: int, other: int, window_ns: int, margin_ns: int) -> bool:
    """Whether both messages were surely put within one window."""
    from_one = earlier(later(field(messages, one, PUT_CALLED), window_ns), margin_ns)
    from_other = earlier(later(field(messages, other, PUT_CALLED), window_ns), margin_ns)
    return from_one > field(messages, other, PUT_NS) and from_other > field(messages, one, PUT_NS)
