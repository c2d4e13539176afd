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
    derive,
    elapsed,
    settled,
    violated,
)
from conformance.checks.tables import change, field, find, put, remove, room, used
from conformance.totalorder.ingress_barriers import (
    highest_record,
    loss_registers,
    lowest_at,
    lowest_barrier,
    newest_barriers,
)
from conformance.totalorder.parameters import ENVIRONMENT_CODES
from spec.topology import Role
from spec.totalorder.messages import ANSWER, NOT_SPOKEN, Environment, PacketKind
from spec.trace import ABSENT, Kind, Order

SUBMITTED, SENT, ARRIVED, DELIVERED = int(Kind.SUBMITTED), int(Kind.SENT), int(Kind.ARRIVED), int(Kind.DELIVERED)
CRASHED = int(Kind.CRASHED)
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
def is_passed(
    timestamp: int,
    host: int,
    newest: Ints,
    newest_ack: Ints,
    record: Ints,
    ingress_first: Ints,
    ingress_links: Ints,
    only_acknowledged: bool,
) -> bool:
    """Whether a host must deliver a message by the registers of its ingress links (TO-DELIVER, TO-FLAG-RX); where
    failures are handled, only what is acknowledged (TO-ATOMIC)."""
    first, last = ingress_first[host], ingress_first[host + 1]
    if first == last:
        return False
    # Without loss there is neither an ack barrier nor a record.
    ack = lowest_barrier(newest_ack, ingress_links, first, last)
    if only_acknowledged or (ack > NOT_SPOKEN and timestamp <= ack):
        return ack > NOT_SPOKEN and timestamp <= ack
    in_loss_state = highest_record(record, ingress_links, first, last) > ack
    return not in_loss_state and timestamp < lowest_barrier(newest, ingress_links, first, last)


@register_jitable
def kept_messages(
    waiting: TableState,
    newest: Ints,
    newest_ack: Ints,
    record: Ints,
    ingress_first: Ints,
    ingress_links: Ints,
    stopped: Ints,
    cut: Ints,
    node_count: int,
    only_passed: bool,
    only_acknowledged: bool,
) -> tuple[int, int, int]:
    """How many of the waiting messages should have been delivered; timestamp and position of the first to arrive."""
    kept, first_timestamp, first_at = 0, 0, -1
    for slot in range(room(waiting)):
        if not used(waiting, slot):
            continue
        sent_timestamp, arrived_at, host = field(waiting, slot, 0), field(waiting, slot, 1), field(waiting, slot, 2)
        sender = field(waiting, slot, 3)
        if stopped[host] or (0 <= sender < node_count and 0 <= cut[host * node_count + sender] <= sent_timestamp):
            continue
        if only_passed and not is_passed(
            sent_timestamp, host, newest, newest_ack, record, ingress_first, ingress_links, only_acknowledged
        ):
            continue
        kept += 1
        if first_at < 0 or arrived_at < first_at:
            first_timestamp, first_at = sent_timestamp, arrived_at
    return (kept, first_timestamp, first_at)


@register_jitable
def await_delivery(
    waiting: TableState,
    ahead: TableState,
    in_order: Ints,
    node_count: int,
    key: tuple[int, int, int],
    timestamp: int,
    position: int,
) -> None:
    """Enter a message that arrived, unless it waits already, or was delivered."""
    receiver, sender, number = key
    if find(waiting, key) >= 0 or find(ahead, key) >= 0:
        return
    if 0 <= sender < node_count and 1 <= number <= in_order[receiver * node_count + sender]:
        return
    put(waiting, key, (timestamp, position, receiver, sender))


@register_jitable
def note_delivery(
    waiting: TableState, ahead: TableState, in_order: State, node_count: int, key: tuple[int, int, int]
) -> bool:
    """Take a message that is delivered out of those that wait, and remember it; whether it waited."""
    receiver, sender, _ = key
    slot = find(waiting, key)
    waited = slot >= 0
    if waited:
        remove(waiting, slot)
    put(ahead, key, (0,))
    if 0 <= sender < node_count:
        pair = receiver * node_count + sender
        slot = find(ahead, (receiver, sender, in_order[pair] + 1))
        while slot >= 0:
            remove(ahead, slot)
            in_order[pair] += 1
            slot = find(ahead, (receiver, sender, in_order[pair] + 1))
    return waited


