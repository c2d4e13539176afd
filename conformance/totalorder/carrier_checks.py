"""Checks of what carries barriers: TO-ENV-A, TO-ENV-B, TO-ENV-C. Operators of the same names in CamelCase:
BarrierClauses.tla."""

from __future__ import annotations

from scatterproof.conformance.checks.kinds import RESTARTED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Ints,
    Outcome,
    PerLink,
    State,
    check,
    derive,
    elapsed,
    violated,
)
from scatterproof.conformance.totalorder.parameters import ENVIRONMENT_CODES
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.spec.totalorder.messages import NO_BARRIER, Environment, PacketKind
from scatterproof.spec.trace import ABSENT, Kind, Order

DATA, BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)
A, B, C = (ENVIRONMENT_CODES[environment] for environment in (Environment.A, Environment.B, Environment.C))


@check(
    "TO-ENV-A",
    kinds=(Kind.SENT,),
    order=Order.NODE,
    ways=(
        "node {node} sent a beacon on link {link}; barriers travel in data messages only",
        "node {node} sent a data message without a barrier on link {link}",
    ),
)
def barriers_on_data_only(row: Row, net: Net) -> Outcome:
    """There are no beacons, and every data message has a barrier; a host may leave it empty where the next node fills
    it (TO-BAR-FILL)."""
    if net.environment != A:
        return SILENT
    if row.packet == BEACON:
        return violated(0, DATA, row.packet, -1)
    if row.packet != DATA or (net.fill_barrier and net.node_is_host[row.node]):
        return SILENT
    return violated(1, 0, row.barrier, -1) if row.barrier == NO_BARRIER else HOLDS


@check(
    "TO-ENV-B",
    kinds=(Kind.SENT,),
    order=Order.NODE,
    ways=(
        "node {node} sent a data message with barrier {found} on link {link}; barriers travel in beacons only",
        "node {node} sent a beacon without a barrier on link {link}",
    ),
)
def barriers_on_beacons_only(row: Row, net: Net) -> Outcome:
    """Data messages have no barrier, beacons have one. At stake with data messages."""
    if net.environment != B:
        return SILENT
    if row.packet == DATA:
        return HOLDS if row.barrier == NO_BARRIER else violated(0, NO_BARRIER, row.barrier, -1)
    return violated(1, 0, row.barrier, -1) if row.packet == BEACON and row.barrier == NO_BARRIER else SILENT


@derive(kinds=(Kind.SENT, Kind.RESTARTED), data_ns=PerLink(0), data_at=PerLink(-1))
def data_left(row: Row, net: Net, data_ns: State, data_at: State) -> None:
    """By link, when data last left it.

    data_ns: on the local clock, in ns.
    data_at: the row; -1 where there was none, where the clock is not known, or where the node has begun anew since, and
        knows nothing of it.
    """
    if row.kind == RESTARTED and row.link == ABSENT:
        for other in range(net.link_count):
            if net.link_source[other] == row.node:
                data_at[other] = -1
    elif row.packet == DATA:
        data_ns[row.link] = row.clock_ns
        data_at[row.link] = row.position if row.clock_ns >= 0 else -1


@check(
    "TO-ENV-C",
    kinds=(Kind.SENT,),
    order=Order.NODE,
    ways=(
        "node {node} sent a beacon on link {link} at local clock {found}, less than the beacon interval after the data "
        "message that left it at {expected}",
        "node {node} sent a data message without a barrier on link {link}",
    ),
    derived=(data_left,),
)
def beacons_only_when_idle(row: Row, net: Net, data_ns: Ints, data_at: Ints) -> Outcome:
    """A beacon leaves a link only when no data message left it for the interval, by the local clock of the node. At
    stake on links that carried data. Rows without a clock (below 0) are passed over."""
    if net.environment != C:
        return SILENT
    if row.packet == DATA:
        bare = row.barrier == NO_BARRIER and not (net.fill_barrier and net.node_is_host[row.node])
        return violated(1, 0, row.barrier, -1) if bare else SILENT
    if row.packet != BEACON or data_at[row.link] < 0 or row.clock_ns < 0:
        return SILENT
    if elapsed(data_ns[row.link], row.clock_ns, net.beacon_interval_ns):
        return HOLDS
    return violated(0, data_ns[row.link], row.clock_ns, data_at[row.link])
