"""What is kept of the messages and clients of a queue with leases, and of what clients have in hand, as fields of
tables; and calls as numbers."""

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
# By name: the message's serial number, and whether it is a refused entry of a batch.
SERIAL, DENIED = range(2)

# A message, by its serial number. SURE: it was surely taken, and is no copy.
# PUT_CALLED, PUT_NS, PUT_AT: when its put was called, when that returned ok (FOREVER: it has not), and in which row.
# HANDED: how often it was handed out, last with RECEIPT, to HOLDER in its call HOLDER_OP, at HAND_NS, in row HAND_AT.
# ENDS_FROM: strictly below this its lease surely lasts, unless the holder calls what may end it. ENDS_BY: strictly
# above this it surely has ended, unless one of EXTENDS, the number of calls that may still extend it, does so.
# ASKED: how many calls may have deleted it. DELETED_NS: since when it surely is deleted (FOREVER: it may not be).
# BACK_BY: when the call returned that surely gave it back last (FOREVER: none did). BACK_FROM, which orders WAITING:
# when its put was called, or the last call that may have moved it behind the others.
# ASIDE_NS: since when it surely is set aside (FOREVER: it may not be). SHOWN_NS: when it was first handed out as set
# aside (FOREVER: it was not). TRIES: how often it was handed out otherwise. BODY: its digest (-1: not known).
SENDER, NUMBER, ENTRY, GROUP, DEDUP, PUT_CALLED, PUT_NS, PUT_AT, SURE, HANDED, RECEIPT, HOLDER, HOLDER_OP = range(13)
HAND_NS, HAND_AT, ENDS_FROM, ENDS_BY, EXTENDS, ASKED, DELETED_NS, BACK_FROM, BACK_BY = range(13, 22)
ASIDE_NS, SHOWN_NS, TRIES, BODY = range(22, 26)
_OWN = 26
# Its places in four lists (`lease_lists`), with three fields each: whether it is in the list, the message ahead, the
# message behind. ALIKE is a list for each deduplication id, the others for each group.
WAITING, OUT, ALIKE, SHOWN = _OWN, _OWN + 3, _OWN + 6, _OWN + 9
MESSAGE_FIELDS = _OWN + 12
# A list: its first and last message.
FIRST, LAST = range(2)

# A client, by its node: the call that it is in (0: none), when it was called, its number and lease, how many messages
# it asks for at most, how many it got, and how many it is about. HAND_FIRST, HAND_BEHIND: the place in hand of the
# first message, and the one behind the last. HAD_NS, HAD_AT: since when, and since which row, it surely is a consumer
# without a break. Strictly below ROLE_FROM it surely is one, strictly above ROLE_BY surely not; ROLE_WAS: what ROLE_BY
# was before its call.
IN_CALL, CALLED_NS, OPERATION, LEASE, MOST, GOT, USES, HAND_FIRST, HAND_BEHIND, HAD_NS, HAD_AT = range(11)
ROLE_FROM, ROLE_BY, ROLE_WAS = range(11, 14)
USER_FIELDS = 14

# A message in hand, by client and place: its serial number, the hand-out of its receipt, counted from 1, and for
# `cancel` what ENDS_FROM was. A message that a call is about, by client and place: also how often it had been handed
# out at the call.
OF, GRANT, OLD_FROM, SEEN = range(4)


class LeaseRow(NamedTuple):
    """A row's position in its run, and its columns (spec/workqueue/trace.toml)."""

    position: int
    kind: int
    node: int
    link: int
    time_ns: int
    sender: int
    number: int
    digest: int
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
    """The number of nodes, and the store's parameters (spec/workqueue/parameters.toml)."""

    node_count: int
    window_ns: int
    by_group: int
    margin_ns: int
    back_order: int
    one_consumer: int
    batches: int
    most_tries: int


class Leases(NamedTuple):
    """What is known.

    names: by sender, number and entry.
    messages: by serial number.
    groups, outs, ids, shown: the lists WAITING, OUT, ALIKE and SHOWN, by group, or by group and id.
    hands, uses, users: by client; the first two also by place.
    loose: how many calls of RECEIVE, and of RECEIVE_ASIDE, have an unknown outcome.
    made: how many messages were put.
    heard: the last row `delivered` or `returned`, if it is still to be learnt: its kind, node, time, position, sender,
        number, entry, receipt, outcome, done.
    """

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
    heard: State


@register_jitable
def later(time_ns: int, by_ns: int) -> int:
    """The sum, at most FOREVER; by_ns counts as 0 where it is negative."""
    wait = max(0, by_ns)
    return FOREVER if time_ns > FOREVER - wait else time_ns + wait


@register_jitable
def earlier(time_ns: int, by_ns: int) -> int:
    """The difference, at least NEVER. by_ns: not negative."""
    return NEVER if time_ns < NEVER + by_ns else time_ns - by_ns


@register_jitable
def entries(most: int) -> int:
    """How many messages a put or a delete is about: 1 where it says no number above that, at most MOST_ENTRIES."""
    return min(max(1, most), MOST_ENTRIES)


@register_jitable
def named(sender: int, number: int, message: int, book: Leases) -> int:
    """The slot of a message that was put and not refused, or -1. message: its entry in the call, -1 for the first."""
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
    """Whether entry `at`, from 0, of a call was carried out: by its bit in `done`, else (below 0) by the outcome."""
    return outcome == ok if done < 0 else (done >> at) & 1 == 1


@register_jitable
def is_before(messages: TableState, one: int, other: int) -> bool:
    """Whether the put of one message surely took effect before that of another: it returned ok strictly before the
    other was called, or the same client put both in this order."""
    put_ns = field(messages, one, PUT_NS)
    if put_ns < FOREVER and field(messages, one, SENDER) == field(messages, other, SENDER):
        return _of_sender(messages, one) < _of_sender(messages, other)
    return put_ns < field(messages, other, PUT_CALLED)


@register_jitable
def comes_first(messages: TableState, one: int, other: int) -> bool:
    """Whether a check names `one` rather than `other` (-1 for none), however the rows of one time are ordered."""
    return other < 0 or _in_order(messages, one) < _in_order(messages, other)


@register_jitable
def _in_order(messages: TableState, slot: int) -> tuple[int, int, int, int]:
    return (field(messages, slot, PUT_CALLED), field(messages, slot, SENDER), *_of_sender(messages, slot))


@register_jitable
def _of_sender(messages: TableState, slot: int) -> tuple[int, int]:
    return (field(messages, slot, NUMBER), field(messages, slot, ENTRY))
