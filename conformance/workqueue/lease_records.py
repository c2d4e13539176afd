"""What is kept of messages of a queue with leases, of clients and of what they have in hand, as fields of tables; and
calls as numbers."""

from __future__ import annotations

from typing import TypeAlias

from numba.extending import register_jitable

from scatterproof.conformance.checks.step import State, TableState
from scatterproof.conformance.checks.tables import field, find
from scatterproof.conformance.workqueue.records import CALLS, FOREVER, NEVER

PUT, RECEIVE, DELETE, EXTEND, GIVE_BACK = (
    CALLS[name] for name in ("put_message", "receive", "delete", "extend", "give_back")
)

# Of a message, by the client that put it and the number of that call. SURE: it was surely taken, and is no copy.
# PUT_CALLED, PUT_NS, PUT_AT: when its put was called, when that returned ok (FOREVER: it has not), and in which row.
# HANDED: how often it was handed out, last with RECEIPT, to HOLDER in its call HOLDER_OP, which returned at HAND_NS, in
# row HAND_AT. ENDS_FROM, ENDS_BY: strictly below the one its lease surely lasts, unless the holder calls what may end
# it; strictly above the other it surely does not, unless one of EXTENDS, the calls that may extend it still, does.
# ASKED: how many calls may have deleted it. DELETED_NS: since when it surely is (FOREVER: it is not).
SENDER, NUMBER, GROUP, DEDUP, PUT_CALLED, PUT_NS, PUT_AT, SURE, HANDED, RECEIPT, HOLDER, HOLDER_OP = range(12)
HAND_NS, HAND_AT, ENDS_FROM, ENDS_BY, EXTENDS, ASKED, DELETED_NS = range(12, 19)
MESSAGE_FIELDS = 19

# Of a client, by its node: the call that it is in (0: none), when it was called, its number and lease, how many
# messages it asks for at the most, and how many it got; of a call about a message, that (by sender and number), the
# hand-out whose receipt it has, counted from 1, how often the message was handed out as it was called, and what
# ENDS_FROM was. FIRST, BEHIND: the numbers of the first message in hand, and behind the last.
IN_CALL, CALLED_NS, OPERATION, LEASE, MOST, GOT, OF_SENDER, OF_NUMBER, GRANT, SEEN, OLD_FROM, FIRST, BEHIND = range(13)
USER_FIELDS = 13

# Of a message in hand, by the client and its number there.
HAND_SENDER, HAND_NUMBER, HAND_GRANT = range(3)

# messages, hands, users; how many receives came to no known end.
Leases: TypeAlias = tuple[TableState, TableState, TableState, State]


@register_jitable
def later(time_ns: int, by_ns: int) -> int:
    """The sum, FOREVER where it is beyond."""
    wait = max(0, by_ns)
    return FOREVER if time_ns > FOREVER - wait else time_ns + wait


@register_jitable
def earlier(time_ns: int, by_ns: int) -> int:
    """The difference, NEVER where it is beyond."""
    wait = max(0, by_ns)
    return NEVER if time_ns < NEVER + wait else time_ns - wait


@register_jitable
def receiving(users: TableState, node: int) -> int:
    """The slot of a client that is in a receive, or -1."""
    slot = find(users, (node,))
    return slot if slot >= 0 and field(users, slot, IN_CALL) == RECEIVE else -1


@register_jitable
def same_id(messages: TableState, one: int, other: int, by_group: int) -> bool:
    """Whether two messages have one deduplication id."""
    same = field(messages, one, DEDUP) > 0 and field(messages, one, DEDUP) == field(messages, other, DEDUP)
    return same and (by_group == 0 or field(messages, one, GROUP) == field(messages, other, GROUP))


@register_jitable
def is_before(messages: TableState, one: int, other: int) -> bool:
    """Whether the put of one message surely took effect before that of another: it returned ok strictly below the other
    was called, or the same client put both, one after the other."""
    put_ns = field(messages, one, PUT_NS)
    if put_ns < FOREVER and field(messages, one, SENDER) == field(messages, other, SENDER):
        return field(messages, one, NUMBER) < field(messages, other, NUMBER)
    return put_ns < field(messages, other, PUT_CALLED)


@register_jitable
def comes_first(messages: TableState, one: int, other: int) -> bool:
    """Which of two messages a check tells, whatever the slots they are in; other: -1 for none."""
    if other < 0:
        return True
    for number in (PUT_CALLED, SENDER, NUMBER):
        if field(messages, one, number) != field(messages, other, number):
            return field(messages, one, number) < field(messages, other, number)
    return False
