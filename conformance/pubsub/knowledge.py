"""What calls and deliveries before a row show about messages, subscriptions, sessions and deliveries.

A subscription is surely in force from the return of its subscribe to the call of its unsubscribe. It may be in force
from the call of its subscribe to the return of its unsubscribe. After a subscribe of unknown outcome it always may be;
after such an unsubscribe it never surely is; an unsubscribe that is refused ends nothing. A call in which its client
crashes is of unknown outcome. Where a session does not outlive its connection, its subscriptions are surely in force
until the call that ends the connection, and may be until the next connect returns.
"""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import CALLED, CRASHED, DELIVERED, RETURNED
from scatterproof.conformance.checks.step import Bins, Cell, State, Table, TableState, derive
from scatterproof.conformance.checks.tables import change, field, find, put, room
from scatterproof.conformance.pubsub.records import (
    ABOUT,
    ABOUT_LEVEL,
    ACKNOWLEDGE,
    ACKNOWLEDGED,
    AWAY_BEFORE,
    AWAY_NS,
    BACK_NS,
    CLIENT,
    CLIENT_FIELDS,
    CONNECT,
    CONNECT_NS,
    CONNECTION,
    COPIES,
    DELIVERY_FIELDS,
    DISCONNECT,
    FIRST_AT,
    FOREVER,
    FRESH_CLIENT,
    GROUP,
    HAS,
    HIGHEST,
    HIGHEST_NUMBER,
    IN_CALL,
    KEPT,
    LAST_AGAIN,
    LAST_CONNECTION,
    LAST_FIELDS,
    LAST_KIND,
    LAST_LEVEL,
    LAST_NODE,
    LAST_NS,
    LAST_NUMBER,
    LAST_OUTCOME,
    LAST_POSITION,
    LAST_RETAIN,
    LAST_SENDER,
    LAST_TOPIC,
    LASTS,
    LOOSE_IN,
    LOOSE_OUT,
    LOWEST,
    MAY_BEFORE,
    MAY_UNTIL,
    MESSAGE_FIELDS,
    NEVER,
    OK,
    OPEN_FROM,
    OPERATION,
    OUTCOME,
    PRESENT,
    PUBLISH,
    REFUSED,
    RETAIN,
    RETURNED_NS,
    SETTLED_NS,
    SEVERAL,
    SUBSCRIBE,
    SUBSCRIPTION_FIELDS,
    SURE_BEFORE,
    SURE_FROM,
    TO,
    UNKNOWN,
    UNSUBSCRIBE,
    Book,
)
from scatterproof.spec.trace import Kind

KINDS = (Kind.CALLED, Kind.RETURNED, Kind.DELIVERED, Kind.CRASHED, Kind.ENDED)


