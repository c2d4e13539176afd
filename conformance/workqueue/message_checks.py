"""What is in a group, and in which order it comes: Q-ATOMIC, Q-META, Q-ORDER-MSG, Q-POISON, Q-RETRY."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.step import HOLDS, SILENT, Outcome, State, TableState, violated
from scatterproof.conformance.checks.tables import field, find
from scatterproof.conformance.workqueue.checking import check_of_returns, first_left
from scatterproof.conformance.workqueue.records import (
    ASKED,
    CORRELATION,
    DIGEST,
    FOREVER,
    HAND_NS,
    HANDED,
    KNOWN,
    LOOSE_NEXT,
    NEXT,
    POP,
    POP_GROUP,
    PRIORITY,
    READ,
    READ_NS,
    READS,
    SEND,
    SENT,
    TYPE,
    may_be_in,
    may_get,
    others_calling,
    unheard,
    was_sent,
)


@check_of_returns(
    "Q-ATOMIC",
    "message {found} of group {expected} is handed out, and was never sent to it",
    "message {found} of group {expected} is handed out with another body than it was sent with",
    "group {expected} is said to be finished, and message {found} of it was sent and not popped",
)
def visible_together(
    node: int,
    done: int,
    about: int,
    message: int,
    digest: int,
    node_count: int,
    most_tries: int,
    groups: TableState,
    messages: TableState,
    clients: TableState,
) -> Outcome:
    slot = find(groups, (about,))
    if done not in (READ, POP_GROUP) or slot < 0 or field(groups, slot, KNOWN) == 0:
        return SILENT
    if done == READ and message != 0:
        one = find(messages, (about, message))
        if not was_sent(about, message, messages):
            there = may_be_in(message, node, slot, node_count, groups, clients, messages)
            return SILENT if there else violated(0, about, message, -1)
        return HOLDS if field(messages, one, DIGEST) == digest else violated(1, about, message, -1)
    reads = unheard(READ, node, about, node_count, groups, clients)
    left = first_left(about, FOREVER, reads, most_tries, groups, messages)
    return HOLDS if left == 0 else violated(2, about, left, -1)


@check_of_returns(
    "Q-META",
    "a message gets the id {found}, and {expected} is the next",
    "group {found} is handed out with another type, priority or correlation than it was begun with",
)
def messages_are_numbered(
    node: int,
    done: int,
    begun_ns: int,
    about: int,
    group: int,
    message: int,
    type: int,
    priority: int,
    correlation: int,
    node_count: int,
    groups: TableState,
    messages: TableState,
    clients: TableState,
) -> Outcome:
    if done == SEND:
        slot = find(groups, (about,))
        if slot < 0:
            return SILENT
        right = may_get(message, node, begun_ns, slot, node_count, groups, clients, messages)
        return HOLDS if right else violated(0, field(groups, slot, SENT) + 1, message, -1)
    slot = find(groups, (group,))
    if done != NEXT or slot < 0 or field(groups, slot, KNOWN) == 0:
        return SILENT
    same = field(groups, slot, TYPE) == type and field(groups, slot, PRIORITY) == priority
    return HOLDS if same and field(groups, slot, CORRELATION) == correlation else violated(1, 0, group, -1)


@check_of_returns(
    "Q-ORDER-MSG",
    "message {found} is handed out, and message {expected} of its group was not popped",
    "message {found} is popped, and message {expected} of its group was not",
)
def messages_in_order(
    node: int,
    done: int,
    about: int,
    about_message: int,
    message: int,
    node_count: int,
    most_tries: int,
    groups: TableState,
    messages: TableState,
    clients: TableState,
) -> Outcome:
    if done not in (READ, POP):
        return SILENT
    asked = message if done == READ else about_message
    reads = unheard(READ, node, about, node_count, groups, clients)
    left = first_left(about, asked, reads, most_tries, groups, messages)
    return HOLDS if left == 0 else violated(int(done == POP), left, asked, -1)


@check_of_returns(
    "Q-POISON", "message {found} of group {expected} is handed out once more, and was before as often as it may be"
)
def poison_is_set_aside(
    done: int, about: int, message: int, most_tries: int, groups: TableState, messages: TableState
) -> Outcome:
    """At stake where a message was handed out as often as it may be, and not popped. One that is set aside too early
    breaks Q-ORDER-MSG or Q-ATOMIC."""
    slot = find(groups, (about,))
    if done != READ or slot < 0:
        return SILENT
    if is_tried_out(about, message, most_tries, messages):
        return violated(0, about, message, -1)
    for earlier in range(1, field(groups, slot, SENT) + 1):
        if is_tried_out(about, earlier, most_tries, messages):
            return HOLDS
    return SILENT


@register_jitable
def is_tried_out(group: int, message: int, most_tries: int, messages: TableState) -> bool:
    """Whether the message was handed out as often as it may be, and nobody asked to pop it."""
    one = find(messages, (group, message))
    return one >= 0 and field(messages, one, ASKED) == 0 and field(messages, one, READS) >= most_tries


@check_of_returns(
    "Q-RETRY",
    "group {expected} is said to be handed out for time {found}, which it is not",
    "a message is said to be handed out for time {found}, and it is time {expected}",
)
def retries_are_counted(
    node: int,
    done: int,
    begun_ns: int,
    about: int,
    group: int,
    message: int,
    retries: int,
    node_count: int,
    groups: TableState,
    messages: TableState,
    clients: TableState,
    loose: State,
) -> Outcome:
    """Judged where all earlier hand-outs are known, and none overlaps the call."""
    if done == NEXT:
        slot = find(groups, (group,))
        if slot < 0 or field(groups, slot, HAND_NS) >= begun_ns or loose[LOOSE_NEXT] > 0:
            return SILENT
        if others_calling(clients, node, NEXT, node_count):
            return SILENT
        return HOLDS if retries == field(groups, slot, HANDED) + 1 else violated(0, group, retries, -1)
    slot, one = find(groups, (about,)), find(messages, (about, message))
    if done != READ or slot < 0 or message < 1 or unheard(READ, node, about, node_count, groups, clients) > 0:
        return SILENT
    if one >= 0 and field(messages, one, READ_NS) >= begun_ns:
        return SILENT
    expected = 1 + (field(messages, one, READS) if one >= 0 else 0)
    return HOLDS if retries == expected else violated(1, expected, retries, -1)
