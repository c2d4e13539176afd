"""Messages that take all paths at once: PS-MULTIPATH."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ENDED, SENT
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
from scatterproof.conformance.checks.tables import field, find, put, room
from scatterproof.conformance.pubsub.records import MESSAGE
from scatterproof.spec.trace import Kind, Order


@check(
    "PS-MULTIPATH",
    kinds=(Kind.SENT, Kind.ARRIVED, Kind.ENDED),
    order=Order.LINK,
    ways=(
        "{node} passes message {found} of {sender} on again, on a link on which it has passed it on",
        "{expected_node} gets message {found} from a neighbour, and does not pass it on to all others",
    ),
    passed=Table(3, 2),
    came=Table(3, 5),
)
def first_of_paths_wins(
    position: int,
    kind: int,
    link: int,
    packet: int,
    sender: int,
    number: int,
    level: int,
    serial: int,
    flags: int,
    appliances: int,
    takes_all_paths: int,
    link_count: int,
    link_source: Ints,
    link_target: Ints,
    passed: TableState,
    came: TableState,
) -> Outcome:
    """A resend has the serial of the first copy, and is no second pass.

    passed: by link, publisher and number: the serial of the first copy sent there, and its row.
    came: by link, publisher and number: these, the level of the first copy that arrived, and its row.
    """
    if takes_all_paths == 0:
        return SILENT
    if kind == ENDED:
        return _all_passed_on(flags, appliances, link_count, link_source, link_target, passed, came)
    if packet != MESSAGE or link_source[link] >= appliances or link_target[link] >= appliances:
        return SILENT
    if kind == SENT:
        one = find(passed, (link, sender, number))
        if one < 0:
            put(passed, (link, sender, number), (serial, position))
        elif serial == 0 or field(passed, one, 0) != serial:
            return violated(0, field(passed, one, 0), number, field(passed, one, 1))
        return SILENT
    if find(came, (link, sender, number)) >= 0:
        return SILENT
    met = False
    for other in range(link_count):
        met = met or (link_target[other] == link_target[link] and find(came, (other, sender, number)) >= 0)
    put(came, (link, sender, number), (link, sender, number, level, position))
    return HOLDS if met else SILENT


CAME_ON, CAME_OF, CAME_NUMBER, CAME_LEVEL, CAME_AT = range(5)


@register_jitable
def _all_passed_on(
    flags: int,
    appliances: int,
    link_count: int,
    link_source: Ints,
    link_target: Ints,
    passed: TableState,
    came: TableState,
) -> Outcome:
    """The outcome when the run has settled: violated for the first guaranteed message that an appliance got, and
    neither passed on to another neighbour nor got from it as well."""
    if not settled(flags):
        return SILENT
    for slot in range(room(came)):
        if field(came, slot, CAME_LEVEL) < 1:
            continue
        here = link_target[field(came, slot, CAME_ON)]
        sender, number = field(came, slot, CAME_OF), field(came, slot, CAME_NUMBER)
        for link in range(link_count):
            if link_source[link] != here or link_target[link] >= appliances:
                continue
            there, either = link_target[link], False
            for other in range(link_count):
                if link_source[other] == here and link_target[other] == there:
                    either = either or find(passed, (other, sender, number)) >= 0
                elif link_source[other] == there and link_target[other] == here:
                    either = either or find(came, (other, sender, number)) >= 0
            if not either:
                return violated(1, here, number, field(came, slot, CAME_AT))
    return SILENT


HERE = (first_of_paths_wins,)
