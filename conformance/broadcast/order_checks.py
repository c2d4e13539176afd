"""Checks of FIFO and localized causal broadcast: BC-FIFO-*, BC-LCB-*. None of them runs below level fifo."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.knowledge import (
    HEARD,
    MADE,
    NUMBER,
    OF,
    ORIGIN,
    SINCE,
    SUM,
    WEIGHTED,
    Knowledge,
    Learnt,
    check_of_hosts,
    how_many,
    missing_at,
)
from scatterproof.conformance.broadcast.parameters import LCB
from scatterproof.conformance.broadcast.rows import Net, Row
from scatterproof.conformance.broadcast.uniform_checks import majority_lives
from scatterproof.conformance.checks.kinds import ARRIVED, BEGUN, DELIVERED, SUBMITTED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Cell,
    Outcome,
    PerNode,
    PerPair,
    State,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import field, find
from scatterproof.spec.trace import Kind, Order


@check_of_hosts(
    "BC-FIFO-ORDER",
    kinds=(Kind.DELIVERED,),
    ways=("{node} delivered message {found} of {sender} before an earlier one",),
)
def delivered_in_sending_order(row: Row, learnt: Learnt) -> Outcome:
    return violated(0, 0, row.number) if learnt.ahead else HOLDS


@check_of_hosts(
    "BC-FIFO-FLOW",
    kinds=(Kind.SUBMITTED, Kind.BEGUN, Kind.DELIVERED, Kind.ENDED),
    ways=(
        "{node} began with message {number}, {found} of its own being undelivered then; the threshold is {expected}",
        "{expected_node}, which lives, never began with its message {found}",
    ),
    handed=PerNode(0),
    undelivered=PerNode(0),
)
def own_undelivered_is_bounded(
    row: Row, net: Net, known: Knowledge, learnt: Learnt, most_undelivered: int, handed: State, undelivered: State
) -> Outcome:
    """Of the messages that a process began with at most `most_undelivered` are not delivered there. All that was handed
    over is begun with by the end of a run that settled with a live majority."""
    if row.kind == SUBMITTED:
        handed[row.node] += 1
    elif row.kind == BEGUN:
        undelivered[row.node] += learnt.new
        found = undelivered[row.node]
        return HOLDS if found <= most_undelivered else violated(0, most_undelivered, found)
    elif row.kind == DELIVERED:
        undelivered[row.node] -= row.sender == row.node and learnt.origin >= 0
    elif settled(row.flags) and majority_lives(net, known):
        for process in range(net.node_count):
            begun = known.begun[process * net.node_count + process]
            if known.down[process] == 0 and begun < handed[process]:
                return violated(1, process, begun + 1)
    return SILENT


@check_of_hosts(
    "BC-LCB-CAUSAL",
    kinds=(Kind.DELIVERED,),
    order=Order.LINK,
    ways=(
        "{node} delivered message {number} of {sender} before message {found} of {expected_node}, which it depends on",
    ),
)
def dependencies_first(row: Row, net: Net, known: Knowledge, learnt: Learnt) -> Outcome:
    """A process delivers a message of `sender` after all that `sender` had delivered, when it began with the message,
    of the processes on which it depends. At stake where it had delivered something of theirs."""
    node, sender, firsts = row.node, row.sender, known.firsts
    if net.level != LCB or learnt.again or known.down[node]:
        return SILENT
    if not (0 <= sender < net.node_count and 1 <= row.number <= known.begun[sender * net.node_count + sender]):
        return SILENT  # nobody began with it: BC-URB-REAL's
    slot = missing_at(sender, row.number, node, net, known)
    if slot >= 0:
        return violated(0, field(firsts, slot, OF), field(firsts, slot, NUMBER), field(firsts, slot, SINCE))
    for other in range(net.node_count):
        if net.depends[sender * net.node_count + other] and known.delivered[node * net.node_count + other] > 0:
            return HOLDS
    return SILENT


@check_of_hosts(
    "BC-LCB-LOCAL",
    kinds=(Kind.ARRIVED, Kind.DELIVERED),
    order=Order.LINK,
    ways=(
        "{node} delivered message {number} of {sender}, which came later, while message {found} of {expected_node} "
        "waits for nothing that it depends on",
    ),
    ready=PerPair(0),
    ready_at=PerPair(-1),
)
def others_delay_nothing(
    row: Row, net: Net, known: Knowledge, learnt: Learnt, ready: State, ready_at: State
) -> Outcome:
    """A message that could be delivered when another one first came is not delivered after that other one, unless its
    creator depends on that one's creator. A message counts if its creator had begun with it when it came: rows of other
    processes give no exact moment.

    ready: by process and creator, the message that could be delivered at that moment.
    ready_at: the row.
    """
    node, delivered = row.node, known.delivered
    if net.level != LCB or known.down[node]:
        return SILENT
    if learnt.new:
        for creator in range(net.node_count):
            pair = node * net.node_count + creator
            first = delivered[pair] + 1
            if ready[pair] == first:
                continue
            slot = find(known.coming, (node, creator, first))
            made = slot >= 0 and field(known.coming, slot, MADE) != 0
            if made and is_deliverable(node, creator, net, known):
                ready[pair], ready_at[pair] = first, row.position
    elif learnt.origin >= 0:
        at_stake = False
        for creator in range(net.node_count):
            pair = node * net.node_count + creator
            if creator == row.sender or net.depends[creator * net.node_count + row.sender]:
                continue
            if ready[pair] == delivered[pair] + 1 and learnt.origin >= ready_at[pair]:
                return violated(0, creator, ready[pair], ready_at[pair])
            at_stake = at_stake or delivered[pair] > 0
        return HOLDS if at_stake else SILENT
    return SILENT


@register_jitable
def is_deliverable(node: int, creator: int, net: Net, known: Knowledge) -> bool:
    """Whether the creator's next message has come from a majority, the process itself counted, and all that it depends
    on is delivered there."""
    first = known.delivered[node * net.node_count + creator] + 1
    slot = find(known.coming, (node, creator, first))
    if slot < 0 or 2 * how_many(field(known.coming, slot, HEARD)) <= net.node_count:
        return False
    if known.begun[creator * net.node_count + creator] < first:
        return False  # nobody began with it
    return missing_at(creator, first, node, net, known) < 0


@check_of_hosts(
    "BC-LCB-FIFO",
    kinds=(Kind.DELIVERED,),
    ways=("{node} delivered message {found} of {sender} before an earlier one, whatever the two depend on",),
)
def fifo_without_dependencies(row: Row, learnt: Learnt) -> Outcome:
    return violated(0, 0, row.number) if learnt.ahead else HOLDS


@check_of_hosts(
    "BC-LCB-CLOCKS",
    kinds=(Kind.SENT,),
    ways=(
        "{node} put a clock with sum {found} on its message {number}; at the beginning it was {expected}",
        "{node} put a clock with sum by place {found} on its message {number}; at the beginning it was {expected}",
    ),
)
def dependency_clock_at_beginning(row: Row, net: Net, known: Knowledge) -> Outcome:
    """A message's clock says how much its creator had delivered of each process on which it depends when it began with
    the message, and how many of its own messages came earlier. A trace has two sums of the clock. Judged until the
    creator has delivered the message."""
    coming = known.coming
    if net.level != LCB or row.node != row.sender or not row.is_data:
        return SILENT
    slot = find(coming, (row.node, row.node, row.number))
    if slot < 0:
        return SILENT
    if row.clock_sum != field(coming, slot, SUM):
        return violated(0, field(coming, slot, SUM), row.clock_sum, field(coming, slot, ORIGIN))
    if row.clock_weighted != field(coming, slot, WEIGHTED):
        return violated(1, field(coming, slot, WEIGHTED), row.clock_weighted, field(coming, slot, ORIGIN))
    return HOLDS


@check_of_hosts(
    "BC-LCB-CHECK",
    kinds=(Kind.ARRIVED, Kind.ENDED),
    order=Order.LINK,
    ways=("{expected_node} never delivered a message, number {found} of its creator, that waits for nothing any more",),
    waited=Cell(0),
)
def waiting_is_looked_at_again(row: Row, net: Net, known: Knowledge, waited: State) -> Outcome:
    """At the end of a run that settled, no live process has a message that it could deliver. At stake where a message
    that came from a majority had to wait."""
    if net.level != LCB:
        return SILENT
    if row.kind == ARRIVED:
        slot = find(known.coming, (row.node, row.sender, row.number))
        if slot >= 0 and known.down[row.node] == 0 and 2 * how_many(field(known.coming, slot, HEARD)) > net.node_count:
            waited[0] |= not is_deliverable(row.node, row.sender, net, known)
    elif settled(row.flags):
        for process in range(net.node_count):
            for creator in range(net.node_count):
                if known.down[process] == 0 and is_deliverable(process, creator, net, known):
                    return violated(0, process, known.delivered[process * net.node_count + creator] + 1)
        return HOLDS if waited[0] else SILENT
    return SILENT
