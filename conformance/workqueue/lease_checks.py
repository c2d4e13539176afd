"""What a queue with leases hands out, and what receipts, deduplication ids, batches and consumers do: Q-LEASE,
Q-LEASE-ALL, Q-RECEIPT, Q-DEDUP, Q-ACK-ORDER, Q-CONSUMER-ONE, Q-BATCH."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import DELIVERED, RETURNED
from scatterproof.conformance.checks.step import HOLDS, SILENT, Outcome, violated
from scatterproof.conformance.checks.tables import field, find
from scatterproof.conformance.workqueue.lease_aside import is_alone, is_empty
from scatterproof.conformance.workqueue.lease_lists import first_of_list, id_of, next_of
from scatterproof.conformance.workqueue.lease_order import (
    AT_PLACE,
    BACK,
    IN_BATCH,
    LEFT,
    ahead_of,
    available,
    check_of_leases,
    has_others,
    held_in_group,
    holds_now,
)
from scatterproof.conformance.workqueue.lease_records import (
    ALIKE,
    CALLED_NS,
    CANCEL,
    DELETE,
    DELETED_NS,
    DENIED,
    ENTRY,
    GOT,
    GRANT,
    HAD_AT,
    HAD_NS,
    HAND_AT,
    HANDED,
    HOLDER,
    IN_CALL,
    LEASE,
    MOST,
    NUMBER,
    OF,
    OLD_FROM,
    OPERATION,
    PUT,
    PUT_AT,
    PUT_CALLED,
    PUT_NS,
    RECEIPT,
    RECEIVE,
    RECEIVE_ASIDE,
    ROLE_BY,
    ROLE_FROM,
    USES,
    LeaseRow,
    Leases,
    Promise,
    comes_first,
    earlier,
    entries,
    in_call,
    is_before,
    is_done,
    later,
    named,
    receiving,
)
from scatterproof.conformance.workqueue.records import NEVER, OK, REFUSED, UNKNOWN


@check_of_leases(
    "Q-LEASE",
    "message {found} of {sender} is handed out while {expected_node} holds a message of its group",
    "message {found} of {sender} is handed out, and message {expected}, which was put into its group before it, is not",
)
def returns_to_its_place(row: LeaseRow, promise: Promise, book: Leases) -> Outcome:
    messages, aside = book.messages, in_call(book.users, row.node, RECEIVE_ASIDE)
    own, one = max(aside, receiving(book.users, row.node)), named(row.sender, row.number, row.message, book)
    if row.kind != DELIVERED or own < 0 or one < 0:
        return SILENT
    if holds_now(one, own, row, book):  # twice in one answer
        return violated(0, row.node, row.number, field(messages, one, HAND_AT))
    held = held_in_group(one, own, row, promise, book)
    if held >= 0:
        return violated(0, field(messages, held, HOLDER), row.number, field(messages, held, HAND_AT))
    at_stake = field(messages, one, HANDED) > 0
    if promise.back_order == 0 and aside < 0:
        ahead = ahead_of(AT_PLACE, one, own, row, promise, book)
        if ahead >= 0:
            return violated(1, field(messages, ahead, NUMBER), row.number, field(messages, ahead, PUT_AT))
        at_stake = at_stake or has_others(one, book)
    return HOLDS if at_stake else SILENT


@check_of_leases(
    "Q-ACK-ORDER",
    "message {found} of {sender} is handed out, and message {expected}, which is there and ahead of it by the order "
    "that the profile states, is not",
)
def returned_keep_order(row: LeaseRow, promise: Promise, book: Leases) -> Outcome:
    messages, own = book.messages, receiving(book.users, row.node)
    one = named(row.sender, row.number, row.message, book)
    if row.kind != DELIVERED or own < 0 or one < 0 or not is_alone(RECEIVE, row.node, promise, book):
        return SILENT
    ahead = ahead_of(BACK, one, own, row, promise, book)
    if ahead >= 0:
        return violated(0, field(messages, ahead, NUMBER), row.number, field(messages, ahead, PUT_AT))
    return HOLDS if has_others(one, book) else SILENT


@check_of_leases("Q-LEASE-ALL", "nothing is handed out, and message {expected} was there, which nothing hid")
def available_is_handed_out(row: LeaseRow, promise: Promise, book: Leases) -> Outcome:
    own = receiving(book.users, row.node)
    if not is_empty(own, row, book):
        return HOLDS if own >= 0 and row.kind == RETURNED and field(book.users, own, GOT) > 0 else SILENT
    if not is_alone(RECEIVE, row.node, promise, book):
        return SILENT
    found = available(own, row, promise, book)
    messages = book.messages
    return HOLDS if found < 0 else violated(0, field(messages, found, NUMBER), 0, field(messages, found, PUT_AT))


@check_of_leases(
    "Q-CONSUMER-ONE",
    "message {found} of {sender} is handed out while {expected_node} is the one consumer",
    "message {found} of {sender} is handed out, and message {expected}, which the consumer before had not deleted, is "
    "not",
    "nothing is handed out, and message {expected} was there, and nobody else a consumer",
    "a consumer that cancels is refused",
)
def one_active_consumer(row: LeaseRow, promise: Promise, book: Leases) -> Outcome:
    messages, own = book.messages, receiving(book.users, row.node)
    if is_empty(own, row, book):
        return takes_over(own, row, promise, book)
    user = find(book.users, (row.node,))
    if row.kind == RETURNED and user >= 0 and field(book.users, user, IN_CALL) == CANCEL:
        return violated(3, 0, 0, -1) if row.outcome == REFUSED else SILENT
    one = named(row.sender, row.number, row.message, book)
    if row.kind != DELIVERED or own < 0:
        return SILENT
    other = other_consumer(own, row, promise, book)
    if other >= 0:
        return violated(0, other, row.number, field(book.users, find(book.users, (other,)), HAD_AT))
    if one < 0:
        return SILENT
    if promise.back_order < 2:
        ahead = ahead_of(LEFT, one, own, row, promise, book)
        if ahead >= 0:
            return violated(1, field(messages, ahead, NUMBER), row.number, field(messages, ahead, HAND_AT))
    for node in range(promise.node_count):
        user = find(book.users, (node,))
        if node != row.node and user >= 0 and field(book.users, user, ROLE_BY) > NEVER:
            return HOLDS
    return SILENT


@register_jitable
def other_consumer(own: int, row: LeaseRow, promise: Promise, book: Leases) -> int:
    """Another client that surely is the one consumer when this one is handed a message, in either order; or -1."""
    users, begun_ns = book.users, field(book.users, own, CALLED_NS)
    until_ns = max(begun_ns, earlier(later(begun_ns, field(users, own, LEASE)), promise.margin_ns))
    for node in range(promise.node_count):
        user = find(users, (node,))
        if node == row.node or user < 0:
            continue
        if field(users, user, ROLE_FROM) > row.time_ns and field(users, user, HAD_NS) < until_ns:
            return node
    return -1


@register_jitable
def takes_over(own: int, row: LeaseRow, promise: Promise, book: Leases) -> Outcome:
    """The outcome for a receive that returns nothing, where surely no other client is a consumer."""
    if not is_alone(RECEIVE, row.node, promise, book):
        return SILENT
    for node in range(promise.node_count):
        user = find(book.users, (node,))
        if node != row.node and user >= 0 and field(book.users, user, ROLE_BY) >= field(book.users, own, CALLED_NS):
            return SILENT
    found = available(own, row, promise, book)
    if found < 0:
        return HOLDS
    return violated(2, field(book.messages, found, NUMBER), 0, field(book.messages, found, PUT_AT))


@check_of_leases(
    "Q-BATCH",
    "of a batch that is whole or not at all the entries {found} were carried out, as bits, and not {expected}",
    "entry {found} of call {number} of {sender} is handed out, and was refused",
    "entry {found} of call {number} of {sender} is handed out, and entry {expected} is not",
    "message {found} of {sender} is handed out in a receive that asked for {expected}, and has them",
)
def batch_as_entries(row: LeaseRow, promise: Promise, book: Leases) -> Outcome:
    messages, own = book.messages, find(book.users, (row.node,))
    if own < 0:
        return SILENT
    call = field(book.users, own, IN_CALL)
    if row.kind == RETURNED:
        if call != PUT and call != DELETE:
            return SILENT
        count = field(book.users, own, USES) if call == DELETE else entries(field(book.users, own, MOST))
        if count < 2 or row.outcome == UNKNOWN:
            return SILENT
        whole = (1 << count) - 1
        if promise.batches == 1 and row.carried >= 0 and row.carried & whole not in (0, whole):
            return violated(0, whole, row.carried & whole, -1)
        return HOLDS
    if call in (RECEIVE, RECEIVE_ASIDE) and 0 <= field(book.users, own, MOST) <= field(book.users, own, GOT):
        return violated(3, field(book.users, own, MOST), row.number, -1)
    name = find(book.names, (row.sender, row.number, max(1, row.message)))
    if call != RECEIVE or name < 0:
        return SILENT
    if field(book.names, name, DENIED) == 1:
        return violated(1, 0, max(1, row.message), -1)
    one = named(row.sender, row.number, row.message, book)
    ahead = ahead_of(IN_BATCH, one, own, row, promise, book) if one >= 0 else -1
    if ahead >= 0:
        return violated(2, field(messages, ahead, ENTRY), row.message, field(messages, ahead, PUT_AT))
    return SILENT


@check_of_leases(
    "Q-RECEIPT",
    "a call about message {found} is refused, while the lease of its receipt lasts",
    "message {found} of {sender} is handed out, and was deleted at {expected} ns",
    "message {found} of {sender} is handed out with receipt {expected}, as it was before",
)
def ended_lease_is_fenced(row: LeaseRow, promise: Promise, book: Leases) -> Outcome:
    messages, own = book.messages, find(book.users, (row.node,))
    if own < 0:
        return SILENT
    call = field(book.users, own, IN_CALL)
    if row.kind == DELIVERED:
        one = named(row.sender, row.number, row.message, book)
        if one < 0 or call not in (RECEIVE, RECEIVE_ASIDE) or field(messages, one, HANDED) == 0:
            return SILENT
        if field(messages, one, DELETED_NS) < field(book.users, own, CALLED_NS):
            return violated(1, field(messages, one, DELETED_NS), row.number, field(messages, one, HAND_AT))
        same = field(messages, one, RECEIPT) == row.receipt
        return violated(2, row.receipt, row.number, field(messages, one, HAND_AT)) if same else HOLDS
    if row.outcome == UNKNOWN:
        return SILENT
    return refused_for_nothing(own, row, promise, book)


@register_jitable
def refused_for_nothing(own: int, row: LeaseRow, promise: Promise, book: Leases) -> Outcome:
    """The outcome for a call about messages: violated if an entry was refused though its lease lasts. A batch that is
    whole or not at all may be refused for any one of its entries."""
    messages, found, lasting, known = book.messages, -1, 0, 0
    count = field(book.users, own, USES)
    for at in range(count):
        entry = find(book.uses, (row.node, at))
        one = find(messages, (field(book.uses, entry, OF),))
        if one < 0:
            continue
        known += 1
        lasts = field(book.uses, entry, GRANT) == field(messages, one, HANDED)
        if lasts and field(book.uses, entry, OLD_FROM) > row.time_ns:
            lasting += 1
            if found < 0 and not is_done(at, row.outcome, row.carried, OK):
                found = one
    if found >= 0 and (promise.batches != 1 or lasting == count):
        return violated(0, 0, field(messages, found, NUMBER), field(messages, found, HAND_AT))
    return HOLDS if known > 0 else SILENT


@check_of_leases(
    "Q-DEDUP",
    "message {found} of {sender} is handed out, and message {expected} with its deduplication id was, put within the "
    "window",
    "message {found} is refused, a copy of message {expected}, which was put within the window",
    "message {found} of {sender} is handed out, a copy of message {expected}, which was put within the window",
)
def duplicates_deliver_once(row: LeaseRow, promise: Promise, book: Leases) -> Outcome:
    messages, own = book.messages, find(book.users, (row.node,))
    if own < 0 or field(book.users, own, IN_CALL) != (RECEIVE if row.kind == DELIVERED else PUT):
        return SILENT
    if row.kind == DELIVERED:
        return is_second(named(row.sender, row.number, row.message, book), row, promise, book)
    for at in range(entries(field(book.users, own, MOST))):
        one = named(row.node, field(book.users, own, OPERATION), 1 + at, book)
        denied = row.outcome != UNKNOWN and not is_done(at, row.outcome, row.carried, OK)
        if one >= 0 and denied:
            first = first_of(one, row.time_ns, promise, book)
            if first >= 0:
                found, expected = field(messages, one, NUMBER), field(messages, first, NUMBER)
                return violated(1, expected, found, field(messages, first, PUT_AT))
    return SILENT


@register_jitable
def is_second(one: int, row: LeaseRow, promise: Promise, book: Leases) -> Outcome:
    """The outcome for a hand-out: violated if another message with the same id was handed out, or surely put before."""
    messages, found, at_stake = book.messages, -1, False
    if one < 0:
        return SILENT
    serial = first_of_list(book.ids, id_of(messages, one, promise.by_group))
    while serial > 0:
        other = find(messages, (serial,))
        serial = next_of(messages, other, ALIKE)
        at_stake = at_stake or other != one
        if other != one and field(messages, other, HANDED) > 0 and are_near(one, other, promise, book):
            found = other if comes_first(messages, other, found) else found
    if found >= 0:
        return violated(0, field(messages, found, NUMBER), row.number, field(messages, found, HAND_AT))
    first = first_of(one, min(row.time_ns, field(messages, one, PUT_NS)), promise, book)
    if first >= 0:
        found_number, expected = field(messages, one, NUMBER), field(messages, first, NUMBER)
        return violated(2, expected, found_number, field(messages, first, PUT_AT))
    return HOLDS if at_stake else SILENT


@register_jitable
def first_of(one: int, put_by_ns: int, promise: Promise, book: Leases) -> int:
    """The slot of a message put before this one whose window surely covers this one, as does that of any message that
    it may be a copy of; -1 for none. put_by_ns: when this one was taken, or refused, at the latest."""
    messages, found = book.messages, -1
    head = first_of_list(book.ids, id_of(messages, one, promise.by_group))
    serial = head
    while serial > 0:
        other = find(messages, (serial,))
        serial = next_of(messages, other, ALIKE)
        if not is_before(messages, other, one):
            continue
        lasts, next_one = True, head
        while next_one > 0 and lasts:
            first = find(messages, (next_one,))
            next_one = next_of(messages, first, ALIKE)
            over_ns = later(later(field(messages, first, PUT_NS), promise.window_ns), promise.margin_ns)
            if over_ns < field(messages, other, PUT_CALLED):
                continue
            ends_ns = earlier(later(field(messages, first, PUT_CALLED), promise.window_ns), promise.margin_ns)
            lasts = ends_ns > put_by_ns
        if lasts and comes_first(messages, other, found):
            found = other
    return found


@register_jitable
def are_near(one: int, other: int, promise: Promise, book: Leases) -> bool:
    """Whether both messages were surely put within one window."""
    messages, window_ns, margin_ns = book.messages, promise.window_ns, promise.margin_ns
    from_one = earlier(later(field(messages, one, PUT_CALLED), window_ns), margin_ns)
    from_other = earlier(later(field(messages, other, PUT_CALLED), window_ns), margin_ns)
    return from_one > field(messages, other, PUT_NS) and from_other > field(messages, one, PUT_NS)
