"""Checks of acknowledging and sending again: TO-SEQ, TO-DUPACK, TO-RETX. Operators of the same names in
CamelCase: LossClauses.tla."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ARRIVED, ENDED, SENT
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Ints,
    Outcome,
    PerPair,
    State,
    Table,
    TableState,
    check,
    elapsed,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import change, field, find, is_less, put, remove, room, used
from scatterproof.conformance.totalorder.cut_offs import cut_offs
from scatterproof.conformance.totalorder.packets import is_node, is_own_data, is_recall, is_resent
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.conformance.totalorder.silent_links import stoppages
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.trace import Kind, Order

DATA, ACK = int(PacketKind.DATA), int(PacketKind.ACK)
# What is known of a message that waits for its acknowledgement. It is asked for in a row, NOT_ASKED, or sent AGAIN.
TIMESTAMP, DIGEST, POSITION, PAIR, NUMBER, ASKED_AT, ASKED_NS = range(7)
NOT_ASKED, AGAIN = -1, -2


@check(
    "TO-SEQ",
    kinds=(Kind.SENT,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} sent message number {found} to {receiver}, where the number before it was {expected}",
        "node {node} sent message number {found} to {receiver} again, where {expected} is the greatest it sent",
    ),
    sent=PerPair(0),
    sent_at=PerPair(-1),
)
def message_numbers_consecutive(row: Row, net: Net, sent: State, sent_at: State) -> Outcome:
    """First transmissions of one sender to one receiver are numbered 1, 2, 3, ...; a message sent again was sent."""
    if not is_own_data(row) or not is_node(row.receiver, net):
        return SILENT
    pair = row.node * net.node_count + row.receiver
    if is_resent(row.flags):
        return HOLDS if 1 <= row.number <= sent[pair] else violated(1, sent[pair], row.number, sent_at[pair])
    outcome = HOLDS
    # On the right `number` is strictly above `sent`, so that the difference cannot wrap.
    if row.number <= sent[pair] or row.number - 1 > sent[pair]:
        outcome = violated(0, sent[pair], row.number, sent_at[pair])
    if row.number > sent[pair]:
        sent[pair], sent_at[pair] = row.number, row.position
    return outcome


@check(
    "TO-DUPACK",
    kinds=(Kind.SENT, Kind.ARRIVED, Kind.ENDED),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} acknowledged number {found} of {receiver}, where it holds all up to {expected}",
        "node {expected_node} left {found} of the data messages that arrived there without an acknowledgement",
    ),
    derived=(cut_offs, stoppages),
    held=PerPair(0),
    beyond=Table(3, 1),
    owed=PerPair(0),
)
def acknowledgements_cumulative(
    row: Row, net: Net, held: State, beyond: TableState, owed: State, told: Ints, stopped: Ints
) -> Outcome:
    """An acknowledgement bears the number up to which its host holds all of that sender's messages, recalled ones too
    (TO-ATOMIC). In the end each data message that arrived has one, duplicates and messages behind a gap included. Where
    failures are handled, a host that sent nothing for the time-out before the end has stopped, and nothing is owed to a
    host that a notice names (TO-FAIL). Nor is it where no way leads back.

    held: by receiver and sender, that number.
    beyond: (receiver, sender, number) of messages behind a gap.
    owed: by receiver and sender, how many acknowledgements.
    """
    if row.kind == ARRIVED:
        recalled = is_recall(row, net)
        if not (row.packet == DATA or recalled) or row.receiver != row.node or not is_node(row.sender, net):
            return SILENT
        pair = row.node * net.node_count + row.sender
        owed[pair] += 0 if recalled else 1
        if row.number > held[pair]:
            put(beyond, (row.node, row.sender, row.number), (0,))
            slot = find(beyond, (row.node, row.sender, held[pair] + 1))
            while slot >= 0:
                held[pair] += 1
                remove(beyond, slot)
                slot = find(beyond, (row.node, row.sender, held[pair] + 1))
        return SILENT
    if row.kind == SENT:
        if row.packet != ACK or row.node != row.sender or not is_node(row.receiver, net):
            return SILENT
        pair = row.node * net.node_count + row.receiver
        owed[pair] -= 1
        return HOLDS if row.number == held[pair] else violated(0, held[pair], row.number, -1)
    if settled(row.flags):
        for host in range(net.node_count):
            if net.node_is_host[host] and not stopped[host]:
                for other in range(net.node_count):
                    pair = host * net.node_count + other
                    if owed[pair] > 0 and not told[pair] and net.next_link[pair] >= 0:
                        return violated(1, host, owed[pair], -1)
    return SILENT


@register_jitable
def never_resent(waiting: TableState, acknowledged: Ints, stopped: Ints, told: Ints, node_count: int) -> int:
    """The slot of the first message that its sender sent only once, though no acknowledgement came for it, or -1. Only
    the oldest message of a sender and receiver must be sent again."""
    first = -1
    for slot in range(room(waiting)):
        if not used(waiting, slot) or field(waiting, slot, ASKED_AT) == AGAIN:
            continue
        pair = field(waiting, slot, PAIR)
        gone = stopped[pair // node_count] or stopped[pair % node_count] or told[pair]
        oldest = field(waiting, slot, NUMBER) - 1 == acknowledged[pair]
        if oldest and not gone and is_less(waiting, slot, first, POSITION):
            first = slot
    return first


@register_jitable
def note_acknowledgement(waiting: TableState, acknowledged: State, newest: State, pair: int, row: Row) -> None:
    """Take an acknowledgement of a number that was sent. One that equals the last asks for the next message, if that
    was sent only once."""
    if row.number == newest[pair]:
        slot = find(waiting, (row.node, row.sender, row.number + 1))
        if slot >= 0 and field(waiting, slot, ASKED_AT) == NOT_ASKED:
            change(waiting, slot, ASKED_AT, row.position)
            change(waiting, slot, ASKED_NS, row.clock_ns)
    newest[pair] = row.number
    while acknowledged[pair] < row.number:
        slot = find(waiting, (row.node, row.sender, acknowledged[pair] + 1))
        if slot < 0:
            acknowledged[pair] = row.number
        else:
            remove(waiting, slot)
            acknowledged[pair] += 1


@register_jitable
def compare_with_first(waiting: TableState, slot: int, row: Row, interval: int) -> Outcome:
    """Whether a message sent again is the one in the slot, and comes within `interval` ns after it was asked for."""
    at, asked_at = field(waiting, slot, POSITION), field(waiting, slot, ASKED_AT)
    timestamp, digest, asked_ns = (
        field(waiting, slot, TIMESTAMP),
        field(waiting, slot, DIGEST),
        field(waiting, slot, ASKED_NS),
    )
    if row.timestamp != timestamp:
        return violated(0, timestamp, row.timestamp, at)
    if row.digest != digest:
        return violated(1, digest, row.digest, at)
    if asked_at >= 0 and asked_ns >= 0 and elapsed(asked_ns, row.clock_ns, interval):
        return violated(3, asked_ns, row.clock_ns, asked_at)
    return HOLDS


@check(
    "TO-RETX",
    kinds=(Kind.SENT, Kind.ARRIVED, Kind.ENDED),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} sent message {number} again with timestamp {found}; it was sent with {expected}",
        "node {node} sent message {number} again with digest {found}; it was sent with {expected}",
        "node {expected_node} got no acknowledgement for message {found}, and never sent it again",
        "node {node} sent message {number} again at local clock {found}, more than a beacon interval after the second "
        "equal acknowledgement at {expected}",
    ),
    derived=(cut_offs, stoppages),
    waiting=Table(3, 7),
    sent_number=PerPair(0),
    acknowledged=PerPair(0),
    newest=PerPair(-1),
)
def lost_is_resent(
    row: Row,
    net: Net,
    waiting: TableState,
    sent_number: State,
    acknowledged: State,
    newest: State,
    stopped: Ints,
    told: Ints,
) -> Outcome:
    """A message sent again equals the message that was sent. After two equal acknowledgements it is sent again within a
    beacon interval. In the end each message without an acknowledgement was sent again, unless its sender or receiver
    has stopped, or a notice came that the receiver has failed. The sentence excuses no silent receiver, but how
    long its sender's time-out is no clause says, so that it may end after the run: such a receiver is left open.

    waiting: (sender, receiver, number) -> (timestamp, digest, position, sender and receiver, number, the row of the
        second of two equal acknowledgements, its local clock), until it is acknowledged.

    By sender and receiver:
    sent_number: the greatest number sent.
    acknowledged: the greatest number acknowledged, of those sent.
    newest: the last number acknowledged.
    """
    if row.kind == ENDED:
        first = never_resent(waiting, acknowledged, stopped, told, net.node_count)
        if first < 0 or not settled(row.flags):
            return SILENT
        sender = field(waiting, first, PAIR) // net.node_count
        return violated(2, sender, field(waiting, first, NUMBER), field(waiting, first, POSITION))
    if row.kind == ARRIVED:
        if row.packet == ACK and row.receiver == row.node and is_node(row.sender, net):
            pair = row.node * net.node_count + row.sender
            if row.number <= sent_number[pair]:
                note_acknowledgement(waiting, acknowledged, newest, pair, row)
        return SILENT
    if not is_own_data(row) or not is_node(row.receiver, net):
        return SILENT
    pair, key = row.node * net.node_count + row.receiver, (row.node, row.receiver, row.number)
    slot = find(waiting, key)
    if not is_resent(row.flags):
        sent_number[pair] = max(sent_number[pair], row.number)
        if slot < 0:
            put(waiting, key, (row.timestamp, row.digest, row.position, pair, row.number, NOT_ASKED, 0))
        return SILENT
    if row.number <= acknowledged[pair] or slot < 0:
        return SILENT
    outcome = compare_with_first(waiting, slot, row, net.beacon_interval_ns)
    change(waiting, slot, ASKED_AT, AGAIN)
    return outcome
