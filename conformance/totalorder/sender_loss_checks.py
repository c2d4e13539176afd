"""Checks of what a sender says under loss: TO-RETX-BAR, TO-FLAG-HOST. Operators of the same names in CamelCase:
LossClauses.tla."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ARRIVED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Ints,
    Outcome,
    PerLink,
    PerNode,
    PerPair,
    State,
    Table,
    TableState,
    check,
    violated,
)
from scatterproof.conformance.checks.tables import field, find, is_less, put, remove, room, used
from scatterproof.conformance.totalorder.outstanding import outstanding_messages
from scatterproof.conformance.totalorder.packets import is_node, is_own_data, is_resent, names_failed
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.conformance.totalorder.sending_checks import due_barrier, promises
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NO_BARRIER, NO_LOSS, NOT_SPOKEN, PacketKind
from scatterproof.spec.trace import Kind, Order

DATA, ACK = int(PacketKind.DATA), int(PacketKind.ACK)
# What is known of a message that was sent again.
TIMESTAMP, POSITION, PAIR, NUMBER, LINK = range(5)


@check(
    "TO-RETX-BAR",
    kinds=(Kind.SENT,),
    at=Role.HOST,
    order=Order.NODE,
    ways=("node {node} sent a message again with barrier {found}; its current one is {expected}",),
    derived=(promises,),
    last=PerNode(0),
)
def resent_carries_current_barrier(row: Row, net: Net, last: State, promised: int, ack_promised: int) -> Outcome:
    """A message sent again carries the barrier that a beacon would carry at that moment, at or above all that the host
    has sent. Where no clock is recorded, any barrier at or above the promises will do."""
    outcome = SILENT
    if row.packet == DATA and is_resent(row.flags) and row.barrier != NO_BARRIER:
        known = row.clock_ns >= 0 and net.adjustment_interval_ns == 0
        due = due_barrier(row.clock_ns if known else NOT_SPOKEN, last[row.node], promised, ack_promised)
        current = row.barrier == due if known else row.barrier >= due
        outcome = HOLDS if current else violated(0, due, row.barrier, -1)
    if row.packet == DATA:
        last[row.node] = max(last[row.node], row.timestamp)
    return outcome


@register_jitable
def greatest_lost(lost: TableState, link: int) -> int:
    """The slot of a link's entry with the greatest timestamp, of equal ones the first, or -1."""
    found = -1
    for slot in range(room(lost)):
        if not used(lost, slot) or field(lost, slot, LINK) != link:
            continue
        equal = found >= 0 and field(lost, slot, TIMESTAMP) == field(lost, found, TIMESTAMP)
        if is_less(lost, slot, found, POSITION) if equal else found < 0 or is_less(lost, found, slot, TIMESTAMP):
            found = slot
    return found


@check(
    "TO-FLAG-HOST",
    kinds=(Kind.SENT, Kind.ARRIVED),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} sent loss record {found} on link {link}, where it has sent {expected} again, and that is not "
        "acknowledged",
        "node {node} sent loss record {found} on link {link}, where the greatest timestamp that it sent again is "
        "{expected}",
        "node {node} sent loss record {found} on link {link}, although all up to that is acknowledged",
    ),
    derived=(outstanding_messages,),
    lost=Table(3, 5),
    again=PerLink(NO_LOSS),
    acknowledgeable=PerPair(0),
    told=PerNode(0),
)
def host_sets_loss_flag(
    row: Row, net: Net, least: Ints, least_at: Ints, lost: TableState, again: State, acknowledgeable: State, told: State
) -> Outcome:
    """A host that sets the flag sends, on each link, loss records at or above every timestamp that it sent again there,
    until that is acknowledged. It sends none above what it sent again, and none that its ack barrier has reached. That
    a host knows of a loss shows when it sends again. Nobody waits for what a failed host lost (TO-FAIL).

    lost: (receiver, number, link) -> (timestamp, position, sender and receiver, number, link), until an
        acknowledgement comes.
    again: by link, the greatest timestamp sent again, in ns.
    acknowledgeable: by sender and receiver, the greatest number sent.
    told: by host, whether a notice came that another has failed.
    """
    if row.kind == ARRIVED:
        if row.receiver != row.node or not is_node(row.sender, net):
            return SILENT
        pair = row.node * net.node_count + row.sender
        failed = names_failed(row, net)
        if failed:
            told[row.node] = 1
        elif row.packet != ACK or row.number > acknowledgeable[pair]:
            return SILENT
        slot = 0
        while slot < room(lost):
            covered = failed or (used(lost, slot) and field(lost, slot, NUMBER) <= row.number)
            if used(lost, slot) and field(lost, slot, PAIR) == pair and covered:
                remove(lost, slot)  # another entry may move here
            else:
                slot += 1
        return SILENT
    if is_own_data(row) and is_resent(row.flags):
        again[row.link] = max(again[row.link], row.timestamp)
    if is_own_data(row) and is_node(row.receiver, net):
        pair, key = row.node * net.node_count + row.receiver, (row.receiver, row.number, row.link)
        slot = find(lost, key)
        if not is_resent(row.flags):
            acknowledgeable[pair] = max(acknowledgeable[pair], row.number)
        elif slot < 0 or row.timestamp > field(lost, slot, TIMESTAMP):
            put(lost, key, (row.timestamp, row.position, pair, row.number, row.link))
    most = greatest_lost(lost, row.link)
    if most >= 0 and row.loss_record < field(lost, most, TIMESTAMP):
        return violated(0, field(lost, most, TIMESTAMP), row.loss_record, field(lost, most, POSITION))
    if row.loss_record > again[row.link]:
        return violated(1, again[row.link], row.loss_record, -1)
    waits = least_at[row.link] >= 0 and row.loss_record >= least[row.link]
    if not told[row.node] and row.loss_record > NO_LOSS and not waits:
        return violated(2, 0, row.loss_record, -1)
    return HOLDS if most >= 0 else SILENT
