"""What calls and returns show of the store's groups, row by row (see `knowledge`)."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.step import TableState
from scatterproof.conformance.checks.tables import change, field, find, put, remove
from scatterproof.conformance.workqueue.records import (
    ABOUT,
    ABOUT_CORRELATION,
    ABOUT_DIGEST,
    ABOUT_LAST,
    ABOUT_MESSAGE,
    ABOUT_PRIORITY,
    ABOUT_SERVER,
    ABOUT_TYPE,
    ASKED,
    CALLED_NS,
    CLEAN,
    CLOSE,
    CLOSE_ASKED,
    CLOSED_NS,
    CORRELATION,
    DIGEST,
    EMPTY,
    FLUSH,
    FLUSH_ASKED,
    FLUSHED,
    FOREVER,
    FREED,
    HAND,
    HAND_AT,
    HAND_NS,
    HAND_TOKEN,
    HANDED,
    HELD,
    HOLDER,
    HSERVER,
    IN_CALL,
    LAST,
    LEFT,
    LOOSE_CLEAN,
    LOOSE_NEXT,
    LOOSE_OPEN,
    LOOSE_READS,
    LOOSE_RELEASE,
    LOOSE_SENDS,
    MARKED_NS,
    NEVER,
    NEXT,
    NOTED,
    NUMBER,
    OPEN,
    OPEN_NS,
    POP,
    POP_ASKED,
    POP_GROUP,
    POPPED,
    POPPED_NS,
    READ,
    READ_BY,
    READ_NS,
    READING,
    READS,
    REFUSED,
    RISK,
    SEND,
    SENT,
    SENT_BY,
    SENT_NS,
    SURE,
    TOKEN,
    UNKNOWN,
    UNLOCK,
    Book,
    add,
    may_get,
    may_have_messages,
    others_calling,
)
from scatterproof.conformance.workqueue.releasing import learn_clean, learn_unlock, note_change, note_release
from scatterproof.spec.trace import ABSENT


@register_jitable
def note_called(
    node: int,
    time_ns: int,
    call: int,
    told: tuple[int, int, int, int, int, int, int, int, int, int, int],
    book: Book,
) -> None:
    """Note what a call may do from now on. told: group, message, token, server, correlation, type, priority, digest,
    last, senders_before, receivers_before."""
    groups, _, messages, clients, _, _, _, _, _ = book
    hand, hand_token, reading, left = in_hand(clients, node)
    group = told[0] if told[0] != ABSENT else hand
    message = told[1] if told[1] != ABSENT else reading
    token = told[2] if told[2] != ABSENT else hand_token
    if call in (OPEN, NEXT, UNLOCK, CLEAN):
        group = 0
    slot = find(groups, (group,))
    if call == POP and slot >= 0:
        slot = named(group, message, messages)
    about = (call, time_ns, group, message, token, *told[3:])
    put(clients, (node,), (*about, hand, hand_token, reading, left, int(slot >= 0)))
    if slot >= 0:
        ask(call, slot, 1, groups, messages)
    if call in (UNLOCK, CLEAN):
        note_release(groups, call, told[3])


@register_jitable
def named(group: int, message: int, messages: TableState) -> int:
    """The slot of a message of a group that is there, whether its send has returned or not; -1 for none."""
    if message < 1:
        return -1
    if find(messages, (group, message)) < 0:
        put(messages, (group, message), (-1, FOREVER, -1, 0, FOREVER, 0, NEVER))
    return find(messages, (group, message))


@register_jitable
def ask(call: int, slot: int, more: int, groups: TableState, messages: TableState) -> None:
    """Count a call that may end a group or pop a message: slot is that of either."""
    if call == CLOSE:
        add(groups, slot, CLOSE_ASKED, more)
    elif call == FLUSH:
        add(groups, slot, FLUSH_ASKED, more)
    elif call == POP_GROUP:
        add(groups, slot, POP_ASKED, more)
    elif call == POP:
        add(messages, slot, ASKED, more)


@register_jitable
def in_hand(clients: TableState, node: int) -> tuple[int, int, int, int]:
    slot = find(clients, (node,))
    if slot < 0:
        return 0, 0, 0, -1
    return (
        field(clients, slot, HAND),
        field(clients, slot, HAND_TOKEN),
        field(clients, slot, READING),
        field(clients, slot, LEFT),
    )


@register_jitable
def note_gone(group: int, how: int, time_ns: int, node_count: int, book: Book) -> None:
    """Remove a group that is surely gone, with all messages that it can have had. how: POPPED, FLUSHED or EMPTY."""
    groups, gone, messages, _, _, _, _, _, _ = book
    slot = find(groups, (group,))
    for message in range(1, field(groups, slot, SENT) + field(groups, slot, LOOSE_SENDS) + node_count + 1):
        one = find(messages, (group, message))
        if one >= 0:
            remove(messages, one)
    remove(groups, slot)
    put(gone, (group,), (time_ns, how))


@register_jitable
def learn(
    node: int,
    time_ns: int,
    outcome: int,
    told: tuple[int, int, int, int, int, int],
    position: int,
    node_count: int,
    book: Book,
) -> None:
    """Learn from a return. told: group, message, token, correlation, removed, released."""
    groups, _, messages, clients, _, _, stirred_ns, _, _ = book
    own = find(clients, (node,))
    if own < 0:
        return
    call, called_ns, about = (field(clients, own, IN_CALL), field(clients, own, CALLED_NS), field(clients, own, ABOUT))
    slot = find(groups, (about,))
    if outcome == UNKNOWN:
        learn_unknown(call, own, book)
    elif outcome == REFUSED:
        if field(clients, own, NOTED) == 1:  # it had no effect
            asked = find(messages, (about, field(clients, own, ABOUT_MESSAGE))) if call == POP else slot
            if asked >= 0:
                ask(call, asked, -1, groups, messages)
    elif call == OPEN:
        learn_open(node, own, time_ns, told, node_count, book)
    elif call == NEXT:
        learn_next(node, own, time_ns, told, position, node_count, book)
    elif call == UNLOCK:
        learn_unlock(own, time_ns, book)
    elif call == CLEAN:
        learn_clean(node, time_ns, called_ns, told, node_count, book)
    elif call == READ:
        learn_read(node, own, about, told[1], time_ns, book)
    elif slot >= 0:
        learn_of_group(call, node, own, slot, time_ns, told[1], node_count, book)
    change(clients, find(clients, (node,)), IN_CALL, 0)
    if outcome != REFUSED and call != SEND and call != READ and call != POP:
        stirred_ns[0] = time_ns


@register_jitable
def learn_unknown(call: int, own: int, book: Book) -> None:
    """Note a call of unknown outcome: it may take effect at any later moment, or never."""
    groups, _, _, clients, correlations, loose, _, _, _ = book
    slot = find(groups, (field(clients, own, ABOUT),)) if field(clients, own, NOTED) == 1 else -1
    if call == OPEN:
        loose[LOOSE_OPEN] += 1
        note_change(field(clients, own, ABOUT_CORRELATION), NEVER, 1, correlations)
    elif call == NEXT:
        loose[LOOSE_NEXT] += 1
    elif call in (UNLOCK, CLEAN):
        loose[LOOSE_RELEASE] += 1
        loose[LOOSE_CLEAN] += int(call == CLEAN)
    elif slot >= 0 and call == SEND:
        add(groups, slot, LOOSE_SENDS, 1)
    elif slot >= 0 and call == READ:
        add(groups, slot, LOOSE_READS, 1)


@register_jitable
def take_in_hand(clients: TableState, own: int, group: int, token: int) -> None:
    change(clients, own, HAND, group)
    change(clients, own, HAND_TOKEN, token)
    change(clients, own, READING, 0)
    change(clients, own, LEFT, -1)


@register_jitable
def learn_open(
    node: int, own: int, time_ns: int, told: tuple[int, int, int, int, int, int], node_count: int, book: Book
) -> None:
    groups, gone, _, clients, _, loose, _, _, cleaned_ns = book
    group, token = told[0], told[2]
    take_in_hand(clients, own, group, token)
    if group < 1 or find(groups, (group,)) >= 0 or find(gone, (group,)) >= 0:
        return
    called_ns = field(clients, own, CALLED_NS)
    cleaning = loose[LOOSE_CLEAN] > 0 or cleaned_ns[0] >= called_ns or others_calling(clients, node, CLEAN, node_count)
    named = (field(clients, own, ABOUT_CORRELATION), field(clients, own, ABOUT_PRIORITY))
    server, kind = field(clients, own, ABOUT_SERVER), field(clients, own, ABOUT_TYPE)
    opened = (node, called_ns, time_ns, 1, field(clients, own, ABOUT_LAST))
    enter(group, named[0], named[1], kind, server, opened, token, 2 if cleaning else 0, groups)


@register_jitable
def enter(
    group: int,
    correlation: int,
    priority: int,
    kind: int,
    server: int,
    opened: tuple[int, int, int, int, int],
    token: int,
    risk: int,
    groups: TableState,
) -> None:
    """Add a group that is new here. opened: OPENER, OPEN_CALLED, OPEN_NS, KNOWN and LAST."""
    opener, called_ns, open_ns, known, last = opened
    head = (group, correlation, priority, kind, server, opener, called_ns, open_ns, known, 0, 0)
    locks = (0, FOREVER, 0, 0, 0, 0, -1, -1, NEVER, -1, token)
    rest = (0, 0, NEVER, risk, FOREVER, 0, 0, last, -1)
    put(groups, (group,), head + locks + rest)


@register_jitable
def learn_next(
    node: int,
    own: int,
    time_ns: int,
    told: tuple[int, int, int, int, int, int],
    position: int,
    node_count: int,
    book: Book,
) -> None:
    groups, gone, _, clients, _, loose, _, released_ns, _ = book
    group, token, called_ns = told[0], told[2], field(clients, own, CALLED_NS)
    take_in_hand(clients, own, group, token)
    if group < 1 or find(gone, (group,)) >= 0:
        return
    slot = find(groups, (group,))
    if slot < 0:  # its open_group has not returned ok
        enter(group, told[3], 0, 0, -1, (-1, NEVER, FOREVER, 0, -1), token, 2, groups)
        slot = find(groups, (group,))
    releasing = others_calling(clients, node, UNLOCK, node_count) or others_calling(clients, node, CLEAN, node_count)
    sure = not releasing and loose[LOOSE_RELEASE] == 0 and released_ns[0] < called_ns
    change(groups, slot, HELD, 1)
    change(groups, slot, SURE, int(sure))
    change(groups, slot, HOLDER, node)
    change(groups, slot, HSERVER, field(clients, own, ABOUT_SERVER))
    change(groups, slot, HAND_NS, time_ns)
    change(groups, slot, HAND_AT, position)
    change(groups, slot, TOKEN, max(token, field(groups, slot, TOKEN)))
    add(groups, slot, HANDED, 1)
    change(groups, slot, FREED, 0)
    change(groups, slot, READ_BY, -1)


@register_jitable
def learn_read(node: int, own: int, about: int, message: int, time_ns: int, book: Book) -> None:
    groups, _, messages, clients, _, _, _, _, _ = book
    change(clients, own, READING, message)
    if field(clients, own, HAND) == about:
        change(clients, own, LEFT, message)
    slot = find(groups, (about,))
    if slot < 0:
        return
    change(groups, slot, READ_BY, node if field(groups, slot, READ_BY) in (-1, node) else -2)
    one = named(about, message, messages)
    if one >= 0:
        add(messages, one, READS, 1)
        change(messages, one, READ_NS, time_ns)


@register_jitable
def learn_of_group(
    call: int, node: int, own: int, slot: int, time_ns: int, message: int, node_count: int, book: Book
) -> None:
    """Learn what a call that returned ok did to a group that is there."""
    groups, _, messages, clients, correlations, _, _, _, _ = book
    group, correlation = field(groups, slot, NUMBER), field(groups, slot, CORRELATION)
    if call == SEND:
        # A wrong id breaks Q-META; nothing is learnt from it.
        if may_get(message, node, field(clients, own, CALLED_NS), slot, node_count, groups, clients, messages):
            change(groups, slot, SENT, max(message, field(groups, slot, SENT)))
            one = named(group, message, messages)
            change(messages, one, DIGEST, field(clients, own, ABOUT_DIGEST))
            change(messages, one, SENT_NS, time_ns)
            change(messages, one, SENT_BY, node)
    elif call == POP:
        one = named(group, field(clients, own, ABOUT_MESSAGE), messages)
        if one >= 0:
            change(messages, one, POPPED_NS, min(time_ns, field(messages, one, POPPED_NS)))
    else:
        note_change(correlation, time_ns, 0, correlations)
        if call == FLUSH:
            note_gone(group, FLUSHED, time_ns, node_count, book)
        elif call == POP_GROUP:
            closed = field(groups, slot, CLOSE_ASKED) > 0 and may_have_messages(slot, node_count, groups, clients)
            if closed and field(groups, slot, LAST) == 1:
                of = find(correlations, (correlation,))
                latest_ns = max(field(groups, slot, OPEN_NS), field(correlations, of, MARKED_NS))
                change(correlations, of, MARKED_NS, latest_ns)
            note_gone(group, POPPED, time_ns, node_count, book)
        elif not may_have_messages(slot, node_count, groups, clients):
            note_gone(group, EMPTY, time_ns, node_count, book)
        else:
            change(groups, slot, CLOSED_NS, min(time_ns, field(groups, slot, CLOSED_NS)))
            change(groups, slot, RISK, 0)  # cleaning had not removed it, and does not any more


@register_jitable
def note_crash(node: int, book: Book) -> None:
    """A client that crashes in a call never learns its outcome, and begins anew with nothing in hand."""
    clients = book[3]
    own = find(clients, (node,))
    if own < 0:
        return
    learn_unknown(field(clients, own, IN_CALL), own, book)
    change(clients, own, IN_CALL, 0)
    take_in_hand(clients, own, 0, 0)
