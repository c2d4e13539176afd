"""Checks of majorities and of forwarding: BC-URB-MAJ, -GC, -MINORITY."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.knowledge import (
    AT,
    DIGEST,
    SUM,
    WEIGHTED,
    Knowledge,
    Learnt,
    check_of_hosts,
    has,
    how_many,
    knowledge,
)
from scatterproof.conformance.broadcast.packets import Earlier, OnLinks, packets
from scatterproof.conformance.broadcast.parameters import PL
from scatterproof.conformance.broadcast.rows import Net, Row, well_formed
from scatterproof.conformance.checks.kinds import ARRIVED, DELIVERED, ENDED, SENT
from scatterproof.conformance.checks.step import HOLDS, SILENT, Outcome, PerNode, State, settled, violated
from scatterproof.conformance.checks.tables import field, find, room, used
from scatterproof.spec.trace import CLEAN, Kind


@check_of_hosts(
    "BC-URB-MAJ",
    kinds=(Kind.SENT, Kind.DELIVERED, Kind.ENDED),
    ways=(
        "{node} delivered message {number} of {sender}, knowing of {found} processes that have it; it takes {expected}",
        "{node} forwards message {found} of {sender} in a packet that did not come to it so",
        "{expected_node} has not forwarded to every live process all that it has: {found} are missing on a link",
    ),
    derived=(well_formed, knowledge, packets),
)
def majority_has_it(row: Row, net: Net, known: Knowledge, learnt: Learnt, on: OnLinks, link_count: int) -> Outcome:
    """A delivery needs a majority that has the message: those from whom it came, its creator, and oneself. In the end a
    process has put on each link as many messages as it began with or received."""
    if net.level == PL:
        return SILENT
    if row.kind == DELIVERED:
        if learnt.again:
            return SILENT
        enough = 2 * learnt.carriers > net.node_count
        return HOLDS if enough else violated(0, net.node_count // 2 + 1, learnt.carriers, -1)
    if row.kind == SENT:
        if not row.is_data or row.sender == row.node:
            return SILENT
        return SILENT if is_forwarded_so(row, net, known) else violated(1, 0, row.number, -1)
    if row.kind == ENDED and settled(row.flags):
        for at in range(link_count):
            source = net.link_source[at]
            lacking = known.have[source] - on.messages[at]
            if known.down[source] == 0 and known.down[net.link_target[at]] == 0 and lacking > 0:
                return violated(2, source, lacking, -1)
    return SILENT


@register_jitable
def is_forwarded_so(row: Row, net: Net, known: Knowledge) -> bool:
    """Whether messages came so; of what is delivered, nothing but that it is, is remembered."""
    coming = known.coming
    wrong = 0
    for one in range(row.number, row.number + row.count):
        slot = find(coming, (row.node, row.sender, one))
        if slot < 0:
            wrong += not has(row.node, row.sender, one, net, known)
        else:
            wrong += field(coming, slot, DIGEST) != row.digest
            if one == row.number:
                clock = field(coming, slot, SUM), field(coming, slot, WEIGHTED)
                wrong += clock[0] != row.clock_sum or clock[1] != row.clock_weighted
    return wrong == 0


@check_of_hosts(
    "BC-URB-GC",
    kinds=(Kind.SENT, Kind.ARRIVED),
    ways=("{node} has put {found} messages on {link}, having {expected} only: some again, as if they were new",),
    derived=(well_formed, knowledge, packets),
)
def delivered_is_forgotten(
    row: Row, net: Net, known: Knowledge, learnt: Learnt, on: OnLinks, earlier: Earlier
) -> Outcome:
    """What can be seen of it: a late copy is not forwarded as if it were new."""
    if net.level == PL:
        return SILENT
    if row.kind == SENT and earlier.is_new and on.messages[row.link] > known.have[row.node]:
        return violated(0, known.have[row.node], on.messages[row.link], -1)
    return HOLDS if learnt.late_copy else SILENT


@check_of_hosts(
    "BC-URB-MINORITY",
    kinds=(Kind.ARRIVED, Kind.DELIVERED, Kind.ENDED),
    ways=(
        "{node} delivered message {number} of {sender}, having heard of {found} processes; {expected} are a majority",
    ),
    heard_of=PerNode(0),
)
def minority_delivers_nothing(row: Row, net: Net, known: Knowledge, learnt: Learnt, heard_of: State) -> Outcome:
    """Who has heard of no majority of processes, oneself among them, delivers nothing. At stake where a live one has
    something to deliver."""
    if net.level == PL:
        return SILENT
    if row.kind == ARRIVED:
        if row.is_data:
            heard_of[row.node] |= (1 << net.link_source[row.link]) | (1 << row.sender)
        return SILENT
    if row.kind == DELIVERED:
        found = how_many(heard_of[row.node] | (1 << row.node))
        if learnt.again or 2 * found > net.node_count:
            return SILENT
        return violated(0, net.node_count // 2 + 1, found, -1)
    if row.kind == ENDED and row.flags >= 0 and row.flags & CLEAN:
        coming = known.coming
        for slot in range(room(coming)):
            at = field(coming, slot, AT) if used(coming, slot) else -1
            if at >= 0 and known.down[at] == 0 and 2 * how_many(heard_of[at] | (1 << at)) <= net.node_count:
                return HOLDS
    return SILENT
