"""Checks of the packets of perfect links: BC-PL-PSEQ, -RESEND, -MEMORY."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.knowledge import Knowledge, check_of_hosts, knowledge
from scatterproof.conformance.broadcast.link_checks import earliest_between_live
from scatterproof.conformance.broadcast.packets import (
    COUNT,
    CREATOR,
    DIGEST,
    FIRST,
    LINK,
    POSITION,
    PSEQ,
    SUM,
    WEIGHTED,
    Earlier,
    OnLinks,
    has_come,
    packets,
    take_out,
)
from scatterproof.conformance.broadcast.rows import ACK, DATA, Net, Row, well_formed
from scatterproof.conformance.checks.kinds import ARRIVED, REFUSED, SENT
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Ints,
    Outcome,
    PerLink,
    State,
    Table,
    TableState,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import field, find, put, room, used
from scatterproof.spec.trace import Kind


@register_jitable
def is_any(values: Ints, count: int) -> bool:
    some = False
    for at in range(count):
        some = some or values[at] != 0
    return some


@register_jitable
def answered_rightly(row: Row, back: int, on: OnLinks, unanswered: TableState, answered: State) -> Outcome:
    """Of an acknowledgement of packets from link `back`: whether they have come. What it covers is answered."""
    arrived = on.arrived[back]
    if not row.is_ack:
        return violated(1, arrived, row.pseq, -1)
    last = row.pseq + row.count - 1
    take_out(unanswered, back, row.pseq, last)
    if row.number > answered[back]:
        take_out(unanswered, back, answered[back] + 1, row.number)
        answered[back] = row.number
    if row.number > arrived:
        return violated(1, arrived, row.number, -1)
    missing = max(row.pseq, arrived + 1)
    while missing <= last and has_come(on.arrived, on.arrived_beyond, back, missing):
        missing += 1
    return violated(1, arrived, missing, -1) if missing <= last else SILENT


@check_of_hosts(
    "BC-PL-PSEQ",
    kinds=(Kind.SENT,),
    ways=(
        "{node} put packet {found} on {link}, where packet {expected} is the next",
        "{node} put message {found} on {link} again, as packet {pseq}, while one with it is not acknowledged",
        "{node} put packet {pseq} on {link} with flags {found}; by what it sent before they are {expected}",
        "{node} sends packet {pseq} on {link} again with other contents, message {found}; it was made with {expected}",
    ),
    derived=(well_formed, packets),
)
def link_numbers_apart(row: Row, net: Net, on: OnLinks, earlier: Earlier) -> Outcome:
    """Numbers follow one another on each link; what is sent again keeps its number and contents, and says so. Numbers
    that were passed over have been charged once."""
    unacked = on.unacked
    if row.packet != DATA:
        return SILENT
    if not row.is_data:
        return violated(0, on.highest[row.link] + 1, row.pseq, -1)
    if earlier.is_new:
        if row.pseq != earlier.highest_before + 1:
            return violated(0, earlier.highest_before + 1, row.pseq, -1)
        if earlier.has_twin:
            return violated(1, 0, row.number, -1)
        return HOLDS if row.flags == 0 else violated(2, 0, row.flags, -1)
    slot = find(unacked, (row.link, row.pseq))
    if slot < 0:
        return SILENT
    if (
        row.sender != field(unacked, slot, CREATOR)
        or row.number != field(unacked, slot, FIRST)
        or row.count != field(unacked, slot, COUNT)
        or row.digest != field(unacked, slot, DIGEST)
        or row.clock_sum != field(unacked, slot, SUM)
        or row.clock_weighted != field(unacked, slot, WEIGHTED)
    ):
        return violated(3, field(unacked, slot, FIRST), row.number, field(unacked, slot, POSITION))
    return HOLDS if row.flags == 1 else violated(2, 1, row.flags, field(unacked, slot, POSITION))


@register_jitable
def is_own_ingress(row: Row, net: Net) -> bool:
    return 0 <= row.link < len(net.link_target) and net.link_target[row.link] == row.node


@register_jitable
def earliest_unanswered(unanswered: TableState, net: Net, known: Knowledge) -> int:
    """The slot of the earliest copy that came to a process that lives, and was never acknowledged; -1 for none."""
    least = -1
    for slot in range(room(unanswered)):
        lives = used(unanswered, slot) and known.down[net.link_target[field(unanswered, slot, LINK)]] == 0
        if lives and (least < 0 or field(unanswered, slot, 2) < field(unanswered, least, 2)):
            least = slot
    return least


@check_of_hosts(
    "BC-PL-RESEND",
    kinds=(Kind.SENT, Kind.ARRIVED, Kind.REFUSED, Kind.ENDED),
    ways=(
        "{node} sends packet {found} on {link} again, though all up to {expected} are acknowledged",
        "{node} acknowledges packet {found} on {link}, which has not arrived",
        "packet {found} for {expected_node}, which lives, is neither acknowledged nor sent again",
        "{expected_node}, which lives, has never acknowledged the last copy of packet {found}",
    ),
    derived=(well_formed, packets, knowledge),
    unanswered=Table(2, 3),
    answered=PerLink(0),
    last_come=PerLink(0),
    said=PerLink(0),
)
def unacknowledged_is_resent(
    row: Row,
    net: Net,
    known: Knowledge,
    on: OnLinks,
    earlier: Earlier,
    link_count: int,
    unanswered: TableState,
    answered: State,
    last_come: State,
    said: State,
) -> Outcome:
    """unanswered: (link, pseq) -> position of the last copy, of what came and was neither acknowledged after that nor
    refused. answered: no number up to it is among them. said: up to it all has come, by its own word."""
    link, pseq, target = row.link, row.pseq, net.link_target
    if row.kind == SENT:
        if row.packet == ACK:
            back = net.next_link[target[link] * net.node_count + row.node]
            if row.is_ack:
                said[back] = max(said[back], row.number)
            return answered_rightly(row, back, on, unanswered, answered)
        if earlier.is_new or not row.is_data:
            return SILENT
        if pseq <= on.all_acked[link]:
            return violated(0, on.all_acked[link], pseq, -1)
        return HOLDS if find(on.unacked, (link, pseq)) >= 0 else SILENT
    if row.kind == ARRIVED:
        if row.is_data:
            put(unanswered, (link, pseq), (link, pseq, row.position))
            answered[link] = min(answered[link], pseq - 1)
            last_come[link] = pseq
    # What a process has said that it has, it may not refuse.
    elif row.kind == REFUSED and is_own_ingress(row, net) and last_come[link] > said[link]:
        take_out(unanswered, link, last_come[link], last_come[link])
    if row.kind in (ARRIVED, REFUSED) or not settled(row.flags):
        return SILENT
    least = earliest_between_live(on.unacked, POSITION, net, known)
    if least >= 0:
        return violated(2, target[field(on.unacked, least, LINK)], field(on.unacked, least, PSEQ), -1)
    least = earliest_unanswered(unanswered, net, known)
    if least >= 0:
        receiver = target[field(unanswered, least, LINK)]
        return violated(3, receiver, field(unanswered, least, PSEQ), field(unanswered, least, 2))
    return HOLDS if is_any(last_come, link_count) else SILENT


@check_of_hosts(
    "BC-PL-MEMORY",
    kinds=(Kind.SENT,),
    ways=(
        "{node} put packet {pseq} on {link}, {found} with the oldest on its way; the window is {expected}",
        "{node} says on {link} that all up to {found} have come, where all up to {expected} have",
    ),
    derived=(well_formed, packets),
)
def delivered_prefix_collapses(row: Row, net: Net, on: OnLinks, earlier: Earlier, window: int) -> Outcome:
    """What can be seen of memory: what is on its way is within a window, and a receiver knows where the contiguous
    prefix of what has come ends."""
    if earlier.is_new and earlier.oldest_before > 0 and row.pseq - earlier.oldest_before >= window:
        return violated(0, window, row.pseq - earlier.oldest_before + 1, -1)
    if not row.is_ack:
        return SILENT
    upto = on.arrived[net.next_link[net.link_target[row.link] * net.node_count + row.node]]
    if row.number < upto:
        return violated(1, upto, row.number, -1)
    return HOLDS if row.number == upto and upto > 0 else SILENT
