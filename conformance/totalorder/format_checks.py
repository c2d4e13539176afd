"""Checks of what packets carry under loss: TO-FMT-5 to TO-FMT-9."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Ints,
    Outcome,
    PerNode,
    State,
    check,
    derive,
    elapsed,
    violated,
)
from scatterproof.conformance.totalorder.carrier_checks import data_left
from scatterproof.conformance.totalorder.packets import is_resent
from scatterproof.conformance.totalorder.parameters import ENVIRONMENT_CODES
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.spec.totalorder.messages import NO_BARRIER, NO_LOSS, NOT_SPOKEN, Environment, PacketKind
from scatterproof.spec.trace import ABSENT, Kind, Order

DATA, BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)
D5, D6, D7, D8, D9 = (
    ENVIRONMENT_CODES[environment]
    for environment in (Environment.D5, Environment.D6, Environment.D7, Environment.D8, Environment.D9)
)
# What a packet carries, as a number that violations can tell.
BARRIER, ACK_BARRIER = 1, 2
_CARRIES = (
    "node {node} sent a data message with fields {found} on link {link}, where it carries {expected} (1 barrier, 2 ack "
    "barrier)",
    "node {node} sent a beacon with fields {found} on link {link}, where it carries {expected} (1 barrier, 2 ack "
    "barrier)",
    "node {node} sent an acknowledgement, or the like, with fields {found} on link {link} (1 barrier, 2 ack barrier)",
    "node {node} sent a packet on link {link} without a loss record, or without what is greatest",
)


@register_jitable
def carried(barrier: int, ack_barrier: int) -> int:
    return (0 if barrier == NO_BARRIER else BARRIER) + (0 if ack_barrier == NO_BARRIER else ACK_BARRIER)


@register_jitable
def is_filled(row: Row, net: Net) -> bool:
    """Whether the next node fills in the barrier of a data message (TO-BAR-FILL)."""
    return net.fill_barrier == 1 and net.node_is_host[row.node] == 1 and not is_resent(row.flags)


@derive(kinds=(Kind.RESTARTED,), again=PerNode(0))
def begun_anew(row: Row, again: State) -> None:
    """again: by node, whether it has begun anew. Its data messages may then lack what it does not know yet."""
    if row.link == ABSENT:
        again[row.node] = 1


@register_jitable
def well_formed(row: Row, filled: bool, again: int, data: int, beacon: int) -> Outcome:
    """Whether a packet carries what the message structure wants. At stake with data messages and beacons.

    filled: the next node fills in the barrier.
    again: the node has begun anew, and may have nothing to say yet.
    data, beacon: what data messages and beacons carry (`carried`), `beacon` below 0 where there are none; all other
        packets carry nothing.
    """
    fields = carried(row.barrier, row.ack_barrier)
    if row.packet == DATA:
        if fields != data and not (filled and fields + BARRIER == data) and not (again and fields & data == fields):
            return violated(0, data, fields, -1)
    elif row.packet == BEACON:
        if fields != beacon:
            return violated(1, beacon, fields, -1)
    elif fields:
        return violated(2, 0, fields, -1)
    if row.loss_record < NO_LOSS or row.greatest < NOT_SPOKEN:
        return violated(3, 0, 0, -1)
    return HOLDS if row.packet in (DATA, BEACON) else SILENT


@check("TO-FMT-5", kinds=(Kind.SENT,), order=Order.NODE, ways=_CARRIES, derived=(begun_anew,))
def structure_all_on_data(row: Row, net: Net, again: Ints) -> Outcome:
    """Data messages carry barrier and ack barrier; there are no beacons."""
    if net.environment != D5:
        return SILENT
    filled = is_filled(row, net)
    return well_formed(row, filled, again[row.node], BARRIER + ACK_BARRIER, -1)


@check("TO-FMT-6", kinds=(Kind.SENT,), order=Order.NODE, ways=_CARRIES, derived=(begun_anew,))
def structure_ack_barrier_on_beacon(row: Row, net: Net, again: Ints) -> Outcome:
    """Data messages carry the barrier, beacons the ack barrier."""
    if net.environment != D6:
        return SILENT
    filled = is_filled(row, net)
    return well_formed(row, filled, again[row.node], BARRIER, ACK_BARRIER)


@check("TO-FMT-7", kinds=(Kind.SENT,), order=Order.NODE, ways=_CARRIES)
def structure_two_beacons(row: Row, net: Net) -> Outcome:
    """Data messages carry neither, a beacon one of the two."""
    if net.environment != D7:
        return SILENT
    beacon = ACK_BARRIER if row.barrier == NO_BARRIER else BARRIER
    return well_formed(row, False, 0, 0, beacon)


@check("TO-FMT-8", kinds=(Kind.SENT,), order=Order.NODE, ways=_CARRIES)
def structure_one_beacon(row: Row, net: Net) -> Outcome:
    """Data messages carry neither, beacons both."""
    if net.environment != D8:
        return SILENT
    return well_formed(row, False, 0, 0, BARRIER + ACK_BARRIER)


@check(
    "TO-FMT-9",
    kinds=(Kind.SENT,),
    order=Order.NODE,
    ways=(
        *_CARRIES,
        "node {node} sent a beacon on link {link} at local clock {found}, less than the beacon interval after the data "
        "message that left it at {expected}",
    ),
    derived=(begun_anew, data_left),
)
def structure_all_on_data_and_idle_beacons(row: Row, net: Net, again: Ints, data_ns: Ints, data_at: Ints) -> Outcome:
    """Data messages and beacons carry both. A beacon leaves a link only when no data message left it for the interval,
    by the local clock of the node, as far as the node knows. Rows without a clock (below 0) are passed over."""
    if net.environment != D9:
        return SILENT
    filled = is_filled(row, net)
    both = BARRIER + ACK_BARRIER
    outcome = well_formed(row, filled, again[row.node], both, both)
    idle = data_at[row.link] < 0 or row.clock_ns < 0 or elapsed(data_ns[row.link], row.clock_ns, net.beacon_interval_ns)
    if row.packet == BEACON and outcome == HOLDS and not idle:
        return violated(4, data_ns[row.link], row.clock_ns, data_at[row.link])
    return outcome
