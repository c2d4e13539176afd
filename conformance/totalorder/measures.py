"""What is measured in runs of total order: how long delivery takes, how far barriers lag, how much is buffered."""

from __future__ import annotations

from collections.abc import Mapping

from scatterproof.conformance.checks.kinds import ARRIVED, LOST, SUBMITTED
from scatterproof.conformance.checks.step import SILENT, Ints, Outcome, PerNode, PerPair, State, Table, TableState
from scatterproof.conformance.checks.tables import change, field, find, put, remove
from scatterproof.conformance.measures import count_span, measure, tally
from scatterproof.spec.core import Parameter
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.trace import Kind

DATA, BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)
MOST_HOPS = 8
_HOPS = [*(f"{hops} hops" for hops in range(1, MOST_HOPS)), f"{MOST_HOPS} hops or more"]
_HOPS[0] = "1 hop"


def carrier(parameters: Mapping[str, Parameter]) -> str:
    """What carries the barriers: the environment."""
    return f"environment {parameters.get('environment')}"


@measure(
    "From submission to delivery",
    "ns",
    *(name for hops in _HOPS for name in (hops, f"{hops}, lost on the way")),
    kinds=(Kind.SUBMITTED, Kind.LOST, Kind.DELIVERED),
    in_flight=Table(3, 2),
)
def delivery_latency(
    kind: int,
    time_ns: int,
    sender: int,
    receiver: int,
    number: int,
    packet: int,
    node_count: int,
    hops: Ints,
    bins: State,
    in_flight: TableState,
) -> Outcome:
    """From submission to delivery, in ns. in_flight: (sender, receiver, number) -> (time of submission, whether the
    message was lost)."""
    if not (0 <= sender < node_count and 0 <= receiver < node_count):
        return SILENT
    key = (sender, receiver, number)
    if kind == SUBMITTED:
        put(in_flight, key, (time_ns, 0))
        return SILENT
    slot = find(in_flight, key)
    if slot < 0:
        return SILENT
    if kind == LOST:
        if packet == DATA:
            change(in_flight, slot, 1, 1)
        return SILENT
    far = min(hops[sender * node_count + receiver], MOST_HOPS)
    group = 2 * (max(far, 1) - 1) + field(in_flight, slot, 1)
    count_span(bins, group, field(in_flight, slot, 0), time_ns)
    remove(in_flight, slot)
    return SILENT


@measure(
    "Barrier behind the clock of the host at which it arrives",
    "ns",
    "on data messages",
    "on beacons",
    kinds=(Kind.ARRIVED,),
)
def barrier_lag(clock_ns: int, node: int, packet: int, barrier: int, node_is_host: Ints, bins: State) -> Outcome:
    """How far the barrier that arrives at a host is behind the host's clock, in ns."""
    if node_is_host[node] and barrier > 0 and (packet in (DATA, BEACON)):
        count_span(bins, 0 if packet == DATA else 1, barrier, clock_ns)
    return SILENT


@measure(
    "Messages buffered at a receiver, with the one that comes",
    "messages",
    "at receivers",
    kinds=(Kind.ARRIVED, Kind.DELIVERED),
    waiting=Table(3, 1),
    buffered=PerNode(0),
    newest=PerPair(0),
)
def buffer_occupancy(
    kind: int,
    node: int,
    sender: int,
    receiver: int,
    number: int,
    packet: int,
    node_count: int,
    bins: State,
    waiting: TableState,
    buffered: State,
    newest: State,
) -> Outcome:
    """How many messages have come to a receiver and wait, counted whenever one comes. newest: by sender and receiver,
    the greatest number delivered; a message that comes again is not buffered."""
    if receiver != node or not 0 <= sender < node_count:
        return SILENT
    key, pair = (sender, receiver, number), sender * node_count + receiver
    slot = find(waiting, key)
    if kind == ARRIVED:
        if packet == DATA and slot < 0 and number > newest[pair]:
            put(waiting, key, (1,))
            buffered[node] += 1
            tally(bins, 0, buffered[node])
        return SILENT
    newest[pair] = max(newest[pair], number)
    if slot >= 0:
        remove(waiting, slot)
        buffered[node] -= 1
    return SILENT


MEASURES = (delivery_latency, barrier_lag, buffer_occupancy)
