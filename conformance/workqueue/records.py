"""What is kept of groups, messages, clients and correlations, as fields of tables; and calls as numbers."""

from __future__ import annotations

from typing import TypeAlias

from numba.extending import register_jitable

from scatterproof.conformance.checks.step import State, TableState
from scatterproof.conformance.checks.tables import change, field, find
from scatterproof.spec.core import Outcome
from scatterproof.spec.trace import schema

CALLS = schema("workqueue").calls
OPEN, SEND, CLOSE, FLUSH = (CALLS[name] for name in ("open_group", "send_message", "close_group", "flush_group"))
NEXT, READ, POP, POP_GROUP = (CALLS[name] for name in ("next_group", "read_message", "pop_message", "pop_group"))
UNLOCK, CLEAN = CALLS["unlock_server_groups"], CALLS["clean"]
OK, REFUSED, UNKNOWN = map(int, Outcome)
NEVER, FOREVER = -(1 << 63), (1 << 63) - 1

# A group, by its number. KNOWN: its open_group returned ok. SENT: the highest id that a send returned: those below were
# sent, too.
# *_ASKED: how many calls may have done it. LOOSE_*: how many have an unknown outcome. HELD: it may be locked for
# receiving, 2 where a release may have come before or after the hand-out; SURE: it surely is, and nothing that may
# release it was called. HOLDER: the client that it was last handed to, under HSERVER, at HAND_NS, in row HAND_AT.
# FREED, FREED_NS: what surely released its lock (BY_BOOT, BY_CLEANING; 0: nothing), and when. RISK: whether cleaning
# may have removed it: 0 no, 1 only the latest cleaning, 2 an earlier one. REMOVED_NS: since when cleaning surely has
# (FOREVER: it may not have). BOOTED: unlock_server_groups was called for its sender's server, and close_group not yet.
# LAST: 1 where it is marked as the last of its correlation, 0 where it waits for that one; -1 else, or where its
# open_group has not returned ok. READ_BY: who has read in it since it was handed out (-1: nobody, -2: several).
NUMBER, CORRELATION, PRIORITY, TYPE, SERVER, OPENER, OPEN_CALLED, OPEN_NS, KNOWN, SENT, LOOSE_SENDS = range(11)
CLOSE_ASKED, CLOSED_NS, FLUSH_ASKED, POP_ASKED, HELD, SURE, HOLDER, HSERVER, HAND_NS, HAND_AT, TOKEN = range(11, 22)
HANDED, FREED, FREED_NS, RISK, REMOVED_NS, BOOTED, LOOSE_READS, LAST, READ_BY = range(22, 31)
GROUP_FIELDS = 31
BY_BOOT, BY_CLEANING = 1, 2

# A group that is gone, by its number: since when, and how.
GONE_NS, GONE_HOW = range(2)
POPPED, FLUSHED, EMPTY = 1, 2, 3

# A message, by its group and id, that a call named or a return told. SENT_NS, SENT_BY: when its send returned ok
# (FOREVER: none has), and whose that was. ASKED: how many calls may have popped it. POPPED_NS: since when it surely is
# popped (FOREVER: it may not be). READS, READ_NS: how often it was read, and when last.
DIGEST, SENT_NS, SENT_BY, ASKED, POPPED_NS, READS, READ_NS = range(7)
MESSAGE_FIELDS = 7

# A client, by its node: the call that it is in (0: none) and what that is about; then what it has in hand.
# READING: the message that its last read_message gave. LEFT: what its last one of the group in hand gave, 0 where no
# message is left; -1 where there was none. NOTED: its call may do something to its group, or message, which was known
# as it was called.
IN_CALL, CALLED_NS, ABOUT, ABOUT_MESSAGE, ABOUT_TOKEN, ABOUT_SERVER, ABOUT_CORRELATION, ABOUT_TYPE = range(8)
ABOUT_PRIORITY, ABOUT_DIGEST, ABOUT_LAST, ABOUT_SENDERS_BEFORE, ABOUT_RECEIVERS_BEFORE = range(8, 13)
HAND, HAND_TOKEN, READING, LEFT, NOTED = range(13, 18)
CLIENT_FIELDS = 18

