"""What is known of messages, subscriptions and deliveries before a row, as the boxes of calls tell it.

A subscription is surely in force from the return of its subscribe to the call of its unsubscribe, and may be from the
call of the one to the return of the other. Of a call of unknown outcome it is never known again.
"""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import CALLED, DELIVERED, RETURNED
from scatterproof.conformance.checks.step import Bins, State, Table, TableState, derive
from scatterproof.conformance.checks.tables import change, field, find, put
from scatterproof.conformance.pubsub.records import (
    ABOUT,
    ABOUT_LEVEL,
    CLIENT_FIELDS,
    FOREVER,
    HAS,
    HIGHEST,
    HIGHEST_NUMBER,
    IN_CALL,
    LAST_FIELDS,
    LAST_KIND,
    LAST_LEVEL,
    LAST_NODE,
    LAST_NS,
    LAST_NUMBER,
    LAST_OUTCOME,
    LAST_POSITION,
    LAST_SENDER,
    LAST_TOPIC,
    LOOSE_IN,
    LOOSE_OUT,
    LOWEST,
    MAY_BEFORE,
    MAY_UNTIL,
    MESSAGE_FIELDS,
    NEVER,
    OK,
    OPERATION,
    OUTCOME,
    PUBLISH,
    REFUSED,
    SETTLED_NS,
    SUBSCRIBE,
    SUBSCRIPTION_FIELDS,
    SURE_FROM,
    UNKNOWN,
    UNSUBSCRIBE,
    Book,
)
from scatterproof.spec.trace import Kind

KINDS = (Kind.CALLED, Kind.RETURNED, Kind.DELIVERED, Kind.ENDED)


@register_jitable
def note_called(
    position: int, node: int, time_ns: int, call: int, operation: int, given: tuple[int, int, int, int], book: Book
) -> None:
    """given: topic, filter, level and digest."""
    messages, subscriptions, clients, _, _ = book
    topic, filter_, level, digest = given
    put(clients, (node,), (call, filter_, level, operation))
    if call == PUBLISH:
        put(messages, (node, operation), (node, operation, topic, level, digest, time_ns, 0, position))
    slot = find(subscriptions, (node, filter_))
    if call == SUBSCRIBE and slot < 0:
        fresh = (node, filter_, NEVER, FOREVER, NEVER, level, FOREVER, level, level, 0, 0)
        put(subscriptions, (node, filter_), fresh)
    elif call == SUBSCRIBE:
        change(subscriptions, slot, MAY_BEFORE, field(subscriptions, slot, MAY_UNTIL))
        change(subscriptions, slot, MAY_UNTIL, FOREVER)
        change(subscriptions, slot, SETTLED_NS, FOREVER)
        change(subscriptions, slot, LOWEST, min(level, field(subscriptions, slot, LOWEST)))
        change(subscriptions, slot, HIGHEST, max(level, field(subscriptions, slot, HIGHEST)))
    elif call == UNSUBSCRIBE and slot >= 0:
        change(subscriptions, slot, SURE_FROM, NEVER)


@register_jitable
def learn_returned(node: int, time_ns: int, outcome: int, book: Book) -> None:
    messages, subscriptions, clients, _, _ = book
    own = find(clients, (node,))
    if own < 0:
        return
    call, filter_ = field(clients, own, IN_CALL), field(clients, own, ABOUT)
    change(clients, own, IN_CALL, 0)
    if call == PUBLISH:
        change(messages, find(messages, (node, field(clients, own, OPERATION))), OUTCOME, outcome)
    slot = find(subscriptions, (node, filter_))
    if slot < 0 or call == PUBLISH:
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
    elif outcome == OK:
        change(subscriptions, slot, MAY_UNTIL, min(time_ns, field(subscriptions, slot, MAY_UNTIL)))
    if field(subscriptions, slot, LOOSE_IN) == 1:
        change(subscriptions, slot, MAY_UNTIL, FOREVER)
        change(subscriptions, slot, SETTLED_NS, FOREVER)


@register_jitable
def learn_delivered(node: int, position: int, name: tuple[int, int], topic: int, level: int, book: Book) -> None:
    """name: publisher and number."""
    messages, _, _, deliveries, latest = book
    sender, number = name
    if find(messages, (sender, number)) < 0 or find(deliveries, (node, sender, number)) >= 0:
        return
    put(deliveries, (node, sender, number), (position,))
    top = find(latest, (node, sender, topic, level))
    if top < 0 or field(latest, top, HIGHEST_NUMBER) < number:
        put(latest, (node, sender, topic, level), (number, position))


# messages, subscriptions, clients, deliveries, latest: as in `records`. last: the last row `delivered` or `returned`.
@derive(
    kinds=KINDS,
    messages=Table(2, MESSAGE_FIELDS),
    subscriptions=Table(2, SUBSCRIPTION_FIELDS),
    clients=Table(1, CLIENT_FIELDS),
    deliveries=Table(3, 1),
    latest=Table(4, 2),
    last=Bins(LAST_FIELDS),
)
def knowledge(
    position: int,
    kind: int,
    node: int,
    time_ns: int,
    sender: int,
    number: int,
    digest: int,
    call: int,
    operation: int,
    outcome: int,
    topic: int,
    filter: int,
    level: int,
    messages: TableState,
    subscriptions: TableState,
    clients: TableState,
    deliveries: TableState,
    latest: TableState,
    last: State,
) -> None:
    book = (messages, subscriptions, clients, deliveries, latest)
    if last[LAST_KIND] == DELIVERED:
        name = (last[LAST_SENDER], last[LAST_NUMBER])
        learn_delivered(last[LAST_NODE], last[LAST_POSITION], name, last[LAST_TOPIC], last[LAST_LEVEL], book)
    elif last[LAST_KIND] == RETURNED:
        learn_returned(last[LAST_NODE], last[LAST_NS], last[LAST_OUTCOME], book)
    last[LAST_KIND] = -1
    if kind == CALLED:
        note_called(position, node, time_ns, call, operation, (topic, filter, level, digest), book)
    elif kind in (DELIVERED, RETURNED):
        last[LAST_KIND], last[LAST_NODE], last[LAST_NS], last[LAST_POSITION] = kind, node, time_ns, position
        last[LAST_SENDER], last[LAST_NUMBER], last[LAST_TOPIC] = sender, number, topic
        last[LAST_LEVEL], last[LAST_OUTCOME] = level, outcome


@register_jitable
def is_new_to(deliveries: TableState, node: int, sender: int, number: int) -> bool:
    """Whether the client has not got the message yet."""
    return find(deliveries, (node, sender, number)) < 0
