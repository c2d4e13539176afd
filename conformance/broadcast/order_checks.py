"""Checks of FIFO and localized causal broadcast: BC-FIFO-*, BC-LCB-*."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.checking import check_of_hosts
from scatterproof.conformance.broadcast.knowledge import (
    HEARD,
    MADE,
    NUMBER,
    OF,
    ORIGIN,
    SINCE,
    SUM,
    WEIGHTED,
    Past,
    how_many,
    is_data,
    is_run,
    missing_at,
)
from scatterproof.conformance.broadcast.parameters import FIFO, LCB, MAX_NUMBER
from scatterproof.conformance.broadcast.uniform_checks import majority_lives
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Cell,
    Ints,
    Outcome,
    PerNode,
    PerPair,
    State,
    TableState,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import field, find
from scatterproof.conformance.kinds import ARRIVED, BEGUN, DELIVERED, ENDED, SUBMITTED
from scatterproof.spec.trace import Kind, Order


@check_of_hosts(
    "BC-FIFO-ORDER",
    kinds=(Kind.DELIVERED,),
    ways=("{node} delivered message {found} of {sender} before an earlier one",),
)
def delivered_in_sending_order(number: int, again: int, ahead: int) -> Outcome:
    if again:
        return SILENT
    return violated(0, 0, number, -1) if ahead else HOLDS


@check_of_hosts(
    "BC-FIFO-FLOW",
    kinds=(Kind.SUBMITTED, Kind.BEGUN, Kind.DELIVERED, Kind.ENDED),
    ways=(
        "{node} began with message {number}, {found} of its own being undelivered then; the threshold is {expected}",
        "{expected_node}, which lives, never began with its message {found}",
    ),
    handed=PerNode(0),
)
def own_undelivered_is_bounded(
    kind: int,
    node: int,
    number: int,
    flags: int,
    count: int,
    level: int,
    most_undelivered: int,
    node_count: int,
    begun: Ints,
    delivered: Ints,
    down: Ints,
    handed: State,
) -> Outcome:
    """From the first undelivered of its own messages to the last begun with there are at most `most_undelivered`; and
    all that was handed over is begun with by the end of a run that settled with a live majority."""
    if level < FIFO:
        return SILENT
    own = node * node_count + node
    if kind == SUBMITTED:
        handed[node] += 1
    elif kind == BEGUN and is_run(number, count):
        found = begun[own] - delivered[own]
        return HOLDS if found <= most_undelivered else violated(0, most_undelivered, found, -1)
    elif kind == ENDED and settled(flags) and majority_lives(down, node_count):
        for process in range(node_count):
            if down[process] == 0 and begun[process * node_count + process] < handed[process]:
                return violated(1, process, begun[process * node_count + process] + 1, -1)
    return SILENT


@check_of_hosts(
    "BC-LCB-CAUSAL",
    kinds=(Kind.DELIVERED,),
    order=Order.LINK,
    ways=(
        "{node} delivered message {number} of {sender} before message {found} of {expected_node}, which it depends on",
    ),
)
def dependencies_first(
    node: int,
    sender: int,
    number: int,
    again: int,
    level: int,
    node_count: int,
    depends: Ints,
    begun: Ints,
    delivered: Ints,
    beyond: TableState,
    firsts: TableState,
    disordered: Ints,
    down: Ints,
) -> Outcome:
    """What a process delivers of `sender` comes after all that `sender` had delivered of those it depends on when it
    began with the message. At stake where there was something."""
    if level != LCB or again or down[node]:
        return SILENT
    if not (0 <= sender < node_count and 1 <= number <= begun[sender * node_count + sender]):
        return SILENT  # nobody began with it: BC-URB-REAL's
    slot = missing_at(sender, number, node, node_count, (depends, delivered, beyond, firsts, disordered))
    if slot >= 0:
        return violated(0, field(firsts, slot, OF), field(firsts, slot, NUMBER), field(firsts, slot, SINCE))
    for other in range(node_count):
        if depends[sender * node_count + other] and delivered[node * node_count + other] > 0:
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
    position: int,
    kind: int,
    node: int,
    sender: int,
    new: int,
    again: int,
    origin: int,
    level: int,
    node_count: int,
    depends: Ints,
    begun: Ints,
    delivered: Ints,
    beyond: TableState,
    coming: TableState,
    firsts: TableState,
    disordered: Ints,
    down: Ints,
    ready: State,
    ready_at: State,
) -> Outcome:
    """A message that could be delivered when another one first came is not delivered after that other one, unless it
    depends on its creator. ready: by process and creator, the message that could be, at that moment; ready_at: when.
    Nothing ties the moment to beginnings elsewhere: a message counts whose creator had begun with it when it came."""
    if level != LCB or down[node] or (kind == ARRIVED and not new) or (kind == DELIVERED and (again or origin < 0)):
        return SILENT
    past = (depends, delivered, beyond, firsts, disordered)
    if kind == ARRIVED:
        for creator in range(node_count):
            pair = node * node_count + creator
            first = delivered[pair] + 1
            if ready[pair] == first:
                continue
            slot = find(coming, (node, creator, first))
            made = slot >= 0 and field(coming, slot, MADE) != 0
            if made and is_deliverable(node, creator, node_count, begun, coming, past):
                ready[pair], ready_at[pair] = first, position
    elif kind == DELIVERED:
        at_stake = False
        for creator in range(node_count):
            pair = node * node_count + creator
            if creator == sender or depends[creator * node_count + sender]:
                continue
            if ready[pair] == delivered[pair] + 1 and origin >= ready_at[pair]:
                return violated(0, creator, ready[pair], ready_at[pair])
            at_stake = at_stake or delivered[pair] > 0
        return HOLDS if at_stake else SILENT
    return SILENT


@register_jitable
def is_deliverable(node: int, creator: int, node_count: int, begun: Ints, coming: TableState, past: Past) -> bool:
    """Whether the creator's next message has come from a majority with the process itself, and what it depends on is
    delivered there."""
    delivered = past[1]
    first = delivered[node * node_count + creator] + 1
    slot = find(coming, (node, creator, first))
    if slot < 0 or 2 * how_many(field(coming, slot, HEARD)) <= node_count:
        return False
    if begun[creator * node_count + creator] < first:
        return False  # nobody began with it
    return missing_at(creator, first, node, node_count, past) < 0


@check_of_hosts(
    "BC-LCB-FIFO",
    kinds=(Kind.DELIVERED,),
    ways=("{node} delivered message {found} of {sender} before an earlier one, whatever the two depend on",),
)
def fifo_without_dependencies(number: int, again: int, ahead: int) -> Outcome:
    if again:
        return SILENT
    return violated(0, 0, number, -1) if ahead else HOLDS


@check_of_hosts(
    "BC-LCB-CLOCKS",
    kinds=(Kind.SENT,),
    ways=(
        "{node} put a clock with sum {found} on its message {number}; at the beginning it was {expected}",
        "{node} put a clock with sum by place {found} on its message {number}; at the beginning it was {expected}",
    ),
)
def dependency_clock_at_beginning(
    node: int,
    sender: int,
    number: int,
    packet: int,
    pseq: int,
    count: int,
    clock_sum: int,
    clock_weighted: int,
    level: int,
    node_count: int,
    coming: TableState,
) -> Outcome:
    """A message carries what its creator had delivered of its dependencies when it began with it, and how many of its
    own were before. The trace has two sums of the clock. Judged as long as the creator has not delivered it."""
    if level != LCB or node != sender:
        return SILENT
    if not is_data(packet, sender, number, count, pseq, node_count):
        return SILENT
    slot = find(coming, (node, node, number))
    if slot < 0:
        return SILENT
    if clock_sum != field(coming, slot, SUM):
        return violated(0, field(coming, slot, SUM), clock_sum, field(coming, slot, ORIGIN))
    if clock_weighted != field(coming, slot, WEIGHTED):
        return violated(1, field(coming, slot, WEIGHTED), clock_weighted, field(coming, slot, ORIGIN))
    return HOLDS


@check_of_hosts(
    "BC-LCB-CHECK",
    kinds=(Kind.ARRIVED, Kind.ENDED),
    order=Order.LINK,
    ways=("{expected_node} never delivered a message, number {found} of its creator, that waits for nothing any more",),
    waited=Cell(0),
)
def waiting_is_looked_at_again(
    kind: int,
    node: int,
    sender: int,
    number: int,
    flags: int,
    ahead: int,
    level: int,
    node_count: int,
    depends: Ints,
    begun: Ints,
    delivered: Ints,
    beyond: TableState,
    coming: TableState,
    firsts: TableState,
    disordered: Ints,
    down: Ints,
    waited: State,
) -> Outcome:
    """At the end of a run that settled no live process has a message that it could deliver. At stake where one had to
    wait that came from a majority."""
    if level != LCB:
        return SILENT
    past = (depends, delivered, beyond, firsts, disordered)
    if kind == ARRIVED:
        slot = -1
        if 0 <= sender < node_count and 1 <= number <= MAX_NUMBER:
            slot = find(coming, (node, sender, number))
        if slot >= 0 and down[node] == 0 and 2 * how_many(field(coming, slot, HEARD)) > node_count:
            waited[0] |= not is_deliverable(node, sender, node_count, begun, coming, past)
    elif kind == ENDED and settled(flags):
        for process in range(node_count):
            for creator in range(node_count):
                if down[process] == 0 and is_deliverable(process, creator, node_count, begun, coming, past):
                    return violated(0, process, delivered[process * node_count + creator] + 1, -1)
        return HOLDS if waited[0] else SILENT
    return SILENT
