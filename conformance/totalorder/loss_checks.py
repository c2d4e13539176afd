"""Checks of how loss is noticed and told: TO-SWLOSS, TO-LOSSCTR, TO-FLAG-SW, TO-FLAG-BEACON at switches; TO-LASTHOP,
TO-FLAG-RX and TO-LOSS-SAFE at receivers. Operators of the same names in CamelCase: LossClauses.tla.

A node is in the loss state, towards an egress link or its application, while the loss record that it combines from its
ingress links is strictly above its least ack barrier. Both are computed again here, from what arrived.
"""

from __future__ import annotations

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
from scatterproof.conformance.totalorder.ingress_barriers import (
    highest_record,
    loss_registers,
    lowest_at,
    lowest_barrier,
)
from scatterproof.conformance.totalorder.parameters import ENVIRONMENT_CODES
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
def switch_notices_loss(
    link: int,
    loss_record: int,
    loses: int,
    feeds_first: Ints,
    feeds_links: Ints,
    newest_ack: Ints,
    record: Ints,
    record_at: Ints,
    most: Ints,
    live: Ints,
) -> Outcome:
    """In the loss state a switch's loss record equals the greatest that gaps and loss records of the reaching ingress
    links make; it is never above that. Links that may have been given up need not count (TO-FAIL)."""
    first, last = feeds_first[link], feeds_first[link + 1]
    if not loses or first == last:
        return SILENT
    known = highest_record(most, feeds_links, first, last)
    if loss_record > known:
        return violated(1, known, loss_record, -1)
    known = live_highest(record, live, feeds_links, first, last)
    if known <= max(NO_LOSS, live_lowest(newest_ack, live, feeds_links, first, last)):
        return SILENT
    if loss_record >= known:
        return HOLDS
    return violated(0, known, loss_record, lowest_at(record, record_at, feeds_links, first, last, known))


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
    position: int,
    kind: int,
    node: int,
    link: int,
    packet: int,
    timestamp: int,
    loss_record: int,
    greatest: int,
    loses: int,
    late: int,
    link_count: int,
    link_source: Ints,
    node_is_host: Ints,
    feeds_first: Ints,
    feeds_links: Ints,
    newest_ack: Ints,
    gap_record: Ints,
    live: Ints,
    highest: State,
    highest_at: State,
) -> Outcome:
    """From the packet on that reveals a gap, of whatever kind the lost ones were, a switch tells a loss record at or
    above that packet's `greatest`, until its ack barriers reach it. And `greatest` is what it says: no data message put
    on the link earlier is above it, since the node began; a switch that begins anew covers the rest by its record. Of
    switches that may be late this alone is asked: it is written as the packet leaves."""
    if not loses:
        return SILENT
    if kind != SENT:
        if link < 0 and not node_is_host[node]:
            for egress in range(link_count):
                if link_source[egress] == node:
                    highest_at[egress] = -1
        return SILENT
    outcome = HOLDS if late and highest_at[link] >= 0 else SILENT
    if highest_at[link] >= 0 and greatest < highest[link]:
        outcome = violated(1, highest[link], greatest, highest_at[link])
    elif not node_is_host[node] and not late:
        first, last = feeds_first[link], feeds_first[link + 1]
        shown = live_highest(gap_record, live, feeds_links, first, last)
        if first < last and shown > max(NO_LOSS, live_lowest(newest_ack, live, feeds_links, first, last)):
            outcome = HOLDS if loss_record >= shown else violated(0, shown, loss_record, -1)
    if packet == DATA and (highest_at[link] < 0 or timestamp > highest[link]):
        highest[link], highest_at[link] = timestamp, position
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
    position: int,
    kind: int,
    link: int,
    loss_record: int,
    loses: int,
    failure_timeout_ns: int,
    link_count: int,
    link_source: Ints,
    feeds_first: Ints,
    feeds_links: Ints,
    newest_ack: Ints,
    low_ack: Ints,
    live: Ints,
    node: int,
    told: State,
    told_at: State,
) -> Outcome:
    """Once a switch has reported a loss on a link, everything that it sends there reports it, with no lesser record,
    until its least ack barrier is at or above the record; then nothing does. Where a link may have been given up, what
    has heard of it need not hear it again (TO-FAIL)."""
    if not loses:
        return SILENT
    if kind != SENT:
        if link < 0:
            for egress in range(link_count):
                if link_source[egress] == node:
                    told[egress] = NO_LOSS
        return SILENT
    first, last = feeds_first[link], feeds_first[link + 1]
    if first == last:
        return SILENT
    ack = lowest_barrier(low_ack if failure_timeout_ns else newest_ack, feeds_links, first, last)
    outcome = SILENT
    if loss_record > NO_LOSS and loss_record <= ack:
        outcome = violated(1, ack, loss_record, -1)
    elif told[link] > ack and lowest_barrier(live, feeds_links, first, last):
        outcome = HOLDS if loss_record >= told[link] else violated(0, told[link], loss_record, told_at[link])
    if loss_record > told[link]:
        told[link], told_at[link] = loss_record, position
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
def beacons_carry_loss_flag(
    link: int,
    packet: int,
    loss_record: int,
    loses: int,
    feeds_first: Ints,
    feeds_links: Ints,
    newest_ack: Ints,
    record: Ints,
    record_at: Ints,
    live: Ints,
) -> Outcome:
    """In the loss state a switch's beacons carry a loss record, too. Links that may have been given up need not count
    (TO-FAIL)."""
    first, last = feeds_first[link], feeds_first[link + 1]
    if not loses or packet != BEACON or first == last:
        return SILENT
    known = live_highest(record, live, feeds_links, first, last)
    ack = max(NO_LOSS, live_lowest(newest_ack, live, feeds_links, first, last))
    if known <= ack:
        return SILENT
    if loss_record > NO_LOSS:
        return HOLDS
    return violated(0, known, ack, lowest_at(record, record_at, feeds_links, first, last, known))


