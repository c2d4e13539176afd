"""What most checks share: which messages each process has begun with, has heard of and from whom, and has delivered;
at level lcb also which of them a creator's messages depend on; and who has crashed.

Memory: high-water marks, and tables of what is beyond them. A message leaves `coming` when its process delivers it, and
a dependency leaves `firsts` when all live processes have delivered it.
"""

from __future__ import annotations

from typing import TypeAlias

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.parameters import LCB, MAX_NUMBER, MAX_RUN, PL
from scatterproof.conformance.checks.step import Ints, PerNode, PerPair, State, Table, TableState, derive
from scatterproof.conformance.checks.tables import change, field, find, put, remove, room, used
from scatterproof.conformance.kinds import ARRIVED, BEGUN, DELIVERED
from scatterproof.spec.broadcast.messages import PacketKind
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import ABSENT, Kind

DATA = int(PacketKind.DATA)
# The fields of a message at a process. HEARD: the processes from which it came, and itself, as bits. ORIGIN: the row in
# which it came first. SUM, WEIGHTED: of its clock. MADE: whether its creator had begun with it by then.
DIGEST, HEARD, ORIGIN, SUM, WEIGHTED, AT, CREATOR, MESSAGE, MADE = range(9)
# Of a dependency: OWNER depends on message NUMBER of OF; its first own message to do so is BEFORE.
BEFORE, SINCE, OWNER, OF, NUMBER = range(5)
# Sums of clocks are below it: more could wrap.
LIMIT = 1 << 60
# What is known of dependencies: depends, delivered, beyond, firsts and disordered, as `knowledge` has them.
Past: TypeAlias = tuple[Ints, Ints, TableState, TableState, Ints]
NOTHING = (0, 0, 0, 0, 0, 0, 0, ABSENT, 0, -1)


@register_jitable
def is_run(number: int, count: int) -> bool:
    """Whether the two say which messages a run has."""
    return 1 <= number <= MAX_NUMBER and 1 <= count <= MAX_RUN


@register_jitable
def is_data(packet: int, sender: int, number: int, count: int, pseq: int, node_count: int) -> bool:
    """Whether a packet's row is that of a data packet that can be."""
    return packet == DATA and 0 <= sender < node_count and is_run(number, count) and 1 <= pseq <= MAX_NUMBER


@register_jitable
def how_many(bits: int) -> int:
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@register_jitable
def has(delivered: Ints, beyond: TableState, node: int, node_count: int, creator: int, number: int) -> bool:
    """Whether the process has delivered this message."""
    return number <= delivered[node * node_count + creator] or find(beyond, (node, creator, number)) >= 0


@register_jitable
def missing_at(creator: int, number: int, node: int, node_count: int, past: Past) -> int:
    """The slot of something that message `number` of `creator` depends on and `node` has not delivered, or -1."""
    depends, delivered, beyond, firsts, disordered = past
    for other in range(node_count):
        pair = creator * node_count + other
        if other == creator or depends[pair] == 0:
            continue
        if disordered[pair] == 0:
            # The creator delivered them in their order: the first that is missing here is the one it needs first.
            slot = find(firsts, (creator, other, delivered[node * node_count + other] + 1))
            if slot >= 0 and field(firsts, slot, BEFORE) <= number:
                return slot
            continue
        least = -1
        for slot in range(room(firsts)):
            if (
                used(firsts, slot)
                and field(firsts, slot, OWNER) == creator
                and field(firsts, slot, OF) == other
                and field(firsts, slot, BEFORE) <= number
                and not has(delivered, beyond, node, node_count, other, field(firsts, slot, NUMBER))
                and (least < 0 or field(firsts, slot, SINCE) < field(firsts, least, SINCE))
            ):
                least = slot
        if least >= 0:
            return least
    return -1


@register_jitable
def forget_dependencies(
    of: int, node_count: int, delivered: Ints, down: Ints, lowest: State, firsts: TableState
) -> None:
    """Take out the dependencies on messages of `of` that all live processes have delivered."""
    least = -1
    for node in range(node_count):
        if down[node] == 0 and (least < 0 or delivered[node * node_count + of] < least):
            least = delivered[node * node_count + of]
    while lowest[of] < least:
        lowest[of] += 1
        for owner in range(node_count):
            slot = find(firsts, (owner, of, lowest[of]))
            if slot >= 0:
                remove(firsts, slot)


