"""Which group is handed out, and to whom: Q-LOCK-SEND, Q-ORDER-CORR, Q-CORR-LAST, Q-PRIORITY, Q-NEXT, Q-ONCE."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.step import HOLDS, SILENT, Outcome, State, TableState, violated
from scatterproof.conformance.checks.tables import field, find, is_less, room
from scatterproof.conformance.workqueue.checking import check_of_returns
from scatterproof.conformance.workqueue.records import (
    CLOSE_ASKED,
    CLOSED_NS,
    CORRELATION,
    FLUSH,
    FLUSH_ASKED,
    GONE_HOW,
    GONE_NS,
    HAND_AT,
    HANDED,
    HELD,
    HOLDER,
    KNOWN,
    LAST,
    LOOSE_SENDS,
    MARKED_NS,
    NEXT,
    NUMBER,
    OPEN_CALLED,
    OPEN_NS,
    POP,
    POP_ASKED,
    POPPED,
    POPPED_NS,
    PRIORITY,
    READ,
    RISK,
    SEND,
    SENT,
    SURE,
    may_have_messages,
)
from scatterproof.conformance.workqueue.releasing import is_there


@check_of_returns(
    "Q-LOCK-SEND",
    "group {found} is handed out, and nobody has called close_group of it",
    "group {found} is handed out, which was cancelled, or closed with nothing in it, at {expected} ns",
    "group {found} takes a message, and was closed or cancelled at {expected} ns",
    "group {found} is handed out, and nobody has sent a message to it",
    "group {found} is cancelled, and was handed out",
)
def send_locked_is_hidden(
    done: int,
    begun_ns: int,
    about: int,
    group: int,
    node_count: int,
    groups: TableState,
    gone: TableState,
    clients: TableState,
) -> Outcome:
    """A group that was cancelled, or closed empty, could never be handed out: it was locked for sending, then gone."""
    if done == NEXT and group >= 1:
        slot, lost = find(groups, (group,)), find(gone, (group,))
        if lost >= 0:
            cancelled = field(gone, lost, GONE_HOW) != POPPED
            return violated(1, field(gone, lost, GONE_NS), group, -1) if cancelled else SILENT
        if slot < 0 or field(groups, slot, CLOSE_ASKED) == 0:
            return violated(0, 0, group, -1)
        return HOLDS if may_have_messages(slot, node_count, groups, clients) else violated(3, 0, group, -1)
    if done == SEND:
        slot, lost = find(groups, (about,)), find(gone, (about,))
        if slot >= 0 and field(groups, slot, CLOSED_NS) < begun_ns:
            return violated(2, field(groups, slot, CLOSED_NS), about, -1)
        if lost >= 0 and field(gone, lost, GONE_NS) < begun_ns:
            return violated(2, field(gone, lost, GONE_NS), about, -1)
    slot = find(groups, (about,))
    if done == FLUSH and slot >= 0 and field(groups, slot, HANDED) > 0:
        return violated(4, 0, about, field(groups, slot, HAND_AT))
    return SILENT


@check_of_returns(
    "Q-ORDER-CORR",
    "group {found} is handed out while group {expected} of its correlation is locked for receiving",
    "group {found} is handed out ahead of group {expected} of its correlation, which was begun before it",
)
def correlation_in_order(done: int, group: int, groups: TableState) -> Outcome:
    slot = find(groups, (group,))
    if done != NEXT or slot < 0 or field(groups, slot, KNOWN) == 0:
        return SILENT
    held = ahead = -1
    for other in range(room(groups)):
        if other == slot or not is_there(groups, other):
            continue
        if field(groups, other, CORRELATION) != field(groups, slot, CORRELATION):
            continue
        if field(groups, other, SURE) == 1 and field(groups, other, POP_ASKED) == 0:
            held = other if is_less(groups, other, held, NUMBER) else held
        if stays(groups, other) and field(groups, other, OPEN_NS) < field(groups, slot, OPEN_CALLED):
            ahead = other if is_less(groups, other, ahead, NUMBER) else ahead
    if held >= 0:
        return violated(0, field(groups, held, NUMBER), group, field(groups, held, HAND_AT))
    return HOLDS if ahead < 0 else violated(1, field(groups, ahead, NUMBER), group, -1)


@check_of_returns(
    "Q-CORR-LAST",
    "group {found} is handed out, which waits for the last one of its correlation, and nobody has closed one that is "
    "marked so and was begun after it",
)
def last_group_frees_correlation(
    done: int, group: int, node_count: int, groups: TableState, clients: TableState, correlations: TableState
) -> Outcome:
    slot = find(groups, (group,))
    if done != NEXT or slot < 0 or field(groups, slot, LAST) != 0:
        return SILENT
    return HOLDS if may_be_whole(slot, node_count, groups, clients, correlations) else violated(0, 0, group, -1)


@register_jitable
def may_be_whole(slot: int, node_count: int, groups: TableState, clients: TableState, correlations: TableState) -> bool:
    """Whether a group that is marked as the last of the correlation may have been begun after this one, and closed with
    messages."""
    correlation, begun_ns = field(groups, slot, CORRELATION), field(groups, slot, OPEN_CALLED)
    of = find(correlations, (correlation,))
    if of >= 0 and field(correlations, of, MARKED_NS) >= begun_ns:
        return True
    for other in range(room(groups)):
        if not is_there(groups, other) or field(groups, other, CORRELATION) != correlation:
            continue
        if field(groups, other, LAST) != 1 or field(groups, other, OPEN_NS) < begun_ns:
            continue
        if field(groups, other, CLOSE_ASKED) > 0 and may_have_messages(other, node_count, groups, clients):
            return True
    return False


@check_of_returns(
    "Q-PRIORITY",
    "group {found} is handed out, and group {expected} of a higher priority was ready",
    "group {found} is handed out, and group {expected} of the same priority was begun before it and ready",
)
def highest_priority_first(done: int, group: int, ready: int, groups: TableState) -> Outcome:
    slot, better = find(groups, (group,)), find(groups, (ready,))
    if done != NEXT or slot < 0 or field(groups, slot, KNOWN) == 0:
        return SILENT
    if better < 0 or ready == group:
        return HOLDS
    if field(groups, slot, CORRELATION) == field(groups, better, CORRELATION):
        return SILENT  # left to Q-ORDER-CORR
    if field(groups, better, PRIORITY) < field(groups, slot, PRIORITY):
        return violated(0, ready, group, -1)
    same = field(groups, better, PRIORITY) == field(groups, slot, PRIORITY)
    if same and field(groups, better, OPEN_NS) < field(groups, slot, OPEN_CALLED):
        return violated(1, ready, group, -1)
    return HOLDS


@check_of_returns("Q-NEXT", "no group is handed out, and group {expected} was ready all the while")
def ready_is_handed_out(done: int, group: int, ready: int) -> Outcome:
    if done != NEXT:
        return SILENT
    return violated(0, ready, 0, -1) if group == 0 and ready > 0 else HOLDS


@check_of_returns(
    "Q-NEXT",
    "no group is handed out, and calls that overlap leave open whether group {expected} was ready; when the store "
    "carried each of them out would tell",
    doubt=True,
)
def ready_without_doubt(
    done: int,
    begun_ns: int,
    group: int,
    ready: int,
    node_count: int,
    groups: TableState,
    clients: TableState,
    correlations: TableState,
) -> Outcome:
    """For a call that is handed no group: whether one may have been ready at a moment of it, though none surely was."""
    if done != NEXT or group != 0 or ready > 0:
        return SILENT
    found = 0
    for slot in range(room(groups)):
        if not is_there(groups, slot) or 0 < found < field(groups, slot, NUMBER) or not may_be_ready(slot, groups):
            continue
        if field(groups, slot, LAST) != 0 or may_be_whole(slot, node_count, groups, clients, correlations):
            found = field(groups, slot, NUMBER)
    return HOLDS if found == 0 else violated(0, found, 0, -1)


@register_jitable
def may_be_ready(slot: int, groups: TableState) -> bool:
    """Whether the group is ready in some order of the overlapping calls, whether it waits for the last one or not."""
    if field(groups, slot, CLOSE_ASKED) == 0 or field(groups, slot, SENT) + field(groups, slot, LOOSE_SENDS) == 0:
        return False
    for other in range(room(groups)):
        if not is_there(groups, other) or field(groups, other, CORRELATION) != field(groups, slot, CORRELATION):
            continue
        if field(groups, other, SURE) == 1 and field(groups, other, POP_ASKED) == 0:
            return False
        if field(groups, other, OPEN_NS) < field(groups, slot, OPEN_CALLED) and stays(groups, other):
            return False
    return True


@register_jitable
def stays(groups: TableState, slot: int) -> bool:
    """Whether the group is surely still there: nothing that may remove it was called."""
    if field(groups, slot, FLUSH_ASKED) + field(groups, slot, POP_ASKED) + field(groups, slot, RISK) > 0:
        return False
    return field(groups, slot, CLOSE_ASKED) == 0 or field(groups, slot, SENT) > 0


@check_of_returns(
    "Q-ONCE",
    "message {found} of group {expected} is handed out, and was popped before",
    "message {found} of group {expected} is popped for the second time",
    "group {found} is handed out, and was removed at {expected} ns as finished",
    "group {found} is handed out, and {expected_node} holds it",
)
def processed_once(
    done: int,
    begun_ns: int,
    about: int,
    about_message: int,
    group: int,
    message: int,
    groups: TableState,
    gone: TableState,
    messages: TableState,
    released_ns: State,
) -> Outcome:
    if done in (READ, POP):
        asked = message if done == READ else about_message
        one = find(messages, (about, asked))
        if one < 0 or find(groups, (about,)) < 0:
            return SILENT
        popped = field(messages, one, POPPED_NS) < begun_ns
        return violated(int(done == POP), about, asked, -1) if popped else HOLDS
    if done != NEXT or group < 1:
        return SILENT
    slot, lost = find(groups, (group,)), find(gone, (group,))
    if lost >= 0 and field(gone, lost, GONE_HOW) == POPPED and field(gone, lost, GONE_NS) < begun_ns:
        return violated(2, field(gone, lost, GONE_NS), group, -1)
    # With a release during the call, this call may have been handed the group first, and the holder after the release.
    sure = slot >= 0 and field(groups, slot, SURE) == 1 and released_ns[0] < begun_ns
    if sure and field(groups, slot, POP_ASKED) == 0:
        return violated(3, field(groups, slot, HOLDER), group, field(groups, slot, HAND_AT))
    return HOLDS


@check_of_returns(
    "Q-ONCE",
    "group {found} is handed out, and calls that overlap leave open whether {expected_node} held it still; when the "
    "store released its lock would tell",
    doubt=True,
)
def held_without_doubt(done: int, begun_ns: int, group: int, groups: TableState, released_ns: State) -> Outcome:
    slot = find(groups, (group,))
    if done != NEXT or slot < 0 or field(groups, slot, HELD) == 0:
        return SILENT
    if field(groups, slot, SURE) == 1 and released_ns[0] < begun_ns:
        return SILENT
    return violated(0, field(groups, slot, HOLDER), group, field(groups, slot, HAND_AT))
