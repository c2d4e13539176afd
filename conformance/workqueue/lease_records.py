"""What is kept of messages of a queue with leases, of clients and of what they have in hand, as fields of tables; and
calls as numbers."""

from __future__ import annotations

from typing import NamedTuple

from numba.extending import register_jitable

from scatterproof.conformance.checks.step import State, TableState
from scatterproof.conformance.checks.tables import field, find
from scatterproof.conformance.workqueue.records import CALLS, FOREVER, NEVER
from scatterproof.spec.workqueue.messages import MOST_ENTRIES as _MOST_ENTRIES

PUT, RECEIVE, DELETE, EXTEND, GIVE_BACK, CANCEL, RECEIVE_ASIDE = (
    CALLS[name] for name in ("put_message", "receive", "delete", "extend", "give_back", "cancel", "receive_aside")
)
MOST_ENTRIES = _MOST_ENTRIES
# Of a name: the message's number here, and whether it is an entry of a batch that was refused.
SERIAL, DENIED = range(2)

# Of a message, by its number here. SURE: it was surely taken, and is no copy.
# PUT_CALLED, PUT_NS, PUT_AT: when its put was called, when that returned ok (FOREVER: it has not), and in which row.
# HANDED: how often it was handed out, last with RECEIPT, to HOLDER in its call HOLDER_OP, which returned at HAND_NS, in
# row HAND_AT. ENDS_FROM, ENDS_BY: strictly below the one its lease surely lasts, unless the holder calls what may end
# it; strictly above the other it surely does not, unless one of EXTENDS, the calls that may extend it still, does.
# ASKED: how many calls may have deleted it. DELETED_NS: since when it surely is (FOREVER: it is not).
# BACK_FROM, BACK_BY: the box of the call that surely gave it back last; BACK_BY is FOREVER where none did. BACK_FROM is
# what those in WAITING are in the order of: when the put was called, or what may have put it behind the others.
# ASIDE_NS: since when it surely is set aside (FOREVER: it may not be). SHOWN_NS: when it was handed out as that first.
# TRIES: how often it was handed out as one that is not.
SENDER, NUMBER, ENTRY, GROUP, DEDUP, PUT_CALLED, PUT_NS, PUT_AT, SURE, HANDED, RECEIPT, HOLDER, HOLDER_OP = range(13)
HAND_NS, HAND_AT, ENDS_FROM, ENDS_BY, EXTENDS, ASKED, DELETED_NS, BACK_FROM, BACK_BY = range(13, 22)
ASIDE_NS, SHOWN_NS, TRIES = range(22, 25)
_OWN = 25
# Four lists that it may be in, each with three fields: whether it is, the one ahead, the one behind. WAITING: of its
# group, what may have to be handed out. OUT: of its group, what may be held. ALIKE: of its deduplication id. SHOWN: of
# its group, what was handed out as set aside.
WAITING, OUT, ALIKE, SHOWN = _OWN, _OWN + 3, _OWN + 6, _OWN + 9
MESSAGE_FIELDS = _OWN + 12
# Of a list: its first and last message.
FIRST, LAST = range(2)

# Of a client, by its node: the call that it is in (0: none), when it was called, its number and lease, how many
# messages it asks for at the most, how many it got, and how many the call is about. HAND_FIRST, HAND_BEHIND: the
# numbers of the first message in hand, and behind the last. As a consumer: when it was last handed a message that it
# did not cancel since (NEVER), and in which row; strictly below ROLE_FROM it surely is one that may be handed messages,
# strictly above ROLE_BY, which was ROLE_WAS before its call, surely not.
IN_CALL, CALLED_NS, OPERATION, LEASE, MOST, GOT, USES, HAND_FIRST, HAND_BEHIND, HAD_NS, HAD_AT = range(11)
ROLE_FROM, ROLE_BY, ROLE_WAS = range(11, 14)
USER_FIELDS = 14

# Of a message in hand, by the client and its number there: its number here, the hand-out whose receipt it has, counted
# from 1, and of `cancel` what ENDS_FROM was. Of one that a call is about, by the client and its place: also how often
# the message was handed out as it was called.
OF, GRANT, OLD_FROM, SEEN = range(4)


class LeaseRow(NamedTuple):
    """Where a row is in its run, and its columns (spec/workqueue/trace.toml)."""

    position: int
    kind: int
    node: int
    link: int
    time_ns: int
    sender: int
    number: int
    message: int
    call: int
    operation: int
    outcome: int
    group: int
    receipt: int
    dedup: int
    most: int
    carried: int
    newest: int
    lease_ns: int


class Promise(NamedTuple):
    """What the store is set to (spec/workqueue/parameters.toml)."""

    node_count: int
    window_ns: int
    by_group: int
    margin_ns: int
    back_order: int
    one_consumer: int
    batches: int
    most_tries: int


class Leases(NamedTuple):
    """names: by sender, number and entry. messages: by their number here. groups, outs, ids, shown: the lists, by
    group, or by group and id. hands, uses, users: by client. loose: how many receives came to no known end, and how
    many of what is set aside. made: how many messages were put. last: the last row `delivered` or `returned`, where it
    is to be learnt: its kind, node, time, position, sender, number, entry, receipt, outcome, done."""

    names: TableState
    messages: TableState
    groups: TableState
    outs: TableState
    ids: TableState
    shown: TableState
    hands: TableState
    uses: TableState
    users: TableState
    loose: State
    made: State
    last: State


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
def named(sender: int, number: int, message: int, book: Leases) -> int:
    """The slot of a message that was put and not refused, or -1. message: which entry of the call, -1 for the first."""
    name = find(book.names, (sender, number, max(1, message)))
    return find(book.messages, (field(book.names, name, SERIAL),)) if name >= 0 else -1


@register_jitable
def in_call(users: TableState, node: int, call: int) -> int:
    """The slot of a client that is in this call, or -1."""
    slot = find(users, (node,))
    return slot if slot >= 0 and field(users, slot, IN_CALL) == call else -1


@register_jitable
def receiving(users: TableState, node: int) -> int:
    return in_call(users, node, RECEIVE)


@register_jitable
def is_done(at: int, outcome: int, done: int, ok: int) -> bool:
    """Whether entry `at` of a call, from 0, was carried out, as its return says."""
    return outcome == ok if done < 0 else (done >> at) & 1 == 1


@register_jitable
def is_before(messages: TableState, one: int, other: int) -> bool:
    """Whether the put of one message surely took effect before that of another: it returned ok strictly below the other
    was called, or the same client put both, one after the other."""
    put_ns = field(messages, one, PUT_NS)
    if put_ns < FOREVER and field(messages, one, SENDER) == field(messages, other, SENDER):
        if field(messages, one, NUMBER) == field(messages, other, NUMBER):
            return field(messages, one, ENTRY) < field(messages, other, ENTRY)
        return field(messages, one, NUMBER) < field(messages, other, NUMBER)
    return put_ns < field(messages, other, PUT_CALLED)


@register_jitable
def comes_first(messages: TableState, one: int, other: int) -> bool:
    """Which of two messages a check tells, in whatever order the rows of one time are; other: -1 for none."""
    if other < 0:
        return True
    for number in (PUT_CALLED, SENDER, NUMBER, ENTRY):
        if field(messages, one, number) != field(messages, other, number):
            return field(messages, one, number) < field(messages, other, number)
    return False
