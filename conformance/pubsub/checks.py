"""Who gets which message, in which order and at which level: PS-ROUTE, PS-ORDER, PS-QOS-LEVEL; which filters appliances
announce to each other: PS-COVER."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ENDED, SENT
from scatterproof.conformance.checks.step import (
    HOLDS,
    NO_WITNESS,
    SILENT,
    Ints,
    Outcome,
    PerLink,
    State,
    Table,
    TableState,
    check,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import change, field, find, is_less, put, remove, room, used
from scatterproof.conformance.pubsub.knowledge import connection_of, is_kept, is_new_to, knowledge
from scatterproof.conformance.pubsub.owing import (
    BY_ROUTE,
    all_came,
    back_ns,
    does_match,
    is_shared,
    is_sure,
    most_copies,
)
from scatterproof.conformance.pubsub.records import (
    AT,
    CALLED_NS,
    CLIENT,
    COPIES,
    DIGEST,
    DROP,
    FILTER,
    FIRST_AT,
    FOREVER,
    GROUP,
    HAS,
    HIGHEST,
    HIGHEST_AT,
    HIGHEST_NUMBER,
    LAST_CONNECTION,
    LEVEL,
    LOWEST,
    MAY_UNTIL,
    NEVER,
    OK,
    OUTCOME,
    REFUSED,
    SETTLED_NS,
    SEVERAL,
    TOPIC,
    WANT,
    Known,
)
from scatterproof.spec.trace import Kind, Order

DELIVERIES = (Kind.DELIVERED, Kind.ENDED)


@check(
    "PS-ROUTE",
    kinds=DELIVERIES,
    order=Order.LINK,
    ways=(
        "{node} gets message {found} of {sender}, which was not published so",
        "{node} gets message {found} of {sender} on topic {expected}, and no subscription of it that matches can have "
        "been in force since that was published",
        "{node} gets message {found} of {sender} again, and it is not marked as a repeat",
        "{expected_node} never gets message {found}, which a subscription in force matches",
    ),
    derived=(knowledge,),
)
def matching_get_one_copy(
    kind: int,
    node: int,
    sender: int,
    number: int,
    digest: int,
    flags: int,
    topic: int,
    again: int,
    retain: int,
    known: Known,
) -> Outcome:
    messages, deliveries = known.messages, known.deliveries
    if kind == ENDED:
        return all_came(BY_ROUTE, 3, flags, known, NEVER)
    one = find(messages, (sender, number))
    if one < 0 or field(messages, one, OUTCOME) == REFUSED:
        return violated(0, topic, number, NO_WITNESS)
    if field(messages, one, TOPIC) != topic or field(messages, one, DIGEST) != digest:
        return violated(0, topic, number, field(messages, one, AT))
    most = most_copies(node, one, known)
    if most == 0:
        return violated(1, topic, number, field(messages, one, AT))
    before = find(deliveries, (node, sender, number))
    # Repeats across a reconnection are PS-SESSION's.
    here = before >= 0 and field(deliveries, before, LAST_CONNECTION) == connection_of(known.clients, node)
    if here and again != 1 and not is_kept(messages, one, retain) and field(deliveries, before, COPIES) >= most:
        return violated(2, 0, number, field(deliveries, before, FIRST_AT))
    return HOLDS


@check(
    "PS-ORDER",
    kinds=(Kind.DELIVERED,),
    order=Order.LINK,
    ways=("{node} gets message {found} of {sender} behind message {expected} on the same topic at the same level",),
    derived=(knowledge,),
)
def delivered_in_sequence(
    node: int,
    sender: int,
    number: int,
    topic: int,
    level: int,
    retain: int,
    known: Known,
    latest: TableState,
) -> Outcome:
    """Only a publish that returned ok surely took effect before its client's next call. A repeat says nothing."""
    messages = known.messages
    one, top = find(messages, (sender, number)), find(latest, (node, sender, topic, level))
    if one < 0 or is_kept(messages, one, retain) or top < 0 or is_shared(node, topic, known):
        return SILENT
    if not is_new_to(known.deliveries, node, sender, number):
        return SILENT
    if field(latest, top, HIGHEST_NUMBER) > number and field(messages, one, OUTCOME) == OK:
        return violated(0, field(latest, top, HIGHEST_NUMBER), number, field(latest, top, HIGHEST_AT))
    return HOLDS


