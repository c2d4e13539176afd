"""Checks of timestamp adjustment: TO-ADJ-1, TO-ADJ-2, TO-ADJ-ROUNDS, TO-ADJ-SAFE. Operators of the same names in
CamelCase: AdjustmentRoundClauses.tla, Adjustment.tla.

TO-ADJ-EX and TO-ADJ-GAIN compare runs with one another, which no check of one run can do.
"""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ARRIVED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Ints,
    Outcome,
    PerNode,
    PerPair,
    State,
    Table,
    TableState,
    check,
    violated,
)
from scatterproof.conformance.checks.tables import change, field, find, put, remove, room, used
from scatterproof.conformance.totalorder.host_clocks import ADJUST, ADJUSTED, GREATEST, adjusted, adjustments
from scatterproof.conformance.totalorder.packets import is_node
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.conformance.totalorder.sending_checks import FIRST, due_barrier, place_in_scattering, promises
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NO_BARRIER, NOT_SPOKEN, PacketKind
from scatterproof.spec.trace import Kind, Order

DATA = int(PacketKind.DATA)
# Fields of what a receiver has collected.
OWNER, TIMESTAMP, ARRIVAL, NUMBER, ANSWERED, POSITION, REACHED = range(7)


@register_jitable
def forget_answered(collected: TableState, owner: int) -> None:
    """Take out what a receiver has collected and answered."""
    slot = 0
    while slot < room(collected):
        if used(collected, slot) and field(collected, slot, OWNER) == owner and field(collected, slot, ANSWERED):
            remove(collected, slot)
            continue  # another entry may have moved here
        slot += 1


@register_jitable
def note_answer(collected: TableState, owner: int, answered: int) -> None:
    """Mark the message in this slot as answered, and those with no way back to their senders: they are of this round,
    too."""
    for slot in range(room(collected)):
        own = used(collected, slot) and field(collected, slot, OWNER) == owner
        if own and (slot == answered or not field(collected, slot, REACHED)):
            change(collected, slot, ANSWERED, 1)


@register_jitable
def latest_arrival(collected: TableState, owner: int) -> int:
    latest = -1
    for slot in range(room(collected)):
        if used(collected, slot) and field(collected, slot, OWNER) == owner:
            latest = max(latest, field(collected, slot, ARRIVAL))
    return latest


@register_jitable
def aligned_maximum(collected: TableState, owner: int, latest: int) -> int:
    """The greatest of the collected timestamps, in ns, each plus the time from its arrival to the latest arrival."""
    greatest = -GREATEST
    for slot in range(room(collected)):
        if used(collected, slot) and field(collected, slot, OWNER) == owner:
            waited = latest - field(collected, slot, ARRIVAL)
            greatest = max(greatest, adjusted(field(collected, slot, TIMESTAMP), waited))
    return greatest


@check(
    "TO-ADJ-1",
    kinds=(Kind.SENT, Kind.ARRIVED),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} answered round {found} of {receiver}, which it has not collected; the last was {expected}",
        "node {node} returned {found} to {receiver}; the greatest aligned timestamp is {expected}",
        "node {node} told {receiver} that it held its message for {found} ns; the latest came {expected} ns later",
    ),
    collected=Table(2, 7),
)
def receiver_returns_aligned_maximum(row: Row, net: Net, collected: TableState) -> Outcome:
    """A receiver answers each first message that it collected with the greatest of the aligned timestamps, and with the
    time from its arrival to the latest arrival. All that came since it answered last is one round, with a way back or
    without. Judged where clocks are recorded.

    collected: (receiver, sender) -> (receiver, timestamp, clock at arrival, number, whether answered, position, whether
        the sender can be answered).
    """
    if row.kind == ARRIVED:
        if row.packet == ADJUST and row.receiver == row.node and row.clock_ns >= 0:
            forget_answered(collected, row.node)
            reached = is_node(row.sender, net) and net.next_link[row.node * net.node_count + row.sender] >= 0
            put(
                collected,
                (row.node, row.sender),
                (row.node, row.timestamp, row.clock_ns, row.number, 0, row.position, int(reached)),
            )
        return SILENT
    if row.packet != ADJUSTED or row.node != row.sender:
        return SILENT
    slot = find(collected, (row.node, row.receiver))
    if slot < 0:
        return violated(0, 0, row.number, -1)
    if field(collected, slot, NUMBER) != row.number:
        return violated(0, field(collected, slot, NUMBER), row.number, field(collected, slot, POSITION))
    latest = latest_arrival(collected, row.node)
    maximum = aligned_maximum(collected, row.node, latest)
    waited, at = latest - field(collected, slot, ARRIVAL), field(collected, slot, POSITION)
    note_answer(collected, row.node, slot)
    if row.timestamp != maximum:
        return violated(1, maximum, row.timestamp, -1)
    return HOLDS if row.digest == waited else violated(2, waited, row.digest, at)


