"""Checks of uniform reliable broadcast: BC-URB-VALID, -ONCE, -REAL, -AGREE and -SELF are about deliveries, BC-URB-MAJ,
-GC and -MINORITY about majorities and forwarding. None of them runs at level pl."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.knowledge import (
    AT,
    CREATOR,
    DIGEST,
    HEARD,
    MESSAGE,
    ORIGIN,
    SUM,
    WEIGHTED,
    Knowledge,
    Learnt,
    check_of_hosts,
    has,
    how_many,
    knowledge,
)
from scatterproof.conformance.broadcast.link_checks import real
from scatterproof.conformance.broadcast.packets import Earlier, OnLinks, packets
from scatterproof.conformance.broadcast.parameters import FIFO
from scatterproof.conformance.broadcast.prefixes import NUMBER, PLACE, SINCE
from scatterproof.conformance.broadcast.rows import Net, Row, well_formed
from scatterproof.conformance.checks.kinds import ARRIVED, DELIVERED, SENT, SUBMITTED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Outcome,
    PerNode,
    State,
    Table,
    TableState,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import field, find, is_less, room, used
from scatterproof.spec.trace import CLEAN, Kind


@register_jitable
def majority_lives(net: Net, known: Knowledge) -> bool:
    gone = 0
    for node in range(net.node_count):
        gone += known.down[node]
    return 2 * gone < net.node_count


@check_of_hosts(
    "BC-URB-VALID",
    kinds=(Kind.SUBMITTED, Kind.ENDED),
    ways=("{expected_node}, which lives, never delivered its own message {found}",),
    handed=PerNode(0),
)
def own_is_delivered(row: Row, net: Net, known: Knowledge, handed: State) -> Outcome:
    """At the end of a run that settled, with a live majority, live processes have delivered all that they began with.
    At level urb, where nothing may hold messages back (BC-FIFO-FLOW), they have delivered all that was handed over."""
    if row.kind == SUBMITTED:
        handed[row.node] += 1
        return SILENT
    if not settled(row.flags) or not majority_lives(net, known):
        return SILENT
    any_due = False
    for process in range(net.node_count):
        own = process * net.node_count + process
        due = max(known.begun[own], handed[process]) if net.level < FIFO else known.begun[own]
        if known.down[process] == 0 and due > 0:
            any_due = True
            if known.delivered[own] < due:
                return violated(0, process, known.delivered[own] + 1)
    return HOLDS if any_due else SILENT


@check_of_hosts("BC-URB-ONCE", kinds=(Kind.DELIVERED,), ways=("{node} delivered message {number} of {sender} again",))
def delivered_once(row: Row, learnt: Learnt) -> Outcome:
    return violated(0, 0, row.number) if learnt.again else HOLDS


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
)
def delivered_was_begun(row: Row, net: Net, known: Knowledge, learnt: Learnt, handed: TableState) -> Outcome:
    """A process delivers only what it began with or what came, begins only with what was handed over, and sends as its
    own only what it began with. That it forwards only what came is BC-URB-MAJ's to judge. Both together: no message
    comes with which nobody began."""
    return real(row, net, known, learnt, handed)


@check_of_hosts(
    "BC-URB-AGREE",
    kinds=(Kind.ENDED,),
    ways=("{expected_node}, which lives, never delivered message {found}, which another process delivered",),
)
def uniform_agreement(row: Row, net: Net, known: Knowledge) -> Outcome:
    """At the end of a run that settled, with a live majority, all live processes have delivered every message that any
    process delivered, be it one that crashed later."""
    if not settled(row.flags) or not majority_lives(net, known):
        return SILENT
    delivered, beyond = known.delivered, known.beyond
    highest = 0
    for creator in range(net.node_count):
        most = 0
        for node in range(net.node_count):
            most = max(most, delivered[node * net.node_count + creator])
        for node in range(net.node_count):
            if known.down[node] == 0 and delivered[node * net.node_count + creator] < most:
                return violated(0, node, delivered[node * net.node_count + creator] + 1)
        highest = max(highest, most)
    least, lacking, any_beyond = -1, -1, False
    for slot in range(room(beyond)):
        any_beyond = any_beyond or used(beyond, slot)
        if used(beyond, slot) and is_less(beyond, slot, least, SINCE):
            creator, number = field(beyond, slot, PLACE) % net.node_count, field(beyond, slot, NUMBER)
            for node in range(net.node_count):
                if known.down[node] == 0 and not has(node, creator, number, net, known):
                    least, lacking = slot, node
    if least >= 0:
        return violated(0, lacking, field(beyond, least, NUMBER), field(beyond, least, SINCE))
    return HOLDS if highest > 0 or any_beyond else SILENT


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
def oneself_counts(row: Row, net: Net, known: Knowledge, learnt: Learnt) -> Outcome:
    """A message that came from a majority, the process itself counted, is delivered in the end; at level fifo, in its
    turn. At stake where a process delivers and is needed for the majority."""
    if row.kind == DELIVERED:
        return HOLDS if 2 * learnt.heard > net.node_count >= 2 * (learnt.heard - 1) else SILENT
    if not settled(row.flags):
        return SILENT
    coming = known.coming
    least = -1
    for slot in range(room(coming)):
        if used(coming, slot) and (least < 0 or came_earlier(coming, slot, least)):
            node, creator, first = field(coming, slot, AT), field(coming, slot, CREATOR), field(coming, slot, MESSAGE)
            in_turn = net.level < FIFO or first <= known.delivered[node * net.node_count + creator] + 1
            if known.down[node] == 0 and in_turn and 2 * how_many(field(coming, slot, HEARD)) > net.node_count:
                least = slot
    if least >= 0:
        return violated(0, field(coming, least, AT), field(coming, least, MESSAGE), field(coming, least, ORIGIN))
    return SILENT


@check_of_hosts(
    "BC-URB-MAJ",
    kinds=(Kind.SENT, Kind.DELIVERED, Kind.ENDED),
    ways=(
        "{node} delivered message {number} of {sender}, knowing of {found} processes that have it; it takes {expected}",
        "{node} forwards message {found} of {sender} in a packet that did not come to it so",
        "{expected_node} has not forwarded to every live process all that it has: {found} are missing on a link",
    ),
    derived=(well_formed, knowledge, packets),
)
def majority_has_it(row: Row, net: Net, known: Knowledge, learnt: Learnt, on: OnLinks, link_count: int) -> Outcome:
    """A delivery needs a majority that has the message: the processes from which it came, its creator, and the process
    itself. In the end a process has put on each link as many messages as it began with or received."""
    if row.kind == DELIVERED:
        if learnt.again:
            return SILENT
        enough = 2 * learnt.carriers > net.node_count
        return HOLDS if enough else violated(0, net.node_count // 2 + 1, learnt.carriers)
    if row.kind == SENT:
        if not row.is_data or row.sender == row.node:
            return SILENT
        return SILENT if is_forwarded_so(row, net, known) else violated(1, 0, row.number)
    if settled(row.flags):
        for at in range(link_count):
            source = net.link_source[at]
            lacking = known.have[source] - on.messages[at]
            if known.down[source] == 0 and known.down[net.link_target[at]] == 0 and lacking > 0:
                return violated(2, source, lacking)
    return SILENT


@register_jitable
def is_forwarded_so(row: Row, net: Net, known: Knowledge) -> bool:
    """Whether the messages of a packet that is forwarded came with these contents. Of a message that is delivered
    nothing else is remembered."""
    coming = known.coming
    for one in range(row.number, row.number + row.count):
        slot = find(coming, (row.node, row.sender, one))
        if slot < 0:
            so = has(row.node, row.sender, one, net, known)
        else:
            so = field(coming, slot, DIGEST) == row.digest
            if one == row.number:
                clock = field(coming, slot, SUM), field(coming, slot, WEIGHTED)
                so = so and clock[0] == row.clock_sum and clock[1] == row.clock_weighted
        if not so:
            return False
    return True


@check_of_hosts(
    "BC-URB-GC",
    kinds=(Kind.SENT, Kind.ARRIVED),
    ways=("{node} has put {found} messages on {link}, having {expected} only: some again, as if they were new",),
    derived=(well_formed, knowledge, packets),
)
def delivered_is_forgotten(
    row: Row, net: Net, known: Knowledge, learnt: Learnt, on: OnLinks, earlier: Earlier
) -> Outcome:
    """As far as it shows from outside: a late copy is not forwarded as if it were new."""
    if earlier.is_new and on.messages[row.link] > known.have[row.node]:
        return violated(0, known.have[row.node], on.messages[row.link])
    return HOLDS if learnt.late_copy else SILENT


@check_of_hosts(
    "BC-URB-MINORITY",
    kinds=(Kind.ARRIVED, Kind.DELIVERED, Kind.ENDED),
    ways=(
        "{node} delivered message {number} of {sender}, having heard of {found} processes; {expected} are a majority",
    ),
    heard_of=PerNode(0),
)
def minority_delivers_nothing(row: Row, net: Net, known: Knowledge, learnt: Learnt, heard_of: State) -> Outcome:
    """A process that has not heard of a majority of processes, itself counted, delivers nothing. At stake where a live
    one has something to deliver."""
    if row.kind == ARRIVED:
        if row.is_data:
            heard_of[row.node] |= (1 << net.link_source[row.link]) | (1 << row.sender)
        return SILENT
    if row.kind == DELIVERED:
        found = how_many(heard_of[row.node] | (1 << row.node))
        if learnt.again or 2 * found > net.node_count:
            return SILENT
        return violated(0, net.node_count // 2 + 1, found)
    if row.flags >= 0 and row.flags & CLEAN:
        for node in range(net.node_count):
            has_some = known.have[node] > 0 and known.down[node] == 0
            if has_some and 2 * how_many(heard_of[node] | (1 << node)) <= net.node_count:
                return HOLDS
    return SILENT
