"""What the checks of switches and receivers share: the registers of ingress links, and what they combine to."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ARRIVED
from scatterproof.conformance.checks.step import Cell, Ints, PerLink, State, derive
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.spec.totalorder.messages import NO_BARRIER, NO_LOSS, NOT_SPOKEN, PacketKind
from scatterproof.spec.trace import ABSENT, Kind

DATA, HANDED = int(PacketKind.DATA), int(PacketKind.HANDED)
UNKEPT = -2  # neither a row nor the -1 of a link that has not spoken


@register_jitable
def told_barrier(row: Row, net: Net) -> int:
    """The barrier that an arriving packet tells, in ns: its timestamp where its host leaves the barrier empty
    (TO-BAR-FILL); NO_BARRIER for none."""
    empty = row.barrier == NO_BARRIER and row.packet == DATA and net.node_is_host[net.link_source[row.link]]
    return row.timestamp if net.fill_barrier and empty else row.barrier


@derive(kinds=(Kind.ARRIVED, Kind.RESTARTED), newest=PerLink(NOT_SPOKEN), newest_at=PerLink(-1))
def newest_barriers(row: Row, net: Net, newest: State, newest_at: State) -> None:
    """By link, the greatest barrier that arrived, and the row. A barrier that falls breaks TO-BAR-RISE at its sender,
    and counts for nothing here, so that one fault is not charged to every node behind it. A node that begins anew has
    heard nothing."""
    if row.kind != ARRIVED:
        if row.link == ABSENT:
            for at in range(net.ingress_first[row.node], net.ingress_first[row.node + 1]):
                newest[net.ingress_links[at]] = NOT_SPOKEN
                newest_at[net.ingress_links[at]] = row.position
        return
    told = told_barrier(row, net)
    if told > newest[row.link]:
        newest[row.link] = told
        newest_at[row.link] = row.position


@register_jitable
def shows_gap(row: Row, highest_seq: State, begun: State) -> bool:
    """Whether numbers are missing in front of an arriving packet's. No difference wraps. Its number is noted, unless
    its node has begun anew since."""
    now = max(row.flags, 0) >> 1
    if now > begun[row.link]:
        begun[row.link], highest_seq[row.link] = now, -2
    highest = highest_seq[row.link]
    if now == begun[row.link]:
        highest_seq[row.link] = max(highest, row.link_seq)
    return row.link_seq > highest and row.link_seq - 1 > highest


@derive(
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
    unseen=PerLink(0),
    gaps=Cell(0),
)
def loss_registers(
    row: Row,
    net: Net,
    highest_seq: State,
    begun: State,
    newest_ack: State,
    newest_ack_at: State,
    record: State,
    record_at: State,
    gap_record: State,
    most: State,
    greatest_heard: State,
    unseen: State,
    gaps: State,
) -> None:
    """The other registers of each ingress link, all of them maxima.

    A node that begins anew does not know which number is next, so that the first packet of each link shows a gap there.
    So does the first packet of a node that has begun anew: its numbers begin anew, and what it held is lost.

    By link; times in ns:
    highest_seq: the greatest number that came; -2 where nobody knows which is next.
    begun: how often the node at the other end had begun anew.
    newest_ack, newest_ack_at: the greatest ack barrier that arrived, and its row.
    record, record_at: the loss record, as gaps and packets made it, and its row.
    gap_record: what gaps alone made of it.
    most: the record, where a gap counts for the greatest `greatest` that ever came; a node that has begun anew says
        less than it did. A proxy host may see a gap in front of what is for a switch with the next packet of its own.
    greatest_heard: that greatest.
    unseen: whether it may not have seen the last gap yet.
    gaps: in all, how many packets showed a gap.
    """
    if not net.loses:
        return
    if row.kind != ARRIVED:
        for at in range(net.ingress_first[row.node], net.ingress_first[row.node + 1] if row.link == ABSENT else 0):
            its = net.ingress_links[at]
            highest_seq[its], begun[its] = -2, 0
            newest_ack[its], newest_ack_at[its] = NOT_SPOKEN, row.position
            for registers in (record, gap_record, most, greatest_heard):
                registers[its] = NO_LOSS
        return
    gap = shows_gap(row, highest_seq, begun)
    greatest_heard[row.link] = max(greatest_heard[row.link], row.greatest)
    if gap or unseen[row.link]:
        most[row.link] = max(most[row.link], greatest_heard[row.link])
        unseen[row.link] = 1 if row.packet == HANDED and net.node_is_host[row.node] else 0
    if gap:
        gaps[0] += 1
        gap_record[row.link] = max(gap_record[row.link], row.greatest)
    most[row.link] = max(most[row.link], row.loss_record)
    told = max(row.loss_record, row.greatest) if gap else row.loss_record
    if told > record[row.link]:
        record[row.link], record_at[row.link] = told, row.position
    if row.ack_barrier > newest_ack[row.link]:
        newest_ack[row.link], newest_ack_at[row.link] = row.ack_barrier, row.position


@register_jitable
def highest_record(record: Ints, links: Ints, first: int, last: int) -> int:
    """The greatest of `record` over links[first:last]; NO_LOSS for none."""
    highest = NO_LOSS
    for at in range(first, last):
        highest = max(highest, record[links[at]])
    return highest


@register_jitable
def lowest_barrier(newest: Ints, links: Ints, first: int, last: int) -> int:
    """The least of `newest` over links[first:last], one link or more. A link that has not spoken holds it at
    NOT_SPOKEN."""
    lowest = newest[links[first]]
    for at in range(first + 1, last):
        lowest = min(lowest, newest[links[at]])
    return lowest


@register_jitable
def lowest_at(newest: Ints, newest_at: Ints, links: Ints, first: int, last: int, lowest: int) -> int:
    """The latest row in which one of links[first:last] got the barrier `lowest`; -1 where it has not spoken."""
    found = -1
    for at in range(first, last):
        if newest[links[at]] == lowest:
            found = max(found, newest_at[links[at]])
    return found


@register_jitable
def kept_lowest(
    newest: Ints, newest_at: Ints, links: Ints, first: int, last: int, kept_at: State, kept_link: State, place: int
) -> int:
    """As `lowest_barrier`, without a look at all links of a large switch for every packet. At `place` it keeps a link
    with the least barrier, and the row that brought it. Newest barriers never fall until their node begins anew, so
    that this one stays the least until that link's rises."""
    if kept_at[place] != newest_at[kept_link[place]]:
        kept_link[place] = links[first]
        for at in range(first + 1, last):
            if newest[links[at]] < newest[kept_link[place]]:
                kept_link[place] = links[at]
        kept_at[place] = newest_at[kept_link[place]]
    return newest[kept_link[place]]
