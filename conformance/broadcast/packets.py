"""What the checks of links share: the packets on their way from each process, and those that have come to it."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.knowledge import is_data
from scatterproof.conformance.broadcast.parameters import MAX_NUMBER
from scatterproof.conformance.checks.step import Ints, PerLink, State, Table, TableState, derive
from scatterproof.conformance.checks.tables import change, field, find, put, remove, room, used
from scatterproof.conformance.kinds import ARRIVED
from scatterproof.spec.broadcast.messages import PacketKind
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import Kind

ACK = int(PacketKind.ACK)
# The fields of a packet on its way; tables by link and pseq begin with these two.
LINK, PSEQ, CREATOR, FIRST, COUNT, DIGEST, SUM, WEIGHTED, POSITION = range(9)


@register_jitable
def is_ack(packet: int, number: int, count: int, pseq: int) -> bool:
    """Whether a packet's row is that of an acknowledgement that can be."""
    return packet == ACK and 0 <= number <= MAX_NUMBER and 1 <= pseq <= MAX_NUMBER and 1 <= count <= MAX_NUMBER


@register_jitable
def has_come(arrived: Ints, arrived_beyond: TableState, link: int, pseq: int) -> bool:
    return pseq <= arrived[link] or find(arrived_beyond, (link, pseq)) >= 0


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
def acknowledge(unacked: TableState, twins: TableState, link: int, first: int, last: int) -> None:
    """Take out what is acknowledged. twins: by link and run, how many of its packets are on their way."""
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
    """The least number on its way on a link, none being below `since`; 0 if none is."""
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
def note_arrived(arrived: State, arrived_beyond: TableState, link: int, pseq: int) -> bool:
    """Note a data packet; whether it had come before."""
    if has_come(arrived, arrived_beyond, link, pseq):
        return True
    if pseq != arrived[link] + 1:
        put(arrived_beyond, (link, pseq), (link, pseq))
        return False
    arrived[link] = pseq
    slot = find(arrived_beyond, (link, pseq + 1))
    while slot >= 0:
        remove(arrived_beyond, slot)
        arrived[link] += 1
        slot = find(arrived_beyond, (link, arrived[link] + 1))
    return False


@derive(
    *("is_new", "highest_before", "oldest_before", "has_twin", "copy"),
    kinds=(Kind.SENT, Kind.ARRIVED),
    at=Role.HOST,
    highest=PerLink(0),
    unacked=Table(2, 9),
    twins=Table(3, 1),
    oldest=PerLink(0),
    all_acked=PerLink(0),
    arrived=PerLink(0),
    arrived_beyond=Table(2, 2),
)
def packets(
    position: int,
    kind: int,
    node: int,
    link: int,
    sender: int,
    number: int,
    digest: int,
    packet: int,
    pseq: int,
    count: int,
    clock_sum: int,
    clock_weighted: int,
    node_count: int,
    link_source: Ints,
    next_link: Ints,
    highest: State,
    unacked: TableState,
    twins: TableState,
    oldest: State,
    all_acked: State,
    arrived: State,
    arrived_beyond: TableState,
) -> tuple[int, int, int, int, int]:
    """highest: the greatest number put on a link; unacked: what is on its way, oldest its least; all_acked: up to it
    all is acknowledged by a packet that said so. arrived, arrived_beyond: the numbers that have come. Names: of data
    sent, whether the number is new, the greatest before, the least on its way before (0: none), and whether the same
    run was; of data arrived, whether the number had come before."""
    if is_data(packet, sender, number, count, pseq, node_count):
        if kind == ARRIVED:
            return (0, 0, 0, 0, int(note_arrived(arrived, arrived_beyond, link, pseq)))
        before, least = highest[link], oldest[link]
        if pseq <= before:
            return (0, before, least, 0, 0)
        highest[link] = pseq
        oldest[link] = least if least else pseq
        fields = (link, pseq, sender, number, count, digest, clock_sum, clock_weighted, position)
        put(unacked, (link, pseq), fields)
        twin = find(twins, (link, sender, number))
        if twin < 0:
            put(twins, (link, sender, number), (1,))
            return (1, before, least, 0, 0)
        change(twins, twin, 0, field(twins, twin, 0) + 1)
        return (1, before, least, 1, 0)
    if kind == ARRIVED and is_ack(packet, number, count, pseq):
        back = next_link[node * node_count + link_source[link]]
        last = min(pseq + count - 1, highest[back])
        acknowledge(unacked, twins, back, pseq, last)
        upto = min(number, highest[back])
        if upto > all_acked[back]:
            acknowledge(unacked, twins, back, all_acked[back] + 1, upto)
            all_acked[back] = upto
        oldest[back] = oldest_of(unacked, back, oldest[back], highest[back])
    return (0, 0, 0, 0, 0)
