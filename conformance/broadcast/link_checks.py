"""Checks of perfect links. BC-PL-RELIABLE, -ONCE and -REAL are about what links hand on: at level pl what is delivered,
at the other levels what the packets show. BC-PL-PSEQ, -RESEND and -MEMORY are about their packets."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.knowledge import Knowledge, Learnt, check_of_hosts, knowledge
from scatterproof.conformance.broadcast.packets import (
    CREATOR,
    FIRST,
    LINK,
    POSITION,
    PSEQ,
    Earlier,
    OnLinks,
    packets,
    take_out,
)
from scatterproof.conformance.broadcast.parameters import PL
from scatterproof.conformance.broadcast.prefixes import is_in
from scatterproof.conformance.broadcast.rows import ACK, DATA, Net, Row, well_formed
from scatterproof.conformance.checks.kinds import ARRIVED, DELIVERED, REFUSED, SENT, SUBMITTED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Cell,
    Outcome,
    PerLink,
    State,
    Table,
    TableState,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import field, find, is_less, put, remove, room, used
from scatterproof.spec.trace import Kind, Order


@register_jitable
def delivered_wrongly(row: Row, learnt: Learnt) -> Outcome:
    """Way 0: no run with the message has come. Way 1: none with these contents."""
    if learnt.again:
        return SILENT
    if learnt.origin < 0:
        return violated(0, 0, row.number)
    return HOLDS if learnt.same else violated(1, learnt.content, row.digest, learnt.origin)


@register_jitable
def is_begun(row: Row, last: int) -> bool:
    """Whether the run of a packet is among the messages 1 to `last`."""
    return 1 <= row.number <= last and row.count <= last - row.number + 1


@register_jitable
def begun_wrongly(row: Row, learnt: Learnt, handed: TableState) -> Outcome:
    """Way 2: a run does not begin with the next message handed over, ends with one that was not, or has other contents.
    handed: (node, receiver, number) -> digest."""
    if not row.is_run or row.number != learnt.begun_before + 1:
        return violated(2, learnt.begun_before + 1, row.number)
    same = True
    for one in range(row.number, row.number + row.count):
        slot = find(handed, (row.node, row.receiver, one))
        if slot < 0:
            same = False
        else:
            same = same and field(handed, slot, 0) == row.digest
            remove(handed, slot)
    return HOLDS if same else violated(2, row.number, row.number)


@register_jitable
def earliest_between_live(table: TableState, position: int, net: Net, known: Knowledge) -> int:
    """Of the entries of links between live processes, the slot of the one with the least position; -1 for none. Field 0
    is the link."""
    down = known.down
    least = -1
    for slot in range(room(table)):
        if used(table, slot) and is_less(table, slot, least, position):
            link = field(table, slot, LINK)
            if down[net.link_source[link]] == 0 and down[net.link_target[link]] == 0:
                least = slot
    return least


@check_of_hosts(
    "BC-PL-RELIABLE",
    kinds=(Kind.SUBMITTED, Kind.SENT, Kind.ARRIVED, Kind.DELIVERED, Kind.ENDED),
    order=Order.LINK,
    ways=(
        "packet {found} from a live process to {expected_node}, which lives, has never arrived",
        "message {found} for {expected_node}, handed over at a live process, is never delivered",
    ),
    derived=(well_formed, packets, knowledge),
    on_link=Table(2, 3),
    owed=Table(3, 4),
    any_sent=Cell(0),
)
def sent_is_delivered(
    row: Row, net: Net, known: Knowledge, earlier: Earlier, on_link: TableState, owed: TableState, any_sent: State
) -> Outcome:
    """All that a live process sent to a live one has arrived by the end of a run that settled; at level pl, all that
    was handed over is delivered.

    on_link: the packets on their way, by (link, pseq).
    owed: (sender, receiver, number) -> position of its beginning.
    """
    if row.kind == SUBMITTED:
        if net.level == PL and 0 <= row.sender < net.node_count and 0 <= row.receiver < net.node_count:
            message = (row.sender, row.receiver, row.number)
            put(owed, message, (row.position, row.sender, row.receiver, row.number))
    elif row.kind == SENT:
        if earlier.is_new:
            put(on_link, (row.link, row.pseq), (row.link, row.pseq, row.position))
            any_sent[0] = 1
    elif row.kind == ARRIVED:
        slot = find(on_link, (row.link, row.pseq))
        if slot >= 0 and row.is_data:
            remove(on_link, slot)
    elif row.kind == DELIVERED:
        slot = find(owed, (row.sender, row.node, row.number))
        if slot >= 0:
            remove(owed, slot)
    elif settled(row.flags):
        least = earliest_between_live(on_link, 2, net, known)
        if least >= 0:
            target = net.link_target[field(on_link, least, LINK)]
            return violated(0, target, field(on_link, least, PSEQ), field(on_link, least, 2))
        for slot in range(room(owed)):
            if used(owed, slot) and is_less(owed, slot, least, 0):
                ends_live = known.down[field(owed, slot, 1)] == 0 and known.down[field(owed, slot, 2)] == 0
                least = slot if ends_live else least
        if least >= 0:
            return violated(1, field(owed, least, 2), field(owed, least, 3), field(owed, least, 0))
        return HOLDS if any_sent[0] else SILENT
    return SILENT


@check_of_hosts(
    "BC-PL-ONCE", kinds=(Kind.DELIVERED,), ways=("the link to {node} delivered message {number} of {sender} again",)
)
def link_delivers_once(row: Row, learnt: Learnt) -> Outcome:
    return violated(0, 0, row.number) if learnt.again else HOLDS


@register_jitable
def real(row: Row, net: Net, known: Knowledge, learnt: Learnt, handed: TableState) -> Outcome:
    """Messages are real: those delivered came, with these contents; those begun with were handed over; and those that a
    process sends as its own, at level pl all that it sends, were begun with (way 3)."""
    if row.kind == DELIVERED:
        return delivered_wrongly(row, learnt)
    if row.kind == SENT:
        last = known.begun[row.node * net.node_count + (net.link_target[row.link] if net.level == PL else row.node)]
        wrong = not is_begun(row, last) if row.sender == row.node else net.level == PL
        return violated(3, last, row.number) if wrong and row.packet == DATA else SILENT
    if row.kind == SUBMITTED:
        put(handed, (row.node, row.receiver, row.number), (row.digest,))
        return SILENT
    return begun_wrongly(row, learnt, handed)


@check_of_hosts(
    "BC-PL-REAL",
    kinds=(Kind.SUBMITTED, Kind.BEGUN, Kind.SENT, Kind.DELIVERED),
    ways=(
        "the link to {node} delivered message {number} of {sender}, which has never come from there",
        "the link to {node} delivered message {number} of {sender} with digest {found}; it came with {expected}",
        "{node} took up message {found}, or its contents, where what was handed over next is message {expected}",
        "{node} sends message {found} of {sender}; it has none of its own for the receiver above {expected}",
    ),
    handed=Table(3, 1),
)
def link_delivers_sent(row: Row, net: Net, known: Knowledge, learnt: Learnt, handed: TableState) -> Outcome:
    """At level pl a message that is delivered came from its sender, which sends only what was handed over, with the
    same contents."""
    return real(row, net, known, learnt, handed) if net.level == PL else SILENT


@register_jitable
def answered_rightly(row: Row, back: int, on: OnLinks, unanswered: TableState, answered: State) -> Outcome:
    """Whether the packets of link `back` that an acknowledgement covers have come. They are answered from now on."""
    arrived = on.arrived[back]
    if not row.is_ack:
        return violated(1, arrived, row.pseq)
    last = row.pseq + row.count - 1
    take_out(unanswered, back, row.pseq, last)
    if row.number > answered[back]:
        take_out(unanswered, back, answered[back] + 1, row.number)
        answered[back] = row.number
    if row.number > arrived:
        return violated(1, arrived, row.number)
    missing = max(row.pseq, arrived + 1)
    while is_in(on.arrived, on.arrived_beyond, back, missing):
        missing += 1
    return violated(1, arrived, missing) if missing <= last else SILENT


@check_of_hosts(
    "BC-PL-PSEQ",
    kinds=(Kind.SENT,),
    ways=(
        "{node} put packet {found} on {link}, where packet {expected} is the next",
        "{node} put message {found} on {link} again, as packet {pseq}, while one with it is not acknowledged",
        "{node} put packet {pseq} on {link} with flags {found}; by what it sent before they are {expected}",
        "{node} sends packet {pseq} on {link} again with other contents, message {found}; it was made with {expected}",
    ),
    derived=(well_formed, packets),
)
def link_numbers_apart(row: Row, net: Net, on: OnLinks, earlier: Earlier) -> Outcome:
    """Numbers follow one another on each link. A packet sent again keeps its number and contents, and says that it is.
    Numbers that were passed over are charged once."""
    unacked = on.unacked
    if row.packet != DATA:
        return SILENT
    if not row.is_data:
        return violated(0, on.highest[row.link] + 1, row.pseq)
    if earlier.is_new:
        if row.pseq != earlier.highest_before + 1:
            return violated(0, earlier.highest_before + 1, row.pseq)
        if earlier.has_twin:
            return violated(1, 0, row.number)
        return HOLDS if row.flags == 0 else violated(2, 0, row.flags)
    slot = find(unacked, (row.link, row.pseq))
    if slot < 0:
        return SILENT
    contents = (row.sender, row.number, row.count, row.digest, row.clock_sum, row.clock_weighted)
    changed = False
    for at in range(len(contents)):
        changed = changed or contents[at] != field(unacked, slot, CREATOR + at)
    if changed:
        return violated(3, field(unacked, slot, FIRST), row.number, field(unacked, slot, POSITION))
    return HOLDS if row.flags == 1 else violated(2, 1, row.flags, field(unacked, slot, POSITION))


@register_jitable
def is_own_ingress(row: Row, net: Net) -> bool:
    return row.link >= 0 and net.link_target[row.link] == row.node


@register_jitable
def earliest_unanswered(unanswered: TableState, net: Net, known: Knowledge) -> int:
    """The slot of the earliest packet that came to a live process and was never acknowledged; -1 for none."""
    least = -1
    for slot in range(room(unanswered)):
        lives = used(unanswered, slot) and known.down[net.link_target[field(unanswered, slot, LINK)]] == 0
        if lives and is_less(unanswered, slot, least, 2):
            least = slot
    return least


@check_of_hosts(
    "BC-PL-RESEND",
    kinds=(Kind.SENT, Kind.ARRIVED, Kind.REFUSED, Kind.ENDED),
    ways=(
        "{node} sends packet {found} on {link} again, though all up to {expected} are acknowledged",
        "{node} acknowledges packet {found} on {link}, which has not arrived",
        "packet {found} for {expected_node}, which lives, is neither acknowledged nor sent again",
        "{expected_node}, which lives, has never acknowledged the last copy of packet {found}",
    ),
    derived=(well_formed, packets, knowledge),
    unanswered=Table(2, 3),
    answered=PerLink(0),
    last_come=PerLink(0),
    said=PerLink(0),
    any_come=Cell(0),
)
def unacknowledged_is_resent(
    row: Row,
    net: Net,
    known: Knowledge,
    on: OnLinks,
    earlier: Earlier,
    unanswered: TableState,
    answered: State,
    last_come: State,
    said: State,
    any_come: State,
) -> Outcome:
    """Packets without an acknowledgement are sent again, and those that came are acknowledged, in a run that settled.

    unanswered: (link, pseq) -> position of the last copy, of packets that came and were neither acknowledged after that
        nor refused.
    answered: by link, a number up to which none of them is.
    said: by link, the number up to which all has come, as the process has said itself.
    """
    link, pseq, target = row.link, row.pseq, net.link_target
    if row.kind == SENT:
        if row.packet == ACK:
            back = net.next_link[target[link] * net.node_count + row.node]
            if row.is_ack:
                said[back] = max(said[back], row.number)
            return answered_rightly(row, back, on, unanswered, answered)
        if earlier.is_new or not row.is_data:
            return SILENT
        return HOLDS if pseq > on.all_acked[link] else violated(0, on.all_acked[link], pseq)
    if row.kind == ARRIVED:
        if row.is_data:
            put(unanswered, (link, pseq), (link, pseq, row.position))
            answered[link] = min(answered[link], pseq - 1)
            last_come[link] = pseq
            any_come[0] = 1
        return SILENT
    if row.kind == REFUSED:
        # A process may not refuse what it has said that it has.
        if is_own_ingress(row, net) and last_come[link] > said[link]:
            take_out(unanswered, link, last_come[link], last_come[link])
        return SILENT
    if not settled(row.flags):
        return SILENT
    least = earliest_between_live(on.unacked, POSITION, net, known)
    if least >= 0:
        return violated(2, target[field(on.unacked, least, LINK)], field(on.unacked, least, PSEQ))
    least = earliest_unanswered(unanswered, net, known)
    if least >= 0:
        receiver = target[field(unanswered, least, LINK)]
        return violated(3, receiver, field(unanswered, least, PSEQ), field(unanswered, least, 2))
    return HOLDS if any_come[0] else SILENT


@check_of_hosts(
    "BC-PL-MEMORY",
    kinds=(Kind.SENT,),
    ways=(
        "{node} put packet {pseq} on {link}, {found} with the oldest on its way; the window is {expected}",
        "{node} says on {link} that all up to {found} have come, where all up to {expected} have",
    ),
    derived=(well_formed, packets),
)
def delivered_prefix_collapses(row: Row, net: Net, on: OnLinks, earlier: Earlier, window: int) -> Outcome:
    """As far as memory shows from outside: the packets on their way are within a window, and a receiver knows the
    number up to which all has come."""
    if earlier.oldest_before > 0 and row.pseq - earlier.oldest_before >= window:
        return violated(0, window, row.pseq - earlier.oldest_before + 1)
    if not row.is_ack:
        return SILENT
    upto = on.arrived[net.next_link[net.link_target[row.link] * net.node_count + row.node]]
    if row.number < upto:
        return violated(1, upto, row.number)
    return HOLDS if row.number == upto and upto > 0 else SILENT