@derive(
    kinds=(Kind.ARRIVED, Kind.DELIVERED),
    newest_data_seq=PerLink(-1),
    waiting=Table(3, 4),
    ahead=Table(3, 1),
    in_order=PerPair(0),
    cut=PerPair(-1),
    delivered=Cell(0),
)
def awaited_deliveries(
    position: int,
    kind: int,
    node: int,
    link: int,
    link_seq: int,
    sender: int,
    receiver: int,
    number: int,
    packet: int,
    timestamp: int,
    failure_timeout_ns: int,
    node_count: int,
    node_is_host: Ints,
    newest_data_seq: State,
    waiting: TableState,
    ahead: TableState,
    in_order: State,
    cut: State,
    delivered: State,
) -> None:
    """What arrived at its receiver and is neither delivered nor, where failures are handled, to be discarded.

    waiting: (receiver, sender, number) -> (timestamp, position of arrival, receiver, sender). in_order: by receiver and
    sender, the number up to which all was delivered; ahead: (receiver, sender, number) of what was delivered beyond
    that. cut: by receiver and sender, the least timestamp that a notice told it to discard; -1 for none.
    """
    if kind == DELIVERED:
        if note_delivery(waiting, ahead, in_order, node_count, (node, sender, number)):
            delivered[0] += 1
    elif packet == NOTICE:
        if not failure_timeout_ns or receiver != node or not 0 <= sender < node_count:
            return
        if number == 0 and timestamp >= 0:
            pair = node * node_count + sender
            cut[pair] = timestamp if cut[pair] < 0 else min(cut[pair], timestamp)
        elif 0 < number < ANSWER:
            note_delivery(waiting, ahead, in_order, node_count, (node, sender, number))
    elif packet == DATA and not 0 <= link_seq <= newest_data_seq[link]:
        newest_data_seq[link] = max(newest_data_seq[link], link_seq)
        if receiver == node and node_is_host[node]:
            await_delivery(waiting, ahead, in_order, node_count, (node, sender, number), timestamp, position)


@check(
    "TO-COMPLETE",
    kinds=(Kind.SENT, Kind.ARRIVED, Kind.CRASHED, Kind.ENDED),
    order=Order.NODE,
    ways=(
        "messages that arrived were never delivered, {found} in all; the first of them has timestamp {expected}",
        "node {expected_node} never sent on {found} of the messages for others that arrived there",
    ),
    derived=(newest_barriers, loss_registers, awaited_deliveries),
    newest_seq=PerLink(-1),
    passing=PerNode(0),
    stopped=PerNode(0),
    spoke_ns=PerNode(0),
    outages=Cell(0),
)
def arrived_is_delivered(
    time_ns: int,
    kind: int,
    node: int,
    link: int,
    link_seq: int,
    flags: int,
    packet: int,
    environment: int,
    failure_timeout_ns: int,
    node_count: int,
    node_is_host: Ints,
    ingress_first: Ints,
    ingress_links: Ints,
    newest: Ints,
    newest_ack: Ints,
    most: Ints,
    waiting: TableState,
    cut: Ints,
    delivered: Ints,
    newest_seq: State,
    passing: State,
    stopped: State,
    spoke_ns: State,
    outages: State,
) -> Outcome:
    """At the end of a run that settled, what arrived at its receiver is delivered. Where nobody need raise barriers
    any more, since there are no beacons (environment A, structure 5) or something stopped for good, only what the
    receiver's barriers have passed. A switch that keeps what it should send on is judged here too: no other clause
    speaks of it. passing: what arrived at each switch and did not leave; a copy that the network makes does not count.

    Where failures are handled, what a receiver's ack barriers have passed is delivered, unless a notice or a recall
    told the receiver to discard it; one that was silent for the time-out in the end has stopped, and what switches
    discard is not told.
    """
    if kind == ARRIVED:
        if packet in (DATA, ACK, ADJUST, ADJUSTED) and not 0 <= link_seq <= newest_seq[link]:
            newest_seq[link] = max(newest_seq[link], link_seq)
            passing[node] += 1
        return SILENT
    if kind == SENT:
        spoke_ns[node] = time_ns
        if packet in (DATA, ACK, ADJUST, ADJUSTED):
            passing[node] -= 1
        return SILENT
    if kind == CRASHED:
        outages[0] = 1
        if link == ABSENT:
            stopped[node] = 1
        return SILENT
    if not settled(flags):
        return SILENT
    handled = failure_timeout_ns > 0
    for host in range(node_count):
        if handled and elapsed(spoke_ns[host], time_ns, failure_timeout_ns):
            stopped[host] = 1
    only_passed = environment in (A, D5) or outages[0] > 0 or handled
    kept, first_timestamp, first_at = kept_messages(
        waiting,
        newest,
        newest_ack,
        most,
        ingress_first,
        ingress_links,
        stopped,
        cut,
        node_count,
        only_passed,
        handled,
    )
    if kept > 0:
        return violated(0, first_timestamp, kept, first_at)
    for switch in range(node_count):
        if passing[switch] > 0 and not node_is_host[switch] and not stopped[switch] and not handled:
            return violated(1, switch, passing[switch], -1)
    return HOLDS if delivered[0] > 0 else SILENT


CHECKS = (deliver_below_barrier, delivered_in_total_order, delivered_once_as_sent, arrived_is_delivered)
