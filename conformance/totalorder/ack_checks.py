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
from scatterproof.conformance.checks.tables import field, find, put, remove, room, used
from scatterproof.conformance.totalorder.host_clocks import adjusted, adjustments
from scatterproof.conformance.totalorder.ingress_barriers import (
    UNKEPT,
    kept_lowest,
    loss_registers,
    lowest_at,
    lowest_barrier,
)
from scatterproof.conformance.totalorder.outstanding import is_resent, outstanding_messages
from scatterproof.conformance.totalorder.silent_links import live_lowest, silences
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import ANSWER, NO_BARRIER, NOT_SPOKEN, PacketKind
from scatterproof.spec.trace import ABSENT, Kind, Order

DATA, NOTICE = int(PacketKind.DATA), int(PacketKind.NOTICE)
MAX_TIMESTAMP = (1 << 63) - 1


@register_jitable
def takes(next_link: Ints, link_target: Ints, node_count: int, sender: int, receiver: int, link: int) -> bool:
    """Whether data from sender to receiver, both nodes, take the link."""
    at = next_link[sender * node_count + receiver]
    while at >= 0 and at != link:
        node = link_target[at]
        at = -1 if node == receiver else next_link[node * node_count + receiver]
    return at >= 0


@register_jitable
def has_left(
    in_flight: TableState, lowest: State, given: State, sender: int, receiver: int, number: int, its: int, at: int
) -> None:
    """A message of timestamp `its` is sent in row `at`: it is in flight until it is received. given: how many were.

    in_flight: (sender, receiver, number, timestamp) -> (timestamp, position, sender, receiver).
    lowest: no timestamp in flight is strictly below it, so that most rises of a barrier need no look at them.
    """
    put(in_flight, (sender, receiver, number, its), (its, at, sender, receiver))
    lowest[0] = min(lowest[0], its)
    given[0] += 1


@register_jitable
def passed_over(
    in_flight: TableState,
    lowest: State,
    next_link: Ints,
    link_target: Ints,
    node_count: int,
    stopped: Ints,
    link: int,
    ack: int,
) -> tuple[int, int]:
    """The least timestamp, and where it was sent, among messages at or below the ack barrier that take the link and
    have not arrived; position -1 for none. What hosts that stopped send or should get is left out. lowest: is raised to
    the least timestamp of all in flight where the ack barrier has come to it."""
    least, least_at = 0, -1
    if ack < lowest[0]:
        return (least, least_at)
    lowest[0] = MAX_TIMESTAMP
    for slot in range(room(in_flight)):
        if not used(in_flight, slot):
            continue
        its, at = field(in_flight, slot, 0), field(in_flight, slot, 1)
        lowest[0] = min(lowest[0], its)
        if its > ack:
            continue
        sender, receiver = field(in_flight, slot, 2), field(in_flight, slot, 3)
        if stopped[sender] or stopped[receiver]:
            continue
        if not takes(next_link, link_target, node_count, sender, receiver, link):
            continue
        if least_at < 0 or its < least or (its == least and at < least_at):
            least, least_at = its, at
    return (least, least_at)


