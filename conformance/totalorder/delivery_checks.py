"""Checks of what a receiver does: TO-DELIVER, TO-ORDER, TO-ONCE, TO-COMPLETE. Operators of the same names in
CamelCase: BarrierClauses.tla."""

from __future__ import annotations

from numba.extending import register_jitable

from conformance.checks.step import (
    HOLDS,
    SILENT,
    Cell,
    Ints,
    Outcome,
    PerLink,
    PerNode,
    PerPair,
    State,
    Table,
    TableState,
    check,
    settled,
    violated,
)
from conformance.checks.tables import change, field, find, put, remove, room, used
from conformance.totalorder.carrier_checks import A
from conformance.totalorder.ingress_barriers import lowest_at, lowest_barrier, newest_barriers
from spec.topology import Role
from spec.totalorder.messages import NOT_SPOKEN, PacketKind
from spec.trace import Kind, Order

SUBMITTED, SENT, ARRIVED, DELIVERED = int(Kind.SUBMITTED), int(Kind.SENT), int(Kind.ARRIVED), int(Kind.DELIVERED)
DATA = int(PacketKind.DATA)


@check(
    "TO-DELIVER",
    kinds=(Kind.DELIVERED,),
    at=Role.HOST,
    order=Order.NODE,
    ways=("node {node} delivered timestamp {found}, which is not strictly below its barrier {expected}",),
    derived=(newest_barriers,),
)
def deliver_below_barrier(
    node: int,
    timestamp: int,
    ingress_first: Ints,
    ingress_links: Ints,
    newest: Ints,
    newest_at: Ints,
) -> Outcome:
    """A receiver delivers only what is strictly below the least newest barrier of its ingress links."""
    first, last = ingress_first[node], ingress_first[node + 1]
    if first == last:
        return violated(0, NOT_SPOKEN, timestamp, -1)
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
    if sent_at >= 0 and timestamp != sent_timestamp:
        return violated(3, sent_timestamp, timestamp, sent_at)
    return HOLDS


@register_jitable
def kept_messages(
    waiting: TableState, newest: Ints, ingress_first: Ints, ingress_links: Ints, environment: int
) -> tuple[int, int, int]:
    """How many of the waiting messages should have been delivered; timestamp and position of the first to arrive."""
    kept, first_timestamp, first_at = 0, 0, -1
    for slot in range(room(waiting)):
        if not used(waiting, slot):
            continue
        sent_timestamp, arrived_at, host = field(waiting, slot, 0), field(waiting, slot, 1), field(waiting, slot, 2)
        first, last = ingress_first[host], ingress_first[host + 1]
        passed = first < last and sent_timestamp < lowest_barrier(newest, ingress_links, first, last)
        if environment == A and not passed:
            continue
        kept += 1
        if first_at < 0 or arrived_at < first_at:
            first_timestamp, first_at = sent_timestamp, arrived_at
    return (kept, first_timestamp, first_at)


@check(
    "TO-COMPLETE",
    kinds=(Kind.SENT, Kind.ARRIVED, Kind.DELIVERED, Kind.ENDED),
    order=Order.NODE,
    ways=(
        "messages that arrived were never delivered, {found} in all; the first of them has timestamp {expected}",
        "node {expected_node} never sent on {found} of the data messages that arrived there",
    ),
    derived=(newest_barriers,),
    newest_seq=PerLink(-1),
    waiting=Table(3, 3),
    passing=PerNode(0),
    delivered=Cell(0),
)
def arrived_is_delivered(
    position: int,
    kind: int,
    node: int,
    link: int,
    link_seq: int,
    sender: int,
    receiver: int,
    number: int,
    flags: int,
    packet: int,
    timestamp: int,
    environment: int,
    node_count: int,
    node_is_host: Ints,
    ingress_first: Ints,
    ingress_links: Ints,
    newest: Ints,
    newest_seq: State,
    waiting: TableState,
    passing: State,
    delivered: State,
) -> Outcome:
    """At the end of a run that settled, what arrived at its receiver is delivered; in environment A, where barriers
    stop with the data, only what is strictly below the receiver's last barrier. A switch that keeps a data message is
    judged here too: no other clause speaks of it.

    waiting: (receiver, sender, number) -> (timestamp, position of arrival, receiver), until it is delivered. passing:
    for each switch, data messages that arrived and did not leave.
    """
    if kind == ARRIVED:
        if packet != DATA or 0 <= link_seq <= newest_seq[link]:
            return SILENT  # a beacon, or a copy that the network made
        newest_seq[link] = max(newest_seq[link], link_seq)
        if not node_is_host[node]:
            passing[node] += 1
        elif receiver == node:
            put(waiting, (node, sender, number), (timestamp, position, node))
        return SILENT
    if kind == SENT:
        if packet == DATA and not node_is_host[node]:
            passing[node] -= 1
        return SILENT
    if kind == DELIVERED:
        slot = find(waiting, (node, sender, number))
        if slot >= 0:
            remove(waiting, slot)
            delivered[0] += 1
        return SILENT
    if not settled(flags):
        return SILENT
    kept, first_timestamp, first_at = kept_messages(waiting, newest, ingress_first, ingress_links, environment)
    if kept > 0:
        return violated(0, first_timestamp, kept, first_at)
    for switch in range(node_count):
        if passing[switch] > 0:
            return violated(1, switch, passing[switch], -1)
    return HOLDS if delivered[0] > 0 else SILENT


CHECKS = (deliver_below_barrier, delivered_in_total_order, delivered_once_as_sent, arrived_is_delivered)