@register_jitable
def note_called(
    position: int,
    node: int,
    time_ns: int,
    call: int,
    operation: int,
    given: tuple[int, int, int, int, int, int, int, int],
    book: Book,
) -> None:
    """Record a call in the tables. given: topic, filter, level, digest, session, retain, group and expiry_ns."""
    messages, subscriptions, clients, deliveries, _ = book
    topic, filter_, level, digest, session, retain, group, expiry_ns = given
    if find(clients, (node,)) < 0:
        put(clients, (node,), (0, 0, 0, 0, *FRESH_CLIENT))
    own = find(clients, (node,))
    change(clients, own, IN_CALL, call)
    change(clients, own, ABOUT, session if call == CONNECT else filter_)
    change(clients, own, ABOUT_LEVEL, level)
    change(clients, own, OPERATION, operation)
    if call == PUBLISH:
        told = (node, operation, topic, level, digest, time_ns, 0, position, retain, expiry_ns, FOREVER)
        put(messages, (node, operation), told)
    slot = find(subscriptions, (node, filter_))
    if call == SUBSCRIBE and (slot < 0 or field(subscriptions, slot, HIGHEST) == NEVER):
        loose_out = 0 if slot < 0 else field(subscriptions, slot, LOOSE_OUT)
        fresh = (node, filter_, NEVER, FOREVER, NEVER, NEVER, level, FOREVER, level, level, 0, loose_out, group)
        put(subscriptions, (node, filter_), fresh)
    elif call == SUBSCRIBE:
        change(subscriptions, slot, MAY_BEFORE, field(subscriptions, slot, MAY_UNTIL))
        change(subscriptions, slot, MAY_UNTIL, FOREVER)
        change(subscriptions, slot, SETTLED_NS, FOREVER)
        change(subscriptions, slot, LOWEST, min(level, field(subscriptions, slot, LOWEST)))
        change(subscriptions, slot, HIGHEST, max(level, field(subscriptions, slot, HIGHEST)))
        if field(subscriptions, slot, GROUP) != group:
            change(subscriptions, slot, GROUP, SEVERAL)
    elif call == UNSUBSCRIBE and slot < 0:
        # Where its outcome is unknown it may end a subscription that is yet to come.
        none = (node, filter_, NEVER, NEVER, NEVER, NEVER, NEVER, FOREVER, NEVER, NEVER, 0, 0, 0)
        put(subscriptions, (node, filter_), none)
    elif call == UNSUBSCRIBE:
        change(subscriptions, slot, SURE_BEFORE, field(subscriptions, slot, SURE_FROM))
        change(subscriptions, slot, SURE_FROM, NEVER)
    elif call == ACKNOWLEDGE:
        acknowledge(node, own, 1, clients, deliveries)
    elif call in (CONNECT, DISCONNECT):
        change(clients, own, PRESENT, 0)
        if call == CONNECT:
            change(clients, own, CONNECTION, field(clients, own, CONNECTION) + 1)
            change(clients, own, AWAY_BEFORE, field(clients, own, AWAY_NS))
            change(clients, own, AWAY_NS, FOREVER)
            change(clients, own, CONNECT_NS, time_ns)
            change(clients, own, OPEN_FROM, room(deliveries))
        if field(clients, own, LASTS) != 1 or (call == CONNECT and session != 1):
            end_session(node, NEVER, subscriptions)


@register_jitable
def end_session(node: int, until_ns: int, subscriptions: TableState) -> None:
    """End the client's subscriptions. until_ns: NEVER: none is sure any more; else none may be in force after it."""
    for slot in range(room(subscriptions)):
        if field(subscriptions, slot, CLIENT) == node:
            if until_ns == NEVER:
                change(subscriptions, slot, SURE_FROM, NEVER)
            elif field(subscriptions, slot, LOOSE_IN) == 0:
                change(subscriptions, slot, MAY_UNTIL, min(until_ns, field(subscriptions, slot, MAY_UNTIL)))


@register_jitable
def acknowledge(node: int, own: int, how: int, clients: TableState, deliveries: TableState) -> None:
    """Mark the deliveries on the client's connection. own: its slot. how: 1 for the call, after which they may be
    acknowledged; 2 for its return ok, after which they surely are. What is acknowledged is not looked at again: a run
    has many deliveries."""
    first = room(deliveries)
    for slot in range(field(clients, own, OPEN_FROM), room(deliveries)):
        is_own = field(deliveries, slot, TO) == node
        if not is_own or field(deliveries, slot, LAST_CONNECTION) != field(clients, own, CONNECTION):
            continue
        if field(deliveries, slot, ACKNOWLEDGED) == how - 1:
            change(deliveries, slot, ACKNOWLEDGED, how)
        if field(deliveries, slot, ACKNOWLEDGED) < 2:
            first = min(first, slot)
    change(clients, own, OPEN_FROM, first)


