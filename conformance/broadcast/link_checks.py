"""Checks of what perfect links hand on: BC-PL-RELIABLE, -ONCE, -REAL. At level pl it is what is delivered; at
the others the packets say what can be said."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.checking import check_of_hosts
from scatterproof.conformance.broadcast.contents import begun_wrongly, delivered_wrongly
from scatterproof.conformance.broadcast.knowledge import DATA, is_data, knowledge
from scatterproof.conformance.broadcast.packets import LINK, PSEQ, packets
from scatterproof.conformance.broadcast.parameters import PL
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Cell,
    Ints,
    Outcome,
    PerPair,
    State,
    Table,
    TableState,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import field, find, put, remove, room, used
from scatterproof.conformance.kinds import ARRIVED, DELIVERED, SENT, SUBMITTED
from scatterproof.spec.trace import Kind, Order


@register_jitable
def earliest_between_live(table: TableState, position: int, source: Ints, target: Ints, down: Ints) -> int:
    """The slot of the entry with the least position, of links both ends of which live; or -1. Field 0 is the link."""
    least = -1
    for slot in range(room(table)):
        if used(table, slot) and (least < 0 or field(table, slot, position) < field(table, least, position)):
            link = field(table, slot, LINK)
            if down[source[link]] == 0 and down[target[link]] == 0:
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
    derived=(packets, knowledge),
    on_link=Table(2, 3),
    owed=Table(3, 4),
    any_sent=Cell(0),
)
def sent_is_delivered(
    position: int,
    kind: int,
    node: int,
    link: int,
    sender: int,
    receiver: int,
    number: int,
    flags: int,
    packet: int,
    pseq: int,
    count: int,
    is_new: int,
    level: int,
    node_count: int,
    link_source: Ints,
    link_target: Ints,
    down: Ints,
    on_link: TableState,
    owed: TableState,
    any_sent: State,
) -> Outcome:
    """What a live process sent to a live one has arrived by the end of a run that settled; at level pl, what was handed
    over is delivered. on_link: (link, pseq), owed: (sender, receiver, number) -> position of its beginning."""
    if kind == SUBMITTED:
        if level == PL and 0 <= sender < node_count and 0 <= receiver < node_count:
            put(owed, (sender, receiver, number), (position, sender, receiver, number))
    elif kind == SENT:
        if is_new:
            put(on_link, (link, pseq), (link, pseq, position))
            any_sent[0] = 1
    elif kind == ARRIVED:
        slot = find(on_link, (link, pseq))
        if slot >= 0 and is_data(packet, sender, number, count, pseq, node_count):
            remove(on_link, slot)
    elif kind == DELIVERED:
        slot = find(owed, (sender, node, number))
        if slot >= 0:
            remove(owed, slot)
    elif settled(flags):
        least = earliest_between_live(on_link, 2, link_source, link_target, down)
        if least >= 0:
            target = link_target[field(on_link, least, LINK)]
            return violated(0, target, field(on_link, least, PSEQ), field(on_link, least, 2))
        for slot in range(room(owed)):
            if used(owed, slot) and (least < 0 or field(owed, slot, 0) < field(owed, least, 0)):
                ends_live = down[field(owed, slot, 1)] == 0 and down[field(owed, slot, 2)] == 0
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
def link_delivers_once(number: int, again: int) -> Outcome:
    return violated(0, 0, number, -1) if again else HOLDS


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
    kind: int,
    node: int,
    link: int,
    sender: int,
    receiver: int,
    number: int,
    digest: int,
    packet: int,
    count: int,
    again: int,
    same: int,
    content: int,
    origin: int,
    begun_before: int,
    level: int,
    node_count: int,
    link_target: Ints,
    begun: Ints,
    handed: TableState,
    last_handed: State,
) -> Outcome:
    """At level pl: what is delivered came from its sender, which sent only what was handed over, contents unchanged."""
    if level != PL:
        return SILENT
    if kind == DELIVERED:
        return delivered_wrongly(number, digest, again, same, content, origin)
    if kind == SENT:
        last = begun[node * node_count + link_target[link]]
        if packet == DATA and (sender != node or number < 1 or number > last or count > last - number + 1):
            return violated(3, last, number, -1)
        return SILENT
    pair = node * node_count + (receiver if 0 <= receiver < node_count else node)
    if kind == SUBMITTED:
        put(handed, (node, receiver, number), (digest,))
        last_handed[pair] = number
        return SILENT
    return begun_wrongly(node, receiver, number, count, digest, begun_before, last_handed[pair], handed)
