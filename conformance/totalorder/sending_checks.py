"""Checks of what a sender does: TO-SCATTER, TO-MONO, TO-BAR-HOST. Operators of the same names in CamelCase:
BarrierClauses.tla.

A timestamp is *given* when the first message of its scattering is sent: that is when an observer first sees it.
"""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import SENT, SUBMITTED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Outcome,
    PerNode,
    State,
    Table,
    TableState,
    check,
    derive,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import change, field, find, put, remove
from scatterproof.conformance.totalorder.host_clocks import adjusted
from scatterproof.conformance.totalorder.packets import is_own_data, is_resent
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NO_BARRIER, NOT_SPOKEN, PacketKind
from scatterproof.spec.trace import Kind, Order

DATA = int(PacketKind.DATA)
# What `place` says of a SENT row: that it is no first sending of a submitted message by its own sender; that it is the
# first message of its scattering; or a further one.
NONE, FIRST, FURTHER = 0, 1, 2
_NOWHERE = (NONE, 0, -1, -1)


@derive(
    "place",
    "first_timestamp",
    "first_at",
    "submitted_ns",
    kinds=(Kind.SUBMITTED, Kind.SENT),
    at=Role.HOST,
    messages=Table(3, 2),
    scatterings=Table(2, 3),
)
def place_in_scattering(row: Row, messages: TableState, scatterings: TableState) -> tuple[int, int, int, int]:
    """Where a message that its sender sends stands in its scattering: its place; of a further one the timestamp, in
    ns, and the row of the first; and the local clock at which it was submitted, in ns.

    messages: (sender, receiver, number) -> (scattering, clock), until the message is sent.
    scatterings: (sender, scattering) -> (timestamp, position of the first, messages not sent yet), until all are sent.
    """
    if row.kind == SUBMITTED:
        put(messages, (row.node, row.receiver, row.number), (row.scattering, row.clock_ns))
        slot = find(scatterings, (row.node, row.scattering))
        if slot < 0:
            put(scatterings, (row.node, row.scattering), (0, -1, 1))
        else:
            change(scatterings, slot, 2, field(scatterings, slot, 2) + 1)
        return _NOWHERE
    if not is_own_data(row):
        return _NOWHERE
    slot = find(messages, (row.node, row.receiver, row.number))
    if slot < 0:
        return _NOWHERE
    its_scattering, submitted_ns = field(messages, slot, 0), field(messages, slot, 1)
    remove(messages, slot)
    slot = find(scatterings, (row.node, its_scattering))
    first_timestamp, first_at = field(scatterings, slot, 0), field(scatterings, slot, 1)
    place = FURTHER
    if first_at < 0:
        place = FIRST
        change(scatterings, slot, 0, row.timestamp)
        change(scatterings, slot, 1, row.position)
    waiting = field(scatterings, slot, 2) - 1
    change(scatterings, slot, 2, waiting)
    if waiting == 0:
        remove(scatterings, slot)
    return (place, first_timestamp, first_at, submitted_ns)


@check(
    "TO-SCATTER",
    kinds=(Kind.SUBMITTED, Kind.SENT, Kind.ENDED),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} sent message {number} to {receiver} with timestamp {found}, the first of its scattering with "
        "{expected}",
        "node {expected_node} never sent {found} of the messages that were submitted to it",
    ),
    derived=(place_in_scattering,),
    unsent=PerNode(0),
)
def one_timestamp_per_scattering(
    row: Row, net: Net, place: int, first_timestamp: int, first_at: int, unsent: State
) -> Outcome:
    """All messages of a scattering are sent, with one timestamp. Where failures are handled, messages to failed hosts
    need not be sent. At stake from the second message on."""
    if row.kind == SENT:
        if place != NONE:
            unsent[row.node] -= 1
        if place != FURTHER:
            return SILENT
        return HOLDS if row.timestamp == first_timestamp else violated(0, first_timestamp, row.timestamp, first_at)
    if row.kind == SUBMITTED:
        unsent[row.node] += 1
    elif settled(row.flags) and net.failure_timeout_ns == 0:
        for host in range(net.node_count):
            if unsent[host] > 0:
                return violated(1, host, unsent[host], -1)
    return SILENT


