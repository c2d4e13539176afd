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
def barriers_on_data_only(
    node: int, packet: int, barrier: int, environment: int, fill_barrier: int, node_is_host: Ints
) -> Outcome:
    """There are no beacons, and every data message has a barrier; a host may leave it empty where the next node fills
    it (TO-BAR-FILL)."""
    if environment != A:
        return SILENT
    if packet == BEACON:
        return violated(0, DATA, packet, -1)
    if packet != DATA or (fill_barrier and node_is_host[node]):
        return SILENT
    return violated(1, 0, barrier, -1) if barrier == NO_BARRIER else HOLDS


@check(
    "TO-ENV-B",
    kinds=(Kind.SENT,),
    order=Order.NODE,
    ways=(
        "node {node} sent a data message with barrier {found} on link {link}; barriers travel in beacons only",
        "node {node} sent a beacon without a barrier on link {link}",
    ),
)
def barriers_on_beacons_only(packet: int, barrier: int, environment: int) -> Outcome:
    """Data messages have no barrier, beacons have one. At stake with data messages."""
    if environment != B:
        return SILENT
    if packet == DATA:
        return HOLDS if barrier == NO_BARRIER else violated(0, NO_BARRIER, barrier, -1)
    return violated(1, 0, barrier, -1) if packet == BEACON and barrier == NO_BARRIER else SILENT


@derive(kinds=(Kind.SENT, Kind.RESTARTED), data_ns=PerLink(0), data_at=PerLink(-1))
def data_left(
    position: int,
    kind: int,
    clock_ns: int,
    node: int,
    link: int,
    packet: int,
    link_source: Ints,
    data_ns: State,
    data_at: State,
) -> None:
    """When data last left each link, and at which row: below 0 where no clock is known, or the node has begun anew
    since and cannot know of it."""
    if kind == RESTARTED and link == ABSENT:
        for other in range(len(link_source)):
            if link_source[other] == node:
                data_at[other] = -1
    elif packet == DATA:
        data_ns[link] = clock_ns
        data_at[link] = position if clock_ns >= 0 else -1


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
def beacons_only_when_idle(
    clock_ns: int,
    node: int,
    link: int,
    packet: int,
    barrier: int,
    environment: int,
    fill_barrier: int,
    beacon_interval_ns: int,
    node_is_host: Ints,
    data_ns: Ints,
    data_at: Ints,
) -> Outcome:
    """A beacon leaves a link only when no data message left it for the interval, by the local clock of the node. At
    stake on links that carried data; rows without a clock (below 0) are passed over."""
    if environment != C:
        return SILENT
    if packet == DATA:
        bare = barrier == NO_BARRIER and not (fill_barrier and node_is_host[node])
        return violated(1, 0, barrier, -1) if bare else SILENT
    if packet != BEACON or data_at[link] < 0 or clock_ns < 0:
        return SILENT
    if elapsed(data_ns[link], clock_ns, beacon_interval_ns):
        return HOLDS
    return violated(0, data_ns[link], clock_ns, data_at[link])
