"""Several links to one neighbour, of which messages take the best: PS-NEIGHBOUR."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ARRIVED, ENDED, SENT
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Ints,
    Outcome,
    Table,
    TableState,
    check,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import change, field, find, put, room
from scatterproof.conformance.pubsub.records import MESSAGE
from scatterproof.spec.trace import Kind, Order

SERIAL, SENT_AT, HAS_COME, OF, TO, NUMBER = range(6)


@check(
    "PS-NEIGHBOUR",
    kinds=(Kind.SENT, Kind.ARRIVED, Kind.ENDED),
    order=Order.LINK,
    ways=(
        "{node} sends message {found} of {sender} once more to the same node, with another serial than {expected}",
        "message {found} never comes to {expected_node}, which it was sent to on one of several links",
    ),
    sent=Table(4, 6),
    last=Table(2, 1),
)
def rerouting_loses_nothing(
    position: int,
    kind: int,
    link: int,
    packet: int,
    sender: int,
    number: int,
    serial: int,
    flags: int,
    appliances: int,
    takes_the_best: int,
    link_count: int,
    link_source: Ints,
    link_target: Ints,
    sent: TableState,
    last: TableState,
) -> Outcome:
    """What is repeated until it is acknowledged keeps its serial, on whichever link it goes.

    sent: by source, target, publisher and number: the serial of the first copy of a guaranteed message that an
        appliance sent there, its row, whether any came, source, target and number.
    last: by source and target, the link that the last one took.
    """
    if takes_the_best == 0:
        return SILENT
    if kind == ENDED:
        return _all_have_come(flags, link_count, link_source, link_target, sent)
    if packet != MESSAGE or serial == 0 or link_source[link] >= appliances:
        return SILENT
    source, target = link_source[link], link_target[link]
    one = find(sent, (source, target, sender, number))
    if kind == ARRIVED:
        if one >= 0:
            change(sent, one, HAS_COME, 1)
        return SILENT
    if kind != SENT:
        return SILENT
    if one < 0:
        put(sent, (source, target, sender, number), (serial, position, 0, source, target, number))
    elif field(sent, one, SERIAL) != serial:
        return violated(0, field(sent, one, SERIAL), number, field(sent, one, SENT_AT))
    way = find(last, (source, target))
    changed = way >= 0 and field(last, way, 0) != link
    put(last, (source, target), (link,))
    return HOLDS if changed else SILENT


@register_jitable
def _all_have_come(flags: int, link_count: int, link_source: Ints, link_target: Ints, sent: TableState) -> Outcome:
    """The outcome when the run has settled: violated for the first guaranteed message that was sent to a neighbour to
    which there are several links, and came on none of them."""
    if not settled(flags):
        return SILENT
    for slot in range(room(sent)):
        source, target = field(sent, slot, OF), field(sent, slot, TO)
        links = 0
        for link in range(link_count):
            links += link_source[link] == source and link_target[link] == target
        if links > 1 and field(sent, slot, HAS_COME) == 0:
            return violated(1, target, field(sent, slot, NUMBER), field(sent, slot, SENT_AT))
    return SILENT


HERE = (rerouting_loses_nothing,)
