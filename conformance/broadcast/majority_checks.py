"""Checks of majorities and of forwarding: BC-URB-MAJ, -GC, -MINORITY."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.checking import check_of_hosts
from scatterproof.conformance.broadcast.knowledge import AT, DIGEST, SUM, WEIGHTED, has, how_many, is_data, knowledge
from scatterproof.conformance.broadcast.packets import packets
from scatterproof.conformance.broadcast.parameters import PL
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Ints,
    Outcome,
    PerLink,
    PerNode,
    State,
    TableState,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import field, find, room, used
from scatterproof.conformance.kinds import ARRIVED, DELIVERED, ENDED, SENT
from scatterproof.spec.trace import CLEAN, Kind


@check_of_hosts(
    "BC-URB-MAJ",
    kinds=(Kind.BEGUN, Kind.SENT, Kind.ARRIVED, Kind.DELIVERED, Kind.ENDED),
    ways=(
        "{node} delivered message {number} of {sender}, knowing of {found} processes that have it; it takes {expected}",
        "{node} forwards message {found} of {sender} in a packet that did not come to it so",
        "{expected_node} has not forwarded to every live process all that it has: {found} are missing on a link",
    ),
    derived=(knowledge, packets),
    forwarded=PerLink(0),
    known=PerNode(0),
)
def majority_has_it(
    kind: int,
    node: int,
    link: int,
    sender: int,
    number: int,
    digest: int,
    flags: int,
    packet: int,
    pseq: int,
    count: int,
    clock_sum: int,
    clock_weighted: int,
    new: int,
    again: int,
    carriers: int,
    is_new: int,
    level: int,
    node_count: int,
    link_count: int,
    link_source: Ints,
    link_target: Ints,
    delivered: Ints,
    beyond: TableState,
    coming: TableState,
    down: Ints,
    forwarded: State,
    known: State,
) -> Outcome:
    """A delivery needs a majority that has the message: those from whom it came, its creator, and oneself. known: how
    many messages a process began with or received; forwarded: it put on a link; in the end they are as many."""
    if level == PL:
        return SILENT
    if kind == DELIVERED:
        if again:
            return SILENT
        return HOLDS if 2 * carriers > node_count else violated(0, node_count // 2 + 1, carriers, -1)
    if kind == SENT:
        forwarded[link] += count if is_new else 0
        if not is_data(packet, sender, number, count, pseq, node_count) or sender == node:
            return SILENT
        packed = (sender, number, count, digest, clock_sum, clock_weighted)
        so = is_forwarded_so(node, node_count, packed, delivered, beyond, coming)
        return SILENT if so else violated(1, 0, number, -1)
    if kind != ENDED:
        known[node] += new
    elif settled(flags):
        for at in range(link_count):
            source = link_source[at]
            if down[source] == 0 and down[link_target[at]] == 0 and forwarded[at] < known[source]:
                return violated(2, source, known[source] - forwarded[at], -1)
    return SILENT


@register_jitable
def is_forwarded_so(
    node: int,
    node_count: int,
    packed: tuple[int, int, int, int, int, int],
    delivered: Ints,
    beyond: TableState,
    coming: TableState,
) -> bool:
    """Whether messages came so; of what is delivered, nothing but that it is, is remembered."""
    creator, first, count, digest, clock_sum, clock_weighted = packed
    wrong = 0
    for one in range(first, first + count):
        slot = find(coming, (node, creator, one))
        if slot < 0:
            wrong += not has(delivered, beyond, node, node_count, creator, one)
        else:
            wrong += field(coming, slot, DIGEST) != digest
            if one == first:
                wrong += field(coming, slot, SUM) != clock_sum or field(coming, slot, WEIGHTED) != clock_weighted
    return wrong == 0


@check_of_hosts(
    "BC-URB-GC",
    kinds=(Kind.BEGUN, Kind.SENT, Kind.ARRIVED),
    ways=("{node} has put {found} messages on {link}, having {expected} only: some again, as if they were new",),
    derived=(knowledge, packets),
    forwarded=PerLink(0),
    known=PerNode(0),
)
def delivered_is_forgotten(
    kind: int,
    node: int,
    link: int,
    count: int,
    new: int,
    late_copy: int,
    is_new: int,
    level: int,
    forwarded: State,
    known: State,
) -> Outcome:
    """What can be seen of it: a late copy is not forwarded as if it were new."""
    if level == PL:
        return SILENT
    if kind == SENT:
        forwarded[link] += count if is_new else 0
        if is_new and forwarded[link] > known[node]:
            return violated(0, known[node], forwarded[link], -1)
        return SILENT
    known[node] += new
    return HOLDS if late_copy else SILENT


@check_of_hosts(
    "BC-URB-MINORITY",
    kinds=(Kind.ARRIVED, Kind.DELIVERED, Kind.ENDED),
    ways=(
        "{node} delivered message {number} of {sender}, having heard of {found} processes; {expected} are a majority",
    ),
    heard_of=PerNode(0),
)
def minority_delivers_nothing(
    kind: int,
    node: int,
    link: int,
    sender: int,
    number: int,
    flags: int,
    packet: int,
    pseq: int,
    count: int,
    again: int,
    level: int,
    node_count: int,
    link_source: Ints,
    coming: TableState,
    down: Ints,
    heard_of: State,
) -> Outcome:
    """Who has heard of no majority of processes, oneself among them, delivers nothing. At stake where a live one has
    something to deliver."""
    if level == PL:
        return SILENT
    if kind == ARRIVED:
        if is_data(packet, sender, number, count, pseq, node_count):
            heard_of[node] |= (1 << link_source[link]) | (1 << sender)
        return SILENT
    if kind == DELIVERED:
        found = how_many(heard_of[node] | (1 << node))
        if again or 2 * found > node_count:
            return SILENT
        return violated(0, node_count // 2 + 1, found, -1)
    if kind == ENDED and flags >= 0 and flags & CLEAN:
        for slot in range(room(coming)):
            at = field(coming, slot, AT) if used(coming, slot) else -1
            if at >= 0 and down[at] == 0 and 2 * how_many(heard_of[at] | (1 << at)) <= node_count:
                return HOLDS
    return SILENT
