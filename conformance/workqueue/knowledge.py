"""What the checks share: how each group stands, what clients have in hand, and which calls have an unknown outcome.

A call takes effect at one moment of its box. So its effect *may* be there as soon as it is called, and *surely* is for
any call that begins strictly after it returned ok. Rows of one group are taken in the order of the trace: nobody can be
handed what was not asked for before.

A row `returned` is learnt when the next row comes, so that checks see what was known before it. Memory: the groups that
are there with their messages, the numbers of removed groups, and the correlations.
"""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import CALLED, RETURNED
from scatterproof.conformance.checks.step import Bins, Cell, Ints, State, Table, TableState, derive
from scatterproof.conformance.checks.tables import field, find, room
from scatterproof.conformance.workqueue.learning import learn, note_called, note_crash
from scatterproof.conformance.workqueue.records import (
    ABOUT,
    ABOUT_CORRELATION,
    ABOUT_MESSAGE,
    ABOUT_TOKEN,
    ASKED,
    CALLED_NS,
    CHANGED_NS,
    CLIENT_FIELDS,
    CLOSE,
    CLOSE_ASKED,
    CLOSED_NS,
    CORRELATION,
    CORRELATION_FIELDS,
    FLUSH,
    FLUSH_ASKED,
    FOREVER,
    GROUP_FIELDS,
    HAND,
    HAND_TOKEN,
    HELD,
    HOLDER,
    IN_CALL,
    KNOWN,
    LAST,
    LEFT,
    LOOSE_NEXT,
    LOOSE_OPENS,
    MESSAGE_FIELDS,
    NEVER,
    NEXT,
    NUMBER,
    OK,
    OPEN,
    OPEN_CALLED,
    OPEN_NS,
    OPENER,
    POP,
    POP_ASKED,
    POP_GROUP,
    PRIORITY,
    READ,
    READ_BY,
    REFUSED,
    RISK,
    SEND,
    SENT,
    SURE,
    Book,
    calling,
    others_calling,
    unheard,
)
from scatterproof.conformance.workqueue.releasing import is_there
from scatterproof.spec.trace import Kind

KINDS = (Kind.CALLED, Kind.RETURNED, Kind.CRASHED)
# The last row `returned`: whether it is still to be learnt, node, time, outcome and position, and six columns.
HEARD_FIELDS = 11
_NOTHING = 0, 0, 0, 0, 0, 0, 0, 0


@register_jitable
def may_come_first(group: int, other: int, groups: TableState) -> bool:
    """Whether the group in slot `other` may have been begun ahead of that in slot `group`, of the same correlation."""
    return other != group and field(groups, other, OPEN_CALLED) <= field(groups, group, OPEN_NS)


@register_jitable
def may_be_taken(slot: int, groups: TableState) -> bool:
    """Whether the group, whatever the others are, can be handed out at every moment since it was closed."""
    if not is_there(groups, slot) or field(groups, slot, KNOWN) == 0 or field(groups, slot, SENT) == 0:
        return False
    if field(groups, slot, CLOSED_NS) == FOREVER:
        return False
    removing = field(groups, slot, FLUSH_ASKED) + field(groups, slot, POP_ASKED)
    return removing == 0 and field(groups, slot, HELD) == 0


@register_jitable
def is_let_through(slot: int, called_ns: int, node_count: int, book: Book) -> bool:
    """Whether surely no other group of its correlation stood in the way from the call until now, and the last one was
    there where it waits for that."""
    groups, _, _, clients, correlations, _, _, _, _ = book
    correlation = field(groups, slot, CORRELATION)
    since = find(correlations, (correlation,))
    if field(correlations, since, CHANGED_NS) >= called_ns or field(correlations, since, LOOSE_OPENS) > 0:
        return False
    whole = field(groups, slot, LAST) != 0
    for other in range(room(groups)):
        if not is_there(groups, other) or field(groups, other, CORRELATION) != correlation:
            continue
        if field(groups, other, HELD) > 0 or may_come_first(slot, other, groups):
            return False
        # What is left was surely begun after it.
        whole = whole or (field(groups, other, LAST) == 1 and may_be_taken(other, groups))
    if not whole:
        return False
    for other in range(node_count):
        own = calling(clients, other, OPEN)
        if own < 0 or field(clients, own, ABOUT_CORRELATION) != correlation:
            continue
        if field(clients, own, CALLED_NS) <= field(groups, slot, OPEN_NS):
            return False
    return True


@register_jitable
def first_ready(node: int, called_ns: int, node_count: int, book: Book) -> int:
    """The slot of the group that next_group must hand out: the first that is surely ready; -1 where none is."""
    groups, _, _, clients, _, loose, _, _, _ = book
    found = -1
    if loose[LOOSE_NEXT] > 0 or others_calling(clients, node, NEXT, node_count):
        return -1
    for slot in range(room(groups)):
        if not may_be_taken(slot, groups) or (found >= 0 and not _is_before(slot, found, groups)):
            continue
        # Going over all groups comes last: of thousands that wait, only those that would win get here.
        if is_let_through(slot, called_ns, node_count, book):
            found = slot
    return found


@register_jitable
def _is_before(one: int, other: int, groups: TableState) -> bool:
    return _rank(groups, one) < _rank(groups, other)


@register_jitable
def _rank(groups: TableState, slot: int) -> tuple[int, int, int]:
    return field(groups, slot, PRIORITY), field(groups, slot, OPEN_NS), field(groups, slot, NUMBER)


