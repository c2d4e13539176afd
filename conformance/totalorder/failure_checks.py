"""Checks of what is done about failures: TO-FAIL, TO-ATOMIC. Operators of the same names in CamelCase:
Failures.tla.

A trace does not show who has failed. It shows who goes on: every node that does sends beacons once an interval, so a
host stays up if packets still arrive there in the end.
"""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ARRIVED, CRASHED, DELIVERED, SENT, SUBMITTED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Cell,
    Ints,
    Outcome,
    PerNode,
    PerPair,
    State,
    Table,
    TableState,
    check,
    derive,
    elapsed,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import change, field, find, put, remove, room, used
from scatterproof.conformance.totalorder.ingress_barriers import loss_registers, newest_barriers
from scatterproof.conformance.totalorder.packets import is_node, names_failed
from scatterproof.conformance.totalorder.parameters import ENVIRONMENT_CODES
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.spec.totalorder.messages import Environment, PacketKind
from scatterproof.spec.trace import ABSENT, Kind, Order

DATA = int(PacketKind.DATA)
ONE, ALL, NEVER_CAME = range(3)  # what `undelivered` looks for
D6 = ENVIRONMENT_CODES[Environment.D6]  # its beacons carry no barrier


@register_jitable
def note_who_stays_up(up: State, net: Net, nodes_stopped: State, last_heard: State, time_ns: int) -> None:
    """Note of each node whether it is a host that has never crashed, and to which something came lately."""
    for node in range(net.node_count):
        heard = last_heard[node] >= 0 and not elapsed(last_heard[node], time_ns, net.failure_timeout_ns)
        up[node] = 1 if net.node_is_host[node] and not nodes_stopped[node] and heard else 0


@derive(
    kinds=(Kind.SUBMITTED, Kind.ARRIVED, Kind.DELIVERED, Kind.CRASHED),
    scattering_of=Table(3, 1),
    copies=Table(3, 6),
    knows=PerPair(0),
    nodes_stopped=PerNode(0),
    last_heard=PerNode(-1),
    failures_seen=Cell(0),
    submitted=Cell(0),
    delivered_since=Cell(0),
)
def scatterings(
    row: Row,
    net: Net,
    scattering_of: TableState,
    copies: TableState,
    knows: State,
    nodes_stopped: State,
    last_heard: State,
    failures_seen: State,
    submitted: State,
    delivered_since: State,
) -> None:
    """What became of the scatterings that were not delivered everywhere, and of the nodes.

    scattering_of: (sender, receiver, number) -> scattering, until the message is delivered.
    copies: (sender, scattering, receiver) -> (row of delivery or -1, row of submission, receiver, sender, scattering,
        whether it is owed), until all are delivered. Nothing is owed to a host that the sender knows to have failed,
        nor once it came.
    knows: by host and other host, whether a notice came that the other has failed.
    last_heard: by node, when something last arrived, in ns of true time.
    failures_seen, submitted: whether something failed, and whether something was submitted.
    delivered_since: whether something was delivered since the first failure.
    """
    if row.kind == ARRIVED:
        last_heard[row.node] = max(last_heard[row.node], row.time_ns)
        if row.receiver == row.node and row.packet == DATA:
            note_that_it_came(scattering_of, copies, row.sender, row.node, row.number)
        elif row.receiver == row.node and names_failed(row, net):
            knows[row.node * net.node_count + row.sender] = 1
    elif row.kind == CRASHED:
        failures_seen[0] = 1
        nodes_stopped[row.node] = 1 if row.link == ABSENT else nodes_stopped[row.node]
    elif row.kind == SUBMITTED:
        submitted[0] = 1
        if is_node(row.sender, net) and is_node(row.receiver, net):
            put(scattering_of, (row.sender, row.receiver, row.number), (row.scattering,))
            owed = 1 - knows[row.sender * net.node_count + row.receiver]
            put(
                copies,
                (row.sender, row.scattering, row.receiver),
                (-1, row.position, row.receiver, row.sender, row.scattering, owed),
            )
    else:
        if failures_seen[0]:
            delivered_since[0] = 1
        slot = find(scattering_of, (row.sender, row.node, row.number))
        if slot >= 0:
            its = field(scattering_of, slot, 0)
            remove(scattering_of, slot)
            change_copy(copies, (row.sender, its, row.node), 0, row.position)
            forget_if_all_have_it(copies, row.sender, its, net.node_count)


@register_jitable
def note_that_it_came(scattering_of: TableState, copies: TableState, sender: int, receiver: int, number: int) -> None:
    slot = find(scattering_of, (sender, receiver, number))
    if slot >= 0:
        change_copy(copies, (sender, field(scattering_of, slot, 0), receiver), 5, 0)


@register_jitable
def change_copy(copies: TableState, key: tuple[int, int, int], number: int, value: int) -> None:
    """There is none where a scattering has two messages for one receiver, which a premise refuses."""
    slot = find(copies, key)
    if slot >= 0:
        change(copies, slot, number, value)


@register_jitable
def forget_if_all_have_it(copies: TableState, sender: int, scattering: int, node_count: int) -> None:
    """Forget a scattering that is delivered everywhere."""
    for node in range(node_count):
        slot = find(copies, (sender, scattering, node))
        if slot >= 0 and field(copies, slot, 0) < 0:
            return
    for node in range(node_count):
        slot = find(copies, (sender, scattering, node))
        if slot >= 0:
            remove(copies, slot)


