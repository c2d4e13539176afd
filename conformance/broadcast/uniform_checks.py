"""Checks of what uniform reliable broadcast delivers: BC-URB-VALID, -ONCE, -REAL, -AGREE, -SELF."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.checking import check_of_hosts
from scatterproof.conformance.broadcast.contents import begun_wrongly, delivered_wrongly
from scatterproof.conformance.broadcast.knowledge import AT, CREATOR, DATA, HEARD, MESSAGE, ORIGIN, has, how_many
from scatterproof.conformance.broadcast.parameters import FIFO, PL
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Ints,
    Outcome,
    PerNode,
    State,
    Table,
    TableState,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import field, put, room, used
from scatterproof.conformance.kinds import DELIVERED, ENDED, SENT, SUBMITTED
from scatterproof.spec.trace import Kind


@register_jitable
def majority_lives(down: Ints, node_count: int) -> bool:
    gone = 0
    for node in range(node_count):
        gone += down[node]
    return 2 * gone < node_count


@check_of_hosts(
    "BC-URB-VALID",
    kinds=(Kind.SUBMITTED, Kind.ENDED),
    ways=("{expected_node}, which lives, never delivered its own message {found}",),
    handed=PerNode(0),
)
def own_is_delivered(
    kind: int,
    node: int,
    flags: int,
    level: int,
    node_count: int,
    begun: Ints,
    delivered: Ints,
    down: Ints,
    handed: State,
) -> Outcome:
    """At the end of a run that settled, with a live majority, live processes have delivered what they began with, and
    at level urb, where nothing may hold it back (BC-FIFO-FLOW), what was handed over."""
    if kind == SUBMITTED:
        handed[node] += 1
        return SILENT
    if not settled(flags) or not majority_lives(down, node_count):
        return SILENT
    any_due = False
    for process in range(node_count):
        own = process * node_count + process
        due = max(begun[own], handed[process]) if level < FIFO else begun[own]
        if down[process] == 0 and due > 0:
            any_due = True
            if delivered[own] < due:
                return violated(0, process, delivered[own] + 1, -1)
    return HOLDS if any_due else SILENT


@check_of_hosts(
    "BC-URB-ONCE",
    kinds=(Kind.DELIVERED,),
    ways=("{node} delivered message {number} of {sender} again",),
)
def delivered_once(number: int, again: int) -> Outcome:
    return violated(0, 0, number, -1) if again else HOLDS


@check_of_hosts(
    "BC-URB-REAL",
    kinds=(Kind.SUBMITTED, Kind.BEGUN, Kind.SENT, Kind.DELIVERED),
    ways=(
        "{node} delivered message {number} of {sender}, which it neither began with nor received",
        "{node} delivered message {number} of {sender} with digest {found}; it came with {expected}",
        "{node} began with message {found}, or contents, where what was handed over next is message {expected}",
        "{node} sends its own message {found}, having begun with {expected} only",
    ),
    handed=Table(3, 1),
    last_handed=PerNode(0),
)
def delivered_was_begun(
    kind: int,
    node: int,
    sender: int,
    receiver: int,
    number: int,
    digest: int,
    packet: int,
    count: int,
    again: int,
    same: int,
    content: int,
    origin: int,
    begun_before: int,
    level: int,
    node_count: int,
    begun: Ints,
    handed: TableState,
    last_handed: State,
) -> Outcome:
    """A process delivers what it began with or what came, begins with what was handed over, and sends as its own what
    it began with. That it sends of others what came is BC-URB-MAJ's; so nothing comes that was never begun with."""
    if level == PL:
        return SILENT
    if kind == DELIVERED:
        return delivered_wrongly(number, digest, again, same, content, origin)
    if kind == SENT:
        last = begun[node * node_count + node]
        if packet == DATA and sender == node and (number < 1 or number > last or count > last - number + 1):
            return violated(3, last, number, -1)
        return SILENT
    if kind == SUBMITTED:
        put(handed, (node, receiver, number), (digest,))
        last_handed[node] = number
        return SILENT
    return begun_wrongly(node, receiver, number, count, digest, begun_before, last_handed[node], handed)


@check_of_hosts(
    "BC-URB-AGREE",
    kinds=(Kind.ENDED,),
    ways=("{expected_node}, which lives, never delivered message {found}, which another process delivered",),
)
def uniform_agreement(flags: int, node_count: int, delivered: Ints, beyond: TableState, down: Ints) -> Outcome:
    """What any process delivered, crashed ones too, all live ones have delivered at the end of a run that settled,
    with a live majority."""
    if not settled(flags) or not majority_lives(down, node_count):
        return SILENT
    highest = 0
    for creator in range(node_count):
        most = 0
        for node in range(node_count):
            most = max(most, delivered[node * node_count + creator])
        for node in range(node_count):
            if down[node] == 0 and delivered[node * node_count + creator] < most:
                return violated(0, node, delivered[node * node_count + creator] + 1, -1)
        highest = max(highest, most)
    least, lacking = -1, -1
    for slot in range(room(beyond)):
        if used(beyond, slot) and (least < 0 or field(beyond, slot, 0) < field(beyond, least, 0)):
            for node in range(node_count):
                creator, number = field(beyond, slot, 2), field(beyond, slot, 3)
                if down[node] == 0 and not has(delivered, beyond, node, node_count, creator, number):
                    least, lacking = slot, node
    if least >= 0:
        return violated(0, lacking, field(beyond, least, 3), field(beyond, least, 0))
    return HOLDS if highest > 0 or room_used(beyond) else SILENT


@register_jitable
def room_used(table: TableState) -> bool:
    some = False
    for slot in range(room(table)):
        some = some or used(table, slot)
    return some


@register_jitable
def came_earlier(coming: TableState, one: int, other: int) -> bool:
    """Whether a message came in an earlier row than another, or before it in the same run."""
    if field(coming, one, ORIGIN) != field(coming, other, ORIGIN):
        return field(coming, one, ORIGIN) < field(coming, other, ORIGIN)
    return field(coming, one, MESSAGE) < field(coming, other, MESSAGE)


@check_of_hosts(
    "BC-URB-SELF",
    kinds=(Kind.DELIVERED, Kind.ENDED),
    ways=("{expected_node} never delivered message {found}, which it has, and which came from enough others",),
)
def oneself_counts(
    kind: int,
    flags: int,
    heard: int,
    level: int,
    node_count: int,
    delivered: Ints,
    coming: TableState,
    down: Ints,
) -> Outcome:
    """What came from a majority, oneself counted, is delivered in the end, in its turn at level fifo.
    At stake where one delivers by oneself's counting."""
    if kind == DELIVERED and 2 * heard > node_count >= 2 * (heard - 1):
        return HOLDS
    if kind != ENDED or not settled(flags):
        return SILENT
    least = -1
    for slot in range(room(coming)):
        if used(coming, slot) and (least < 0 or came_earlier(coming, slot, least)):
            node, creator, first = field(coming, slot, AT), field(coming, slot, CREATOR), field(coming, slot, MESSAGE)
            in_turn = level < FIFO or first <= delivered[node * node_count + creator] + 1
            if down[node] == 0 and in_turn and 2 * how_many(field(coming, slot, HEARD)) > node_count:
                least = slot
    if least >= 0:
        return violated(0, field(coming, least, AT), field(coming, least, MESSAGE), field(coming, least, ORIGIN))
    return SILENT
