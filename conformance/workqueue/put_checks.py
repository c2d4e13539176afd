"""What a queue with leases hands out, held to what was put: Q-AS-PUT."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import RETURNED
from scatterproof.conformance.checks.step import HOLDS, SILENT, Outcome, violated
from scatterproof.conformance.checks.tables import field, find
from scatterproof.conformance.workqueue.lease_order import check_of_leases
from scatterproof.conformance.workqueue.lease_records import (
    BODY,
    DENIED,
    GROUP,
    HAND_AT,
    HANDED,
    IN_CALL,
    MOST,
    NUMBER,
    OPERATION,
    PUT,
    PUT_AT,
    RECEIVE,
    RECEIVE_ASIDE,
    SERIAL,
    LeaseRow,
    Leases,
    Promise,
    entries,
    is_done,
    named,
)
from scatterproof.conformance.workqueue.records import OK, UNKNOWN
from scatterproof.spec.trace import ABSENT


@check_of_leases(
    "Q-AS-PUT",
    "message {found} of {sender} is handed out, and nobody put it",
    "message {found} of {sender} is handed out, and its put was refused",
    "message {found} of {sender} is handed out with another body than it was put with",
    "message {found} of {sender} is handed out as of another group than {expected}, which it was put into",
    "the put of message {found} is refused, and the message was handed out",
)
def handed_out_as_put(row: LeaseRow, promise: Promise, book: Leases) -> Outcome:
    """At stake in each hand-out. Refused entries of batches are left to Q-BATCH."""
    messages, own = book.messages, find(book.users, (row.node,))
    call = field(book.users, own, IN_CALL) if own >= 0 else 0
    if row.kind == RETURNED:
        return refused_and_handed(own, row, book) if call == PUT and row.outcome != UNKNOWN else SILENT
    if call not in (RECEIVE, RECEIVE_ASIDE):
        return SILENT
    name = find(book.names, (row.sender, row.number, max(1, row.message)))
    if name < 0:
        return violated(0, 0, row.number, -1)
    one = find(messages, (field(book.names, name, SERIAL),))
    if one < 0:
        return violated(1, 0, row.number, -1) if field(book.names, name, DENIED) == 0 else SILENT
    body, group = field(messages, one, BODY), field(messages, one, GROUP)
    if ABSENT not in (row.digest, body) and row.digest != body:
        return violated(2, 0, row.number, field(messages, one, PUT_AT))
    if ABSENT not in (row.group, group) and row.group != group:
        return violated(3, group, row.number, field(messages, one, PUT_AT))
    return HOLDS


@register_jitable
def refused_and_handed(own: int, row: LeaseRow, book: Leases) -> Outcome:
    """The outcome for a put that returns: violated if an entry is refused that was handed out."""
    for at in range(entries(field(book.users, own, MOST))):
        one = named(row.node, field(book.users, own, OPERATION), 1 + at, book)
        if one >= 0 and field(book.messages, one, HANDED) > 0 and not is_done(at, row.outcome, row.carried, OK):
            return violated(4, 0, field(book.messages, one, NUMBER), field(book.messages, one, HAND_AT))
    return SILENT
