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
from scatterproof.conformance.totalorder.outstanding import is_resent
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NO_BARRIER, NOT_SPOKEN, PacketKind
from scatterproof.spec.trace import Kind, Order

DATA = int(PacketKind.DATA)
GREATEST = (1 << 63) - 1
# What `place` says of a SENT row: no submitted message sent by its own sender (or sent already), the first one of its
# scattering, or a further one.
NONE, FIRST, FURTHER = 0, 1, 2


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
def place_in_scattering(
    position: int,
    kind: int,
    clock_ns: int,
    node: int,
    sender: int,
    receiver: int,
    number: int,
    packet: int,
    scattering: int,
    timestamp: int,
    messages: TableState,
    scatterings: TableState,
) -> tuple[int, int, int, int]:
    """Where a message that its sender sends stands in its scattering: place, timestamp and position of the first
    message of that scattering, and the clock at which it was submitted.

    messages: (sender, receiver, number) -> (scattering, clock), until it is sent. scatterings: (sender, scattering) ->
    (timestamp, position of the first, messages not sent yet), until all are sent.
    """
    if kind == SUBMITTED:
        put(messages, (node, receiver, number), (scattering, clock_ns))
        slot = find(scatterings, (node, scattering))
        if slot < 0:
            put(scatterings, (node, scattering), (0, -1, 1))
        else:
            change(scatterings, slot, 2, field(scatterings, slot, 2) + 1)
        return (NONE, 0, -1, -1)
    if packet != DATA or node != sender:
        return (NONE, 0, -1, -1)
    slot = find(messages, (node, receiver, number))
    if slot < 0:
        return (NONE, 0, -1, -1)
    its_scattering, submitted_ns = field(messages, slot, 0), field(messages, slot, 1)
    remove(messages, slot)
    slot = find(scatterings, (node, its_scattering))
    first_timestamp, first_at = field(scatterings, slot, 0), field(scatterings, slot, 1)
    place = FURTHER
    if first_at < 0:
        place, first_timestamp, first_at = FIRST, timestamp, position
        change(scatterings, slot, 0, timestamp)
        change(scatterings, slot, 1, position)
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
    kind: int,
    node: int,
    flags: int,
    timestamp: int,
    place: int,
    first_timestamp: int,
    first_at: int,
    failure_timeout_ns: int,
    node_count: int,
    unsent: State,
) -> Outcome:
    """All messages of a scattering leave, with one timestamp; those to failed hosts need not where failures are
    handled. At stake from the second message on."""
    if kind == SENT:
        if place != NONE:
            unsent[node] -= 1
        if place != FURTHER:
            return SILENT
        return HOLDS if timestamp == first_timestamp else violated(0, first_timestamp, timestamp, first_at)
    if kind == SUBMITTED:
        unsent[node] += 1
    elif settled(flags) and failure_timeout_ns == 0:
        for host in range(node_count):
            if unsent[host] > 0:
                return violated(1, host, unsent[host], -1)
    return SILENT


@register_jitable
def due_barrier(clock: int, last: int, promised: int, ack_promised: int) -> int:
    """The barrier of a host that has given `last`, sent barriers up to `promised` and ack barriers up to
    `ack_promised`: it is at or above the first two, and strictly above the third."""
    due = max(clock, last, promised)
    return ack_promised + 1 if due <= ack_promised < GREATEST else due


@register_jitable
def runs_ahead(
    timestamp: int, clock_ns: int, last: int, last_at: int, promised: int, promised_at: int, ack_promised: int
) -> bool:
    """Whether a timestamp is more than the clock, the last timestamp and the promises ask for."""
    if timestamp <= clock_ns or (promised_at >= 0 and timestamp <= promised):
        return False
    if timestamp <= ack_promised or (ack_promised >= 0 and timestamp - 1 == ack_promised):
        return False
    # Strictly above `last` here, so that `timestamp - 1` cannot wrap.
    return last_at < 0 or timestamp - 1 > last