@register_jitable
def learn_connected(node: int, own: int, time_ns: int, outcome: int, book: Book) -> None:
    _, subscriptions, clients, _, _ = book
    asked = field(clients, own, ABOUT)
    ends = field(clients, own, LASTS) == 0 or asked != 1
    if outcome == OK:
        change(clients, own, PRESENT, 1)
        change(clients, own, BACK_NS, time_ns)
        if ends:
            end_session(node, time_ns, subscriptions)
    elif ends and outcome == UNKNOWN:
        for slot in range(room(subscriptions)):
            if field(subscriptions, slot, CLIENT) == node:
                change(subscriptions, slot, LOOSE_OUT, 1)
    if outcome == OK:
        change(clients, own, LASTS, 1 if asked == 1 else 0)
    elif asked != 1 and field(clients, own, LASTS) == 1:
        change(clients, own, LASTS, 2)


@register_jitable
def learn_returned(node: int, time_ns: int, outcome: int, book: Book) -> None:
    messages, subscriptions, clients, deliveries, _ = book
    own = find(clients, (node,))
    if own < 0:
        return
    call, filter_ = field(clients, own, IN_CALL), field(clients, own, ABOUT)
    change(clients, own, IN_CALL, 0)
    if call == PUBLISH:
        one = find(messages, (node, field(clients, own, OPERATION)))
        change(messages, one, OUTCOME, outcome)
        change(messages, one, RETURNED_NS, time_ns)
    elif call == CONNECT:
        learn_connected(node, own, time_ns, outcome, book)
    elif call == DISCONNECT and outcome == OK:
        change(clients, own, AWAY_NS, min(time_ns, field(clients, own, AWAY_NS)))
    elif call == ACKNOWLEDGE and outcome == OK:
        acknowledge(node, own, 2, clients, deliveries)
    slot = find(subscriptions, (node, filter_))
    if slot < 0 or call not in (SUBSCRIBE, UNSUBSCRIBE):
        return
    sure = field(subscriptions, slot, SURE_FROM) != NEVER
    if outcome == UNKNOWN:
        change(subscriptions, slot, LOOSE_IN if call == SUBSCRIBE else LOOSE_OUT, 1)
    elif call == SUBSCRIBE:
        change(subscriptions, slot, SETTLED_NS, time_ns)
        if outcome == OK:
            change(subscriptions, slot, HAS, field(clients, own, ABOUT_LEVEL))
        if outcome == OK and not sure and field(subscriptions, slot, LOOSE_OUT) == 0:
            change(subscriptions, slot, SURE_FROM, time_ns)
        elif outcome == REFUSED:
            change(subscriptions, slot, MAY_UNTIL, field(subscriptions, slot, MAY_BEFORE))
    elif outcome == REFUSED:
        change(subscriptions, slot, SURE_FROM, field(subscriptions, slot, SURE_BEFORE))
    elif field(subscriptions, slot, GROUP) != SEVERAL:  # otherwise nobody can tell which of them it ends
        change(subscriptions, slot, MAY_UNTIL, min(time_ns, field(subscriptions, slot, MAY_UNTIL)))
    if field(subscriptions, slot, LOOSE_IN) == 1:
        change(subscriptions, slot, MAY_UNTIL, FOREVER)
        change(subscriptions, slot, SETTLED_NS, FOREVER)
    if call == UNSUBSCRIBE:
        change(subscriptions, slot, SURE_BEFORE, NEVER)


@register_jitable
def is_kept(messages: TableState, one: int, retain: int) -> bool:
    """Whether a delivery is of a retained message: it is marked so, and the message was published to be kept."""
    return retain == 1 and field(messages, one, RETAIN) == KEPT


@register_jitable
def connection_of(clients: TableState, node: int) -> int:
    own = find(clients, (node,))
    return 0 if own < 0 else field(clients, own, CONNECTION)


