"""Retained messages and messages that expire: PS-RETAIN, PS-EXPIRE."""

from __future__ import annotations

from scatterproof.conformance.checks.kinds import CALLED, ENDED, RETURNED
from scatterproof.conformance.checks.step import HOLDS, SILENT, Outcome, State, Table, TableState, check, violated
from scatterproof.conformance.checks.tables import change, field, find, put, room
from scatterproof.conformance.pubsub.knowledge import crashes, is_kept, knowledge
from scatterproof.conformance.pubsub.owing import BY_EXPIRY, all_came, does_match
from scatterproof.conformance.pubsub.records import (
    AT,
    AWAY_BEFORE,
    CALLED_NS,
    CONNECT_NS,
    EXPIRY_NS,
    FOREVER,
    KEPT,
    OK,
    OUTCOME,
    RETAIN,
    RETURNED_NS,
    SUBSCRIBE,
    TOPIC,
    UNKNOWN,
    DeliveredRow,
    Known,
)
from scatterproof.spec.trace import Kind, Order


@check(
    "PS-RETAIN",
    kinds=(Kind.CALLED, Kind.RETURNED, Kind.DELIVERED),
    order=Order.LINK,
    ways=(
        "{node} gets message {found} of {sender} marked as kept, and it was not published to be kept",
        "{node} gets message {found} of {sender} marked as kept, and has subscribed to nothing that matches since that "
        "was published",
        "{node} gets message {found} of {sender} marked as kept once more than the {expected} times that it subscribed",
    ),
    derived=(knowledge,),
    asked=Table(2, 5),
    marked=Table(3, 2),
)
def retained_comes_once(
    kind: int,
    call: int,
    operation: int,
    outcome: int,
    filter: int,
    group: int,
    got: DeliveredRow,
    known: Known,
    asked: TableState,
    marked: TableState,
) -> Outcome:
    """asked: by client and filter: both, the number of subscribes that share nothing, when the last one returned, in
        ns, FOREVER while it has not, and the number of that call. Where one never returned, or with an unknown outcome,
        it may take effect at any later time: FOREVER and -1.
    marked: by client, publisher and number: how often the message came marked as kept, and the row of the first time.
    """
    if kind == CALLED:
        if call == SUBSCRIBE and group <= 0:
            slot = find(asked, (got.node, filter))
            times, within = 0, operation
            if slot >= 0:
                times = field(asked, slot, TIMES)
                within = -1 if field(asked, slot, LAST_NS) == FOREVER else operation
            put(asked, (got.node, filter), (got.node, filter, times + 1, FOREVER, within))
        return SILENT
    if kind == RETURNED:
        for slot in range(room(asked) if outcome != UNKNOWN else 0):
            if field(asked, slot, ASKED_BY) == got.node and field(asked, slot, WITHIN) == operation:
                change(asked, slot, LAST_NS, got.time_ns)
        return SILENT
    one = find(known.messages, (got.sender, got.number))
    if one < 0 or got.retain != 1:
        return SILENT
    if field(known.messages, one, RETAIN) != KEPT:
        return violated(0, 0, got.number, field(known.messages, one, AT))
    topic, times, since = field(known.messages, one, TOPIC), 0, False
    for slot in range(room(asked)):
        if field(asked, slot, ASKED_BY) != got.node:
            continue
        filter_ = field(asked, slot, ASKED_FOR)
        if does_match(filter_, topic, known.filter_matches, known.filter_count, known.topic_count):
            times += field(asked, slot, TIMES)
            since = since or field(asked, slot, LAST_NS) >= field(known.messages, one, CALLED_NS)
    if not since:
        return violated(1, 0, got.number, field(known.messages, one, AT))
    key = (got.node, got.sender, got.number)
    before = find(marked, key)
    count = 1 if before < 0 else field(marked, before, 0) + 1
    first = got.position if before < 0 else field(marked, before, 1)
    if got.again != 1:
        put(marked, key, (count, first))
    if got.again != 1 and count > times:
        return violated(2, times, got.number, first)
    return HOLDS


ASKED_BY, ASKED_FOR, TIMES, LAST_NS, WITHIN = range(5)


@check(
    "PS-EXPIRE",
    kinds=(Kind.DELIVERED, Kind.ENDED),
    order=Order.LINK,
    ways=(
        "{node} gets message {found} of {sender}, whose time was over before it came back",
        "{expected_node} never gets message {found}, and what was published ahead of it has expired",
    ),
    derived=(knowledge, crashes),
)
def expired_is_not_delivered(kind: int, flags: int, got: DeliveredRow, known: Known, crash_ns: State) -> Outcome:
    """Judge only a client that was surely away since before the publish: any other may have been sent it in time."""
    if kind == ENDED:
        return all_came(BY_EXPIRY, 1, flags, known, crash_ns[0])
    one, own = find(known.messages, (got.sender, got.number)), find(known.clients, (got.node,))
    if one < 0 or own < 0 or is_kept(known.messages, one, got.retain):
        return SILENT
    expiry_ns, returned_ns = field(known.messages, one, EXPIRY_NS), field(known.messages, one, RETURNED_NS)
    if expiry_ns <= 0 or field(known.messages, one, OUTCOME) != OK:
        return SILENT  # what is published at an unknown time may be published at any later one
    away = field(known.clients, own, AWAY_BEFORE) < field(known.messages, one, CALLED_NS)
    if away and field(known.clients, own, CONNECT_NS) > returned_ns + expiry_ns + UNIT_NS:
        return violated(0, 0, got.number, field(known.messages, one, AT))
    return SILENT


UNIT_NS = 1_000_000_000  # brokers count whole seconds
HERE = (retained_comes_once, expired_is_not_delivered)