@register_jitable
def is_refused_for_nothing(
    node: int,
    denied: int,
    about: tuple[int, int, int],
    node_count: int,
    most_tries: int,
    book: Book,
) -> bool:
    """Whether a call was refused though nothing forbade it at any moment of its box. about: (group, message, token)."""
    groups, _, messages, clients, _, _, _, _, _ = book
    group, message, token = about
    if denied == 0:
        return False
    if not (denied in (SEND, CLOSE, FLUSH) or denied in (READ, POP, POP_GROUP)):
        return True  # calls about no group are never refused
    slot, own = find(groups, (group,)), find(clients, (node,))
    if slot < 0 or field(clients, own, HAND) != group or field(clients, own, HAND_TOKEN) != token:
        return False
    if denied in (SEND, CLOSE, FLUSH):
        alone = field(groups, slot, CLOSE_ASKED) == int(denied == CLOSE)
        alone = alone and field(groups, slot, FLUSH_ASKED) == int(denied == FLUSH)
        alone = alone and field(groups, slot, OPENER) == node and field(groups, slot, RISK) == 0
        return alone and field(groups, slot, SURE) == 0
    if field(groups, slot, SURE) == 0 or field(groups, slot, HOLDER) != node:
        return False
    if denied == POP:
        one = find(messages, (group, message))
        asked = one >= 0 and field(messages, one, ASKED) == 1
        # A read of somebody else may have set the message aside.
        alone = unheard(READ, node, group, node_count, groups, clients) == 0 and field(groups, slot, READ_BY) == node
        is_there = most_tries == 0 or alone
        return asked and is_there and field(clients, own, LEFT) == message
    if denied == POP_GROUP:
        return field(clients, own, LEFT) == 0 and field(groups, slot, POP_ASKED) == 1
    return field(groups, slot, POP_ASKED) == 0


@register_jitable
def subject(
    node: int, call: int, outcome: int, node_count: int, most_tries: int, book: Book
) -> tuple[int, int, int, int, int, int, int, int]:
    """What `knowledge` returns for a row `returned`; all 0 where the row ends no call."""
    groups, _, _, clients, _, _, _, _, _ = book
    own = find(clients, (node,))
    if own < 0 or field(clients, own, IN_CALL) != call:
        return _NOTHING
    begun_ns = field(clients, own, CALLED_NS)
    slot = first_ready(node, begun_ns, node_count, book) if call == NEXT and outcome == OK else -1
    ready = field(groups, slot, NUMBER) if slot >= 0 else 0
    about = (field(clients, own, ABOUT), field(clients, own, ABOUT_MESSAGE), field(clients, own, ABOUT_TOKEN))
    done, denied = call * int(outcome == OK), call * int(outcome == REFUSED)
    groundless = int(is_refused_for_nothing(node, denied, about, node_count, most_tries, book))
    return done, denied, begun_ns, about[0], about[1], about[2], ready, groundless


# For a row `returned`. done, denied: the call that returned ok, or was refused; else 0. begun_ns: when it was called.
# about, about_message, about_token: the group, message and token that it is about. ready: the group that a next_group
# that returned ok had to hand out; 0 for none. groundless: 1 for a call that was refused and that nothing forbade.
# store_down_ns: when the store last crashed, or NEVER.
@derive(
    *("done", "denied", "begun_ns", "about", "about_message", "about_token", "ready", "groundless"),
    kinds=KINDS,
    groups=Table(1, GROUP_FIELDS),
    gone=Table(1, 2),
    messages=Table(2, MESSAGE_FIELDS, at_once=2),
    clients=Table(1, CLIENT_FIELDS),
    correlations=Table(1, CORRELATION_FIELDS),
    loose=Bins(4),
    stirred_ns=Cell(NEVER),
    released_ns=Cell(NEVER),
    cleaned_ns=Cell(NEVER),
    store_down_ns=Cell(NEVER),
    heard=Bins(HEARD_FIELDS),
)
def knowledge(
    position: int,
    kind: int,
    node: int,
    link: int,
    time_ns: int,
    call: int,
    outcome: int,
    digest: int,
    group: int,
    message: int,
    token: int,
    type: int,
    priority: int,
    correlation: int,
    server: int,
    last: int,
    removed: int,
    released: int,
    senders_before: int,
    receivers_before: int,
    node_count: int,
    most_tries: int,
    node_is_client: Ints,
    groups: TableState,
    gone: TableState,
    messages: TableState,
    clients: TableState,
    correlations: TableState,
    loose: State,
    stirred_ns: State,
    released_ns: State,
    cleaned_ns: State,
    store_down_ns: State,
    heard: State,
) -> tuple[int, int, int, int, int, int, int, int]:
    """The values that the decorator names, in its order; 0 for rows of other kinds. The state is as in `records`."""
    book = (groups, gone, messages, clients, correlations, loose, stirred_ns, released_ns, cleaned_ns)
    if heard[0] == 1:
        told = (heard[5], heard[6], heard[7], heard[8], heard[9], heard[10])
        learn(heard[1], heard[2], heard[3], told, heard[4], node_count, book)
        heard[0] = 0
    if kind == CALLED:
        given = (server, correlation, type, priority, digest, last, senders_before, receivers_before)
        asked = (group, message, token, *given)
        note_called(node, time_ns, call, asked, book)
    elif kind == RETURNED:
        found = subject(node, call, outcome, node_count, most_tries, book)
        heard[0], heard[1], heard[2], heard[3], heard[4] = 1, node, time_ns, outcome, position
        heard[5], heard[6], heard[7], heard[8] = group, message, token, correlation
        heard[9], heard[10] = removed, released
        return found
    elif link < 0:
        note_crash(node, book)
        if node_is_client[node] == 0:
            store_down_ns[0] = time_ns
    return _NOTHING