@register_jitable
def learn_delivered(
    node: int, position: int, name: tuple[int, int], topic: int, level: int, again: int, book: Book
) -> None:
    """Record a delivery in the tables. name: publisher and number of the message."""
    _, _, clients, deliveries, latest = book
    sender, number = name
    connection, before = connection_of(clients, node), find(deliveries, (node, sender, number))
    first_at, copies = position if before < 0 else field(deliveries, before, FIRST_AT), 1
    if before >= 0 and field(deliveries, before, LAST_CONNECTION) == connection:
        copies = field(deliveries, before, COPIES) + (0 if again == 1 else 1)
    put(deliveries, (node, sender, number), (node, sender, number, first_at, position, connection, level, 0, copies))
    if before >= 0:
        own = find(clients, (node,))
        if own >= 0:
            change(clients, own, OPEN_FROM, min(before, field(clients, own, OPEN_FROM)))
        return
    top = find(latest, (node, sender, topic, level))
    if top < 0 or field(latest, top, HIGHEST_NUMBER) < number:
        put(latest, (node, sender, topic, level), (number, position))


# messages, subscriptions, clients, deliveries, latest: as in `records`. last: the last row `delivered` or `returned`.
# Deliveries of retained messages are not in `deliveries`: a client may get them besides the message itself.
@derive(
    kinds=KINDS,
    messages=Table(2, MESSAGE_FIELDS),
    subscriptions=Table(2, SUBSCRIPTION_FIELDS),
    clients=Table(1, CLIENT_FIELDS),
    deliveries=Table(3, DELIVERY_FIELDS),
    latest=Table(4, 2),
    last=Bins(LAST_FIELDS),
)
def knowledge(
    position: int,
    kind: int,
    node: int,
    time_ns: int,
    link: int,
    sender: int,
    number: int,
    digest: int,
    call: int,
    operation: int,
    outcome: int,
    topic: int,
    filter: int,
    level: int,
    again: int,
    session: int,
    retain: int,
    group: int,
    expiry_ns: int,
    messages: TableState,
    subscriptions: TableState,
    clients: TableState,
    deliveries: TableState,
    latest: TableState,
    last: State,
) -> None:
    book = (messages, subscriptions, clients, deliveries, latest)
    one = find(messages, (last[LAST_SENDER], last[LAST_NUMBER]))
    if last[LAST_KIND] == DELIVERED and one >= 0 and not is_kept(messages, one, last[LAST_RETAIN]):
        name = (last[LAST_SENDER], last[LAST_NUMBER])
        learn_delivered(
            last[LAST_NODE], last[LAST_POSITION], name, last[LAST_TOPIC], last[LAST_LEVEL], last[LAST_AGAIN], book
        )
    elif last[LAST_KIND] == RETURNED:
        learn_returned(last[LAST_NODE], last[LAST_NS], last[LAST_OUTCOME], book)
    if kind == CALLED:
        given = (topic, filter, level, digest, session, retain, group, expiry_ns)
        note_called(position, node, time_ns, call, operation, given, book)
    last[LAST_KIND], last[LAST_NODE], last[LAST_NS], last[LAST_POSITION] = kind, node, time_ns, position
    last[LAST_SENDER], last[LAST_NUMBER], last[LAST_TOPIC] = sender, number, topic
    last[LAST_LEVEL], last[LAST_OUTCOME], last[LAST_RETAIN], last[LAST_AGAIN] = level, outcome, retain, again
    if kind == CRASHED and link < 0:  # otherwise a link was cut
        last[LAST_KIND], last[LAST_OUTCOME] = RETURNED, UNKNOWN


@derive(kinds=(Kind.CRASHED,), crash_ns=Cell(NEVER))
def crashes(time_ns: int, node: int, link: int, appliances: int, crash_ns: State) -> None:
    """crash_ns: when a broker was killed last, NEVER before the first time."""
    if link < 0 and node < appliances:
        crash_ns[0] = time_ns


@register_jitable
def is_new_to(deliveries: TableState, node: int, sender: int, number: int) -> bool:
    """Whether the client has not got the message yet."""
    return find(deliveries, (node, sender, number)) < 0
