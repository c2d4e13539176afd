"""Checks of what a receiver does: TO-DELIVER, TO-ORDER, TO-ONCE. Operators of the same names in
CamelCase: BarrierClauses.tla."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import SENT, SUBMITTED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Outcome,
    PerNode,
    PerPair,
    State,
    Table,
    TableState,
    check,
    violated,
)
from scatterproof.conformance.checks.tables import change, field, find, put, remove
from scatterproof.conformance.totalorder.ingress_barriers import (
    highest_record,
    loss_registers,
    lowest_at,
    lowest_barrier,
    newest_barriers,
)
from scatterproof.conformance.totalorder.packets import is_node, is_own_data
from scatterproof.conformance.totalorder.rows import LossRegisters, Net, NewestBarriers, Row
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NOT_SPOKEN
from scatterproof.spec.trace import Kind, Order


@check(
    "TO-DELIVER",
    kinds=(Kind.DELIVERED,),
    at=Role.HOST,
    order=Order.NODE,
    ways=("node {node} delivered timestamp {found}, which is not strictly below its barrier {expected}",),
    derived=(newest_barriers, loss_registers),
)
def deliver_below_barrier(row: Row, net: Net, barriers: NewestBarriers, losses: LossRegisters) -> Outcome:
    """A receiver delivers only timestamps strictly below the least of the newest barriers of its ingress links or,
    under loss, at or below their least ack barrier. Deliveries in the loss state are TO-FLAG-RX's to judge."""
    first, last = net.ingress_first[row.node], net.ingress_first[row.node + 1]
    if first == last:
        return violated(0, NOT_SPOKEN, row.timestamp, -1)
    if net.loses:
        ack = lowest_barrier(losses.newest_ack, net.ingress_links, first, last)
        if highest_record(losses.record, net.ingress_links, first, last) > ack:
            return SILENT
        if row.timestamp <= ack:
            return HOLDS
    bound = lowest_barrier(barriers.newest, net.ingress_links, first, last)
    if row.timestamp < bound:
        return HOLDS
    return violated(
        0, bound, row.timestamp, lowest_at(barriers.newest, barriers.newest_at, net.ingress_links, first, last, bound)
    )


@register_jitable
def in_order(row: Row, last_timestamp: State, last_sender: State, last_at: State) -> Outcome:
    """Whether a delivery is strictly above the last one of its receiver that was, by (timestamp, sender): it is the
    last one then. At stake from the second one on."""
    if last_at[row.node] >= 0:
        if row.timestamp < last_timestamp[row.node]:
            return violated(0, last_timestamp[row.node], row.timestamp, last_at[row.node])
        if row.timestamp == last_timestamp[row.node] and row.sender <= last_sender[row.node]:
            return violated(1, last_sender[row.node], row.sender, last_at[row.node])
    outcome = HOLDS if last_at[row.node] >= 0 else SILENT
    last_timestamp[row.node], last_sender[row.node], last_at[row.node] = row.timestamp, row.sender, row.position
    return outcome


@check(
    "TO-ORDER",
    kinds=(Kind.DELIVERED,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} delivered timestamp {found} after timestamp {expected}",
        "node {node} delivered timestamp {timestamp} of sender number {found} after that of sender number {expected}",
    ),
    last_timestamp=PerNode(0),
    last_sender=PerNode(0),
    last_at=PerNode(-1),
)
def delivered_in_total_order(row: Row, last_timestamp: State, last_sender: State, last_at: State) -> Outcome:
    """Each delivery is strictly above every earlier one of its receiver, by (timestamp, sender). At stake from the
    second one on."""
    return in_order(row, last_timestamp, last_sender, last_at)


@check(
    "TO-ONCE",
    kinds=(Kind.SUBMITTED, Kind.SENT, Kind.DELIVERED),
    at=Role.HOST,
    order=Order.LINK,
    ways=(
        "node {node} delivered message {number} of {sender} again",
        "node {node} delivered message {number} of {sender}, which was never submitted",
        "node {node} delivered message {number} of {sender} with digest {found}; {expected} was submitted",
        "node {node} delivered message {number} of {sender} with timestamp {found}; it was sent with {expected}",
        "node {node} delivered message {number} of {sender}, which is for {receiver}",
        "node {node} delivered message {number} of {sender}, which was submitted and is not sent yet",
    ),
    in_flight=Table(3, 4),
    submitted=PerPair(0),
)
def delivered_once_as_sent(row: Row, net: Net, in_flight: TableState, submitted: State) -> Outcome:
    """A message that is delivered was submitted to that receiver with those contents, was sent with that timestamp, and
    is delivered once.

    in_flight: (sender, receiver, number) -> (digest, timestamp, position of sending or -1, position of submission),
        until it is delivered.
    submitted: by sender and receiver, how many messages were: it tells a repeated delivery from one never submitted.
    """
    key = (row.sender, row.receiver, row.number)
    if row.kind == SUBMITTED:
        put(in_flight, key, (row.digest, 0, -1, row.position))
        if is_node(row.sender, net) and is_node(row.receiver, net):
            submitted[row.sender * net.node_count + row.receiver] = row.number
        return SILENT
    if row.kind == SENT:
        if is_own_data(row):
            slot = find(in_flight, key)
            if slot >= 0 and field(in_flight, slot, 2) < 0:
                change(in_flight, slot, 1, row.timestamp)
                change(in_flight, slot, 2, row.position)
        return SILENT
    if row.node != row.receiver:
        return violated(4, row.receiver, row.node, -1)
    slot = find(in_flight, key)
    if slot < 0:
        pair = row.sender * net.node_count + row.receiver
        known = is_node(row.sender, net) and 1 <= row.number <= submitted[pair]
        return violated(0 if known else 1, 0, row.number, -1)
    contents, sent_timestamp = field(in_flight, slot, 0), field(in_flight, slot, 1)
    sent_at, submitted_at = field(in_flight, slot, 2), field(in_flight, slot, 3)
    remove(in_flight, slot)
    if row.digest != contents:
        return violated(2, contents, row.digest, submitted_at)
    if sent_at < 0:
        return violated(5, 0, row.number, submitted_at)
    if row.timestamp != sent_timestamp:
        return violated(3, sent_timestamp, row.timestamp, sent_at)
    return HOLDS
