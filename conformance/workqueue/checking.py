"""The decorator of the queue's checks, and questions that they share about what is known."""

from __future__ import annotations

from collections.abc import Callable

from numba.extending import register_jitable

from scatterproof.conformance.checks.step import Check, Outcome, State, TableState, check
from scatterproof.conformance.checks.tables import field, find
from scatterproof.conformance.workqueue.knowledge import knowledge
from scatterproof.conformance.workqueue.records import (
    ASKED,
    CLOSE,
    CLOSED_NS,
    FLUSH,
    GONE_NS,
    HANDED,
    LOOSE_NEXT,
    LOOSE_OPEN,
    NEXT,
    OPEN,
    POP,
    POP_GROUP,
    READ,
    READS,
    SEND,
    SENT,
    others_calling,
)
from scatterproof.spec.trace import Kind, Order


def check_of_returns(clause: str, *ways: str, doubt: bool = False) -> Callable[[Callable[..., Outcome]], Check]:
    """As `check`, for rows `returned`. The step reads what was known before the row, and what the call is about. Boxes
    of different clients are compared by their times, so the order of links is enough."""
    return check(clause, kinds=(Kind.RETURNED,), order=Order.LINK, ways=ways, derived=(knowledge,), doubt=doubt)


@register_jitable
def first_left(group: int, below: int, unheard: int, most_tries: int, groups: TableState, messages: TableState) -> int:
    """The id of the group's first message, strictly below this id, that was surely sent, surely not set aside, and that
    nobody asked to pop; 0 for none. unheard: see `records.unheard`."""
    slot = find(groups, (group,))
    if slot < 0:
        return 0
    for message in range(1, min(below - 1, field(groups, slot, SENT)) + 1):
        one = find(messages, (group, message))
        reads = field(messages, one, READS) if one >= 0 else 0
        if one >= 0 and field(messages, one, ASKED) > 0:
            continue
        if most_tries == 0 or reads + unheard < most_tries:
            return message
    return 0


@register_jitable
def is_done_to_nothing(
    node: int,
    done: int,
    begun_ns: int,
    about: int,
    node_count: int,
    groups: TableState,
    gone: TableState,
    clients: TableState,
    loose: State,
) -> bool:
    """Whether a call returned ok though it could take effect at no moment of its box. A send_message to a group that
    was there once is left to Q-LOCK-SEND."""
    if not (done in (SEND, CLOSE, FLUSH) or done in (READ, POP, POP_GROUP)):
        return False
    if about < 1:
        return True
    slot, lost = find(groups, (about,)), find(gone, (about,))
    if lost >= 0:
        return done != SEND and field(gone, lost, GONE_NS) < begun_ns
    if slot < 0:
        return loose[LOOSE_OPEN] == 0 and not others_calling(clients, node, OPEN, node_count)
    if done in (CLOSE, FLUSH):
        return field(groups, slot, CLOSED_NS) < begun_ns
    if done == SEND or field(groups, slot, HANDED) > 0:
        return False
    return loose[LOOSE_NEXT] == 0 and not others_calling(clients, node, NEXT, node_count)