@register_jitable
def left_out(node: int, node_count: int, begun: int, served: State, asked: State) -> int:
    """The first other host to which `node` had sent data when its round number `begun` began, and which it did not ask
    in that round; -1 for none.

    served: by pair, how many rounds had begun when data was first sent, plus 1; 0 for never.
    asked: by pair, the round of the last question.
    """
    for host in range(node_count):
        pair = node * node_count + host
        if host != node and 0 < served[pair] <= begun and asked[pair] != begun:
            return host
    return -1


@register_jitable
def note_question(
    node: int, pair: int, node_count: int, number: int, begun: State, newest: State, served: State, asked: State
) -> int:
    """Note that `node` asks the other host of this pair. Where that begins a round: the host that the round before left
    out, as `left_out` has it."""
    missed = -1
    if begun[node] == 0 or number != newest[node]:
        missed = left_out(node, node_count, begun[node], served, asked)
        begun[node], newest[node] = begun[node] + 1, number
    asked[pair] = begun[node]
    return missed


@check(
    "TO-ADJ-2",
    kinds=(Kind.SENT,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} gave timestamp {found}; its clock with the least difference of its last round, and what it gave "
        "and promised, make {expected}",
        "node {node} began round {number} with timestamp {found}; its local clock is {expected}",
        "node {node} asked itself in round {number}",
        "node {node} began round {found}, and in the one before it had not asked {expected_node}, to which it sent",
    ),
    derived=(place_in_scattering, adjustments, promises),
    last=PerNode(-1),
    begun=PerNode(0),
    newest=PerNode(0),
    served=PerPair(0),
    asked=PerPair(0),
)
def sender_takes_least_difference(
    row: Row,
    net: Net,
    place: int,
    adjustment: Ints,
    concluded: Ints,
    last: State,
    begun: State,
    newest: State,
    served: State,
    asked: State,
    promised: int,
    ack_promised: int,
) -> Outcome:
    """A timestamp is the local clock plus the least difference of the last whole round, unless the last timestamp or a
    promise asks for more. Where it must also be above what was delivered (TO-CAUSAL), it is at or above that sum. A
    round asks all other hosts to which the host had sent data, and begins with the local clock as it is. Where hosts
    may be given up, nobody knows here whom to ask. At stake once a round is whole.

    last: by host, the greatest timestamp given, in ns.
    begun, newest: by host, how many rounds it began, and the number of the last one.
    served, asked: as for `left_out`.
    """
    outcome = SILENT
    own = row.node == row.sender and is_node(row.receiver, net)
    pair = row.node * net.node_count + row.receiver if own else -1
    if row.packet == DATA and pair >= 0 and served[pair] == 0:
        served[pair] = begun[row.node] + 1
    if place == FIRST:
        if row.clock_ns >= 0:
            now = adjusted(row.clock_ns, adjustment[row.node])
            due = due_barrier(now, adjusted(last[row.node], 1), promised, ack_promised)
            if row.timestamp < due or (row.timestamp > due and not net.causal):
                outcome = violated(0, due, row.timestamp, -1)
            elif concluded[row.node] > 0:
                outcome = HOLDS
        last[row.node] = max(last[row.node], row.timestamp)
    elif row.packet == ADJUST and row.node == row.sender:
        if row.receiver == row.node:
            outcome = violated(2, 0, row.receiver, -1)
        elif row.clock_ns >= 0 and row.timestamp != row.clock_ns:
            outcome = violated(1, row.clock_ns, row.timestamp, -1)
        if pair >= 0:
            missed = note_question(row.node, pair, net.node_count, row.number, begun, newest, served, asked)
            if missed >= 0 and net.failure_timeout_ns == 0:
                outcome = violated(3, missed, row.number, -1)
    return outcome


