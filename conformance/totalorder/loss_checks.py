"""Checks of how loss is noticed and told: TO-SWLOSS, TO-LOSSCTR, TO-FLAG-SW, TO-FLAG-BEACON at switches; TO-LASTHOP,
TO-FLAG-RX and TO-LOSS-SAFE at receivers. Operators of the same names in CamelCase: LossClauses.tla.

A node is in the loss state, towards an egress link or its application, while the greatest loss record of the ingress
links is strictly above their least ack barrier. Both are computed again here, from the packets that arrived.
"""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ARRIVED, CRASHED, DELIVERED, ENDED, SENT, SUBMITTED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Cell,
    Ints,
    Outcome,
    PerLink,
    PerNode,
    State,
    check,
    elapsed,
    settled,
    violated,
)
from scatterproof.conformance.totalorder.delivery_checks import in_order
from scatterproof.conformance.totalorder.ingress_barriers import (
    highest_record,
    loss_registers,
    lowest_at,
    lowest_barrier,
)
from scatterproof.conformance.totalorder.parameters import ENVIRONMENT_CODES
from scatterproof.conformance.totalorder.rows import LossRegisters, Net, Row, SilentLinks
from scatterproof.conformance.totalorder.silent_links import live_highest, live_lowest, silences
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NO_LOSS, Environment, PacketKind
from scatterproof.spec.trace import Kind, Order

DATA, BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)
D5 = ENVIRONMENT_CODES[Environment.D5]


@check(
    "TO-SWLOSS",
    kinds=(Kind.SENT,),
    at=Role.SWITCH,
    order=Order.NODE,
    ways=(
        "node {node} sent loss record {found} on link {link}; loss was noticed, or told, up to {expected}",
        "node {node} sent loss record {found} on link {link}; no loss was noticed or told strictly above {expected}",
    ),
    derived=(loss_registers, silences),
)
def switch_notices_loss(row: Row, net: Net, losses: LossRegisters, live: Ints) -> Outcome:
    """In the loss state a switch's loss record is the greatest that gaps and loss records of the reaching ingress links
    make. It never is above that. Links that may have been given up need not count (TO-FAIL)."""
    first, last = net.feeds_first[row.link], net.feeds_first[row.link + 1]
    if first == last:
        return SILENT
    known = highest_record(losses.most, net.feeds_links, first, last)
    if row.loss_record > known:
        return violated(1, known, row.loss_record, -1)
    known = live_highest(losses.record, live, net.feeds_links, first, last)
    if known <= max(NO_LOSS, live_lowest(losses.newest_ack, live, net.feeds_links, first, last)):
        return SILENT
    if row.loss_record >= known:
        return HOLDS
    return violated(
        0, known, row.loss_record, lowest_at(losses.record, losses.record_at, net.feeds_links, first, last, known)
    )


@check(
    "TO-LOSSCTR",
    kinds=(Kind.SENT, Kind.RESTARTED),
    order=Order.NODE,
    ways=(
        "node {node} sent loss record {found} on link {link} after gaps in its ingress links' numbers up to {expected}",
        "a packet that calls {found} the greatest timestamp left on link {link} after a message of {expected}",
    ),
    derived=(loss_registers, silences),
    highest=PerLink(0),
    highest_at=PerLink(-1),
)
def loss_counter_spans_link(
    row: Row, net: Net, losses: LossRegisters, live: Ints, highest: State, highest_at: State
) -> Outcome:
    """From the packet on that shows a gap, whatever was lost, a switch sends loss records at or above that packet's
    `greatest`, until its ack barriers reach it.

    And `greatest` is what it says: no data message that the node put on the link since it began is above it. A switch
    that begins anew covers the messages sent earlier by its loss record. Of switches that may be late this alone is
    asked, as it is written when the packet leaves.
    """
    if row.kind != SENT:
        if row.link < 0 and not net.node_is_host[row.node]:
            for egress in range(net.link_count):
                if net.link_source[egress] == row.node:
                    highest_at[egress] = -1
        return SILENT
    outcome = HOLDS if net.late and highest_at[row.link] >= 0 else SILENT
    if highest_at[row.link] >= 0 and row.greatest < highest[row.link]:
        outcome = violated(1, highest[row.link], row.greatest, highest_at[row.link])
    elif not net.late:
        first, last = net.feeds_first[row.link], net.feeds_first[row.link + 1]
        shown = live_highest(losses.gap_record, live, net.feeds_links, first, last)
        if shown > max(NO_LOSS, live_lowest(losses.newest_ack, live, net.feeds_links, first, last)):
            outcome = HOLDS if row.loss_record >= shown else violated(0, shown, row.loss_record, -1)
    if row.packet == DATA and (highest_at[row.link] < 0 or row.timestamp > highest[row.link]):
        highest[row.link], highest_at[row.link] = row.timestamp, row.position
    return outcome


