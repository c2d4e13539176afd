"""Checks of promises under other liberties: TO-SW-PATH, TO-RESTART, TO-CAUSAL, TO-BEACON-MIN, TO-BAR-FILL."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ARRIVED, CRASHED, DELIVERED, REFUSED, RESTARTED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Outcome,
    PerLink,
    PerNode,
    State,
    Table,
    TableState,
    check,
    violated,
)
from scatterproof.conformance.checks.tables import field, find, is_less, put, remove, room, used
from scatterproof.conformance.totalorder.packets import is_node, is_resent
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.conformance.totalorder.sending_checks import FIRST, place_in_scattering
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NO_BARRIER, NO_LOSS, NOT_SPOKEN, PacketKind
from scatterproof.spec.trace import ABSENT, Kind, Order

DATA, BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)


@register_jitable
def left_behind(inside: TableState, link: int, barrier: int) -> int:
    """Of the messages inside a switch that leave on the link and are strictly below the barrier, the slot of the one
    that arrived first; -1 for none."""
    first = -1
    for slot in range(room(inside)):
        leaves = used(inside, slot) and field(inside, slot, 2) == link
        if leaves and field(inside, slot, 0) < barrier and is_less(inside, slot, first, 1):
            first = slot
    return first


@check(
    "TO-SW-PATH",
    kinds=(Kind.ARRIVED, Kind.SENT, Kind.REFUSED, Kind.CRASHED),
    at=Role.SWITCH,
    order=Order.NODE,
    ways=(
        "node {node} sent a beacon of barrier {found} on link {link} ahead of a message of timestamp {expected}, which "
        "arrived there earlier",
    ),
    inside=Table(4, 4),
    passed=PerLink(0),
    came_at=PerLink(-1),
)
def beacons_never_overtake_data(row: Row, net: Net, inside: TableState, passed: State, came_at: State) -> Outcome:
    """A beacon leaves a switch only behind all first transmissions that the switch took earlier for this link and that
    the barrier covers. A message that it refused it did not take. At stake on links that carry data.

    inside: (switch, sender, receiver, number) -> (timestamp, position of arrival, egress link, switch), while the
        message is there.
    passed: by link, whether it carries data.
    came_at: by ingress link, the row in which the last packet arrived.
    """
    if row.kind in (CRASHED, REFUSED):
        slot = 0
        while (row.kind == REFUSED or row.link == ABSENT) and slot < room(inside):
            its = used(inside, slot) and field(inside, slot, 3) == row.node
            if its and (row.kind == CRASHED or field(inside, slot, 1) == came_at[row.link]):
                remove(inside, slot)
                continue  # another entry may have moved here
            slot += 1
        return SILENT
    key = (row.node, row.sender, row.receiver, row.number)
    if row.kind == ARRIVED:
        came_at[row.link] = row.position
        if row.packet == DATA and not is_resent(row.flags) and is_node(row.receiver, net):
            onward = net.next_link[row.node * net.node_count + row.receiver]
            if onward >= 0:
                passed[onward] = 1
                put(inside, key, (row.timestamp, row.position, onward, row.node))
        return SILENT
    if row.packet == DATA:
        slot = find(inside, key)
        if slot >= 0:
            remove(inside, slot)
        return SILENT
    if row.packet != BEACON or row.barrier == NO_BARRIER:
        return SILENT
    first = left_behind(inside, row.link, row.barrier)
    if first >= 0:
        return violated(0, field(inside, first, 0), row.barrier, field(inside, first, 1))
    return HOLDS if passed[row.link] else SILENT


@check(
    "TO-RESTART",
    kinds=(Kind.SENT, Kind.RESTARTED),
    order=Order.NODE,
    ways=(
        "node {node}, begun anew, sent barrier {found} on link {link}, after barrier {expected} before that",
        "node {node}, begun anew, sent ack barrier {found} on link {link}, after ack barrier {expected} before that",
    ),
    barrier_sent=PerLink(NOT_SPOKEN),
    barrier_at=PerLink(-1),
    ack_sent=PerLink(NOT_SPOKEN),
    ack_at=PerLink(-1),
    again=PerNode(0),
)
def restart_keeps_barriers(
    row: Row, barrier_sent: State, barrier_at: State, ack_sent: State, ack_at: State, again: State
) -> Outcome:
    """Barriers and ack barriers that a node sends on a link after it began anew are at or above those that it sent
    there earlier. As long as it knows none, it sends none: not even the least that there is."""
    if row.kind == RESTARTED:
        if row.link == ABSENT:
            again[row.node] = 1
        return SILENT
    outcome = SILENT
    if again[row.node] and row.barrier != NO_BARRIER:
        outcome = (
            HOLDS
            if row.barrier >= barrier_sent[row.link]
            else violated(0, barrier_sent[row.link], row.barrier, barrier_at[row.link])
        )
    if again[row.node] and row.ack_barrier != NO_BARRIER and outcome[0] <= 1:
        outcome = (
            HOLDS
            if row.ack_barrier >= ack_sent[row.link]
            else violated(1, ack_sent[row.link], row.ack_barrier, ack_at[row.link])
        )
    if row.barrier > barrier_sent[row.link]:
        barrier_sent[row.link], barrier_at[row.link] = row.barrier, row.position
    if row.ack_barrier > ack_sent[row.link]:
        ack_sent[row.link], ack_at[row.link] = row.ack_barrier, row.position
    return outcome


@check(
    "TO-CAUSAL",
    kinds=(Kind.SENT, Kind.DELIVERED),
    at=Role.HOST,
    order=Order.NODE,
    ways=("node {node} gave timestamp {found} after it delivered timestamp {expected}",),
    derived=(place_in_scattering,),
    highest=PerNode(0),
    highest_at=PerNode(-1),
)
def replies_ordered_after_delivered(row: Row, place: int, highest: State, highest_at: State) -> Outcome:
    """A timestamp given after a delivery is strictly above what was delivered."""
    if row.kind == DELIVERED and (highest_at[row.node] < 0 or row.timestamp > highest[row.node]):
        highest[row.node], highest_at[row.node] = row.timestamp, row.position
    if place != FIRST or highest_at[row.node] < 0:
        return SILENT
    return (
        HOLDS
        if row.timestamp > highest[row.node]
        else violated(0, highest[row.node], row.timestamp, highest_at[row.node])
    )


@check(
    "TO-BEACON-MIN",
    kinds=(Kind.SENT,),
    at=Role.SWITCH,
    order=Order.NODE,
    ways=(
        "node {node} sent a beacon on link {link} that says nothing new: barrier {found}, where {expected} was sent",
        "node {node} sent a beacon on link {link} that says nothing new: ack barrier {found}, and {expected} was sent",
    ),
    barrier_sent=PerLink(NOT_SPOKEN),
    barrier_at=PerLink(-1),
    ack_sent=PerLink(NOT_SPOKEN),
    ack_at=PerLink(-1),
)
def beacons_with_new_minimum_only(
    row: Row, barrier_sent: State, barrier_at: State, ack_sent: State, ack_at: State
) -> Outcome:
    """A switch that withholds beacons with nothing new sends a beacon only with a barrier, or an ack barrier, strictly
    above all that it sent on that link, or to report a loss. At stake from the second one on."""
    outcome = SILENT
    if row.packet == BEACON:
        if row.barrier > barrier_sent[row.link] or row.ack_barrier > ack_sent[row.link] or row.loss_record > NO_LOSS:
            outcome = HOLDS if barrier_at[row.link] >= 0 or ack_at[row.link] >= 0 else SILENT
        elif row.barrier != NO_BARRIER:
            outcome = violated(0, barrier_sent[row.link], row.barrier, barrier_at[row.link])
        else:
            outcome = violated(1, ack_sent[row.link], row.ack_barrier, ack_at[row.link])
    if row.barrier > barrier_sent[row.link]:
        barrier_sent[row.link], barrier_at[row.link] = row.barrier, row.position
    if row.ack_barrier > ack_sent[row.link]:
        ack_sent[row.link], ack_at[row.link] = row.ack_barrier, row.position
    return outcome


@check(
    "TO-BAR-FILL",
    kinds=(Kind.SENT,),
    at=Role.HOST,
    order=Order.NODE,
    ways=("node {node} sent a data message of timestamp {expected} with barrier {found}; the next node fills it in",),
)
def first_switch_fills_barrier(row: Row) -> Outcome:
    """A host leaves the barrier of a first transmission empty. That its first switch then takes the timestamp for it is
    TO-BAR-MIN's to judge."""
    if row.packet != DATA or is_resent(row.flags):
        return SILENT
    return HOLDS if row.barrier == NO_BARRIER else violated(0, row.timestamp, row.barrier, -1)
