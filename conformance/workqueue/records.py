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

# Of a group, by its number. KNOWN: its open_group returned ok. SENT: the id of its last message that was surely sent.
# *_ASKED: how many calls there are or were that may have done it. LOOSE_*: how many came to no known end. HELD: it
# may be locked for receiving; SURE: it surely is, and nobody has called what may release it. HOLDER: the client that
# it was last handed to, under HSERVER, from HAND_NS on, in row HAND_AT. FREED, FREED_NS: by what its lock was surely
# released (BY_BOOT, BY_CLEANING), and since when. RISK: whether cleaning may have removed it: 0 no, 1 the one that is
# going on, 2 an earlier one. REMOVED_NS: since when cleaning surely has. BOOTED: the receive locks of its sender's
# server were released while it was begun and not closed.
NUMBER, CORRELATION, PRIORITY, TYPE, SERVER, OPENER, OPEN_CALLED, OPEN_NS, KNOWN, SENT, LOOSE_SENDS = range(11)
CLOSE_ASKED, CLOSED_NS, FLUSH_ASKED, POP_ASKED, HELD, SURE, HOLDER, HSERVER, HAND_NS, HAND_AT, TOKEN = range(11, 22)
HANDED, FREED, FREED_NS, RISK, REMOVED_NS, BOOTED, LOOSE_READS = range(22, 29)
GROUP_FIELDS = 29
BY_BOOT, BY_CLEANING = 1, 2

# Of a group that is gone, by its number: since when, and how.
GONE_NS, GONE_HOW = range(2)
POPPED, FLUSHED, EMPTY = 1, 2, 3

# Of a message, by its group and id.
DIGEST, ASKED, POPPED_NS, READS, READ_NS = range(5)
MESSAGE_FIELDS = 5

# Of a client, by its node: the call that it is in (0: none) and what that is about; then what it has in hand.
# DRAINED: its last read_message said that no message is left.
IN_CALL, CALLED_NS, ABOUT, ABOUT_MESSAGE, ABOUT_TOKEN, ABOUT_SERVER, ABOUT_CORRELATION, ABOUT_TYPE = range(8)
ABOUT_PRIORITY, ABOUT_DIGEST, HAND, HAND_TOKEN, READING, DRAINED = range(8, 14)
CLIENT_FIELDS = 14

# Of a correlation: since when it stands as it does, and how many calls of open_group for it came to no known end.
CHANGED_NS, LOOSE_OPENS = range(2)

# How many calls came to no known end, in all.
LOOSE_NEXT, LOOSE_OPEN, LOOSE_RELEASE, LOOSE_CLEAN = range(4)

# groups, gone, messages, clients, correlations, loose, and since when (one number each): the store's groups stand as
# they do, locks were last released, groups were last removed by cleaning.
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