@register_jitable
def note_crash(node: int, node_count: int, delivered: Ints, down: State, lowest: State, firsts: TableState) -> None:
    down[node] = 1
    for other in range(node_count):
        forget_dependencies(other, node_count, delivered, down, lowest, firsts)


@register_jitable
def note_delivered(
    node: int, sender: int, number: int, position: int, pair: int, delivered: State, beyond: TableState
) -> int:
    """Note it; 1 if an earlier message of the creator is not delivered yet, else 0."""
    if number != delivered[pair] + 1:
        put(beyond, (node, sender, number), (position, node, sender, number))
        return 1
    delivered[pair] = number
    slot = find(beyond, (node, sender, number + 1))
    while slot >= 0:
        remove(beyond, slot)
        delivered[pair] += 1
        slot = find(beyond, (node, sender, delivered[pair] + 1))
    return 0


@register_jitable
def note_dependency(node: int, of: int, number: int, position: int, begun: int, firsts: TableState) -> None:
    """Message `number` of `of` is delivered at a node that depends on it: from its next message on."""
    put(firsts, (node, of, number), (begun + 1, position, node, of, number))


@register_jitable
def take(coming: TableState, node: int, sender: int, number: int, digest: int) -> tuple[int, int, int, int, int]:
    """What was known of a message that is delivered now: from how many it was heard; how many have it, its creator
    among them; whether the contents are the same; its contents; and the row in which it came first, or -1."""
    slot = find(coming, (node, sender, number))
    if slot < 0:
        return 0, 0, 0, ABSENT, -1
    bits, content, origin = field(coming, slot, HEARD), field(coming, slot, DIGEST), field(coming, slot, ORIGIN)
    remove(coming, slot)
    return how_many(bits), how_many(bits | (1 << sender)), int(content == digest), content, origin


@register_jitable
def note_arrival(
    coming: TableState,
    begun: Ints,
    delivered: Ints,
    beyond: TableState,
    place: tuple[int, int, int, int, int],
    packed: tuple[int, int, int, int, int],
) -> tuple[int, int]:
    """How many messages of a packet are new to the process, and whether it has delivered them all. place: see
    `note_beginning`. packed: whence it came, the creator, the digest and the sums of the clock. The process's own
    messages never are new: nobody knows them better."""
    node, node_count, number, count, position = place
    source, sender, digest, clock_sum, clock_weighted = packed
    new, late = 0, 0
    for one in range(number, number + count):
        slot = find(coming, (node, sender, one))
        if slot >= 0:
            if field(coming, slot, DIGEST) == digest:
                change(coming, slot, HEARD, field(coming, slot, HEARD) | (1 << source))
        elif has(delivered, beyond, node, node_count, sender, one):
            late += 1
        elif sender != node:
            new += 1
            heard, later = (1 << node) | (1 << source), one - number
            # The own entry of the clock grows with the number.
            clock = (clock_sum, clock_weighted)
            if 0 <= clock_sum < LIMIT and 0 <= clock_weighted < LIMIT:
                clock = (clock_sum + later, clock_weighted + (sender + 1) * later)
            made = int(one <= begun[sender * node_count + sender])
            put(coming, (node, sender, one), (digest, heard, position, clock[0], clock[1], node, sender, one, made))
    return new, int(late == count)


@register_jitable
def note_beginning(
    coming: TableState,
    delivered: Ints,
    beyond: TableState,
    place: tuple[int, int, int, int, int],
    digest: int,
    depends: Ints,
) -> int:
    """How many messages that a process begins with are new to it, as all should be. place: the process, how many there
    are, the run's first number and length, and the row."""
    node, node_count, number, count, position = place
    total, weighted, new = 0, 0, 0
    for other in range(node_count):
        if other != node and depends[node * node_count + other]:
            total += delivered[node * node_count + other]
            weighted += (other + 1) * delivered[node * node_count + other]
    for one in range(number, number + count):
        if find(coming, (node, node, one)) < 0 and not has(delivered, beyond, node, node_count, node, one):
            new += 1
            clock = (total + one - 1, weighted + (node + 1) * (one - 1))
            put(coming, (node, node, one), (digest, 1 << node, position, clock[0], clock[1], node, node, one, 1))
    return new


