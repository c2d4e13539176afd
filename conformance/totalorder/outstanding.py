"""What the checks of senders share: what a host has sent that no acknowledgement covers which arrived there."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import SENT
from scatterproof.conformance.checks.step import PerLink, PerPair, State, Table, TableState, derive
from scatterproof.conformance.checks.tables import field, put, remove, room, used
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import ANSWER, PacketKind
from scatterproof.spec.trace import Kind

DATA, ACK, NOTICE = int(PacketKind.DATA), int(PacketKind.ACK), int(PacketKind.NOTICE)
MIN_NUMBER = -(1 << 63)
OWNER, TIMESTAMP, RECEIVER, NUMBER, POSITION, LINK = range(6)


@register_jitable
def is_resent(flags: int) -> bool:
    """Whether a packet's flags say that it was put on its first link before."""
    return flags >= 0 and flags & 1 == 1


@register_jitable
def remove_acknowledged(
    unacknowledged: TableState, owner: int, receiver: int, lowest: int, number: int, least_at: State
) -> bool:
    """Take out the messages that the receiver has acknowledged, from number `lowest` up to `number`. Where one of them
    was the least outstanding on its link, the link has none for now; whether there was such a link."""
    changed = False
    slot = 0
    while slot < room(unacknowledged):
        if (
            used(unacknowledged, slot)
            and field(unacknowledged, slot, OWNER) == owner
            and field(unacknowledged, slot, RECEIVER) == receiver
            and lowest <= field(unacknowledged, slot, NUMBER) <= number
        ):
            on = field(unacknowledged, slot, LINK)
            if field(unacknowledged, slot, POSITION) == least_at[on]:
                least_at[on] = -1
                changed = True
            remove(unacknowledged, slot)
            continue  # another entry may have moved here
        slot += 1
    return changed


@derive(
    kinds=(Kind.SENT, Kind.ARRIVED),
    at=Role.HOST,
    unacknowledged=Table(2, 6),
    sent_number=PerPair(0),
    least=PerLink(0),
    least_at=PerLink(-1),
)
def outstanding_messages(
    row: Row, net: Net, unacknowledged: TableState, sent_number: State, least: State, least_at: State
) -> None:
    """What hosts have outstanding on each of their links, the packet of this row included. An acknowledgement counts
    when its number was sent to the host that acknowledges. Where failures are handled, so does the answer to a recall,
    and nothing is outstanding at a host once a notice came that it has failed (TO-FAIL, TO-ATOMIC).

    unacknowledged: (sender, position of sending) -> (sender, timestamp, receiver, number, position, link).
    sent_number: by sender and receiver, the greatest number sent.
    least, least_at: by link, the least timestamp outstanding, in ns, and the row in which it was sent, -1 for none.
    """
    if not net.loses:
        return
    if row.kind == SENT:
        if row.packet != DATA or row.node != row.sender or is_resent(row.flags):
            return
        put(
            unacknowledged,
            (row.node, row.position),
            (row.node, row.timestamp, row.receiver, row.number, row.position, row.link),
        )
        if 0 <= row.receiver < net.node_count:
            pair = row.node * net.node_count + row.receiver
            sent_number[pair] = max(sent_number[pair], row.number)
        if least_at[row.link] < 0 or row.timestamp < least[row.link]:
            least[row.link], least_at[row.link] = row.timestamp, row.position
        return
    if row.receiver != row.node or not 0 <= row.sender < net.node_count:
        return
    lowest, highest = MIN_NUMBER, row.number
    if row.packet == NOTICE and net.failure_timeout_ns:
        if row.number != 0 and row.number < ANSWER:
            return
        # A notice covers all that was sent; an answer covers one message.
        lowest = row.number - ANSWER if row.number else MIN_NUMBER
        highest = lowest if row.number else sent_number[row.node * net.node_count + row.sender]
    elif row.packet != ACK or row.number > sent_number[row.node * net.node_count + row.sender]:
        return
    if remove_acknowledged(unacknowledged, row.node, row.sender, lowest, highest, least_at):
        for slot in range(room(unacknowledged)):
            if used(unacknowledged, slot) and field(unacknowledged, slot, OWNER) == row.node:
                its, at = field(unacknowledged, slot, TIMESTAMP), field(unacknowledged, slot, POSITION)
                on = field(unacknowledged, slot, LINK)
                if least_at[on] < 0 or its < least[on] or (its == least[on] and at < least_at[on]):
                    least[on], least_at[on] = its, at
