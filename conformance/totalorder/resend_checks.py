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
from scatterproof.conformance.checks.tables import change, field, find, put, remove, room, used
from scatterproof.conformance.totalorder.cut_offs import cut_offs
from scatterproof.conformance.totalorder.packets import is_node, is_own_data, is_recall, is_resent
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.conformance.totalorder.silent_links import stoppages
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.trace import Kind, Order

DATA, ACK = int(PacketKind.DATA), int(PacketKind.ACK)


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
def never_resent(
    waiting: TableState, acknowledged: Ints, stopped: Ints, told: Ints, node_count: int
) -> tuple[int, int, int]:
    """The first message that its sender sent only once, though no acknowledgement came for it: its number, its sender,
    and its row, -1 for none. Only the oldest message of a sender and receiver must be sent again."""
    number, owner, first_at = 0, 0, -1
    for slot in range(room(waiting)):
        if not used(waiting, slot):
            continue
        sender, receiver, its = field(waiting, slot, 4), field(waiting, slot, 5), field(waiting, slot, 6)
        at = field(waiting, slot, 2)
        oldest = its - 1 == acknowledged[sender * node_count + receiver]
        if field(waiting, slot, 3) or stopped[sender] or stopped[receiver] or not oldest:
            continue
        if told[sender * node_count + receiver]:
            continue
        if first_at < 0 or at < first_at:
            number, owner, first_at = its, sender, at
    return (number, owner, first_at)


@register_jitable
def note_acknowledgement(
    waiting: TableState,
    acknowledged: State,
    newest: State,
    wanted: State,
    wanted_ns: State,
    wanted_at: State,
    pair: int,
    key: tuple[int, int, int],
    clock_ns: int,
    position: int,
) -> None:
    """Take an acknowledgement of a number that was sent. One that equals the last asks for the next message, if that
    was sent only once."""
    sender, receiver, number = key
    if 0 <= number == acknowledged[pair] == newest[pair] and wanted[pair] == 0:
        slot = find(waiting, (sender, receiver, number + 1))
        if slot >= 0 and field(waiting, slot, 3) == 0:
            wanted[pair], wanted_ns[pair], wanted_at[pair] = number + 1, clock_ns, position
    if number > acknowledged[pair]:
        slot = find(waiting, (sender, receiver, acknowledged[pair] + 1))
        while slot >= 0 and acknowledged[pair] < number:
            remove(waiting, slot)
            acknowledged[pair] += 1
            slot = find(waiting, (sender, receiver, acknowledged[pair] + 1))
        acknowledged[pair] = number
        wanted[pair] = 0
    newest[pair] = number


@register_jitable
def compare_with_first(
    waiting: TableState,
    slot: int,
    timestamp: int,
    digest: int,
    asked_ns: int,
    asked_at: int,
    clock_ns: int,
    interval: int,
) -> Outcome:
    """Whether a message sent again is the one in the slot, and comes within `interval` ns after it was asked for.
    asked_at: the row that asked; below 0 for none."""
    first_at = field(waiting, slot, 2)
    if timestamp != field(waiting, slot, 0):
        return violated(0, field(waiting, slot, 0), timestamp, first_at)
    if digest != field(waiting, slot, 1):
        return violated(1, field(waiting, slot, 1), digest, first_at)
    if asked_at >= 0 and clock_ns >= 0 and asked_ns >= 0 and elapsed(asked_ns, clock_ns, interval):
        return violated(3, asked_ns, clock_ns, asked_at)
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
    wanted=PerPair(0),
    wanted_ns=PerPair(0),
    wanted_at=PerPair(-1),
)
def lost_is_resent(
    row: Row,
    net: Net,
    waiting: TableState,
    sent_number: State,
    acknowledged: State,
    newest: State,
    wanted: State,
    wanted_ns: State,
    wanted_at: State,
    stopped: Ints,
    told: Ints,
) -> Outcome:
    """A message sent again equals the message that was sent. After two equal acknowledgements it is sent again within a
    beacon interval. In the end each message without an acknowledgement was sent again, unless its sender or receiver
    has stopped, or a notice came that the receiver has failed. The sentence excuses no silent receiver, but how
    long its sender's time-out is no clause says, so that it may end after the run: such a receiver is left open.

    waiting: (sender, receiver, number) -> (timestamp, digest, position, sent again, sender, receiver, number), until it
        is acknowledged.

    By sender and receiver:
    sent_number: the greatest number sent.
    acknowledged: the greatest number acknowledged, of those sent.
    newest: the last number acknowledged.
    wanted: the number that two equal acknowledgements ask for, 0 for none.
    wanted_ns, wanted_at: when they did, on the local clock, and in which row.
    """
    if row.kind == ENDED:
        lost, owner, at = never_resent(waiting, acknowledged, stopped, told, net.node_count)
        return violated(2, owner, lost, at) if at >= 0 and settled(row.flags) else SILENT
    if row.kind == ARRIVED:
        pair, key = row.node * net.node_count + row.sender, (row.node, row.sender, row.number)
        if row.receiver != row.node or not is_node(row.sender, net):
            return SILENT
        if row.packet == ACK and row.number <= sent_number[pair]:
            note_acknowledgement(
                waiting, acknowledged, newest, wanted, wanted_ns, wanted_at, pair, key, row.clock_ns, row.position
            )
        return SILENT
    if not is_own_data(row) or not is_node(row.receiver, net):
        return SILENT
    pair, key = row.node * net.node_count + row.receiver, (row.node, row.receiver, row.number)
    if not is_resent(row.flags):
        sent_number[pair] = max(sent_number[pair], row.number)
        if row.number > acknowledged[pair] and find(waiting, key) < 0:
            put(waiting, key, (row.timestamp, row.digest, row.position, 0, row.node, row.receiver, row.number))
        return SILENT
    slot = find(waiting, key)
    if row.number <= acknowledged[pair] or slot < 0:
        return SILENT
    change(waiting, slot, 3, 1)
    asked_at = wanted_at[pair] if wanted[pair] == row.number else -1
    wanted[pair] = 0 if wanted[pair] == row.number else wanted[pair]
    return compare_with_first(
        waiting, slot, row.timestamp, row.digest, wanted_ns[pair], asked_at, row.clock_ns, net.beacon_interval_ns
    )