# begun[p, p] (at level pl [p, receiver]): the number of the last message begun with. delivered[p, c]: all up to it are;
# beyond: those that are and do not follow it. coming: what p has begun with or received, and not delivered.
# new: of a beginning or packet, how many messages are new to the process; late_copy: of a packet, whether it has
# delivered all. Of a delivery: again, it was delivered before; ahead, an earlier message is not; heard, from how many
# it came; carriers, these and its creator; same, it came with these contents; content, with which; origin, where first.
# begun_before: of a beginning, the last number before it.
@derive(
    *("new", "late_copy", "again", "ahead", "heard", "carriers", "same", "content", "begun_before", "origin"),
    kinds=(Kind.BEGUN, Kind.ARRIVED, Kind.DELIVERED, Kind.CRASHED),
    at=Role.HOST,
    begun=PerPair(0),
    delivered=PerPair(0),
    beyond=Table(3, 4),
    coming=Table(3, 9, MAX_RUN),
    firsts=Table(3, 5),
    disordered=PerPair(0),
    lowest=PerNode(0),
    down=PerNode(0),
)
def knowledge(
    position: int,
    kind: int,
    node: int,
    link: int,
    sender: int,
    receiver: int,
    number: int,
    digest: int,
    packet: int,
    pseq: int,
    count: int,
    clock_sum: int,
    clock_weighted: int,
    level: int,
    node_count: int,
    link_source: Ints,
    depends: Ints,
    begun: State,
    delivered: State,
    beyond: TableState,
    coming: TableState,
    firsts: TableState,
    disordered: State,
    lowest: State,
    down: State,
) -> tuple[int, int, int, int, int, int, int, int, int, int]:
    """The names, in the order of the decorator; state as above."""
    if kind == ARRIVED:
        # At level pl nobody forwards.
        if is_data(packet, sender, number, count, pseq, node_count) and (level != PL or sender == link_source[link]):
            place = (node, node_count, number, count, position)
            packed = (link_source[link], sender, digest, clock_sum, clock_weighted)
            new, late = note_arrival(coming, begun, delivered, beyond, place, packed)
            return (new, late, 0, 0, 0, 0, 0, ABSENT, 0, -1)
    elif kind == DELIVERED:
        if 0 <= sender < node_count and 1 <= number <= MAX_NUMBER:
            if has(delivered, beyond, node, node_count, sender, number):
                return (0, 0, 1, 0, 0, 0, 0, ABSENT, 0, -1)
            heard, carriers, same, content, origin = take(coming, node, sender, number, digest)
            pair = node * node_count + sender
            ahead = note_delivered(node, sender, number, position, pair, delivered, beyond)
            if level == LCB:
                if depends[pair]:
                    note_dependency(node, sender, number, position, begun[node * node_count + node], firsts)
                    disordered[pair] |= ahead
                forget_dependencies(sender, node_count, delivered, down, lowest, firsts)
            return (0, 0, 0, ahead, heard, carriers, same, content, 0, origin)
    elif kind == BEGUN:
        if is_run(number, count) and (level != PL or 0 <= receiver < node_count):
            own = node * node_count + (receiver if level == PL else node)
            before, begun[own] = begun[own], max(begun[own], number + count - 1)
            if level == PL:
                return (0, 0, 0, 0, 0, 0, 0, ABSENT, before, -1)
            place = (node, node_count, number, count, position)
            new = note_beginning(coming, delivered, beyond, place, digest, depends)
            return (new, 0, 0, 0, 0, 0, 0, ABSENT, before, -1)
    elif link == ABSENT:
        note_crash(node, node_count, delivered, down, lowest, firsts)
    return NOTHING
