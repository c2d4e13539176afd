"""Checks of what perfect links hand on: BC-PL-RELIABLE, -ONCE, -REAL. At level pl it is what is delivered; at
the others the packets say what can be said."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.knowledge import Knowledge, Learnt, check_of_hosts, knowledge
from scatterproof.conformance.broadcast.packets import LINK, PSEQ, Earlier, packets
from scatterproof.conformance.broadcast.parameters import PL
from scatterproof.conformance.broadcast.rows import DATA, Net, Row, well_formed
from scatterproof.conformance.checks.kinds import ARRIVED, DELIVERED, SENT, SUBMITTED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Cell,
    Outcome,
    PerPair,
    State,
    Table,
    TableState,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import field, find, put, remove, room, used
from scatterproof.spec.trace import Kind, Order


@register_jitable
def delivered_wrongly(row: Row, learnt: Learnt) -> Outcome:
    """Ways 0 and 1: no run with the message has come; none with these contents."""
    if learnt.again:
        return SILENT
    if learnt.origin < 0:
        return violated(0, 0, row.number, -1)
    return HOLDS if learnt.same else violated(1, learnt.content, row.digest, learnt.origin)


@register_jitable
def is_begun(row: Row, last: int) -> bool:
    """Whether the run of a packet is among the messages 1 to `last`."""
    return 1 <= row.number <= last and row.count <= last - row.number + 1


@register_jitable
def begun_wrongly(row: Row, learnt: Learnt, last_handed: int, handed: TableState) -> Outcome:
    """Way 2: a run begins with the next message handed over, ends at one that was, and has the contents of all. handed:
    by (node, receiver, number), the digest."""
    if not row.is_run or row.number != learnt.begun_before + 1 or row.number + row.count - 1 > last_handed:
        return violated(2, learnt.begun_before + 1, row.number, -1)
    same = True
    for one in range(row.number, row.number + row.count):
        slot = find(handed, (row.node, row.receiver, one))
        if slot < 0:
            same = False
        else:
            same = same and field(handed, slot, 0) == row.digest
            remove(handed, slot)
    return HOLDS if same else violated(2, row.number, row.number, -1)


@register_jitable
def earliest_between_live(table: TableState, position: int, net: Net, known: Knowledge) -> int:
    """The slot of the entry with the least position, of links both ends of which live; or -1. Field 0 is the link."""
    down = known.down
    least = -1
    for slot in range(room(table)):
        if used(table, slot) and (least < 0 or field(table, slot, position) < field(table, least, position)):
            link = field(table, slot, LINK)
            if down[net.link_source[link]] == 0 and down[net.link_target[link]] == 0:
                least = slot
    return least


@check_of_hosts(
    "BC-PL-RELIABLE",
    kinds=(Kind.SUBMITTED, Kind.SENT, Kind.ARRIVED, Kind.DELIVERED, Kind.ENDED),
    order=Order.LINK,
    ways=(
        "packet {found} from a live process to {expected_node}, which lives, has never arrived",
        "message {found} for {expected_node}, handed over at a live process, is never delivered",
    ),
    derived=(well_formed, packets, knowledge),
    on_link=Table(2, 3),
    owed=Table(3, 4),
    any_sent=Cell(0),
)
def sent_is_delivered(
    row: Row, net: Net, known: Knowledge, earlier: Earlier, on_link: TableState, owed: TableState, any_sent: State
) -> Outcome:
    """What a live process sent to a live one has arrived by the end of a run that settled; at level pl, what was handed
    over is delivered. on_link: (link, pseq), owed: (sender, receiver, number) -> position of its beginning."""
    if row.kind == SUBMITTED:
        if net.level == PL and 0 <= row.sender < net.node_count and 0 <= row.receiver < net.node_count:
            message = (row.sender, row.receiver, row.number)
            put(owed, message, (row.position, row.sender, row.receiver, row.number))
    elif row.kind == SENT:
        if earlier.is_new:
            put(on_link, (row.link, row.pseq), (row.link, row.pseq, row.position))
            any_sent[0] = 1
    elif row.kind == ARRIVED:
        slot = find(on_link, (row.link, row.pseq))
        if slot >= 0 and row.is_data:
            remove(on_link, slot)
    elif row.kind == DELIVERED:
        slot = find(owed, (row.sender, row.node, row.number))
        if slot >= 0:
            remove(owed, slot)
    elif settled(row.flags):
        least = earliest_between_live(on_link, 2, net, known)
        if least >= 0:
            target = net.link_target[field(on_link, least, LINK)]
            return violated(0, target, field(on_link, least, PSEQ), field(on_link, least, 2))
        for slot in range(room(owed)):
            if used(owed, slot) and (least < 0 or field(owed, slot, 0) < field(owed, least, 0)):
                ends_live = known.down[field(owed, slot, 1)] == 0 and known.down[field(owed, slot, 2)] == 0
                least = slot if ends_live else least
        if least >= 0:
            return violated(1, field(owed, least, 2), field(owed, least, 3), field(owed, least, 0))
        return HOLDS if any_sent[0] else SILENT
    return SILENT


@check_of_hosts(
    "BC-PL-ONCE",
    kinds=(Kind.DELIVERED,),
    ways=("the link to {node} delivered message {number} of {sender} again",),
)
def link_delivers_once(row: Row, learnt: Learnt) -> Outcome:
    return violated(0, 0, row.number, -1) if learnt.again else HOLDS


@check_of_hosts(
    "BC-PL-REAL",
    kinds=(Kind.SUBMITTED, Kind.BEGUN, Kind.SENT, Kind.DELIVERED),
    ways=(
        "the link to {node} delivered message {number} of {sender}, which has never come from there",
        "the link to {node} delivered message {number} of {sender} with digest {found}; it came with {expected}",
        "{node} took up message {found}, or its contents, where what was handed over next is message {expected}",
        "{node} sends message {found} of {sender}; it has none of its own for the receiver above {expected}",
    ),
    handed=Table(3, 1),
    last_handed=PerPair(0),
)
def link_delivers_sent(
    row: Row, net: Net, known: Knowledge, learnt: Learnt, handed: TableState, last_handed: State
) -> Outcome:
    """At level pl: what is delivered came from its sender, which sent only what was handed over, contents unchanged."""
    if net.level != PL:
        return SILENT
    if row.kind == DELIVERED:
        return delivered_wrongly(row, learnt)
    if row.kind == SENT:
        last = known.begun[row.node * net.node_count + net.link_target[row.link]]
        if row.packet == DATA and (row.sender != row.node or not is_begun(row, last)):
            return violated(3, last, row.number, -1)
        return SILENT
    pair = row.node * net.node_count + (row.receiver if 0 <= row.receiver < net.node_count else row.node)
    if row.kind == SUBMITTED:
        put(handed, (row.node, row.receiver, row.number), (row.digest,))
        last_handed[pair] = row.number
        return SILENT
    return begun_wrongly(row, learnt, last_handed[pair], handed)
