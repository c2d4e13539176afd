"""Checks of what a sender does: TO-SCATTER, TO-MONO, TO-BAR-HOST. Operators of the same names in CamelCase:
BarrierClauses.tla.

A timestamp is *given* when the first message of its scattering is sent: that is when an observer first sees it.
"""

from __future__ import annotations

from numba.extending import register_jitable

from conformance.checks.step import (
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
from conformance.checks.tables import change, field, find, put, remove
from spec.topology import Role
from spec.totalorder.messages import NO_BARRIER, PacketKind
from spec.trace import Kind, Order

SUBMITTED, SENT, ENDED = int(Kind.SUBMITTED), int(Kind.SENT), int(Kind.ENDED)
DATA = int(PacketKind.DATA)
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
    node_count: int,
    unsent: State,
) -> Outcome:
    """All messages of a scattering leave, with one timestamp. At stake from the second message on."""
    if kind == SENT:
        if place != NONE:
            unsent[node] -= 1
        if place != FURTHER:
            return SILENT
        return HOLDS if timestamp == first_timestamp else violated(0, first_timestamp, timestamp, first_at)
    if kind == SUBMITTED:
        unsent[node] += 1
    elif settled(flags):
        for host in range(node_count):
            if unsent[host] > 0:
                return violated(1, host, unsent[host], -1)
    return SILENT


@register_jitable
def runs_ahead(timestamp: int, clock_ns: int, last: int, last_at: int, promised: int, promised_at: int) -> bool:
    """Whether a timestamp is more than the clock, the last timestamp and the barriers promised ask for."""
    if timestamp <= clock_ns or (promised_at >= 0 and timestamp <= promised):
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
)
def timestamps_rise(
    position: int,
    clock_ns: int,
    node: int,
    timestamp: int,
    barrier: int,
    place: int,
    submitted_ns: int,
    last: State,
    last_at: State,
    promised: State,
    promised_at: State,
) -> Outcome:
    """Timestamps of a sender's scatterings rise strictly, and come from its clock where that is high enough. At stake
    from the second scattering on. Clocks that are not recorded (below 0) ask for nothing."""
    outcome = SILENT
    if place == FIRST:
        if last_at[node] >= 0 and timestamp <= last[node]:
            outcome = violated(0, last[node], timestamp, last_at[node])
        elif submitted_ns >= 0 and timestamp < submitted_ns:
            outcome = violated(1, submitted_ns, timestamp, -1)
        elif clock_ns >= 0 and runs_ahead(
            timestamp, clock_ns, last[node], last_at[node], promised[node], promised_at[node]
        ):
            outcome = violated(2, clock_ns, timestamp, last_at[node])
        elif last_at[node] >= 0:
            outcome = HOLDS
        if last_at[node] < 0 or timestamp > last[node]:
            last[node], last_at[node] = timestamp, position
    if barrier != NO_BARRIER and (promised_at[node] < 0 or barrier > promised[node]):
        promised[node], promised_at[node] = barrier, position
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
        "node {node} sent a beacon with barrier {found}; its clock and its last timestamp give {expected}",
    ),
    derived=(place_in_scattering,),
    last=PerNode(0),
    last_at=PerNode(-1),
    promised=PerNode(0),
    promised_at=PerNode(-1),
)
def host_barrier_is_its_promise(
    position: int,
    clock_ns: int,
    node: int,
    packet: int,
    timestamp: int,
    barrier: int,
    place: int,
    last: State,
    last_at: State,
    promised: State,
    promised_at: State,
) -> Outcome:
    """A host's data message carries its timestamp as barrier, its beacon the greater of clock and last timestamp, and
    no timestamp given later is strictly below either. Without a recorded clock a beacon may carry any barrier that is
    at or above the last timestamp."""
    outcome = SILENT
    if packet == DATA:
        if barrier != NO_BARRIER and barrier != timestamp:
            outcome = violated(0, timestamp, barrier, -1)
        elif place != FURTHER and promised_at[node] >= 0 and timestamp < promised[node]:
            outcome = violated(1, promised[node], timestamp, promised_at[node])
        elif barrier != NO_BARRIER or promised_at[node] >= 0:
            outcome = HOLDS
        if last_at[node] < 0 or timestamp > last[node]:
            last[node], last_at[node] = timestamp, position
    elif barrier != NO_BARRIER:
        given = last_at[node] >= 0
        if given and barrier < last[node]:
            outcome = violated(2, last[node], barrier, last_at[node])
        elif clock_ns >= 0 and barrier != clock_ns and not (given and barrier == last[node] and clock_ns < barrier):
            due = max(clock_ns, last[node]) if given else clock_ns
            outcome = violated(3, due, barrier, last_at[node])
        else:
            outcome = HOLDS
    if barrier != NO_BARRIER and (promised_at[node] < 0 or barrier > promised[node]):
        promised[node], promised_at[node] = barrier, position
    return outcome


CHECKS = (one_timestamp_per_scattering, timestamps_rise, host_barrier_is_its_promise)