@derive(
    "promised",
    "promised_at",
    "ack_promised",
    kinds=(Kind.SENT,),
    at=Role.HOST,
    barrier_sent=PerNode(NO_BARRIER),
    sent_at=PerNode(-1),
    ack_sent=PerNode(NO_BARRIER),
)
def promises(row: Row, barrier_sent: State, sent_at: State, ack_sent: State) -> tuple[int, int, int]:
    """The greatest barrier that the host had sent before this row, in ns, and its row; and the greatest ack barrier."""
    before = (barrier_sent[row.node], sent_at[row.node], ack_sent[row.node])
    if row.barrier > barrier_sent[row.node]:
        barrier_sent[row.node], sent_at[row.node] = row.barrier, row.position
    ack_sent[row.node] = max(ack_sent[row.node], row.ack_barrier)
    return before


@register_jitable
def due_barrier(clock: int, last: int, promised: int, ack_promised: int) -> int:
    """The least barrier, in ns, at or above `clock`, `last` and `promised`, and strictly above `ack_promised`.

    last: the greatest timestamp given.
    promised, ack_promised: the greatest barrier and ack barrier sent.
    """
    return max(clock, last, promised, adjusted(ack_promised, 1))


@check(
    "TO-MONO",
    kinds=(Kind.SENT,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} gave timestamp {found}, which is not strictly above {expected}, the last one (-1 for none)",
        "node {node} gave timestamp {found}, which is below its local clock {expected} when it was submitted",
        "node {node} gave timestamp {found}, ahead of its clock {expected} although nothing promised asks for it",
    ),
    derived=(place_in_scattering, promises),
    last=PerNode(-1),
    last_at=PerNode(-1),
)
def timestamps_rise(
    row: Row,
    net: Net,
    place: int,
    submitted_ns: int,
    last: State,
    last_at: State,
    promised: int,
    ack_promised: int,
) -> Outcome:
    """Timestamps of a sender's scatterings rise strictly, and come from its clock where that is high enough. At stake
    from the second scattering on. A clock that is not recorded (below 0) asks for nothing. A host that stamps above
    what it delivered (TO-CAUSAL) may be ahead of its clock."""
    outcome = SILENT
    if place == FIRST:
        # What a host adds to its clock is TO-ADJ-2's to judge.
        known = net.adjustment_interval_ns == 0
        due = due_barrier(row.clock_ns, adjusted(last[row.node], 1), promised, ack_promised)
        if row.timestamp <= last[row.node]:
            outcome = violated(0, last[row.node], row.timestamp, last_at[row.node])
        elif known and row.timestamp < submitted_ns:
            outcome = violated(1, submitted_ns, row.timestamp, -1)
        elif known and not net.causal and row.clock_ns >= 0 and row.timestamp > due:
            outcome = violated(2, row.clock_ns, row.timestamp, last_at[row.node])
        elif last_at[row.node] >= 0:
            outcome = HOLDS
        if row.timestamp > last[row.node]:
            last[row.node], last_at[row.node] = row.timestamp, row.position
    return outcome


@check(
    "TO-BAR-HOST",
    kinds=(Kind.SENT,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} sent a data message of timestamp {expected} with barrier {found}",
        "node {node} gave timestamp {found}, which is strictly below its barrier {expected}",
        "node {node} sent a beacon with barrier {found}; its clock, last timestamp and promises give {expected}",
    ),
    derived=(place_in_scattering, promises),
    last=PerNode(-1),
    last_at=PerNode(-1),
)
def host_barrier_is_its_promise(
    row: Row,
    net: Net,
    place: int,
    last: State,
    last_at: State,
    promised: int,
    promised_at: int,
    ack_promised: int,
) -> Outcome:
    """A host's data message carries its timestamp as barrier. Its beacon carries the greatest of its clock, its last
    timestamp and its promises. No timestamp given later is strictly below either. Where no clock is recorded, or it is
    adjusted, a beacon may carry any barrier at or above the rest. Messages sent again are TO-RETX-BAR's to judge."""
    outcome = SILENT
    if row.packet == DATA:
        if net.loses and is_resent(row.flags):
            pass
        elif row.barrier != NO_BARRIER and row.barrier != row.timestamp:
            outcome = violated(0, row.timestamp, row.barrier, -1)
        elif place != FURTHER and row.timestamp < promised:
            outcome = violated(1, promised, row.timestamp, promised_at)
        elif row.barrier != NO_BARRIER:
            outcome = HOLDS
        if row.timestamp > last[row.node]:
            last[row.node], last_at[row.node] = row.timestamp, row.position
    elif row.barrier != NO_BARRIER:
        known = row.clock_ns >= 0 and net.adjustment_interval_ns == 0
        due = due_barrier(row.clock_ns if known else NOT_SPOKEN, last[row.node], promised, ack_promised)
        outcome = HOLDS
        if row.barrier < due or (known and row.barrier != due):
            outcome = violated(2, due, row.barrier, last_at[row.node])
    return outcome
