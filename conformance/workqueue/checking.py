"""The decorator of the queue's checks, and questions that they share about what is known."""

from __future__ import annotations

from collections.abc import Callable

from numba.extending import register_jitable

from scatterproof.conformance.checks.step import Check, Outcome, State, TableState, check
from scatterproof.conformance.checks.tables import field, find
from scatterproof.conformance.workqueue.knowledge import knowledge
from scatterproof.conformance.workqueue.records import (
    ABOUT,
    ASKED,
    CLOSE,
    CLOSE_ASKED,
    CLOSED_NS,
    DRAINED,
    FLUSH,
    FLUSH_ASKED,
    GONE_NS,
    HAND,
    HAND_TOKEN,
    HANDED,
    HOLDER,
    KNOWN,
    LOOSE_NEXT,
    LOOSE_OPEN,
    LOOSE_READS,
    NEXT,
    OPEN,
    OPENER,
    POP,
    POP_ASKED,
    POP_GROUP,
    READ,
    READING,
    READS,
    RISK,
    SEND,
    SENT,
    SURE,
    calling,
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
    nobody asked to pop; 0 for none. unheard: see `unheard_reads`."""
    slot = find(groups, (group,))
    if slot < 0:
        return 0
    for message in range(1, min(below - 1, field(groups, slot, SENT)) + 1):
        one = find(messages, (group, message))
        if one < 0 or field(messages, one, ASKED) > 0:
            continue
        if most_tries == 0 or field(messages, one, READS) + unheard < most_tries:
            return message
    return 0


@register_jitable
def unheard_reads(node: int, group: int, node_count: int, groups: TableState, clients: TableState) -> int:
    """How many reads of the group may get messages unseen: those of unknown outcome, and those that others are in."""
    slot = find(groups, (group,))
    if slot < 0:
        return 0
    found = field(groups, slot, LOOSE_READS)
    for other in range(node_count):
        own = calling(clients, other, READ)
        found += int(other != node and own >= 0 and field(clients, own, ABOUT) == group)
    return found


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


@register_jitable
def is_refused_for_nothing(
    node: int,
    denied: int,
    about: tuple[int, int, int],
    unheard: int,
    most_tries: int,
    groups: TableState,
    messages: TableState,
    clients: TableState,
) -> bool:
    """Whether a call was refused though nothing forbade it at any moment of its box. about: (group, message, token).
    unheard: see `unheard_reads`."""
    group, message, token = about
    if denied == 0:
        return False
    if not (denied in (SEND, CLOSE, FLUSH) or denied in (READ, POP, POP_GROUP)):
        return True  # calls about no group are never refused
    slot, own = find(groups, (group,)), find(clients, (node,))
    if slot < 0 or own < 0 or field(clients, own, HAND) != group or field(clients, own, HAND_TOKEN) != token:
        return False
    if denied in (SEND, CLOSE, FLUSH):
        alone = field(groups, slot, CLOSE_ASKED) == int(denied == CLOSE)
        alone = alone and field(groups, slot, FLUSH_ASKED) == int(denied == FLUSH)
        known = field(groups, slot, KNOWN) == 1 and field(groups, slot, RISK) == 0
        return alone and known and field(groups, slot, OPENER) == node and field(groups, slot, SURE) == 0
    if field(groups, slot, SURE) == 0 or field(groups, slot, HOLDER) != node:
        return False
    if denied == POP:
        one = find(messages, (group, message))
        asked = one >= 0 and field(messages, one, ASKED) == 1
        # A read that nobody knows of may have set the message aside.
        is_there = most_tries == 0 or unheard == 0
        return asked and is_there and field(clients, own, READING) == message
    if denied == POP_GROUP:
        return field(clients, own, DRAINED) == 1 and field(groups, slot, POP_ASKED) == 1
    return field(groups, slot, POP_ASKED) == 0