@register_jitable
def highest_on_route(
    newest: Ints, newest_at: Ints, next_link: Ints, link_target: Ints, node_count: int, sender: int, receiver: int
) -> tuple[int, int]:
    """The greatest of `newest` on the links that data from sender to receiver take, and where; position -1 for none."""
    highest, highest_at = NOT_SPOKEN, -1
    at = next_link[sender * node_count + receiver]
    while at >= 0:
        if newest_at[at] >= 0 and (highest_at < 0 or newest[at] > highest):
            highest, highest_at = newest[at], newest_at[at]
        node = link_target[at]
        at = -1 if node == receiver else next_link[node * node_count + receiver]
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
    highest=PerLink(NOT_SPOKEN),
    highest_at=PerLink(-1),
    lowest=Cell(MAX_TIMESTAMP),
    stopped=PerNode(0),
    given=Cell(0),
)
def ack_barrier_promise_holds(
    position: int,
    kind: int,
    node: int,
    link: int,
    sender: int,
    receiver: int,
    number: int,
    flags: int,
    packet: int,
    timestamp: int,
    ack_barrier: int,
    loses: int,
    failure_timeout_ns: int,
    node_count: int,
    next_link: Ints,
    link_target: Ints,
    in_flight: TableState,
    highest: State,
    highest_at: State,
    lowest: State,
    stopped: State,
    given: State,
) -> Outcome:
    """When an ack barrier rises on a link, every message that takes the link and is at or below it has been received;
    and none is given later. At stake with each rise behind the first message. Where failures are handled, this is so
    of messages among hosts that no notice names, and a recall stands for its message (TO-FAIL, TO-ATOMIC).

    in_flight, lowest, given: see `has_left`.
    """
    if not loses:
        return SILENT
    if kind == CRASHED:
        if link == ABSENT:
            stopped[node] = 1
        return SILENT
    known = packet == DATA and 0 <= sender < node_count and 0 <= receiver < node_count
    told = packet == NOTICE and failure_timeout_ns > 0
    if kind == ARRIVED:
        if (known or (told and 0 < number < ANSWER)) and receiver == node:
            slot = find(in_flight, (sender, receiver, number, timestamp))
            if slot >= 0:
                remove(in_flight, slot)
        return SILENT
    if told and number == 0 and 0 <= sender < node_count:
        stopped[sender] = 1
    outcome = SILENT
    if known and sender == node and not is_resent(flags):
        has_left(in_flight, lowest, given, sender, receiver, number, timestamp, position)
        bound, bound_at = highest_on_route(highest, highest_at, next_link, link_target, node_count, sender, receiver)
        if bound_at >= 0 and timestamp <= bound and not (failure_timeout_ns and stopped[sender]):
            outcome = violated(1, bound, timestamp, bound_at)
    if ack_barrier != NO_BARRIER and (highest_at[link] < 0 or ack_barrier > highest[link]):
        highest[link], highest_at[link] = ack_barrier, position
        least, least_at = passed_over(in_flight, lowest, next_link, link_target, node_count, stopped, link, ack_barrier)
        if least_at >= 0:
            return violated(0, least, ack_barrier, least_at)
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
    highest=PerLink(NOT_SPOKEN),
    highest_at=PerLink(-1),
)
def ack_barrier_below_outstanding(
    position: int,
    node: int,
    link: int,
    sender: int,
    flags: int,
    packet: int,
    timestamp: int,
    ack_barrier: int,
    loses: int,
    least: Ints,
    least_at: Ints,
    highest: State,
    highest_at: State,
) -> Outcome:
    """A host's ack barrier on a link is strictly below the least timestamp that it has outstanding of what it put
    there, by the acknowledgements that arrived; it never falls, and no message that it puts there later is at or below
    it."""
    if not loses:
        return SILENT
    outcome = SILENT
    given = packet == DATA and node == sender and not is_resent(flags)
    if given and highest_at[link] >= 0 and timestamp <= highest[link]:
        outcome = violated(2, highest[link], timestamp, highest_at[link])
    elif ack_barrier != NO_BARRIER:
        if highest_at[link] >= 0 and ack_barrier < highest[link]:
            outcome = violated(1, highest[link], ack_barrier, highest_at[link])
        elif least_at[link] >= 0:
            outcome = HOLDS
            if ack_barrier >= least[link]:
                outcome = violated(0, least[link], ack_barrier, least_at[link])
    if ack_barrier != NO_BARRIER and (highest_at[link] < 0 or ack_barrier > highest[link]):
        highest[link], highest_at[link] = ack_barrier, position
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
    derived=(outstanding_messages, adjustments),
    last=PerNode(0),
    promised=PerNode(NOT_SPOKEN),
    recalls=PerNode(0),
)
def idle_ack_barrier_rises(
    clock_ns: int,
    node: int,
    link: int,
    sender: int,
    number: int,
    packet: int,
    timestamp: int,
    barrier: int,
    ack_barrier: int,
    loses: int,
    causal: int,
    least_at: Ints,
    adjustment: Ints,
    last: State,
    promised: State,
    recalls: State,
) -> Outcome:
    """With nothing outstanding on a link a host's ack barrier there is the one next below the least timestamp that it
    could still give: the greatest of its adjusted clock, the timestamp next to its last one, and its promises. A host
    that has delivered, and stamps above that (TO-CAUSAL), may go further; without a recorded clock it is only held to
    the rest. What it has recalled may hold it down (TO-ATOMIC).

    last: the greatest timestamp given, or ack barrier sent. promised: the greatest barrier sent. recalls: whether it
    has recalled anything.
    """
    if not loses:
        return SILENT
    outcome = SILENT
    if packet == NOTICE and node == sender and 0 < number < ANSWER:
        recalls[node] = 1
    if ack_barrier != NO_BARRIER and least_at[link] < 0:
        now = adjusted(clock_ns, adjustment[node])
        known = clock_ns >= 0
        due = last[node]
        if promised[node] > due:
            due = promised[node] - 1
        if known and now > due:
            due = now - 1
        outcome = HOLDS
        if ack_barrier < due:
            outcome = SILENT if recalls[node] else violated(0, due, ack_barrier, -1)
        elif ack_barrier > due and known and not causal:
            outcome = violated(1, due, ack_barrier, -1)
    if packet == DATA and node == sender:
        last[node] = max(last[node], timestamp)
    last[node] = max(last[node], ack_barrier)
    promised[node] = max(promised[node], barrier)
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
    link: int,
    ack_barrier: int,
    loses: int,
    late: int,
    failure_timeout_ns: int,
    feeds_first: Ints,
    feeds_links: Ints,
    feeds_group: Ints,
    newest_ack: Ints,
    newest_ack_at: Ints,
    live: Ints,
    low_ack: Ints,
    kept_at: State,
    kept_link: State,
) -> Outcome:
    """A switch's ack barrier is the minimum over the ingress links that reach the egress link; where switches may be
    late, at or below it. Where failures are handled, links that it may have given up need not count, and may count as
    they did then."""
    first, last = feeds_first[link], feeds_first[link + 1]
    if not loses or ack_barrier == NO_BARRIER or first == last:
        return SILENT
    if failure_timeout_ns:
        bound = live_lowest(newest_ack, live, feeds_links, first, last)
        if bound != NO_BARRIER and ack_barrier > bound:
            return violated(
                0, bound, ack_barrier, lowest_at(newest_ack, newest_ack_at, feeds_links, first, last, bound)
            )
        least = lowest_barrier(low_ack, feeds_links, first, last)
        if ack_barrier < least:
            return violated(
                1, least, ack_barrier, lowest_at(newest_ack, newest_ack_at, feeds_links, first, last, least)
            )
        return SILENT if bound == NO_BARRIER else HOLDS
    minimum = kept_lowest(newest_ack, newest_ack_at, feeds_links, first, last, kept_at, kept_link, feeds_group[link])
    if ack_barrier == minimum or (late and ack_barrier < minimum):
        return HOLDS
    way = 0 if ack_barrier > minimum else 1
    return violated(way, minimum, ack_barrier, lowest_at(newest_ack, newest_ack_at, feeds_links, first, last, minimum))