# A correlation: since when its groups stand as they do; how many of its open_group calls have an unknown outcome; and
# when open_group returned for the latest of its groups that were marked as the last, and were finished.
CHANGED_NS, LOOSE_OPENS, MARKED_NS = range(3)
CORRELATION_FIELDS = 3

# How many calls have an unknown outcome, over all groups. LOOSE_RELEASE counts cleaning, too.
LOOSE_NEXT, LOOSE_OPEN, LOOSE_RELEASE, LOOSE_CLEAN = range(4)

# groups, gone, messages, clients, correlations, loose; then one time each: since when all groups stand as they do, when
# locks were last released, and when cleaning last returned.
Book: TypeAlias = tuple[TableState, TableState, TableState, TableState, TableState, State, State, State, State]


@register_jitable
def add(table: TableState, slot: int, number: int, more: int) -> None:
    change(table, slot, number, field(table, slot, number) + more)


@register_jitable
def calling(clients: TableState, node: int, call: int) -> int:
    """The slot of a client that is in this call, or -1."""
    slot = find(clients, (node,))
    return slot if slot >= 0 and field(clients, slot, IN_CALL) == call else -1


@register_jitable
def others_calling(clients: TableState, node: int, call: int, node_count: int) -> bool:
    """Whether another client is in this call."""
    found = 0
    for other in range(node_count):
        found += int(other != node and calling(clients, other, call) >= 0)
    return found > 0


@register_jitable
def may_have_messages(slot: int, node_count: int, groups: TableState, clients: TableState) -> bool:
    """Whether a message was sent to the group, or may have been."""
    found = field(groups, slot, KNOWN) == 0 or field(groups, slot, SENT) + field(groups, slot, LOOSE_SENDS) > 0
    for other in range(node_count):
        own = calling(clients, other, SEND)
        found = found or (own >= 0 and field(clients, own, ABOUT) == field(groups, slot, NUMBER))
    return found


@register_jitable
def unheard(call: int, node: int, group: int, node_count: int, groups: TableState, clients: TableState) -> int:
    """How many calls of SEND, or of READ, may have been carried out in the group unseen: those of unknown outcome, and
    those that others are in."""
    slot = find(groups, (group,))
    if slot < 0:
        return 0
    found = field(groups, slot, LOOSE_READS if call == READ else LOOSE_SENDS)
    for other in range(node_count):
        own = calling(clients, other, call)
        found += int(other != node and own >= 0 and field(clients, own, ABOUT) == group)
    return found


@register_jitable
def was_sent(group: int, message: int, messages: TableState) -> bool:
    """Whether a send returned ok with this id."""
    one = find(messages, (group, message))
    return one >= 0 and field(messages, one, SENT_NS) < FOREVER


@register_jitable
def may_get(
    message: int,
    node: int,
    begun_ns: int,
    slot: int,
    node_count: int,
    groups: TableState,
    clients: TableState,
    messages: TableState,
) -> bool:
    """Whether a send of this client to the group in this slot, begun then, may get the id: nobody else has, no higher
    one was given before, and there were as many sends."""
    group = field(groups, slot, NUMBER)
    last = field(groups, slot, SENT)
    if message < 1 or message > last + 1 + unheard(SEND, node, group, node_count, groups, clients):
        return False
    if was_sent(group, message, messages):
        return False
    for other in range(message + 1, last + 1):
        one = find(messages, (group, other))
        if one >= 0 and (field(messages, one, SENT_NS) < begun_ns or field(messages, one, SENT_BY) == node):
            return False
    return True


@register_jitable
def may_be_in(
    message: int, node: int, slot: int, node_count: int, groups: TableState, clients: TableState, messages: TableState
) -> bool:
    """Whether the message was ever sent to the group in this slot, or may have been, for all that this client knows."""
    group = field(groups, slot, NUMBER)
    sends = unheard(SEND, node, group, node_count, groups, clients)
    if was_sent(group, message, messages):
        return True
    return sends > 0 and 1 <= message <= field(groups, slot, SENT) + sends
