"""What the checks of senders share: what a host has sent that no acknowledgement covers which arrived there."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import SENT
from scatterproof.conformance.checks.step import PerLink, PerNode, PerPair, State, Table, TableState, derive
from scatterproof.conformance.checks.tables import change, field, find, put, remove
from scatterproof.conformance.totalorder.packets import is_given, is_node, names_failed
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import ANSWER, PacketKind
from scatterproof.spec.trace import Kind

ACK, NOTICE = int(PacketKind.ACK), int(PacketKind.NOTICE)
MIN_NUMBER, MAX_NUMBER = -(1 << 63), (1 << 63) - 1
TIMESTAMP, RECEIVER, NUMBER, LINK, AFTER = range(5)


@register_jitable
def add_outstanding(unacknowledged: TableState, row: Row, oldest: State, newest: State) -> None:
    """Put the message of this row behind the others of its sender."""
    if newest[row.node] >= 0:
        change(unacknowledged, find(unacknowledged, (newest[row.node],)), AFTER, row.position)
    else:
        oldest[row.node] = row.position
    newest[row.node] = row.position
    put(unacknowledged, (row.position,), (row.timestamp, row.receiver, row.number, row.link, -1))


@register_jitable
def remove_acknowledged(
    unacknowledged: TableState,
    oldest: State,
    newest: State,
    owner: int,
    receiver: int,
    lowest: int,
    number: int,
    least_at: State,
) -> bool:
    """Take out the messages that the receiver has acknowledged, from number `lowest` up to `number`. Where one of them
    was the least outstanding on its link, the link has none for now; whether there was such a link."""
    changed, before, at = False, -1, oldest[owner]
    while at >= 0:
        slot = find(unacknowledged, (at,))
        after = field(unacknowledged, slot, AFTER)
        if (
            field(unacknowledged, slot, RECEIVER) != receiver
            or not lowest <= field(unacknowledged, slot, NUMBER) <= number
        ):
            before, at = at, after
            continue
        on = field(unacknowledged, slot, LINK)
        if at == least_at[on]:
            least_at[on] = -1
            changed = True
        remove(unacknowledged, slot)
        if before < 0:
            oldest[owner] = after
        else:
            change(unacknowledged, find(unacknowledged, (before,)), AFTER, after)
        if after < 0:
            newest[owner] = before
        at = after
    return changed


@derive(
    kinds=(Kind.SENT, Kind.ARRIVED),
    at=Role.HOST,
    unacknowledged=Table(1, 5),
    oldest=PerNode(-1),
    newest=PerNode(-1),
    sent_number=PerPair(0),
    least=PerLink(0),
    least_at=PerLink(-1),
)
def outstanding_messages(
    row: Row,
    net: Net,
    unacknowledged: TableState,
    oldest: State,
    newest: State,
    sent_number: State,
    least: State,
    least_at: State,
) -> None:
    """What hosts have outstanding on each of their links, the packet of this row included. An acknowledgement counts
    when its number was sent to the host that acknowledges. Where failures are handled, so does the answer to a recall,
    and nothing is outstanding at a host once a notice came that it has failed (TO-FAIL, TO-ATOMIC).

    unacknowledged: position of sending -> (timestamp, receiver, number, link, position of the sender's next, or -1):
        a list for each sender, as an acknowledgement would otherwise have to look at the messages of all.
    oldest, newest: by sender, the ends of its list, -1 for none.
    sent_number: by sender and receiver, the greatest number sent.
    least, least_at: by link, the least timestamp outstanding, in ns, and the row in which it was sent, -1 for none.
    """
    if row.kind == SENT:
        if not is_given(row):
            return
        add_outstanding(unacknowledged, row, oldest, newest)
        if is_node(row.receiver, net):
            pair = row.node * net.node_count + row.receiver
            sent_number[pair] = max(sent_number[pair], row.number)
        if least_at[row.link] < 0 or row.timestamp < least[row.link]:
            least[row.link], least_at[row.link] = row.timestamp, row.position
        return
    if row.receiver != row.node or not is_node(row.sender, net):
        return
    lowest, highest = MIN_NUMBER, row.number
    if names_failed(row, net):
        highest = MAX_NUMBER
    elif row.packet == NOTICE and net.failure_timeout_ns and row.number >= ANSWER:
        lowest = highest = row.number - ANSWER
    elif row.packet != ACK or row.number > sent_number[row.node * net.node_count + row.sender]:
        return
    if remove_acknowledged(unacknowledged, oldest, newest, row.node, row.sender, lowest, highest, least_at):
        at = oldest[row.node]
        while at >= 0:
            slot = find(unacknowledged, (at,))
            its, on = field(unacknowledged, slot, TIMESTAMP), field(unacknowledged, slot, LINK)
            if least_at[on] < 0 or its < least[on]:
                least[on], least_at[on] = its, at
            at = field(unacknowledged, slot, AFTER)
