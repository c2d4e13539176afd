"""Checks of ack barriers: TO-ACK-MEAN on links, TO-ACK-INIT and TO-ACK-IDLE at hosts, TO-ACK-MIN at switches.
Operators of the same names in CamelCase: LossClauses.tla."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ARRIVED, CRASHED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Cell,
    Ints,
    Outcome,
    PerLink,
    PerNode,
    State,
    Table,
    TableState,
    check,
    violated,
)
from scatterproof.conformance.checks.tables import field, find, is_less, put, remove, room, used
from scatterproof.conformance.totalorder.host_clocks import adjusted, adjustments
from scatterproof.conformance.totalorder.ingress_barriers import (
    UNKEPT,
    kept_lowest,
    loss_registers,
    lowest_at,
    lowest_barrier,
)
from scatterproof.conformance.totalorder.outstanding import outstanding_messages
from scatterproof.conformance.totalorder.packets import is_given, is_node, is_own_data, is_recall, names_failed
from scatterproof.conformance.totalorder.rows import LossRegisters, Net, Row, SilentLinks
from scatterproof.conformance.totalorder.sending_checks import promises
from scatterproof.conformance.totalorder.silent_links import live_lowest, silences
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NO_BARRIER, PacketKind
from scatterproof.spec.trace import ABSENT, Kind, Order

DATA = int(PacketKind.DATA)
MAX_TIMESTAMP = (1 << 63) - 1
TIMESTAMP, POSITION, SENDER, RECEIVER = range(4)


@register_jitable
def takes(net: Net, sender: int, receiver: int, link: int) -> bool:
    """Whether data from sender to receiver, both nodes, take the link."""
    at = net.next_link[sender * net.node_count + receiver]
    while at >= 0 and at != link:
        node = net.link_target[at]
        at = -1 if node == receiver else net.next_link[node * net.node_count + receiver]
    return at >= 0


@register_jitable
def has_left(row: Row, in_flight: TableState, lowest: State, given: State) -> None:
    """A message is sent in this row: it is in flight until it is received.

    in_flight: (sender, receiver, number, timestamp) -> (timestamp, position, sender, receiver).
    lowest: no timestamp in flight is strictly below it, so that most rises of a barrier need no look at them.
    given: how many messages were sent.
    """
    key = (row.sender, row.receiver, row.number, row.timestamp)
    put(in_flight, key, (row.timestamp, row.position, row.sender, row.receiver))
    lowest[0] = min(lowest[0], row.timestamp)
    given[0] += 1


@register_jitable
def passed_over(in_flight: TableState, lowest: State, net: Net, stopped: Ints, link: int, ack: int) -> int:
    """Of the messages at or below the ack barrier that take the link and have not arrived, the slot of the one with the
    least timestamp, of equal ones the first, or -1. Messages from or to hosts that stopped are left out. Where the ack
    barrier has come to `lowest`, that is raised to the least timestamp in flight."""
    if ack < lowest[0]:
        return -1
    found = -1
    lowest[0] = MAX_TIMESTAMP
    for slot in range(room(in_flight)):
        if not used(in_flight, slot):
            continue
        its = field(in_flight, slot, TIMESTAMP)
        lowest[0] = min(lowest[0], its)
        sender, receiver = field(in_flight, slot, SENDER), field(in_flight, slot, RECEIVER)
        if its > ack or stopped[sender] or stopped[receiver] or not takes(net, sender, receiver, link):
            continue
        equal = found >= 0 and its == field(in_flight, found, TIMESTAMP)
        if is_less(in_flight, slot, found, POSITION if equal else TIMESTAMP):
            found = slot
    return found


@register_jitable
def highest_on_route(newest: Ints, newest_at: Ints, net: Net, sender: int, receiver: int) -> tuple[int, int]:
    """The greatest of `newest` on the links that data from sender to receiver take, and its row, -1 for none."""
    highest, highest_at = NO_BARRIER, -1
    at = net.next_link[sender * net.node_count + receiver]
    while at >= 0:
        if newest[at] > highest:
            highest, highest_at = newest[at], newest_at[at]
        node = net.link_target[at]
        at = -1 if node == receiver else net.next_link[node * net.node_count + receiver]
    return (highest, highest_at)


@check(
    "TO-ACK-MEAN",
    kinds=(Kind.SENT, Kind.ARRIVED, Kind.CRASHED),
    order=Order.GLOBAL,
    ways=(
        "node {node} sent ack barrier {found} on link {link}; a message of timestamp {expected} that takes this link "
        "has not been received",
        "node {node} gave timestamp {found}, although ack barrier {expected} was sent on a link of its route",
    ),
    in_flight=Table(4, 4),
    highest=PerLink(NO_BARRIER),
    highest_at=PerLink(-1),
    lowest=Cell(MAX_TIMESTAMP),
    stopped=PerNode(0),
    given=Cell(0),
)
def ack_barrier_promise_holds(
    row: Row,
    net: Net,
    in_flight: TableState,
    highest: State,
    highest_at: State,
    lowest: State,
    stopped: State,
    given: State,
) -> Outcome:
    """When an ack barrier rises on a link, every message that takes the link and is at or below it has been received,
    and none is given later. At stake with each rise after the first message. Where failures are handled, this holds
    for messages among hosts that no notice names, and a recall counts as its message (TO-FAIL, TO-ATOMIC).

    in_flight, lowest, given: see `has_left`.
    """
    if row.kind == CRASHED:
        if row.link == ABSENT:
            stopped[row.node] = 1
        return SILENT
    if row.kind == ARRIVED:
        if row.receiver == row.node and (row.packet == DATA or is_recall(row, net)):
            slot = find(in_flight, (row.sender, row.receiver, row.number, row.timestamp))
            if slot >= 0:
                remove(in_flight, slot)
        return SILENT
    if names_failed(row, net):
        stopped[row.sender] = 1
    outcome = SILENT
    if is_given(row) and is_node(row.receiver, net):
        has_left(row, in_flight, lowest, given)
        bound, bound_at = highest_on_route(highest, highest_at, net, row.sender, row.receiver)
        if bound_at >= 0 and row.timestamp <= bound and not (net.failure_timeout_ns and stopped[row.sender]):
            outcome = violated(1, bound, row.timestamp, bound_at)
    if row.ack_barrier > highest[row.link]:
        highest[row.link], highest_at[row.link] = row.ack_barrier, row.position
        first = passed_over(in_flight, lowest, net, stopped, row.link, row.ack_barrier)
        if first >= 0:
            least, least_at = field(in_flight, first, TIMESTAMP), field(in_flight, first, POSITION)
            return violated(0, least, row.ack_barrier, least_at)
        if outcome[0] == 0 and given[0] > 0:
            return HOLDS
    return outcome


@check(
    "TO-ACK-INIT",
    kinds=(Kind.SENT,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} sent ack barrier {found}, which is not strictly below {expected}, sent and not acknowledged",
        "node {node} sent ack barrier {found} after ack barrier {expected}",
        "node {node} gave timestamp {found}, which is not strictly above its ack barrier {expected}",
    ),
    derived=(outstanding_messages,),
    highest=PerLink(NO_BARRIER),
    highest_at=PerLink(-1),
)
def ack_barrier_below_outstanding(
    row: Row, net: Net, least: Ints, least_at: Ints, highest: State, highest_at: State
) -> Outcome:
    """A host's ack barrier on a link is strictly below the least timestamp that it put there and that no
    acknowledgement covers yet. It never falls, and no message that the host puts there later is at or below it."""
    outcome = SILENT
    if is_given(row) and highest_at[row.link] >= 0 and row.timestamp <= highest[row.link]:
        outcome = violated(2, highest[row.link], row.timestamp, highest_at[row.link])
    elif row.ack_barrier > NO_BARRIER:
        if row.ack_barrier < highest[row.link]:
            outcome = violated(1, highest[row.link], row.ack_barrier, highest_at[row.link])
        elif least_at[row.link] >= 0:
            outcome = HOLDS
            if row.ack_barrier >= least[row.link]:
                outcome = violated(0, least[row.link], row.ack_barrier, least_at[row.link])
    if row.ack_barrier > highest[row.link]:
        highest[row.link], highest_at[row.link] = row.ack_barrier, row.position
    return outcome


@check(
    "TO-ACK-IDLE",
    kinds=(Kind.SENT,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node}, with nothing outstanding, sent ack barrier {found}; {expected} is the greatest that it could",
        "node {node}, with nothing outstanding, sent ack barrier {found}; strictly above {expected} it could still "
        "give a timestamp",
    ),
    derived=(outstanding_messages, adjustments, promises),
    last=PerNode(0),
    recalls=PerNode(0),
)
def idle_ack_barrier_rises(
    row: Row,
    net: Net,
    least_at: Ints,
    adjustment: Ints,
    promised: int,
    ack_promised: int,
    last: State,
    recalls: State,
) -> Outcome:
    """With nothing outstanding on a link, a host's ack barrier there is 1 below the least timestamp that it could still
    give: the greatest of its adjusted clock, its last timestamp plus 1, and its promises. A host that stamps above
    what it delivered (TO-CAUSAL) may go further. Where no clock is recorded, only the rest counts. Messages that it
    has recalled may hold it down (TO-ATOMIC).

    last: by host, the greatest timestamp given, in ns.
    recalls: by host, whether it has recalled anything.
    """
    outcome = SILENT
    if is_recall(row, net) and row.node == row.sender:
        recalls[row.node] = 1
    if row.ack_barrier != NO_BARRIER and least_at[row.link] < 0:
        now = adjusted(row.clock_ns, adjustment[row.node])
        known = row.clock_ns >= 0
        due = max(last[row.node], ack_promised, promised - 1)
        if known and now > due:
            due = now - 1
        outcome = HOLDS
        if row.ack_barrier < due:
            outcome = SILENT if recalls[row.node] else violated(0, due, row.ack_barrier, -1)
        elif row.ack_barrier > due and known and not net.causal:
            outcome = violated(1, due, row.ack_barrier, -1)
    if is_own_data(row):
        last[row.node] = max(last[row.node], row.timestamp)
    return outcome


@check(
    "TO-ACK-MIN",
    kinds=(Kind.SENT,),
    at=Role.SWITCH,
    order=Order.NODE,
    ways=(
        "node {node} sent ack barrier {found} on link {link}, above {expected}, the least of the links that reach it",
        "node {node} sent ack barrier {found} on link {link}, below {expected}, the least of the links that reach it",
    ),
    derived=(loss_registers, silences),
    kept_at=PerLink(UNKEPT),
    kept_link=PerLink(0),
)
def switch_ack_barrier_is_minimum(
    row: Row, net: Net, losses: LossRegisters, silent: SilentLinks, kept_at: State, kept_link: State
) -> Outcome:
    """A switch's ack barrier is the minimum over the ingress links that reach the egress link; where switches may be
    late, it is at or below that. Where failures are handled, links that the switch may have given up need not count, or
    may count as they did then."""
    first, last = net.feeds_first[row.link], net.feeds_first[row.link + 1]
    if row.ack_barrier == NO_BARRIER or first == last:
        return SILENT
    if net.failure_timeout_ns:
        bound = live_lowest(losses.newest_ack, silent.live, net.feeds_links, first, last)
        if bound != NO_BARRIER and row.ack_barrier > bound:
            return violated(
                0,
                bound,
                row.ack_barrier,
                lowest_at(losses.newest_ack, losses.newest_ack_at, net.feeds_links, first, last, bound),
            )
        least = lowest_barrier(silent.low_ack, net.feeds_links, first, last)
        if row.ack_barrier < least:
            return violated(
                1,
                least,
                row.ack_barrier,
                lowest_at(losses.newest_ack, losses.newest_ack_at, net.feeds_links, first, last, least),
            )
        return SILENT if bound == NO_BARRIER else HOLDS
    minimum = kept_lowest(
        losses.newest_ack,
        losses.newest_ack_at,
        net.feeds_links,
        first,
        last,
        kept_at,
        kept_link,
        net.feeds_group[row.link],
    )
    if row.ack_barrier == minimum or (net.late and row.ack_barrier < minimum):
        return HOLDS
    way = 0 if row.ack_barrier > minimum else 1
    return violated(
        way,
        minimum,
        row.ack_barrier,
        lowest_at(losses.newest_ack, losses.newest_ack_at, net.feeds_links, first, last, minimum),
    )
