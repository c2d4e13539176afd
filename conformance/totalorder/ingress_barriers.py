"""What the checks of switches and receivers share: the registers of ingress links, and what they combine to."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ARRIVED
from scatterproof.conformance.checks.step import Cell, Ints, PerLink, State, derive
from scatterproof.spec.totalorder.messages import NO_BARRIER, NO_LOSS, NOT_SPOKEN, PacketKind
from scatterproof.spec.trace import ABSENT, Kind

DATA = int(PacketKind.DATA)
UNKEPT = -2  # no row, nor where a link is that has not spoken


@derive(kinds=(Kind.ARRIVED, Kind.RESTARTED), newest=PerLink(NOT_SPOKEN), newest_at=PerLink(-1))
def newest_barriers(
    position: int,
    kind: int,
    node: int,
    link: int,
    packet: int,
    timestamp: int,
    barrier: int,
    fill_barrier: int,
    node_is_host: Ints,
    link_source: Ints,
    ingress_first: Ints,
    ingress_links: Ints,
    newest: State,
    newest_at: State,
) -> None:
    """The newest barrier to have arrived from each link, and where. One that falls breaks TO-BAR-RISE where it was
    sent, and is refused: it holds nothing down here, so that one fault is not charged to everyone behind it. Where
    hosts leave barriers empty, the timestamp stands for it (TO-BAR-FILL). A node that begins anew has heard nothing."""
    if kind != ARRIVED:
        if link == ABSENT:
            for at in range(ingress_first[node], ingress_first[node + 1]):
                newest[ingress_links[at]] = NOT_SPOKEN
                newest_at[ingress_links[at]] = position
        return
    if fill_barrier and barrier == NO_BARRIER and packet == DATA and node_is_host[link_source[link]]:
        barrier = timestamp
    if barrier != NO_BARRIER and barrier > newest[link]:
        newest[link] = barrier
        newest_at[link] = position


@derive(
    "gap",
    "noticed",
    kinds=(Kind.ARRIVED, Kind.RESTARTED),
    highest_seq=PerLink(-1),
    begun=PerLink(0),
    newest_ack=PerLink(NOT_SPOKEN),
    newest_ack_at=PerLink(-1),
    record=PerLink(NO_LOSS),
    record_at=PerLink(-1),
    gap_record=PerLink(NO_LOSS),
    most=PerLink(NO_LOSS),
    greatest_heard=PerLink(NO_LOSS),
    gaps=Cell(0),
)
def loss_registers(
    position: int,
    kind: int,
    node: int,
    link: int,
    link_seq: int,
    flags: int,
    ack_barrier: int,
    loss_record: int,
    greatest: int,
    loses: int,
    ingress_first: Ints,
    ingress_links: Ints,
    highest_seq: State,
    begun: State,
    newest_ack: State,
    newest_ack_at: State,
    record: State,
    record_at: State,
    gap_record: State,
    most: State,
    greatest_heard: State,
    gaps: State,
) -> tuple[int, int]:
    """The other registers of each ingress link, all of them maxima: the newest ack barrier, the loss record, and that
    part of it which gaps in the link's numbers made: each raises it to the packet's `greatest`. Whether this packet
    shows a gap, and the record that it makes.

    A node that begins anew does not know the number that is next: the first packet of a link shows a gap there. So does
    the first packet of a node that has begun anew: its numbers begin anew, and what it held is lost.
    begun: how often the node at the other end had begun anew; it tells less then. most: the record of who takes the
    greatest that the link ever told for what a gap shows."""
    if not loses:
        return (0, NO_LOSS)
    if kind != ARRIVED:
        for at in range(ingress_first[node], ingress_first[node + 1] if link == ABSENT else 0):
            its = ingress_links[at]
            highest_seq[its], begun[its] = -2, 0
            newest_ack[its], newest_ack_at[its] = NOT_SPOKEN, position
            for registers in (record, gap_record, most, greatest_heard):
                registers[its] = NO_LOSS
        return (0, NO_LOSS)
    gap = 0
    if flags >> 1 > begun[link]:
        begun[link], highest_seq[link] = flags >> 1, -2
    if link_seq > highest_seq[link]:
        gap = 1 if link_seq - 1 > highest_seq[link] else 0
        highest_seq[link] = link_seq
    greatest_heard[link] = max(greatest_heard[link], greatest)
    if gap:
        most[link] = max(most[link], greatest_heard[link])
        gaps[0] += 1
        gap_record[link] = max(gap_record[link], greatest)
    most[link] = max(most[link], loss_record)
    told = max(loss_record, greatest) if gap else loss_record
    if told > record[link]:
        record[link], record_at[link] = told, position
    if ack_barrier > newest_ack[link]:
        newest_ack[link], newest_ack_at[link] = ack_barrier, position
    return (gap, max(greatest, NO_LOSS) if gap else NO_LOSS)


@register_jitable
def highest_record(record: Ints, links: Ints, first: int, last: int) -> int:
    """The greatest of `record` over links[first:last]; NO_LOSS for none."""
    highest = NO_LOSS
    for at in range(first, last):
        highest = max(highest, record[links[at]])
    return highest


@register_jitable
def lowest_barrier(newest: Ints, links: Ints, first: int, last: int) -> int:
    """The least of `newest` over links[first:last], at least one: a link that has not spoken holds it at NOT_SPOKEN."""
    lowest = newest[links[first]]
    for at in range(first + 1, last):
        lowest = min(lowest, newest[links[at]])
    return lowest


@register_jitable
def lowest_at(newest: Ints, newest_at: Ints, links: Ints, first: int, last: int, lowest: int) -> int:
    """The latest position at which one of links[first:last] got the barrier `lowest`; -1 when it has not spoken."""
    found = -1
    for at in range(first, last):
        if newest[links[at]] == lowest:
            found = max(found, newest_at[links[at]])
    return found


@register_jitable
def kept_lowest(
    newest: Ints, newest_at: Ints, links: Ints, first: int, last: int, kept_at: State, kept_link: State, place: int
) -> int:
    """The same as `lowest_barrier`. At `place` a link that has it is kept, and where it got it: until its node begins
    anew newest barriers never fall, so it is the least until that link's rises: a switch with many links need not look
    at all of them for every packet."""
    if kept_at[place] != newest_at[kept_link[place]]:
        kept_link[place] = links[first]
        for at in range(first + 1, last):
            if newest[links[at]] < newest[kept_link[place]]:
                kept_link[place] = links[at]
        kept_at[place] = newest_at[kept_link[place]]
    return newest[kept_link[place]]
