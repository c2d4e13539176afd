"""What is measured in runs of the broadcast stack: how long delivery takes, how much is undelivered, how full packets
are."""

from __future__ import annotations

from collections.abc import Mapping

from scatterproof.conformance.broadcast.parameters import MAX_RUN, PL
from scatterproof.conformance.broadcast.recording import RESENT
from scatterproof.conformance.checks.kinds import BEGUN, CRASHED, LOST, SUBMITTED
from scatterproof.conformance.checks.step import SILENT, Bins, Cell, Outcome, PerNode, State, Table, TableState, check
from scatterproof.conformance.checks.tables import change, field, find, put, remove
from scatterproof.conformance.measures import BINS, Measure, count_span, tally
from scatterproof.spec.broadcast.messages import PacketKind
from scatterproof.spec.schedule import EVERYBODY
from scatterproof.spec.trace import Kind, Order

DATA = int(PacketKind.DATA)


def carrier(parameters: Mapping[str, object]) -> str:
    """How much of the stack there is."""
    return f"level {parameters.get('level')}"


@check(
    "MEASURE",
    kinds=(Kind.SUBMITTED, Kind.LOST, Kind.DELIVERED, Kind.CRASHED),
    order=Order.NODE,
    ways=(),
    bins=Bins(4 * BINS),
    in_flight=Table(3, 3),
    crashed=Cell(0),
)
def delivery_latency(
    kind: int,
    time_ns: int,
    node: int,
    sender: int,
    receiver: int,
    number: int,
    packet: int,
    level: int,
    node_count: int,
    bins: State,
    in_flight: TableState,
    crashed: State,
) -> Outcome:
    """From submission to each delivery. in_flight: (creator, receiver or everybody, number) -> (submitted when, bits of
    those that have delivered it, whether a packet that begins with it was lost), until all that go on have it. crashed:
    bits, too."""
    if kind == CRASHED:
        crashed[0] |= 1 << node
        return SILENT
    if kind == LOST and packet != DATA:
        return SILENT
    key = (sender, receiver if level == PL else EVERYBODY, number)
    if kind == SUBMITTED:
        put(in_flight, key, (time_ns, 0, 0))
        return SILENT
    slot = find(in_flight, key)
    if slot < 0:
        return SILENT
    if kind == LOST:
        change(in_flight, slot, 2, 1)
        return SILENT
    group = 2 * int(node != sender) + field(in_flight, slot, 2)
    count_span(bins, group, field(in_flight, slot, 0), time_ns)
    have = field(in_flight, slot, 1) | 1 << node
    change(in_flight, slot, 1, have)
    if level == PL or have | crashed[0] == (1 << node_count) - 1:
        remove(in_flight, slot)
    return SILENT


@check("MEASURE", kinds=(Kind.BEGUN, Kind.DELIVERED), order=Order.NODE, ways=(), bins=Bins(BINS), own=PerNode(0))
def buffer_occupancy(
    kind: int, node: int, sender: int, receiver: int, number: int, count: int, level: int, bins: State, own: State
) -> Outcome:
    """How many messages of its own a process has begun with and not delivered, counted whenever it begins. At level pl
    they are delivered elsewhere."""
    if level == PL:
        return SILENT
    if kind == BEGUN:
        own[node] += min(max(count, 1), MAX_RUN)
        tally(bins, 0, own[node])
    elif sender == node:
        own[node] -= 1
    return SILENT


@check("MEASURE", kinds=(Kind.SENT,), order=Order.NODE, ways=(), bins=Bins(3 * BINS))
def messages_in_packet(node: int, sender: int, packet: int, flags: int, count: int, bins: State) -> Outcome:
    """Of data packets: how many messages are in one."""
    if packet == DATA:
        tally(bins, 2 if flags == RESENT else int(node != sender), count)
    return SILENT


MEASURES = (
    Measure(
        name="delivery_latency",
        title="From submission to delivery",
        unit="ns",
        groups=("its own", "its own, lost on the way", "another's", "another's, lost on the way"),
        check=delivery_latency,
    ),
    Measure(
        name="buffer_occupancy",
        title="Messages of its own that a process has begun with and not delivered",
        unit="messages",
        groups=("at creators",),
        check=buffer_occupancy,
    ),
    Measure(
        name="messages_in_packet",
        title="Messages in a data packet",
        unit="messages",
        groups=("of the creator", "forwarded", "sent again"),
        check=messages_in_packet,
    ),
)
