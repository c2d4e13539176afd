"""What is measured in runs of the broadcast stack: how long delivery takes, how many messages are undelivered, and how
full packets are."""

from __future__ import annotations

from collections.abc import Mapping

from scatterproof.conformance.broadcast.parameters import MAX_RUN, PL
from scatterproof.conformance.broadcast.recording import RESENT
from scatterproof.conformance.broadcast.rows import DATA, Net, Row, well_formed
from scatterproof.conformance.checks.kinds import BEGUN, CRASHED, DELIVERED, LOST, SENT, SUBMITTED
from scatterproof.conformance.checks.step import SILENT, Cell, Outcome, PerNode, State, Table, TableState
from scatterproof.conformance.checks.tables import change, field, find, put, remove
from scatterproof.conformance.measures import count_span, measure, tally
from scatterproof.spec.schedule import EVERYBODY


def carrier(parameters: Mapping[str, object]) -> str:
    """How much of the stack there is."""
    return f"level {parameters.get('level')}"


@measure(
    "From submission to delivery",
    "ns",
    "its own",
    "its own, lost on the way",
    "another's",
    "another's, lost on the way",
    kinds=(SUBMITTED, LOST, DELIVERED, CRASHED),
    derived=(well_formed,),
    in_flight=Table(3, 3),
    crashed=Cell(0),
)
def delivery_latency(row: Row, net: Net, time_ns: int, bins: State, in_flight: TableState, crashed: State) -> Outcome:
    """From submission to each delivery, in ns.

    in_flight: (creator, receiver or everybody, number) -> (time of submission, the processes that have delivered it, as
        bits, whether a packet that begins with it was lost), until all that have not crashed have delivered it.
    crashed: the processes that have, as bits.
    """
    if row.kind == CRASHED:
        crashed[0] |= 1 << row.node
        return SILENT
    if row.kind == LOST and row.packet != DATA:
        return SILENT
    key = (row.sender, row.receiver if net.level == PL else EVERYBODY, row.number)
    slot = find(in_flight, key)
    if row.kind == SUBMITTED:
        put(in_flight, key, (time_ns, 0, 0))
    elif slot >= 0 and row.kind == LOST:
        change(in_flight, slot, 2, 1)
    elif slot >= 0:
        group = 2 * int(row.node != row.sender) + field(in_flight, slot, 2)
        count_span(bins, group, field(in_flight, slot, 0), time_ns)
        have = field(in_flight, slot, 1) | 1 << row.node
        change(in_flight, slot, 1, have)
        if net.level == PL or have | crashed[0] == (1 << net.node_count) - 1:
            remove(in_flight, slot)
    return SILENT


@measure(
    "Messages of its own that a process has begun with and not delivered",
    "messages",
    "at creators",
    kinds=(BEGUN, DELIVERED),
    derived=(well_formed,),
    own=PerNode(0),
)
def buffer_occupancy(row: Row, level: int, bins: State, own: State) -> Outcome:
    """How many messages of its own a process has begun with and not delivered, counted whenever it begins with some. At
    level pl others deliver them: nothing is counted."""
    if level == PL:
        return SILENT
    if row.kind == BEGUN:
        own[row.node] += min(max(row.count, 1), MAX_RUN)
        tally(bins, 0, own[row.node])
    elif row.sender == row.node:
        own[row.node] -= 1
    return SILENT


@measure("Messages in a data packet", "messages", "of the creator", "forwarded", "sent again", kinds=(SENT,))
def messages_in_packet(node: int, sender: int, packet: int, flags: int, count: int, bins: State) -> Outcome:
    """Of data packets: how many messages are in one."""
    if packet == DATA:
        tally(bins, 2 if flags == RESENT else int(node != sender), count)
    return SILENT


MEASURES = (delivery_latency, buffer_occupancy, messages_in_packet)