@check(
    "TO-MONO",
    kinds=(Kind.SENT,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} gave timestamp {found}, which is not strictly above {expected}, given earlier",
        "node {node} gave timestamp {found}, which is below its local clock {expected} when it was submitted",
        "node {node} gave timestamp {found}, ahead of its clock {expected} although nothing promised asks for it",
    ),
    derived=(place_in_scattering,),
    last=PerNode(0),
    last_at=PerNode(-1),
    promised=PerNode(0),
    promised_at=PerNode(-1),
    ack_promised=PerNode(NO_BARRIER),
)
def timestamps_rise(
    position: int,
    clock_ns: int,
    node: int,
    timestamp: int,
    barrier: int,
    ack_barrier: int,
    place: int,
    submitted_ns: int,
    causal: int,
    adjustment_interval_ns: int,
    last: State,
    last_at: State,
    promised: State,
    promised_at: State,
    ack_promised: State,
) -> Outcome:
    """Timestamps of a sender's scatterings rise strictly, and come from its clock where that is high enough. At stake
    from the second scattering on. Clocks that are not recorded (below 0) ask for nothing, and a host that stamps above
    what it delivered (TO-CAUSAL) may be ahead of its clock."""
    outcome = SILENT
    if place == FIRST:
        # What a host adds to its clock is TO-ADJ-2's.
        known = adjustment_interval_ns == 0
        if last_at[node] >= 0 and timestamp <= last[node]:
            outcome = violated(0, last[node], timestamp, last_at[node])
        elif known and submitted_ns >= 0 and timestamp < submitted_ns:
            outcome = violated(1, submitted_ns, timestamp, -1)
        elif (
            known
            and not causal
            and clock_ns >= 0
            and runs_ahead(
                timestamp, clock_ns, last[node], last_at[node], promised[node], promised_at[node], ack_promised[node]
            )
        ):
            outcome = violated(2, clock_ns, timestamp, last_at[node])
        elif last_at[node] >= 0:
            outcome = HOLDS
        if last_at[node] < 0 or timestamp > last[node]:
            last[node], last_at[node] = timestamp, position
    if barrier != NO_BARRIER and (promised_at[node] < 0 or barrier > promised[node]):
        promised[node], promised_at[node] = barrier, position
    ack_promised[node] = max(ack_promised[node], ack_barrier)
    return outcome


@check(
    "TO-BAR-HOST",
    kinds=(Kind.SENT,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} sent a data message of timestamp {expected} with barrier {found}",
        "node {node} gave timestamp {found}, which is strictly below its barrier {expected}",
        "node {node} sent a beacon with barrier {found}, which is below its last timestamp {expected}",
        "node {node} sent a beacon with barrier {found}; its clock, last timestamp and promises give {expected}",
    ),
    derived=(place_in_scattering,),
    last=PerNode(0),
    last_at=PerNode(-1),
    promised=PerNode(0),
    promised_at=PerNode(-1),
    ack_promised=PerNode(NO_BARRIER),
)
def host_barrier_is_its_promise(
    position: int,
    clock_ns: int,
    node: int,
    flags: int,
    packet: int,
    timestamp: int,
    barrier: int,
    ack_barrier: int,
    place: int,
    loses: int,
    adjustment_interval_ns: int,
    last: State,
    last_at: State,
    promised: State,
    promised_at: State,
    ack_promised: State,
) -> Outcome:
    """A host's data message carries its timestamp as barrier, its beacon the greatest of its clock, its last timestamp
    and what it promised, and no timestamp given later is strictly below either. Without a recorded clock, or an
    adjusted one, a beacon may carry any barrier that is at or above the rest. What is sent again is TO-RETX-BAR's."""
    outcome = SILENT
    if packet == DATA:
        if loses and is_resent(flags):
            outcome = SILENT
        elif barrier != NO_BARRIER and barrier != timestamp:
            outcome = violated(0, timestamp, barrier, -1)
        elif place != FURTHER and promised_at[node] >= 0 and timestamp < promised[node]:
            outcome = violated(1, promised[node], timestamp, promised_at[node])
        elif barrier != NO_BARRIER or promised_at[node] >= 0:
            outcome = HOLDS
        if last_at[node] < 0 or timestamp > last[node]:
            last[node], last_at[node] = timestamp, position
    elif barrier != NO_BARRIER:
        known = clock_ns >= 0 and adjustment_interval_ns == 0
        due = due_barrier(clock_ns if known else NOT_SPOKEN, last[node], promised[node], ack_promised[node])
        if last_at[node] >= 0 and barrier < last[node]:
            outcome = violated(2, last[node], barrier, last_at[node])
        elif barrier < due or (known and barrier != due):
            outcome = violated(3, due, barrier, last_at[node])
        else:
            outcome = HOLDS
    if barrier != NO_BARRIER and (promised_at[node] < 0 or barrier > promised[node]):
        promised[node], promised_at[node] = barrier, position
    ack_promised[node] = max(ack_promised[node], ack_barrier)
    return outcome
