"""What most checks share: which messages each process has begun with, heard of (and from whom), and delivered; at level
lcb also on which of them a creator's messages depend; and who has crashed.

Memory: high-water marks, and tables of the numbers beyond them. A message leaves `coming` when its process delivers it,
and a dependency leaves `firsts` when all live processes have delivered it.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.parameters import LCB, MAX_NUMBER, MAX_RUN, PL
from scatterproof.conformance.broadcast.prefixes import BEYOND, enter, is_in
from scatterproof.conformance.broadcast.rows import Net, Row, well_formed
from scatterproof.conformance.checks.kinds import ARRIVED, BEGUN, DELIVERED
from scatterproof.conformance.checks.step import PerNode, PerPair, State, Table, TableState, check, derive
from scatterproof.conformance.checks.tables import change, field, find, is_less, put, remove, room, used
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import ABSENT, Kind, Order

# The fields of a message at a process. HEARD: the processes from which it came, and itself, as bits. ORIGIN: the row in
# which it came first. SUM, WEIGHTED: of its clock. MADE: whether its creator had begun with it by then.
DIGEST, HEARD, ORIGIN, SUM, WEIGHTED, AT, CREATOR, MESSAGE, MADE = range(9)
# Of a dependency: OWNER depends on message NUMBER of OF; its first own message to do so is BEFORE.
BEFORE, SINCE, OWNER, OF, NUMBER = range(5)
# Sums of clocks are below it: more could wrap.
LIMIT = 1 << 60


class Knowledge(NamedTuple):
    """State by process p and creator c.

    begun: at [p, p] (at level pl [p, receiver]), the number of the last message that p began with.
    delivered, beyond: at [p, c], the messages of c that p has delivered (`prefixes`).
    coming: (p, c, number) -> the nine fields above, of messages that p has begun with or received, and not delivered.
    firsts: (owner, of, number) -> the five fields above, of messages on which a creator's messages depend.
    disordered: by process, whether it has delivered messages on which it depends in another order than theirs.
    lowest: by creator, the number up to which all live processes have delivered.
    down: by process, whether it has crashed.
    have: by process, how many messages it began with or received.
    """

    begun: State
    delivered: State
    beyond: TableState
    coming: TableState
    firsts: TableState
    disordered: State
    lowest: State
    down: State
    have: State


class Learnt(NamedTuple):
    """Of a beginning or a packet:

    new: how many of its messages are new to the process.
    begun_before: of a beginning, the last number begun with earlier.
    late_copy: of a packet, whether the process has delivered all its messages.

    Of a delivery:

    again: whether the message was delivered earlier.
    ahead: whether an earlier message is not delivered.
    heard: from how many processes the message came.
    carriers: how many these are, with its creator.
    same: whether it came with these contents.
    content: the digest with which it came.
    origin: the row in which it came first, or -1.
    """

    new: int
    begun_before: int
    late_copy: int
    again: int
    ahead: int
    heard: int
    carriers: int
    same: int
    content: int
    origin: int


NOTHING = (0, 0, 0, 0, 0, 0, 0, 0, ABSENT, -1)
AGAIN = (0, 0, 0, 1, 0, 0, 0, 0, ABSENT, -1)


@register_jitable
def how_many(bits: int) -> int:
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@register_jitable
def has(node: int, creator: int, number: int, net: Net, known: Knowledge) -> bool:
    """Whether the process has delivered this message."""
    return is_in(known.delivered, known.beyond, node * net.node_count + creator, number)


@register_jitable
def missing_at(creator: int, number: int, node: int, net: Net, known: Knowledge) -> int:
    """The slot of a message on which message `number` of `creator` depends and that `node` has not delivered, or -1."""
    firsts = known.firsts
    if known.disordered[creator] == 0:
        # The creator delivered them in their order: the first that is missing here is the one it needs first.
        for other in range(net.node_count):
            slot = find(firsts, (creator, other, known.delivered[node * net.node_count + other] + 1))
            if slot >= 0 and field(firsts, slot, BEFORE) <= number:
                return slot
        return -1
    least = -1
    for slot in range(room(firsts)):
        if (
            used(firsts, slot)
            and field(firsts, slot, OWNER) == creator
            and field(firsts, slot, BEFORE) <= number
            and not has(node, field(firsts, slot, OF), field(firsts, slot, NUMBER), net, known)
            and is_less(firsts, slot, least, SINCE)
        ):
            least = slot
    return least


@register_jitable
def forget_dependencies(of: int, net: Net, known: Knowledge) -> None:
    """Take out the dependencies on messages of `of` that all live processes have delivered."""
    least = -1
    for node in range(net.node_count):
        upto = known.delivered[node * net.node_count + of]
        if known.down[node] == 0 and (least < 0 or upto < least):
            least = upto
    while known.lowest[of] < least:
        known.lowest[of] += 1
        for owner in range(net.node_count):
            slot = find(known.firsts, (owner, of, known.lowest[of]))
            if slot >= 0:
                remove(known.firsts, slot)


@register_jitable
def note_dependency(row: Row, ahead: int, net: Net, known: Knowledge) -> None:
    """Note a delivery at a node that depends on the creator: the node's next messages depend on this one."""
    if net.depends[row.node * net.node_count + row.sender]:
        begun = known.begun[row.node * net.node_count + row.node]
        dependency = (begun + 1, row.position, row.node, row.sender, row.number)
        put(known.firsts, (row.node, row.sender, row.number), dependency)
        known.disordered[row.node] |= ahead
    forget_dependencies(row.sender, net, known)


