"""Checks of what a receiver does: TO-DELIVER, TO-ORDER, TO-ONCE. Operators of the same names in
CamelCase: BarrierClauses.tla."""

from __future__ import annotations

from scatterproof.conformance.checks.kinds import SENT, SUBMITTED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Ints,
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
from scatterproof.conformance.totalorder.parameters import ENVIRONMENT_CODES
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NOT_SPOKEN, Environment, PacketKind
from scatterproof.spec.trace import Kind, Order

DATA, ACK, NOTICE = int(PacketKind.DATA), int(PacketKind.ACK), int(PacketKind.NOTICE)
ADJUST, ADJUSTED = int(PacketKind.ADJUST), int(PacketKind.ADJUSTED)
A, D5 = ENVIRONMENT_CODES[Environment.A], ENVIRONMENT_CODES[Environment.D5]


@check(
    "TO-DELIVER",
    kinds=(Kind.DELIVERED,),
    at=Role.HOST,
    order=Order.NODE,
    ways=("node {node} delivered timestamp {found}, which is not strictly below its barrier {expected}",),
    derived=(newest_barriers, loss_registers),
)
def deliver_below_barrier(
    node: int,
    timestamp: int,
    loses: int,
    ingress_first: Ints,
    ingress_links: Ints,
    newest: Ints,
    newest_at: Ints,
    newest_ack: Ints,
    record: Ints,
) -> Outcome:
    """A receiver delivers only what is strictly below the least newest barrier of its ingress links or, under loss, at
    or below their least ack barrier. The loss state is TO-FLAG-RX's."""
    first, last = ingress_first[node], ingress_first[node + 1]
    if first == last:
        return violated(0, NOT_SPOKEN, timestamp, -1)
    if loses:
        ack = lowest_barrier(newest_ack, ingress_links, first, last)
        if highest_record(record, ingress_links, first, last) > ack:
            return SILENT
        if timestamp <= ack:
            return HOLDS
    bound = lowest_barrier(newest, ingress_links, first, last)
    if timestamp < bound:
        return HOLDS
    return violated(0, bound, timestamp, lowest_at(newest, newest_at, ingress_links, first, last, bound))


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
def delivered_in_total_order(
    position: int,
    node: int,
    sender: int,
    timestamp: int,
    last_timestamp: State,
    last_sender: State,
    last_at: State,
) -> Outcome:
    """Each delivery is strictly above, by (timestamp, sender), every earlier one of its receiver. At stake from the
    second one on."""
    if last_at[node] >= 0:
        if timestamp < last_timestamp[node]:
            return violated(0, last_timestamp[node], timestamp, last_at[node])
        if timestamp == last_timestamp[node] and sender <= last_sender[node]:
            return violated(1, last_sender[node], sender, last_at[node])
    outcome = HOLDS if last_at[node] >= 0 else SILENT
    last_timestamp[node], last_sender[node], last_at[node] = timestamp, sender, position
    return outcome


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
def delivered_once_as_sent(
    position: int,
    kind: int,
    node: int,
    sender: int,
    receiver: int,
    number: int,
    digest: int,
    packet: int,
    timestamp: int,
    node_count: int,
    in_flight: TableState,
    submitted: State,
) -> Outcome:
    """What is delivered was submitted, to that receiver, with those contents, and sent with that timestamp; once.

    in_flight: (sender, receiver, number) -> (digest, timestamp, position of sending or -1, position of submission),
    until it is delivered. submitted: how many messages each pair has, which tells repeated from never submitted.
    """
    key = (sender, receiver, number)
    if kind == SUBMITTED:
        put(in_flight, key, (digest, 0, -1, position))
        if 0 <= sender < node_count and 0 <= receiver < node_count:
            submitted[sender * node_count + receiver] = number
        return SILENT
    if kind == SENT:
        if packet == DATA and node == sender:
            slot = find(in_flight, key)
            if slot >= 0 and field(in_flight, slot, 2) < 0:
                change(in_flight, slot, 1, timestamp)
                change(in_flight, slot, 2, position)
        return SILENT
    if node != receiver:
        return violated(4, receiver, node, -1)
    slot = find(in_flight, key)
    if slot < 0:
        known = 0 <= sender < node_count and 1 <= number <= submitted[sender * node_count + receiver]
        return violated(0 if known else 1, 0, number, -1)
    contents, sent_timestamp = field(in_flight, slot, 0), field(in_flight, slot, 1)
    sent_at, submitted_at = field(in_flight, slot, 2), field(in_flight, slot, 3)
    remove(in_flight, slot)
    if digest != contents:
        return violated(2, contents, digest, submitted_at)
    if sent_at < 0:
        return violated(5, 0, number, submitted_at)
    if timestamp != sent_timestamp:
        return violated(3, sent_timestamp, timestamp, sent_at)
    return HOLDS