@check(
    "TO-FLAG-SW",
    kinds=(Kind.SENT, Kind.RESTARTED),
    at=Role.SWITCH,
    order=Order.NODE,
    ways=(
        "node {node} sent loss record {found} on link {link}, where it had told {expected} and its least ack barrier "
        "has not reached that",
        "node {node} sent loss record {found} on link {link}, which its least ack barrier {expected} has reached",
    ),
    derived=(loss_registers, silences),
    told=PerLink(NO_LOSS),
    told_at=PerLink(-1),
)
def switch_sets_loss_flag(
    row: Row, net: Net, silent: SilentLinks, newest_ack: Ints, told: State, told_at: State
) -> Outcome:
    """Once a switch has reported a loss on a link, all that it sends there reports it, with that record or a greater
    one, until its least ack barrier is at or above the record; from then on nothing does. Where an ingress link may
    have been given up, it need not be reported again (TO-FAIL)."""
    if row.kind != SENT:
        if row.link < 0:
            for egress in range(net.link_count):
                if net.link_source[egress] == row.node:
                    told[egress] = NO_LOSS
        return SILENT
    first, last = net.feeds_first[row.link], net.feeds_first[row.link + 1]
    if first == last:
        return SILENT
    ack = lowest_barrier(silent.low_ack if net.failure_timeout_ns else newest_ack, net.feeds_links, first, last)
    outcome = SILENT
    if row.loss_record > NO_LOSS and row.loss_record <= ack:
        outcome = violated(1, ack, row.loss_record, -1)
    elif told[row.link] > ack and lowest_barrier(silent.live, net.feeds_links, first, last):
        outcome = (
            HOLDS
            if row.loss_record >= told[row.link]
            else violated(0, told[row.link], row.loss_record, told_at[row.link])
        )
    if row.loss_record > told[row.link]:
        told[row.link], told_at[row.link] = row.loss_record, row.position
    return outcome


@check(
    "TO-FLAG-BEACON",
    kinds=(Kind.SENT,),
    at=Role.SWITCH,
    order=Order.NODE,
    ways=(
        "node {node} sent a beacon without a loss record on link {link}, in the loss state: {expected} is lost, "
        "{found} acknowledged",
    ),
    derived=(loss_registers, silences),
)
def beacons_carry_loss_flag(row: Row, net: Net, losses: LossRegisters, live: Ints) -> Outcome:
    """In the loss state a switch's beacons carry a loss record, too. Links that may have been given up need not count
    (TO-FAIL)."""
    first, last = net.feeds_first[row.link], net.feeds_first[row.link + 1]
    if row.packet != BEACON:
        return SILENT
    known = live_highest(losses.record, live, net.feeds_links, first, last)
    ack = max(NO_LOSS, live_lowest(losses.newest_ack, live, net.feeds_links, first, last))
    if known <= ack:
        return SILENT
    if row.loss_record > NO_LOSS:
        return HOLDS
    return violated(0, known, ack, lowest_at(losses.record, losses.record_at, net.feeds_links, first, last, known))