@register_jitable
def undelivered(copies: TableState, up: State, node_count: int, what: int) -> tuple[int, int]:
    """Of the messages that their receivers should have delivered and did not, the one submitted first: its receiver,
    and the row of a delivery or of its submission; -1 for none. what:

    ONE: the receiver stays up, and another message of the scattering was delivered at a host that does.
    ALL: the receiver and all other hosts of the scattering stay up.
    NEVER_CAME: the message is owed, and another message of the scattering was delivered, as for ONE.
    """
    receiver, first, witness = -1, -1, -1
    for slot in range(room(copies)):
        if not used(copies, slot) or field(copies, slot, 0) >= 0:
            continue
        if not (field(copies, slot, 5) if what == NEVER_CAME else up[field(copies, slot, 2)]):
            continue
        at, sender, scattering = field(copies, slot, 1), field(copies, slot, 3), field(copies, slot, 4)
        if first >= 0 and at >= first:
            continue
        delivered_at, everybody = -1, up[sender] == 1
        for node in range(node_count):
            other = find(copies, (sender, scattering, node))
            if other < 0:
                continue
            if not up[node]:
                everybody = False
            elif field(copies, other, 0) >= 0:
                delivered_at = field(copies, other, 0)
        if everybody if what == ALL else delivered_at >= 0:
            receiver, first, witness = field(copies, slot, 2), at, at if what == ALL else delivered_at
    return (receiver, witness)


@check(
    "TO-FAIL",
    kinds=(Kind.SENT, Kind.DELIVERED, Kind.ENDED),
    order=Order.LINK,
    ways=(
        "node {expected_node} never delivered a message, although everybody whom its scattering concerns stays up",
        "a host that stays up delivered timestamp {found} of a failed host, strictly above its cut-off {expected}",
        "a host that stays up hears ack barriers up to {found}, and barriers up to {expected} only: what failed holds "
        "them down",
    ),
    derived=(scatterings, newest_barriers, loss_registers),
    delivered_of=PerPair(-1),
    least_cut=PerNode(-1),
    up=PerNode(0),
)
def failure_stops_nobody(
    row: Row,
    net: Net,
    newest: Ints,
    newest_ack: Ints,
    copies: TableState,
    nodes_stopped: State,
    last_heard: State,
    failures_seen: State,
    delivered_since: State,
    delivered_of: State,
    least_cut: State,
    up: State,
) -> Outcome:
    """When all has settled after a failure, hosts that stay up have delivered all that they scattered among themselves,
    and nothing of a failed host strictly above the cut-off of its notice. Where beacons carry barriers, these have
    risen with the ack barriers.

    delivered_of: by host and other host, the greatest timestamp of the other's that the host delivered; -1 for none.
    least_cut: by host, the least timestamp that notices discard, in ns; below 0 for none.
    """
    if row.kind == SENT:
        if names_failed(row, net) and (least_cut[row.sender] < 0 or 0 <= row.timestamp < least_cut[row.sender]):
            least_cut[row.sender] = row.timestamp
        return SILENT
    if row.kind == DELIVERED:
        if is_node(row.sender, net):
            pair = row.node * net.node_count + row.sender
            delivered_of[pair] = max(delivered_of[pair], row.timestamp)
        return SILENT
    if not settled(row.flags) or not failures_seen[0]:
        return SILENT
    note_who_stays_up(up, net, nodes_stopped, last_heard, row.time_ns)
    lacking, at = undelivered(copies, up, net.node_count, ALL)
    if lacking >= 0:
        return violated(0, lacking, -1, at)
    for host in range(net.node_count):
        for failed in range(net.node_count):
            highest = delivered_of[host * net.node_count + failed]
            if up[host] and 0 <= least_cut[failed] <= highest:
                return violated(1, least_cut[failed] - 1, highest, -1)
        for at in range(net.ingress_first[host], net.ingress_first[host + 1]):
            barrier, ack = newest[net.ingress_links[at]], newest_ack[net.ingress_links[at]]
            if up[host] and net.environment != D6 and elapsed(barrier, ack, net.failure_timeout_ns):
                return violated(2, barrier, ack, -1)
    return HOLDS if delivered_since[0] else SILENT


@check(
    "TO-ATOMIC",
    kinds=(Kind.ENDED,),
    order=Order.LINK,
    ways=(
        "node {expected_node} never delivered its message of a scattering that others delivered",
        "a message never came to node {expected_node}, and others of its scattering were delivered",
    ),
    derived=(scatterings,),
    up=PerNode(0),
)
def scattering_is_all_or_nothing(
    row: Row,
    net: Net,
    copies: TableState,
    nodes_stopped: State,
    last_heard: State,
    failures_seen: State,
    submitted: State,
    up: State,
) -> Outcome:
    """When all has settled, each scattering is delivered by all of its receivers that stay up, or by none of them. It
    is delivered by none, too, if one of its messages never came to its receiver, and the sender did not know that one
    to have failed. At stake once something was submitted, and something failed."""
    if not settled(row.flags) or not failures_seen[0]:
        return SILENT
    note_who_stays_up(up, net, nodes_stopped, last_heard, row.time_ns)
    for way, what in ((0, ONE), (1, NEVER_CAME)):
        lacking, delivered_at = undelivered(copies, up, net.node_count, what)
        if lacking >= 0:
            return violated(way, lacking, -1, delivered_at)
    return HOLDS if submitted[0] else SILENT