@check(
    "TO-ADJ-ROUNDS",
    kinds=(Kind.SENT,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} began round {found} after round {expected}",
        "node {node} began a round of adjustment at local clock {found}, more than two intervals after {expected}",
    ),
    number_before=PerNode(0),
    begun_before_ns=PerNode(-1),
    begun_at=PerNode(-1),
)
def adjustment_is_repeated(
    row: Row, net: Net, number_before: State, begun_before_ns: State, begun_at: State
) -> Outcome:
    """The numbers of one host's rounds rise, and each round begins within two intervals of the one before."""
    if row.packet != ADJUST or row.node != row.sender:
        return SILENT
    first, before, before_ns, at = (
        begun_at[row.node] < 0,
        number_before[row.node],
        begun_before_ns[row.node],
        begun_at[row.node],
    )
    if not first and row.number == before:
        return SILENT
    number_before[row.node], begun_before_ns[row.node], begun_at[row.node] = row.number, row.clock_ns, row.position
    if first:
        return SILENT
    if row.number < before:
        return violated(0, before, row.number, at)
    # Half of the time since, rounded up: twice the interval might wrap.
    if row.clock_ns > before_ns >= 0 and (row.clock_ns - before_ns - 1) // 2 >= net.adjustment_interval_ns:
        return violated(1, before_ns, row.clock_ns, at)
    return HOLDS


@check(
    "TO-ADJ-SAFE",
    kinds=(Kind.SENT,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "node {node} gave timestamp {found}, strictly below {expected}, which it gave or promised",
        "node {node} sent a beacon with barrier {found}; its adjusted clock, and what it gave and promised, make "
        "{expected}",
    ),
    derived=(place_in_scattering, adjustments, promises),
    last=PerNode(-1),
)
def adjustment_keeps_promises(
    row: Row,
    net: Net,
    place: int,
    adjustment: Ints,
    concluded: Ints,
    last: State,
    promised: int,
    ack_promised: int,
) -> Outcome:
    """However the adjustment changes, timestamps are strictly above those given, and at or above what was promised. A
    beacon carries the adjusted clock, or what was given or promised where that is more. At stake once a round is whole.

    last: by host, the greatest timestamp given, in ns.
    """
    outcome = SILENT
    if place == FIRST:
        due = due_barrier(NOT_SPOKEN, adjusted(last[row.node], 1), promised, ack_promised)
        if row.timestamp < due:
            outcome = violated(0, due, row.timestamp, -1)
        elif concluded[row.node] > 0:
            outcome = HOLDS
        last[row.node] = max(last[row.node], row.timestamp)
    elif row.packet != DATA and row.barrier != NO_BARRIER and row.clock_ns >= 0:
        now = adjusted(row.clock_ns, adjustment[row.node])
        due = due_barrier(now, last[row.node], promised, ack_promised)
        if row.barrier != due:
            outcome = violated(1, due, row.barrier, -1)
        elif concluded[row.node] > 0:
            outcome = HOLDS
    return outcome