@check(
    "TO-LASTHOP",
    kinds=(Kind.ARRIVED, Kind.DELIVERED),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} delivered timestamp {found}, strictly above its least ack barrier {expected}, after a gap in the "
        "numbers of its own ingress links",
    ),
    derived=(loss_registers,),
    quiet=PerNode(0),
)
def receiver_notices_loss(
    kind: int,
    node: int,
    timestamp: int,
    gap: int,
    node_is_host: Ints,
    ingress_first: Ints,
    ingress_links: Ints,
    newest_ack: Ints,
    newest_ack_at: Ints,
    gap_record: Ints,
    quiet: State,
) -> Outcome:
    """From a gap on its own ingress link on, until its ack barriers reach what may be lost there, a receiver delivers
    only what is at or below its least ack barrier. At stake with the first delivery after a gap."""
    if not node_is_host[node]:
        return SILENT
    if kind == ARRIVED:
        if gap:
            quiet[node] = 1
        return SILENT
    first, last = ingress_first[node], ingress_first[node + 1]
    if not quiet[node] or first == last:
        return SILENT
    ack = lowest_barrier(newest_ack, ingress_links, first, last)
    if timestamp <= ack:
        return HOLDS
    if highest_record(gap_record, ingress_links, first, last) <= ack:
        quiet[node] = 0
        return HOLDS
    return violated(0, ack, timestamp, lowest_at(newest_ack, newest_ack_at, ingress_links, first, last, ack))


@check(
    "TO-FLAG-RX",
    kinds=(Kind.ARRIVED, Kind.DELIVERED),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} delivered timestamp {found}, strictly above its least ack barrier {expected}, in the loss state",
    ),
    derived=(loss_registers,),
    told=PerNode(0),
)
def flagged_deliver_at_ack_barrier(
    kind: int,
    node: int,
    timestamp: int,
    loss_record: int,
    gap: int,
    node_is_host: Ints,
    ingress_first: Ints,
    ingress_links: Ints,
    newest_ack: Ints,
    newest_ack_at: Ints,
    record: Ints,
    told: State,
) -> Outcome:
    """In the loss state, by flag or by gap, a receiver delivers only what is at or below its least ack barrier. At
    stake from the first flag or gap to the first delivery behind the loss state."""
    if not node_is_host[node]:
        return SILENT
    if kind == ARRIVED:
        if gap or loss_record > NO_LOSS:
            told[node] = 1
        return SILENT
    first, last = ingress_first[node], ingress_first[node + 1]
    if not told[node] or first == last:
        return SILENT
    ack = lowest_barrier(newest_ack, ingress_links, first, last)
    if timestamp <= ack:
        return HOLDS
    if highest_record(record, ingress_links, first, last) <= ack:
        told[node] = 0
        return HOLDS
    return violated(0, ack, timestamp, lowest_at(newest_ack, newest_ack_at, ingress_links, first, last, ack))


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
    position: int,
    time_ns: int,
    kind: int,
    node: int,
    sender: int,
    flags: int,
    timestamp: int,
    environment: int,
    loses: int,
    failure_timeout_ns: int,
    node_count: int,
    node_is_host: Ints,
    gaps: Ints,
    last_timestamp: State,
    last_sender: State,
    last_at: State,
    submitted: State,
    delivered: State,
    outages: State,
    heard_ns: State,
) -> Outcome:
    """Deliveries keep their order, and in the end everything submitted is delivered: senders resend until then. At
    stake at the end, if a loss was seen, as a gap. Without beacons (structure 5) the last messages wait for ever, as
    they do in environment A; a node or link that stops may lose messages for ever, and so may a host that was given up:
    where failures are handled, one to which nothing comes any more (TO-FAIL)."""
    if not loses:
        return SILENT
    if kind == SUBMITTED:
        submitted[0] += 1
    elif kind == CRASHED:
        outages[0] = 1
    elif kind == ARRIVED:
        heard_ns[node] = max(heard_ns[node], time_ns)
    elif kind == DELIVERED:
        delivered[0] += 1
        if last_at[node] >= 0:
            if timestamp < last_timestamp[node]:
                return violated(0, last_timestamp[node], timestamp, last_at[node])
            if timestamp == last_timestamp[node] and sender <= last_sender[node]:
                return violated(1, last_sender[node], sender, last_at[node])
        last_timestamp[node], last_sender[node], last_at[node] = timestamp, sender, position
    if kind != ENDED or not settled(flags):
        return SILENT
    for host in range(node_count):
        if failure_timeout_ns > 0 and node_is_host[host] and elapsed(heard_ns[host], time_ns, failure_timeout_ns):
            outages[0] = 1
    if delivered[0] < submitted[0] and environment != D5 and not outages[0]:
        return violated(2, submitted[0], delivered[0], -1)
    return HOLDS if gaps[0] > 0 and delivered[0] > 0 else SILENT
