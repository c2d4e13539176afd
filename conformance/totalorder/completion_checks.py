"""The check of what a receiver does in the end: TO-COMPLETE. Operator of the same name in CamelCase:
BarrierClauses.tla."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ARRIVED, CRASHED, DELIVERED, RESTARTED, SENT
from scatterproof.conformance.checks.step import (
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
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import field, find, put, remove, room, used
from scatterproof.conformance.totalorder.cut_offs import cut_offs
from scatterproof.conformance.totalorder.ingress_barriers import (
    highest_record,
    loss_registers,
    lowest_barrier,
    newest_barriers,
)
from scatterproof.conformance.totalorder.packets import is_recall
from scatterproof.conformance.totalorder.parameters import ENVIRONMENT_CODES
from scatterproof.conformance.totalorder.rows import LossRegisters, Net, Row
from scatterproof.conformance.totalorder.silent_links import stoppages
from scatterproof.spec.totalorder.messages import NOT_SPOKEN, Environment, PacketKind
from scatterproof.spec.trace import ABSENT, Kind, Order

DATA, ACK, NOTICE = int(PacketKind.DATA), int(PacketKind.ACK), int(PacketKind.NOTICE)
ADJUST, ADJUSTED = int(PacketKind.ADJUST), int(PacketKind.ADJUSTED)
A, D5 = ENVIRONMENT_CODES[Environment.A], ENVIRONMENT_CODES[Environment.D5]


@register_jitable
def is_passed(
    timestamp: int, host: int, net: Net, losses: LossRegisters, newest: Ints, only_acknowledged: bool
) -> bool:
    """Whether a host must deliver a message, by the registers of its ingress links (TO-DELIVER, TO-FLAG-RX).
    only_acknowledged: nothing else counts, as failures are handled (TO-ATOMIC)."""
    first, last = net.ingress_first[host], net.ingress_first[host + 1]
    if first == last:
        return False
    # Without loss there is neither an ack barrier nor a record.
    ack = lowest_barrier(losses.newest_ack, net.ingress_links, first, last)
    if only_acknowledged or (ack > NOT_SPOKEN and timestamp <= ack):
        return ack > NOT_SPOKEN and timestamp <= ack
    in_loss_state = highest_record(losses.most, net.ingress_links, first, last) > ack
    return not in_loss_state and timestamp < lowest_barrier(newest, net.ingress_links, first, last)


@register_jitable
def kept_messages(
    waiting: TableState,
    net: Net,
    losses: LossRegisters,
    newest: Ints,
    stopped: Ints,
    cut: Ints,
    only_passed: bool,
    only_acknowledged: bool,
) -> tuple[int, int, int]:
    """How many of the waiting messages should have been delivered; the timestamp of the one that arrived first, in ns,
    and its row, -1 for none."""
    kept, first_timestamp, first_at = 0, 0, -1
    for slot in range(room(waiting)):
        if not used(waiting, slot):
            continue
        sent_timestamp, arrived_at, host = field(waiting, slot, 0), field(waiting, slot, 1), field(waiting, slot, 2)
        sender = field(waiting, slot, 3)
        known = 0 <= sender < net.node_count
        if stopped[host] or (known and 0 <= cut[host * net.node_count + sender] <= sent_timestamp):
            continue
        if only_passed and not is_passed(sent_timestamp, host, net, losses, newest, only_acknowledged):
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
    """Remember that a message is delivered, and let it wait no longer; whether it waited."""
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


@register_jitable
def is_original(link: int, link_seq: int, flags: int, newest_seq: State, life: State) -> bool:
    """Whether a packet is no copy that the network made: a copy bears a number that came already. When a node begins
    anew, so do its numbers.

    newest_seq: by link, the greatest number that came.
    life: by link, how often the node had begun anew (the upper bits of the flags, which a row may leave out).
    """
    now = max(flags, 0) >> 1
    if now > life[link]:
        life[link], newest_seq[link] = now, -1
    if now < life[link] or 0 <= link_seq <= newest_seq[link]:
        return False
    newest_seq[link] = max(newest_seq[link], link_seq)
    return True


@derive(
    kinds=(Kind.ARRIVED, Kind.DELIVERED),
    waiting=Table(3, 4),
    ahead=Table(3, 1),
    in_order=PerPair(0),
    delivered=Cell(0),
)
def awaited_deliveries(
    row: Row,
    net: Net,
    waiting: TableState,
    ahead: TableState,
    in_order: State,
    delivered: State,
) -> None:
    """The messages that arrived at their receivers and are neither delivered nor, where failures are handled,
    discarded.

    waiting: (receiver, sender, number) -> (timestamp, position of arrival, receiver, sender).
    in_order: by receiver and sender, the number up to which all was delivered.
    ahead: (receiver, sender, number) of what was delivered beyond that.
    delivered: how many messages were delivered.
    """
    if row.kind == DELIVERED:
        if note_delivery(waiting, ahead, in_order, net.node_count, (row.node, row.sender, row.number)):
            delivered[0] += 1
    elif row.packet == NOTICE:
        if is_recall(row, net) and row.receiver == row.node:
            note_delivery(waiting, ahead, in_order, net.node_count, (row.node, row.sender, row.number))
    elif row.packet == DATA and row.receiver == row.node and net.node_is_host[row.node]:
        key = (row.node, row.sender, row.number)
        await_delivery(waiting, ahead, in_order, net.node_count, key, row.timestamp, row.position)


@register_jitable
def is_passing(packet: int, late: int) -> bool:
    """Whether switches have to send such packets on. Rounds of adjustment never end: where switches may be late, some
    of their messages are still in one whenever a run ends."""
    return packet in (DATA, ACK) or (packet in (ADJUST, ADJUSTED) and not late)


@derive(
    kinds=(Kind.SENT, Kind.ARRIVED, Kind.CRASHED, Kind.RESTARTED),
    newest_seq=PerLink(-1),
    life=PerLink(0),
    passing=PerNode(0),
    outages=Cell(0),
)
def unsent_messages(row: Row, net: Net, newest_seq: State, life: State, passing: State, outages: State) -> None:
    """What switches still have to send on, and what stopped.

    passing: by switch, how many packets arrived since it began and did not leave, copies of the network not counted.
    outages: how many nodes and links stopped and did not come back. A host that came back has lost what it had, and
        counts as well.
    """
    if row.kind == SENT and is_passing(row.packet, net.late):
        passing[row.node] -= 1
    elif (
        row.kind == ARRIVED
        and is_passing(row.packet, net.late)
        and is_original(row.link, row.link_seq, row.flags, newest_seq, life)
    ):
        passing[row.node] += 1
    elif row.kind == CRASHED:
        outages[0] += 1
    elif row.kind == RESTARTED and row.link == ABSENT:
        passing[row.node] = 0  # what it had is lost
    if row.kind == RESTARTED and outages[0] > 0 and not (row.link == ABSENT and net.node_is_host[row.node]):
        outages[0] -= 1


@check(
    "TO-COMPLETE",
    kinds=(Kind.ENDED,),
    order=Order.NODE,
    ways=(
        "messages that arrived were never delivered, {found} in all; the first of them has timestamp {expected}",
        "node {expected_node} never sent on {found} of the messages for others that arrived there",
    ),
    derived=(newest_barriers, loss_registers, awaited_deliveries, unsent_messages, cut_offs, stoppages),
)
def arrived_is_delivered(
    row: Row,
    net: Net,
    losses: LossRegisters,
    newest: Ints,
    waiting: TableState,
    cut: Ints,
    delivered: Ints,
    passing: Ints,
    outages: Ints,
    stopped: Ints,
) -> Outcome:
    """At the end of a run that settled, all that arrived at its receiver is delivered. Where there are no beacons
    (environment A, structure 5), or something stopped for good, nobody need raise barriers any more: then all that the
    receiver's barriers have passed. A switch that keeps what it should send on is judged here too, as no other clause
    speaks of it.

    Where failures are handled, all that a receiver's ack barriers have passed is delivered, unless a notice or a recall
    told the receiver to discard it. A node that sent nothing for the time-out before the end has stopped. What
    switches discard is not recorded.
    """
    if not settled(row.flags):
        return SILENT
    handled = net.failure_timeout_ns > 0
    only_passed = net.environment in (A, D5) or outages[0] > 0 or handled
    kept, first_timestamp, first_at = kept_messages(waiting, net, losses, newest, stopped, cut, only_passed, handled)
    if kept > 0:
        return violated(0, first_timestamp, kept, first_at)
    # Messages to a host that crashed are sent again for ever: where switches may be late, one always is in a switch.
    for_ever = handled or (net.late and outages[0] > 0)
    for switch in range(net.node_count):
        if passing[switch] > 0 and not net.node_is_host[switch] and not stopped[switch] and not for_ever:
            return violated(1, switch, passing[switch], -1)
    return HOLDS if delivered[0] > 0 else SILENT
