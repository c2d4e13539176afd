"""What the checks of links share: the packets on their way from each process, and those that have come to it."""

from __future__ import annotations

from typing import NamedTuple

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.prefixes import BEYOND, enter, is_in
from scatterproof.conformance.broadcast.rows import Net, Row
from scatterproof.conformance.checks.kinds import ARRIVED, SENT
from scatterproof.conformance.checks.step import PerLink, State, Table, TableState, derive
from scatterproof.conformance.checks.tables import change, field, find, put, remove, room, used
from scatterproof.spec.topology import Role

# The fields of a packet on its way; tables by link and pseq begin with these two.
LINK, PSEQ, CREATOR, FIRST, COUNT, DIGEST, SUM, WEIGHTED, POSITION = range(9)


class OnLinks(NamedTuple):
    """By link:

    highest: the greatest number put on it.
    messages: how many messages were put on it, each packet counted once.
    unacked: the packets on their way.
    oldest: the least of their numbers.
    twins: by run of messages, how many packets on their way carry it.
    all_acked: the number up to which one packet acknowledged all.
    arrived, arrived_beyond: the packets that have come (`prefixes`).
    """

    highest: State
    messages: State
    unacked: TableState
    twins: TableState
    oldest: State
    all_acked: State
    arrived: State
    arrived_beyond: TableState


class Earlier(NamedTuple):
    """Of a data packet that is sent under a new number, by the rows in front of it:

    is_new: whether it is one.
    highest_before: the greatest number put on the link.
    oldest_before: the least number on its way, 0 for none.
    has_twin: whether a packet with the same run was on its way.
    """

    is_new: int
    highest_before: int
    oldest_before: int
    has_twin: int


NOTHING = (0, 0, 0, 0)


@register_jitable
def take_out(table: TableState, link: int, first: int, last: int) -> None:
    """Remove the entries of a link with these numbers."""
    if last - first < room(table):
        for pseq in range(first, last + 1):
            slot = find(table, (link, pseq))
            if slot >= 0:
                remove(table, slot)
        return
    slot = 0
    while slot < room(table):
        if used(table, slot) and field(table, slot, LINK) == link and first <= field(table, slot, PSEQ) <= last:
            remove(table, slot)
            continue  # another entry may have moved here
        slot += 1


@register_jitable
def acknowledge(on: OnLinks, link: int, first: int, last: int) -> None:
    """Take out the packets with these numbers, which are acknowledged."""
    unacked, twins = on.unacked, on.twins
    few = last - first < room(unacked)
    at = first if few else 0
    end = last + 1 if few else room(unacked)
    while at < end:
        slot = find(unacked, (link, at)) if few else at
        if (
            slot >= 0
            and used(unacked, slot)
            and field(unacked, slot, LINK) == link
            and first <= field(unacked, slot, PSEQ) <= last
        ):
            twin = find(twins, (link, field(unacked, slot, CREATOR), field(unacked, slot, FIRST)))
            if field(twins, twin, 0) == 1:
                remove(twins, twin)
            else:
                change(twins, twin, 0, field(twins, twin, 0) - 1)
            remove(unacked, slot)
            if not few:
                continue  # another entry may have moved here
        at += 1


@register_jitable
def oldest_of(unacked: TableState, link: int, since: int, highest: int) -> int:
    """The least number on its way on a link, from `since` on; 0 for none."""
    at = since
    while 0 < at <= highest and at - since <= room(unacked):
        if find(unacked, (link, at)) >= 0:
            return at
        at += 1
    least = 0
    for slot in range(room(unacked)):
        if used(unacked, slot) and field(unacked, slot, LINK) == link:
            pseq = field(unacked, slot, PSEQ)
            least = pseq if least == 0 or pseq < least else least
    return least


@register_jitable
def note_sent(row: Row, on: OnLinks) -> tuple[int, ...]:
    link, pseq = row.link, row.pseq
    before, least = on.highest[link], on.oldest[link]
    if pseq <= before:
        return NOTHING
    on.highest[link] = pseq
    on.messages[link] += row.count
    on.oldest[link] = least if least else pseq
    said = (link, pseq, row.sender, row.number, row.count, row.digest, row.clock_sum, row.clock_weighted, row.position)
    put(on.unacked, (link, pseq), said)
    run = (link, row.sender, row.number)
    twin = find(on.twins, run)
    put(on.twins, run, (1 if twin < 0 else field(on.twins, twin, 0) + 1,))
    return (1, before, least, int(twin >= 0))


@derive(
    *Earlier._fields,
    kinds=(SENT, ARRIVED),
    at=Role.HOST,
    highest=PerLink(0),
    messages=PerLink(0),
    unacked=Table(2, 9),
    twins=Table(3, 1),
    oldest=PerLink(0),
    all_acked=PerLink(0),
    arrived=PerLink(0),
    arrived_beyond=BEYOND,
)
def packets(row: Row, net: Net, on: OnLinks) -> tuple[int, ...]:
    """As `Earlier`."""
    if row.is_data:
        if row.kind == SENT:
            return note_sent(row, on)
        if not is_in(on.arrived, on.arrived_beyond, row.link, row.pseq):
            enter(on.arrived, on.arrived_beyond, row.link, row.pseq, row.position)
    elif row.kind == ARRIVED and row.is_ack:
        back = net.next_link[row.node * net.node_count + net.link_source[row.link]]
        last = min(row.pseq + row.count - 1, on.highest[back])
        acknowledge(on, back, row.pseq, last)
        upto = min(row.number, on.highest[back])
        acknowledge(on, back, on.all_acked[back] + 1, upto)
        on.all_acked[back] = max(upto, on.all_acked[back])
        on.oldest[back] = oldest_of(on.unacked, back, on.oldest[back], on.highest[back])
    return NOTHING
