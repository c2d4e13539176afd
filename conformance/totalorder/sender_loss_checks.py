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
from scatterproof.conformance.checks.tables import field, find, put, remove, room, used
from scatterproof.conformance.totalorder.outstanding import outstanding_messages
from scatterproof.conformance.totalorder.packets import is_node, is_own_data, is_resent, names_failed
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.conformance.totalorder.sending_checks import due_barrier, promises
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NO_BARRIER, NO_LOSS, NOT_SPOKEN, PacketKind
from scatterproof.spec.trace import Kind, Order

DATA, ACK = int(PacketKind.DATA), int(PacketKind.ACK)


@check(
    "TO-RETX-BAR",
    kinds=(Kind.SENT,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} sent a message again on link {link} with barrier {found}, after barrier {expected}",
        "node {node} sent a message again with barrier {found}; its current one is {expected}",
    ),
    derived=(promises,),
    on_link=PerLink(NOT_SPOKEN),
    on_link_at=PerLink(-1),
    last=PerNode(0),
)
def resent_carries_current_barrier(
    row: Row, net: Net, on_link: State, on_link_at: State, last: State, promised: int, ack_promised: int
) -> Outcome:
    """A message sent again carries the barrier that a beacon would carry at that moment, at or above all sent on the
    link. Where no clock is recorded, any barrier at or above the promises will do."""
    outcome = SILENT
    if row.packet == DATA and is_resent(row.flags) and row.barrier != NO_BARRIER:
        known = row.clock_ns >= 0 and net.adjustment_interval_ns == 0
        due = due_barrier(row.clock_ns if known else NOT_SPOKEN, last[row.node], promised, ack_promised)
        outcome = HOLDS
        if row.barrier < on_link[row.link]:
            outcome = violated(0, on_link[row.link], row.barrier, on_link_at[row.link])
        elif row.barrier < due or (known and row.barrier != due):
            outcome = violated(1, due, row.barrier, -1)
    if row.packet == DATA:
        last[row.node] = max(last[row.node], row.timestamp)
    if row.barrier > on_link[row.link]:
        on_link[row.link], on_link_at[row.link] = row.barrier, row.position
    return outcome


@register_jitable
def greatest_lost(lost: TableState, link: int) -> tuple[int, int]:
    """The greatest timestamp among the entries of a link, and its position; -1 for none."""
    greatest, greatest_at = NO_LOSS, -1
    for slot in range(room(lost)):
        if used(lost, slot) and field(lost, slot, 5) == link:
            its, at = field(lost, slot, 0), field(lost, slot, 1)
            if greatest_at < 0 or its > greatest or (its == greatest and at < greatest_at):
                greatest, greatest_at = its, at
    return (greatest, greatest_at)


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
    lost=Table(4, 6),
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

    lost: (sender, receiver, number, link) -> (timestamp, position, sender, receiver, number, link), until an
        acknowledgement comes.
    again: by link, the greatest timestamp sent again, in ns.
    acknowledgeable: by sender and receiver, the greatest number sent.
    told: by host, whether a notice came that another has failed.
    """
    if not net.host_flags:
        return SILENT
    if row.kind == ARRIVED:
        own = row.receiver == row.node and is_node(row.sender, net)
        known, covered = own and row.packet == ACK, row.number
        if own and names_failed(row, net):
            known, covered, told[row.node] = True, acknowledgeable[row.node * net.node_count + row.sender], 1
        if known and covered <= acknowledgeable[row.node * net.node_count + row.sender]:
            slot = 0
            while slot < room(lost):
                its = used(lost, slot) and field(lost, slot, 2) == row.node and field(lost, slot, 3) == row.sender
                if its and field(lost, slot, 4) <= covered:
                    remove(lost, slot)
                    continue  # another entry may have moved here
                slot += 1
        return SILENT
    if is_own_data(row) and is_node(row.receiver, net):
        pair = row.node * net.node_count + row.receiver
        if not is_resent(row.flags):
            acknowledgeable[pair] = max(acknowledgeable[pair], row.number)
        elif find(lost, (row.node, row.receiver, row.number, row.link)) < 0:
            put(
                lost,
                (row.node, row.receiver, row.number, row.link),
                (row.timestamp, row.position, row.node, row.receiver, row.number, row.link),
            )
    if is_own_data(row) and is_resent(row.flags):
        again[row.link] = max(again[row.link], row.timestamp)
    greatest, at = greatest_lost(lost, row.link)
    if at >= 0 and row.loss_record < greatest:
        return violated(0, greatest, row.loss_record, at)
    if row.loss_record > again[row.link]:
        return violated(1, again[row.link], row.loss_record, -1)
    waits = least_at[row.link] >= 0 and row.loss_record >= least[row.link]
    if not told[row.node] and row.loss_record > NO_LOSS and not waits:
        return violated(2, 0, row.loss_record, -1)
    return HOLDS if at >= 0 else SILENT