@register_jitable
def at_ack_barrier(row: Row, net: Net, record: Ints, losses: LossRegisters) -> Outcome:
    """Whether a delivery is at or below the least ack barrier, as long as the greatest `record` of the ingress links is
    strictly above that. At stake once there is a record."""
    first, last = net.ingress_first[row.node], net.ingress_first[row.node + 1]
    known = highest_record(record, net.ingress_links, first, last)
    if known <= NO_LOSS:
        return SILENT
    ack = lowest_barrier(losses.newest_ack, net.ingress_links, first, last)
    if row.timestamp <= ack or known <= ack:
        return HOLDS
    return violated(
        0, ack, row.timestamp, lowest_at(losses.newest_ack, losses.newest_ack_at, net.ingress_links, first, last, ack)
    )


@check(
    "TO-LASTHOP",
    kinds=(Kind.DELIVERED,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} delivered timestamp {found}, strictly above its least ack barrier {expected}, after a gap in the "
        "numbers of its own ingress links",
    ),
    derived=(loss_registers,),
)
def receiver_notices_loss(row: Row, net: Net, losses: LossRegisters) -> Outcome:
    """From a gap on its own ingress link on, until its ack barriers reach what may be lost there, a receiver delivers
    only timestamps at or below its least ack barrier. At stake once there was such a gap."""
    return at_ack_barrier(row, net, losses.gap_record, losses)


@check(
    "TO-FLAG-RX",
    kinds=(Kind.DELIVERED,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} delivered timestamp {found}, strictly above its least ack barrier {expected}, in the loss state",
    ),
    derived=(loss_registers,),
)
def flagged_deliver_at_ack_barrier(row: Row, net: Net, losses: LossRegisters) -> Outcome:
    """In the loss state, by flag or by gap, a receiver delivers only timestamps at or below its least ack barrier. At
    stake from the first flag or gap on."""
    return at_ack_barrier(row, net, losses.record, losses)


@check(
    "TO-LOSS-SAFE",
    kinds=(Kind.SUBMITTED, Kind.ARRIVED, Kind.DELIVERED, Kind.CRASHED, Kind.ENDED),
    order=Order.NODE,
    ways=(
        "node {node} delivered timestamp {found} after timestamp {expected}",
        "node {node} delivered timestamp {timestamp} of sender number {found} after that of sender number {expected}",
        "{found} of the {expected} messages that were submitted are delivered, although no message is lost for ever",
    ),
    derived=(loss_registers,),
    last_timestamp=PerNode(0),
    last_sender=PerNode(0),
    last_at=PerNode(-1),
    submitted=Cell(0),
    delivered=Cell(0),
    outages=Cell(0),
    heard_ns=PerNode(0),
)
def order_survives_loss(
    row: Row,
    net: Net,
    gaps: Ints,
    last_timestamp: State,
    last_sender: State,
    last_at: State,
    submitted: State,
    delivered: State,
    outages: State,
    heard_ns: State,
) -> Outcome:
    """Deliveries keep their order, and in the end all that was submitted is delivered: senders resend until then. At
    stake at the end, if a gap was seen.

    Three things excuse a message that is missing. Without beacons (structure 5) the last messages wait for ever, as in
    environment A. A node or link that stops may lose messages for ever. So may a host that was given up: where failures
    are handled, one to which nothing comes any more (TO-FAIL).
    """
    if row.kind == SUBMITTED:
        submitted[0] += 1
    elif row.kind == CRASHED:
        outages[0] = 1
    elif row.kind == ARRIVED:
        heard_ns[row.node] = max(heard_ns[row.node], row.time_ns)
    elif row.kind == DELIVERED:
        delivered[0] += 1
        outcome = in_order(row, last_timestamp, last_sender, last_at)
        return SILENT if outcome == HOLDS else outcome
    if row.kind != ENDED or not settled(row.flags):
        return SILENT
    for host in range(net.node_count):
        if (
            net.failure_timeout_ns > 0
            and net.node_is_host[host]
            and elapsed(heard_ns[host], row.time_ns, net.failure_timeout_ns)
        ):
            outages[0] = 1
    if delivered[0] < submitted[0] and net.environment != D5 and not outages[0]:
        return violated(2, submitted[0], delivered[0], -1)
    return HOLDS if gaps[0] > 0 and delivered[0] > 0 else SILENT
