"""Checks of the packets of perfect links: BC-PL-PSEQ, -RESEND, -MEMORY."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.checking import check_of_hosts
from scatterproof.conformance.broadcast.knowledge import DATA, is_data, knowledge
from scatterproof.conformance.broadcast.link_checks import earliest_between_live
from scatterproof.conformance.broadcast.packets import (
    ACK,
    COUNT,
    CREATOR,
    DIGEST,
    FIRST,
    LINK,
    POSITION,
    PSEQ,
    SUM,
    WEIGHTED,
    has_come,
    is_ack,
    packets,
    take_out,
)
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
from scatterproof.conformance.kinds import ARRIVED, REFUSED, SENT
from scatterproof.spec.trace import Kind


@register_jitable
def is_any(values: Ints, count: int) -> bool:
    some = False
    for at in range(count):
        some = some or values[at] != 0
    return some


@register_jitable
def answered_rightly(
    back: int,
    number: int,
    count: int,
    pseq: int,
    arrived: Ints,
    arrived_beyond: TableState,
    unanswered: TableState,
    answered: State,
) -> Outcome:
    """Of an acknowledgement of packets from link `back`: whether they have come. What it covers is answered."""
    if not is_ack(ACK, number, count, pseq):
        return violated(1, arrived[back], pseq, -1)
    last = pseq + count - 1
    take_out(unanswered, back, pseq, last)
    if number > answered[back]:
        take_out(unanswered, back, answered[back] + 1, number)
        answered[back] = number
    if number > arrived[back]:
        return violated(1, arrived[back], number, -1)
    missing = max(pseq, arrived[back] + 1)
    while missing <= last and has_come(arrived, arrived_beyond, back, missing):
        missing += 1
    return violated(1, arrived[back], missing, -1) if missing <= last else SILENT


@check_of_hosts(
    "BC-PL-PSEQ",
    kinds=(Kind.SENT,),
    ways=(
        "{node} put packet {found} on {link}, where packet {expected} is the next",
        "{node} put message {found} on {link} again, as packet {pseq}, while one with it is not acknowledged",
        "{node} put packet {pseq} on {link} with flags {found}; by what it sent before they are {expected}",
        "{node} sends packet {pseq} on {link} again with other contents, message {found}; it was made with {expected}",
    ),
    derived=(packets,),
)
def link_numbers_apart(
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
    is_new: int,
    highest_before: int,
    has_twin: int,
    node_count: int,
    highest: Ints,
    unacked: TableState,
) -> Outcome:
    """Numbers follow one another on each link; what is sent again keeps its number and contents, and says so. Numbers
    that were passed over have been charged once."""
    if packet != DATA:
        return SILENT
    if not is_data(packet, sender, number, count, pseq, node_count):
        return violated(0, highest[link] + 1, pseq, -1)
    if is_new:
        if pseq != highest_before + 1:
            return violated(0, highest_before + 1, pseq, -1)
        if has_twin:
            return violated(1, 0, number, -1)
        return HOLDS if flags == 0 else violated(2, 0, flags, -1)
    slot = find(unacked, (link, pseq))
    if slot < 0:
        return SILENT
    if (
        sender != field(unacked, slot, CREATOR)
        or number != field(unacked, slot, FIRST)
        or count != field(unacked, slot, COUNT)
        or digest != field(unacked, slot, DIGEST)
        or clock_sum != field(unacked, slot, SUM)
        or clock_weighted != field(unacked, slot, WEIGHTED)
    ):
        return violated(3, field(unacked, slot, FIRST), number, field(unacked, slot, POSITION))
    return HOLDS if flags == 1 else violated(2, 1, flags, field(unacked, slot, POSITION))


@register_jitable
def is_own_ingress(link: int, node: int, link_target: Ints) -> bool:
    return 0 <= link < len(link_target) and link_target[link] == node


@register_jitable
def earliest_unanswered(unanswered: TableState, link_target: Ints, down: Ints) -> int:
    """The slot of the earliest copy that came to a process that lives, and was never acknowledged; -1 for none."""
    least = -1
    for slot in range(room(unanswered)):
        lives = used(unanswered, slot) and down[link_target[field(unanswered, slot, LINK)]] == 0
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
    derived=(packets, knowledge),
    unanswered=Table(2, 3),
    answered=PerLink(0),
    last_come=PerLink(0),
    said=PerLink(0),
)
def unacknowledged_is_resent(
    position: int,
    kind: int,
    node: int,
    link: int,
    sender: int,
    number: int,
    flags: int,
    packet: int,
    pseq: int,
    count: int,
    is_new: int,
    node_count: int,
    link_count: int,
    link_source: Ints,
    link_target: Ints,
    next_link: Ints,
    down: Ints,
    unacked: TableState,
    all_acked: Ints,
    arrived: Ints,
    arrived_beyond: TableState,
    unanswered: TableState,
    answered: State,
    last_come: State,
    said: State,
) -> Outcome:
    """unanswered: (link, pseq) -> position of the last copy, of what came and was neither acknowledged after that nor
    refused. answered: no number up to it is among them. said: up to it all has come, by its own word."""
    if kind == SENT:
        if packet == ACK:
            back = next_link[link_target[link] * node_count + node]
            if is_ack(packet, number, count, pseq):
                said[back] = max(said[back], number)
            return answered_rightly(back, number, count, pseq, arrived, arrived_beyond, unanswered, answered)
        if is_new or not is_data(packet, sender, number, count, pseq, node_count):
            return SILENT
        if pseq <= all_acked[link]:
            return violated(0, all_acked[link], pseq, -1)
        return HOLDS if find(unacked, (link, pseq)) >= 0 else SILENT
    if kind == ARRIVED:
        if is_data(packet, sender, number, count, pseq, node_count):
            put(unanswered, (link, pseq), (link, pseq, position))
            answered[link] = min(answered[link], pseq - 1)
            last_come[link] = pseq
    # What a process has said that it has, it may not refuse.
    elif kind == REFUSED and is_own_ingress(link, node, link_target) and last_come[link] > said[link]:
        take_out(unanswered, link, last_come[link], last_come[link])
    if kind in (ARRIVED, REFUSED) or not settled(flags):
        return SILENT
    least = earliest_between_live(unacked, POSITION, link_source, link_target, down)
    if least >= 0:
        return violated(2, link_target[field(unacked, least, LINK)], field(unacked, least, PSEQ), -1)
    least = earliest_unanswered(unanswered, link_target, down)
    if least >= 0:
        link = field(unanswered, least, LINK)
        return violated(3, link_target[link], field(unanswered, least, PSEQ), field(unanswered, least, 2))
    return HOLDS if is_any(last_come, link_count) else SILENT


@check_of_hosts(
    "BC-PL-MEMORY",
    kinds=(Kind.SENT,),
    ways=(
        "{node} put packet {pseq} on {link}, {found} with the oldest on its way; the window is {expected}",
        "{node} says on {link} that all up to {found} have come, where all up to {expected} have",
    ),
    derived=(packets,),
)
def delivered_prefix_collapses(
    node: int,
    link: int,
    number: int,
    packet: int,
    pseq: int,
    count: int,
    is_new: int,
    oldest_before: int,
    window: int,
    node_count: int,
    link_target: Ints,
    next_link: Ints,
    arrived: Ints,
) -> Outcome:
    """What can be seen of memory: what is on its way is within a window, and a receiver knows where the contiguous
    prefix of what has come ends."""
    if is_new and oldest_before > 0 and pseq - oldest_before >= window:
        return violated(0, window, pseq - oldest_before + 1, -1)
    if not is_ack(packet, number, count, pseq):
        return SILENT
    upto = arrived[next_link[link_target[link] * node_count + node]]
    if number < upto:
        return violated(1, upto, number, -1)
    return HOLDS if number == upto and upto > 0 else SILENT