@register_jitable
def take(row: Row, coming: TableState) -> tuple[int, int, int, int, int]:
    """Take out a message that is delivered now. Returns from how many processes it came; how many these are with its
    creator; whether the contents are the same; the digest with which it came; and the row in which it came first, or
    -1."""
    slot = find(coming, (row.node, row.sender, row.number))
    if slot < 0:
        return NOTHING[5:]
    bits, content, origin = field(coming, slot, HEARD), field(coming, slot, DIGEST), field(coming, slot, ORIGIN)
    remove(coming, slot)
    return how_many(bits), how_many(bits | (1 << row.sender)), int(content == row.digest), content, origin


@register_jitable
def note_arrival(row: Row, net: Net, known: Knowledge) -> tuple[int, int]:
    """How many messages of a packet are new to the process, and whether it has delivered them all. A process's own
    messages are never new to it."""
    node, sender, source, coming = row.node, row.sender, net.link_source[row.link], known.coming
    new, late = 0, 0
    for one in range(row.number, row.number + row.count):
        slot = find(coming, (node, sender, one))
        if slot >= 0:
            if field(coming, slot, DIGEST) == row.digest:
                change(coming, slot, HEARD, field(coming, slot, HEARD) | (1 << source))
        elif has(node, sender, one, net, known):
            late += 1
        elif sender != node:
            new += 1
            heard, later = (1 << node) | (1 << source), one - row.number
            # The own entry of the clock grows with the number.
            clock = (row.clock_sum, row.clock_weighted)
            if 0 <= row.clock_sum < LIMIT and 0 <= row.clock_weighted < LIMIT:
                clock = (row.clock_sum + later, row.clock_weighted + (sender + 1) * later)
            made = int(one <= known.begun[sender * net.node_count + sender])
            message = (row.digest, heard, row.position, clock[0], clock[1], node, sender, one, made)
            put(coming, (node, sender, one), message)
    return new, int(late == row.count)


@register_jitable
def note_beginning(row: Row, net: Net, known: Knowledge) -> int:
    """How many of the messages that a process begins with are new to it. All should be."""
    node = row.node
    total, weighted, new = 0, 0, 0
    for other in range(net.node_count):
        if net.depends[node * net.node_count + other]:
            total += known.delivered[node * net.node_count + other]
            weighted += (other + 1) * known.delivered[node * net.node_count + other]
    for one in range(row.number, row.number + row.count):
        if find(known.coming, (node, node, one)) < 0 and not has(node, node, one, net, known):
            new += 1
            clock = (total + one - 1, weighted + (node + 1) * (one - 1))
            message = (row.digest, 1 << node, row.position, clock[0], clock[1], node, node, one, 1)
            put(known.coming, (node, node, one), message)
    return new


@derive(
    *Learnt._fields,
    kinds=(Kind.BEGUN, Kind.ARRIVED, Kind.DELIVERED, Kind.CRASHED),
    at=Role.HOST,
    begun=PerPair(0),
    delivered=PerPair(0),
    beyond=BEYOND,
    coming=Table(3, 9, MAX_RUN),
    firsts=Table(3, 5),
    disordered=PerNode(0),
    lowest=PerNode(0),
    down=PerNode(0),
    have=PerNode(0),
)
def knowledge(row: Row, net: Net, known: Knowledge) -> tuple[int, ...]:
    """As `Learnt`."""
    if row.kind == ARRIVED:
        # At level pl nobody forwards.
        if row.is_data and (net.level != PL or row.sender == net.link_source[row.link]):
            new, late = note_arrival(row, net, known)
            known.have[row.node] += new
            return (new, 0, late) + NOTHING[3:]  # noqa: RUF005
    elif row.kind == DELIVERED:
        if 0 <= row.sender < net.node_count and 1 <= row.number <= MAX_NUMBER:
            if has(row.node, row.sender, row.number, net, known):
                return AGAIN
            taken = take(row, known.coming)
            pair = row.node * net.node_count + row.sender
            ahead = enter(known.delivered, known.beyond, pair, row.number, row.position)
            if net.level == LCB:
                note_dependency(row, ahead, net, known)
            return NOTHING[:4] + (int(ahead),) + taken  # noqa: RUF005
    elif row.kind == BEGUN:
        if row.is_run and (net.level != PL or 0 <= row.receiver < net.node_count):
            own = row.node * net.node_count + (row.receiver if net.level == PL else row.node)
            before, known.begun[own] = known.begun[own], max(known.begun[own], row.number + row.count - 1)
            new = 0 if net.level == PL else note_beginning(row, net, known)
            known.have[row.node] += new
            return (new, before) + NOTHING[2:]  # noqa: RUF005
    elif row.link == ABSENT:
        known.down[row.node] = 1
    return NOTHING


# All nodes are hosts. Most steps read `knowledge`, and need the order of each node alone.
check_of_hosts = partial(check, at=Role.HOST, order=Order.NODE, derived=(well_formed, knowledge))
