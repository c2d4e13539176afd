"""Sessions, and deliveries over a client's connections: PS-QOS-GD, PS-SESSION, PS-PER-PUBLISHER, PS-PERSISTED."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ENDED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Outcome,
    PerNode,
    State,
    Table,
    TableState,
    check,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import field, find, put, room
from scatterproof.conformance.pubsub.knowledge import connection_of, crashes, is_kept, knowledge
from scatterproof.conformance.pubsub.owing import (
    BY_SESSION,
    BY_STORE,
    all_came,
    back_ns,
    does_bring,
    is_live,
    is_present,
    is_shared,
    is_sure,
    most_copies,
    sure_level,
)
from scatterproof.conformance.pubsub.records import (
    ACKNOWLEDGED,
    AT,
    CALLED_NS,
    CLIENT,
    FROM,
    GROUP,
    HIGHEST_AT,
    HIGHEST_NUMBER,
    LAST_AT,
    LAST_CONNECTION,
    LEVEL,
    LEVEL_GOT,
    NEVER,
    NUMBERED,
    OF_NUMBER,
    OF_SENDER,
    OK,
    OUTCOME,
    SURE_BEFORE,
    TO,
    TOPIC,
    DeliveredRow,
    Known,
)
from scatterproof.spec.trace import Kind, Order

DELIVERIES = (Kind.DELIVERED, Kind.ENDED)


@check(
    "PS-QOS-GD",
    kinds=(Kind.ENDED,),
    order=Order.LINK,
    ways=("{expected_node}, which was away, never gets message {found}, which a subscription of its session matches",),
    derived=(knowledge, crashes),
)
def disconnected_get_all(flags: int, known: Known, crash_ns: State) -> Outcome:
    return all_came(BY_SESSION, 0, flags, known, crash_ns[0])


@check(
    "PS-PERSISTED",
    kinds=(Kind.ENDED,),
    order=Order.LINK,
    ways=("{expected_node} never gets message {found}, and the broker was killed since its session has subscribed",),
    derived=(knowledge, crashes),
)
def stored_survives(flags: int, known: Known, crash_ns: State) -> Outcome:
    return all_came(BY_STORE, 0, flags, known, crash_ns[0])


@check(
    "PS-PER-PUBLISHER",
    kinds=(Kind.DELIVERED,),
    order=Order.LINK,
    ways=("{node} gets message {found} of {sender} behind message {expected} on one connection, topic and level",),
    derived=(knowledge,),
    passed=Table(4, 3),
)
def broker_keeps_order(got: DeliveredRow, known: Known, passed: TableState) -> Outcome:
    """A repeat on the same connection says nothing.

    passed: by client, publisher, topic and level: the highest number that came on the connection, its row, and the
    connection's number.
    """
    messages, deliveries = known.messages, known.deliveries
    one, before = find(messages, (got.sender, got.number)), find(deliveries, (got.node, got.sender, got.number))
    connection = connection_of(known.clients, got.node)
    if (
        one < 0
        or is_kept(messages, one, got.retain)
        or is_shared(got.node, got.topic, known)
        or (before >= 0 and field(deliveries, before, LAST_CONNECTION) == connection)
    ):
        return SILENT
    key = (got.node, got.sender, got.topic, got.level)
    top = find(passed, key)
    if top < 0 or field(passed, top, PASSED_ON) != connection:
        put(passed, key, (got.number, got.position, connection))
        return SILENT
    if field(passed, top, HIGHEST_NUMBER) < got.number:
        put(passed, key, (got.number, got.position, connection))
        return HOLDS
    if field(messages, one, OUTCOME) != OK:
        return SILENT
    return violated(0, field(passed, top, HIGHEST_NUMBER), got.number, field(passed, top, HIGHEST_AT))


PASSED_ON = 2


@check(
    "PS-SESSION",
    kinds=DELIVERIES,
    order=Order.LINK,
    ways=(
        "{node} gets message {found} of {sender}, published since it came back, ahead of {expected}, which waits",
        "{node} gets message {found} of {sender} again, which it had acknowledged on an earlier connection",
        "{node} gets message {found} of {sender} again on another connection, and it is not marked as a repeat",
        "{node} gets message {found} of {sender} again on another connection, at a level where it comes once",
        "{expected_node} never gets message {found} again, which it had not acknowledged when its connection ended",
    ),
    derived=(knowledge, crashes),
    reached=PerNode(0),
)
def waiting_come_first(
    kind: int, flags: int, got: DeliveredRow, known: Known, crash_ns: State, reached: State
) -> Outcome:
    """Where a client may get several copies of a message, nobody can tell which one has come, or comes again.

    reached: by client: all messages ahead of this one, in the order of the table, wait for it no more.
    """
    if kind == ENDED:
        return _came_again(flags, known, crash_ns[0])
    one, before = (
        find(known.messages, (got.sender, got.number)),
        find(known.deliveries, (got.node, got.sender, got.number)),
    )
    if one < 0 or is_kept(known.messages, one, got.retain):
        return SILENT
    if before >= 0:
        reached[got.node] = min(reached[got.node], one)
        if field(known.deliveries, before, LAST_CONNECTION) == connection_of(known.clients, got.node):
            return SILENT
        if crash_ns[0] >= field(known.messages, one, CALLED_NS):
            return SILENT
        if most_copies(got.node, one, known) > 1:
            return SILENT
        if field(known.deliveries, before, ACKNOWLEDGED) == 2:
            return violated(1, 0, got.number, field(known.deliveries, before, LAST_AT))
        if got.again != 1:
            return violated(2, 1, got.number, field(known.deliveries, before, LAST_AT))
        if got.level != 1 or field(known.deliveries, before, LEVEL_GOT) != 1:
            return violated(3, 1, got.number, field(known.deliveries, before, LAST_AT))
        return HOLDS
    if field(known.messages, one, CALLED_NS) <= back_ns(known.clients, got.node):
        return SILENT
    return _none_waits(got, one, known, crash_ns[0], reached)


@register_jitable
def _none_waits(got: DeliveredRow, one: int, known: Known, crash_ns: int, reached: State) -> Outcome:
    """Violated for the message published first of those that wait and should come ahead of this one; SILENT where none
    should."""
    messages, subscriptions, back = known.messages, known.subscriptions, back_ns(known.clients, got.node)
    at_stake = False
    for other in range(reached[got.node], room(messages)):
        if field(messages, other, CALLED_NS) >= back:
            break  # they are in the order in which they were published
        if _is_over(got.node, other, known):
            reached[got.node] += other == reached[got.node]
            continue
        if field(messages, other, OF_SENDER) != got.sender:
            continue
        if field(messages, other, TOPIC) != got.topic or field(messages, other, LEVEL) != field(messages, one, LEVEL):
            continue
        if crash_ns >= field(messages, other, CALLED_NS):
            continue
        for slot in range(room(subscriptions)):
            if field(subscriptions, slot, CLIENT) != got.node or got.level < 1:
                continue
            if sure_level(other, slot, known) != got.level:
                continue
            at_stake = True
            if _waits(got.node, other, known):
                return violated(0, field(messages, other, OF_NUMBER), got.number, field(messages, other, AT))
    return HOLDS if at_stake else SILENT


@register_jitable
def _is_over(node: int, one: int, known: Known) -> bool:
    """Whether the message did not wait for the client as it came back, and will not whenever it comes back again: it is
    never owed, or came on an earlier connection and was perhaps acknowledged, unless it comes once more."""
    messages, subscriptions, deliveries = known.messages, known.subscriptions, known.deliveries
    since_ns = field(messages, one, CALLED_NS)
    if not is_live(messages, one):
        return field(messages, one, OUTCOME) != 0
    before = find(deliveries, (node, field(messages, one, OF_SENDER), field(messages, one, OF_NUMBER)))
    if before >= 0:
        done = field(deliveries, before, ACKNOWLEDGED) > 0 or field(deliveries, before, LEVEL_GOT) != 1
        return done and field(deliveries, before, LAST_CONNECTION) < connection_of(known.clients, node)
    for slot in range(room(subscriptions)):
        if field(subscriptions, slot, CLIENT) != node or field(subscriptions, slot, GROUP) > 0:
            continue
        sure = is_sure(subscriptions, slot, since_ns) or NEVER < field(subscriptions, slot, SURE_BEFORE) < since_ns
        if sure and does_bring(slot, field(messages, one, TOPIC), known):
            return False
    return True


@register_jitable
def _waits(node: int, one: int, known: Known) -> bool:
    """Whether the client surely must still get the message, which is not over, on this connection."""
    deliveries = known.deliveries
    before = find(deliveries, (node, field(known.messages, one, OF_SENDER), field(known.messages, one, OF_NUMBER)))
    if before < 0:
        return True
    came = field(deliveries, before, LAST_CONNECTION) == connection_of(known.clients, node)
    return not came and most_copies(node, one, known) <= 1


@register_jitable
def _came_again(flags: int, known: Known, crash_ns: int) -> Outcome:
    """The outcome when the run has settled: violated for the first delivery that had to come again and did not. Of what
    came again its row says that the clause is at stake."""
    deliveries, messages, subscriptions = known.deliveries, known.messages, known.subscriptions
    for slot in range(room(deliveries) if settled(flags) else 0):
        if field(deliveries, slot, LEVEL_GOT) != 1 or field(deliveries, slot, ACKNOWLEDGED) > 0:
            continue
        client = field(deliveries, slot, TO)
        one = find(messages, (field(deliveries, slot, FROM), field(deliveries, slot, NUMBERED)))
        if not is_present(known.clients, client) or crash_ns >= field(messages, one, CALLED_NS):
            continue
        if most_copies(client, one, known) > 1:
            continue
        owed = False
        for other in range(room(subscriptions)):
            mine = field(subscriptions, other, CLIENT) == client
            owed = owed or (mine and sure_level(one, other, known) == 1)
        if owed and field(deliveries, slot, LAST_CONNECTION) != connection_of(known.clients, client):
            return violated(4, client, field(deliveries, slot, NUMBERED), field(deliveries, slot, LAST_AT))
    return SILENT


HERE = (disconnected_get_all, waiting_come_first, broker_keeps_order, stored_survives)