@check(
    "PS-QOS-LEVEL",
    kinds=(Kind.DELIVERED,),
    order=Order.LINK,
    ways=(
        "message {number} of {sender} comes at level {found}, and both sides can have asked for {expected} at the most",
        "message {number} of {sender} comes at level {found}, and both sides surely asked for {expected}",
        "message {number} of {sender} is marked as a repeat, and comes at level {found}, where nothing is repeated",
    ),
    derived=(knowledge,),
)
def lower_level_holds(
    node: int,
    sender: int,
    number: int,
    topic: int,
    level: int,
    again: int,
    filter_matches: Ints,
    filter_count: int,
    topic_count: int,
    messages: TableState,
    subscriptions: TableState,
    clients: TableState,
) -> Outcome:
    one = find(messages, (sender, number))
    if one < 0:
        return SILENT
    # A copy is of all plain subscriptions, or of one that is shared.
    may, most, since_ns = False, 0, field(messages, one, CALLED_NS)
    has_plain, plain, shared = False, 0, FOREVER
    for slot in range(room(subscriptions)):
        if field(subscriptions, slot, CLIENT) != node:
            continue
        if not does_match(field(subscriptions, slot, FILTER), topic, filter_matches, filter_count, topic_count):
            continue
        group = field(subscriptions, slot, GROUP)
        alone = field(subscriptions, slot, SETTLED_NS) < since_ns and group != SEVERAL
        if field(subscriptions, slot, MAY_UNTIL) < since_ns:
            continue
        highest, lowest = field(subscriptions, slot, HAS if alone else HIGHEST), 0
        may, most = True, max(most, highest) if may else highest
        if is_sure(subscriptions, slot, since_ns):
            lowest = max(lowest, field(subscriptions, slot, HAS if alone else LOWEST))
        if group > 0:
            shared = min(shared, lowest)
        else:
            has_plain, plain = True, max(plain, lowest)
    if not may:
        return SILENT
    published, least = field(messages, one, LEVEL), min(plain, shared) if has_plain else shared
    if level > min(published, most):
        return violated(0, min(published, most), level, field(messages, one, AT))
    if level < min(published, least):
        return violated(1, min(published, least), level, field(messages, one, AT))
    # A message of level 2 in flight when the connection ends is sent again, marked as a repeat, and delivered once.
    over_again = level == 2 and since_ns < back_ns(clients, node)
    if again == 1 and level != 1 and not over_again:
        return violated(2, 1, level, NO_WITNESS)
    return HOLDS


@check(
    "PS-COVER",
    kinds=(Kind.SENT, Kind.ENDED),
    order=Order.LINK,
    ways=("a neighbour is told of filter {found} and of filter {expected}, one of which covers the other",),
    told=Table(2, 5),
    heard=PerLink(0),
)
def covered_stays_home(
    position: int,
    kind: int,
    time_ns: int,
    link: int,
    packet: int,
    flags: int,
    filter: int,
    serial: int,
    filter_covers: Ints,
    filter_count: int,
    told: TableState,
    heard: State,
) -> Outcome:
    """Judge a filter when its link brings news at a later time, or when the run has settled: at one time, a filter may
    be announced ahead of the withdrawal of a filter that covers it, or that it covers.

    told: by link and filter, the filters announced and not withdrawn.
    heard: by link, the highest serial; packets at or below it are resends, and no news.
    """
    over = kind == ENDED and settled(flags)
    news = packet in (WANT, DROP) and 1 <= filter <= filter_count and serial > heard[link]
    if kind == SENT and not news:
        return SILENT
    found, wide, at_stake = -1, -1, False
    for slot in range(room(told)):
        due = used(told, slot) and field(told, slot, IS_JUDGED) == 0
        if (
            not due
            or not (over or field(told, slot, TOLD_NS) < time_ns)
            or (kind == SENT and field(told, slot, TOLD_LINK) != link)
        ):
            continue
        cover, others = _cover_of(slot, filter_covers, filter_count, told)
        at_stake = at_stake or others > 0
        if cover >= 0 and is_less(told, slot, found, TOLD_AT):
            found, wide = slot, cover
    for slot in range(room(told)):
        mine = used(told, slot) and field(told, slot, TOLD_LINK) == link
        if mine and field(told, slot, TOLD_NS) < time_ns:
            change(told, slot, IS_JUDGED, 1)
    outcome = HOLDS if at_stake else SILENT
    if found >= 0:
        expected, later = field(told, wide, TOLD_FILTER), field(told, found, TOLD_FILTER)
        outcome = violated(0, expected, later, field(told, found, TOLD_AT))
    if news:
        heard[link] = serial
        if packet == WANT:
            put(told, (link, filter), (link, filter, position, time_ns, 0))
        elif find(told, (link, filter)) >= 0:
            remove(told, find(told, (link, filter)))
    return outcome


# A filter announced on a link: link and filter, row, time in ns, and whether it was judged (1) or not (0).
TOLD_LINK, TOLD_FILTER, TOLD_AT, TOLD_NS, IS_JUDGED = range(5)


@register_jitable
def _cover_of(slot: int, filter_covers: Ints, filter_count: int, told: TableState) -> tuple[int, int]:
    """The slot of the first filter announced earlier on the same link that covers this one or is covered by it, or -1;
    and the number of all filters announced there earlier."""
    found, others = -1, 0
    for other in range(room(told)):
        if not used(told, other) or field(told, other, TOLD_LINK) != field(told, slot, TOLD_LINK):
            continue
        if field(told, other, TOLD_AT) >= field(told, slot, TOLD_AT):
            continue
        others += 1
        one, two = field(told, other, TOLD_FILTER) - 1, field(told, slot, TOLD_FILTER) - 1
        nested = filter_covers[one * filter_count + two] + filter_covers[two * filter_count + one]
        if nested > 0 and is_less(told, other, found, TOLD_AT):
            found = other
    return found, others


HERE = (matching_get_one_copy, delivered_in_sequence, lower_level_holds, covered_stays_home)
