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
from scatterproof.conformance.totalorder.outstanding import is_resent, outstanding_messages
from scatterproof.conformance.totalorder.sending_checks import due_barrier
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NO_BARRIER, NO_LOSS, NOT_SPOKEN, PacketKind
from scatterproof.spec.trace import Kind, Order

DATA, ACK, NOTICE = int(PacketKind.DATA), int(PacketKind.ACK), int(PacketKind.NOTICE)


@check(
    "TO-RETX-BAR",
    kinds=(Kind.SENT,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} sent a message again on link {link} with barrier {found}, after barrier {expected}",
        "node {node} sent a message again with barrier {found}; its current one is {expected}",
    ),
    on_link=PerLink(NOT_SPOKEN),
    on_link_at=PerLink(-1),
    last=PerNode(0),
    promised=PerNode(NOT_SPOKEN),
    ack_promised=PerNode(NO_BARRIER),
)
def resent_carries_current_barrier(
    position: int,
    clock_ns: int,
    node: int,
    link: int,
    flags: int,
    packet: int,
    timestamp: int,
    barrier: int,
    ack_barrier: int,
    loses: int,
    adjustment_interval_ns: int,
    on_link: State,
    on_link_at: State,
    last: State,
    promised: State,
    ack_promised: State,
) -> Outcome:
    """A message that is sent again carries the barrier of a beacon of that moment, at or above all that were sent on
    the link. Without a recorded clock any barrier above the promises will do."""
    if not loses:
        return SILENT
    outcome = SILENT
    if packet == DATA and is_resent(flags) and barrier != NO_BARRIER:
        known = clock_ns >= 0 and adjustment_interval_ns == 0
        due = due_barrier(clock_ns if known else NOT_SPOKEN, last[node], promised[node], ack_promised[node])
        outcome = HOLDS
        if barrier < on_link[link]:
            outcome = violated(0, on_link[link], barrier, on_link_at[link])
        elif barrier < due or (known and barrier != due):
            outcome = violated(1, due, barrier, -1)
    if packet == DATA:
        last[node] = max(last[node], timestamp)
    promised[node] = max(promised[node], barrier)
    ack_promised[node] = max(ack_promised[node], ack_barrier)
    if barrier > on_link[link]:
        on_link[link], on_link_at[link] = barrier, position
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
    lost=Table(3, 6),
    again=PerLink(NO_LOSS),
    acknowledgeable=PerPair(0),
    told=PerNode(0),
)
def host_sets_loss_flag(
    position: int,
    kind: int,
    node: int,
    link: int,
    sender: int,
    receiver: int,
    number: int,
    flags: int,
    packet: int,
    timestamp: int,
    loss_record: int,
    host_flags: int,
    failure_timeout_ns: int,
    node_count: int,
    least: Ints,
    least_at: Ints,
    lost: TableState,
    again: State,
    acknowledgeable: State,
    told: State,
) -> Outcome:
    """A host that sets the flag tells, on each link, a record at or above every timestamp that it sent again there,
    until that is acknowledged; it tells none above what it sent again, and none that its ack barrier has reached. What
    it knows to be lost shows when it is sent again. What a failed host lost, nobody waits for (TO-FAIL).

    lost: (sender, receiver, number) -> (timestamp, position, sender, receiver, number, link), until an acknowledgement
    comes. again: the greatest timestamp sent again.
    """
    if not host_flags:
        return SILENT
    if kind == ARRIVED:
        known = packet == ACK and receiver == node and 0 <= sender < node_count
        if failure_timeout_ns and packet == NOTICE and number == 0 and receiver == node and 0 <= sender < node_count:
            known, number, told[node] = True, acknowledgeable[node * node_count + sender], 1
        if known and number <= acknowledgeable[node * node_count + sender]:
            slot = 0
            while slot < room(lost):
                own = used(lost, slot) and field(lost, slot, 2) == node and field(lost, slot, 3) == sender
                if own and field(lost, slot, 4) <= number:
                    remove(lost, slot)
                    continue  # another entry may have moved here
                slot += 1
        return SILENT
    if packet == DATA and node == sender and 0 <= receiver < node_count:
        pair = node * node_count + receiver
        if not is_resent(flags):
            acknowledgeable[pair] = max(acknowledgeable[pair], number)
        elif find(lost, (node, receiver, number)) < 0:
            put(lost, (node, receiver, number), (timestamp, position, node, receiver, number, link))
    if packet == DATA and node == sender and is_resent(flags):
        again[link] = max(again[link], timestamp)
    greatest, at = greatest_lost(lost, link)
    if at >= 0 and loss_record < greatest:
        return violated(0, greatest, loss_record, at)
    if loss_record > again[link]:
        return violated(1, again[link], loss_record, -1)
    if not told[node] and loss_record > NO_LOSS and (least_at[link] < 0 or loss_record < least[link]):
        return violated(2, 0, loss_record, -1)
    return HOLDS if at >= 0 else SILENT
