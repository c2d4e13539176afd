"""Which messages a subscriber must get, and by which clause: PS-ROUTE where it stayed connected, PS-QOS-GD where it was
away in between, PS-EXPIRE where another message expired in its queue, PS-PERSISTED where the broker was killed."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.step import HOLDS, SILENT, Ints, Outcome, TableState, settled, violated
from scatterproof.conformance.checks.tables import field, find, room
from scatterproof.conformance.pubsub.knowledge import is_new_to
from scatterproof.conformance.pubsub.records import (
    AT,
    BACK_NS,
    CALLED_NS,
    CLIENT,
    EXPIRY_NS,
    FILTER,
    FOREVER,
    GROUP,
    HAS,
    LEVEL,
    LOWEST,
    MAY_UNTIL,
    NEVER,
    OF_NUMBER,
    OF_SENDER,
    OK,
    OUTCOME,
    PRESENT,
    RETAIN,
    SETTLED_NS,
    SEVERAL,
    SURE_FROM,
    TOPIC,
    Known,
)

BY_ROUTE, BY_SESSION, BY_EXPIRY, BY_STORE = range(4)


@register_jitable
def does_match(filter_: int, topic: int, filter_matches: Ints, filter_count: int, topic_count: int) -> bool:
    """Whether the filter matches the topic, by number from 1; False where either number names nothing."""
    if not (1 <= filter_ <= filter_count and 1 <= topic <= topic_count):
        return False
    return filter_matches[(filter_ - 1) * topic_count + topic - 1] == 1


@register_jitable
def does_bring(slot: int, topic: int, known: Known) -> bool:
    """Whether the subscription matches the topic."""
    filter_ = field(known.subscriptions, slot, FILTER)
    return does_match(filter_, topic, known.filter_matches, known.filter_count, known.topic_count)


@register_jitable
def is_sure(subscriptions: TableState, slot: int, since_ns: int) -> bool:
    """Whether the subscription has surely been in force since strictly below `since_ns`."""
    return NEVER < field(subscriptions, slot, SURE_FROM) < since_ns


@register_jitable
def back_ns(clients: TableState, node: int) -> int:
    """When the client's last connect returned ok, in ns; NEVER where it never connected."""
    own = find(clients, (node,))
    return NEVER if own < 0 else field(clients, own, BACK_NS)


@register_jitable
def is_present(clients: TableState, node: int) -> bool:
    own = find(clients, (node,))
    return own >= 0 and field(clients, own, PRESENT) == 1


@register_jitable
def is_shared(node: int, topic: int, known: Known) -> bool:
    """Whether a shared subscription of the client matches: the message may have gone to another member first."""
    subscriptions, found = known.subscriptions, False
    for slot in range(room(subscriptions)):
        if field(subscriptions, slot, CLIENT) == node:
            found = found or (field(subscriptions, slot, GROUP) > 0 and does_bring(slot, topic, known))
    return found


@register_jitable
def most_copies(node: int, one: int, known: Known) -> int:
    """How many copies of the message are the client's: one for all its plain subscriptions that match and may have been
    in force since the publish, and one for each such shared one (MQTT 5, section 4.8.2); FOREVER where one of these
    names several groups."""
    messages, subscriptions, plain, shared = known.messages, known.subscriptions, 0, 0
    for slot in range(room(subscriptions)):
        if field(subscriptions, slot, CLIENT) != node or not does_bring(slot, field(messages, one, TOPIC), known):
            continue
        if field(subscriptions, slot, MAY_UNTIL) < field(messages, one, CALLED_NS):
            continue
        if field(subscriptions, slot, GROUP) == SEVERAL:
            return FOREVER
        if field(subscriptions, slot, GROUP) > 0:
            shared += 1
        else:
            plain = 1
    return plain + shared


@register_jitable
def is_live(messages: TableState, one: int) -> bool:
    """Whether the message was surely published, never expires, and is not retained."""
    kept_or_expires = field(messages, one, RETAIN) > 0 or field(messages, one, EXPIRY_NS) > 0
    return field(messages, one, OUTCOME) == OK and not kept_or_expires


@register_jitable
def sure_level(one: int, slot: int, known: Known) -> int:
    """The lowest level at which the message must come for the subscription; -1 where it need not come.

    The subscription must match, not be shared, and have been in force before the publish. The message must be live:
    which copies are of a retained one, nobody could tell."""
    messages, subscriptions = known.messages, known.subscriptions
    since_ns = field(messages, one, CALLED_NS)
    is_plain = field(subscriptions, slot, GROUP) <= 0 and is_sure(subscriptions, slot, since_ns)
    if not (is_live(messages, one) and is_plain and does_bring(slot, field(messages, one, TOPIC), known)):
        return -1
    alone = field(subscriptions, slot, SETTLED_NS) < since_ns
    return min(field(messages, one, LEVEL), field(subscriptions, slot, HAS if alone else LOWEST))


@register_jitable
def is_expired(one: int, slot: int, known: Known) -> bool:
    """Whether a message that expires matches and never came."""
    messages, client = known.messages, field(known.subscriptions, slot, CLIENT)
    if field(messages, one, EXPIRY_NS) <= 0 or not does_bring(slot, field(messages, one, TOPIC), known):
        return False
    return is_new_to(known.deliveries, client, field(messages, one, OF_SENDER), field(messages, one, OF_NUMBER))


@register_jitable
def owed_by(one: int, slot: int, known: Known, crash_ns: int, behind_expired: bool) -> int:
    """The clause by which the message must have come for the subscription when the run has settled; -1 for none.
    behind_expired: whether one that expired was published ahead of it."""
    client, since_ns = field(known.subscriptions, slot, CLIENT), field(known.subscriptions, slot, SURE_FROM)
    if not is_present(known.clients, client) or sure_level(one, slot, known) < 1:
        return -1
    if since_ns >= back_ns(known.clients, client):
        return BY_ROUTE
    if crash_ns >= since_ns:
        return BY_STORE
    return BY_EXPIRY if behind_expired else BY_SESSION


@register_jitable
def all_came(clause: int, way: int, flags: int, known: Known, crash_ns: int) -> Outcome:
    """The outcome when the run has settled: violated for the message owed by this clause that never came and was
    published first, then by subscription; SILENT where nothing is owed."""
    messages, subscriptions = known.messages, known.subscriptions
    at_stake, first, owner = False, -1, -1
    for slot in range(room(subscriptions) if settled(flags) else 0):
        client, behind_expired = field(subscriptions, slot, CLIENT), False
        for one in range(room(messages)):
            sender, number = field(messages, one, OF_SENDER), field(messages, one, OF_NUMBER)
            if owed_by(one, slot, known, crash_ns, behind_expired) == clause:
                at_stake = True
                if (first < 0 or one < first) and is_new_to(known.deliveries, client, sender, number):
                    first, owner = one, client
            behind_expired = behind_expired or is_expired(one, slot, known)
    if first >= 0:
        return violated(way, owner, field(messages, first, OF_NUMBER), field(messages, first, AT))
    return HOLDS if at_stake else SILENT
