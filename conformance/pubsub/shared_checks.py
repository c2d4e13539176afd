"""What the members of a shared subscription's group get: PS-SHARED."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ENDED
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Outcome,
    State,
    check,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import field, find, room
from scatterproof.conformance.pubsub.knowledge import connection_of, crashes, is_kept, knowledge
from scatterproof.conformance.pubsub.owing import does_bring, is_live, is_present, is_sure
from scatterproof.conformance.pubsub.records import (
    ACKNOWLEDGED,
    AT,
    CALLED_NS,
    CLIENT,
    FILTER,
    FIRST_AT,
    FOREVER,
    GROUP,
    LAST_CONNECTION,
    LASTS,
    LEVEL,
    LEVEL_GOT,
    LOWEST,
    MAY_UNTIL,
    OF_NUMBER,
    OF_SENDER,
    SEVERAL,
    TO,
    TOPIC,
    DeliveredRow,
    Known,
)
from scatterproof.spec.trace import Kind, Order


@check(
    "PS-SHARED",
    kinds=(Kind.DELIVERED, Kind.ENDED),
    order=Order.LINK,
    ways=(
        "{node} gets message {found} of {sender}, which {expected_node}, of the same group, has",
        "of the group of {expected_node} no member has message {found} that stays, or has acknowledged it",
    ),
    derived=(knowledge, crashes),
)
def one_member_gets_it(kind: int, flags: int, got: DeliveredRow, known: Known, crash_ns: State) -> Outcome:
    """Judge a client only where a single subscription may have brought it the message, and that one is shared."""
    if kind == ENDED:
        return _all_came(flags, known, crash_ns[0])
    one, deliveries = find(known.messages, (got.sender, got.number)), known.deliveries
    if one < 0 or is_kept(known.messages, one, got.retain):
        return SILENT
    mine = _alone(got.node, one, known)
    if mine < 0:
        return SILENT
    first = -1
    for its in range(room(known.subscriptions)):
        member = field(known.subscriptions, its, CLIENT)
        if member == got.node or not _is_one_group(its, mine, known) or _alone(member, one, known) != its:
            continue
        slot = find(deliveries, (member, got.sender, got.number))
        if slot < 0 or 0 <= first < slot:
            continue
        done = field(deliveries, slot, ACKNOWLEDGED) == 2 or field(deliveries, slot, LEVEL_GOT) == 0
        if done or (_stays(slot, known) and got.again != 1):
            first = slot
    if first >= 0:
        return violated(0, field(deliveries, first, TO), got.number, field(deliveries, first, FIRST_AT))
    return HOLDS


@register_jitable
def _alone(node: int, one: int, known: Known) -> int:
    """The shared subscription of the client that alone may have brought it the message, or -1."""
    subscriptions, found, count = known.subscriptions, -1, 0
    for slot in range(room(subscriptions)):
        if field(subscriptions, slot, CLIENT) != node:
            continue
        if not does_bring(slot, field(known.messages, one, TOPIC), known):
            continue
        if field(subscriptions, slot, MAY_UNTIL) >= field(known.messages, one, CALLED_NS):
            found, count = slot, count + 1
    return found if count == 1 and 0 < field(subscriptions, found, GROUP) < SEVERAL else -1


@register_jitable
def _is_one_group(slot: int, other: int, known: Known) -> bool:
    """Whether the other subscription is, or may be, of this one's group."""
    subscriptions, group = known.subscriptions, field(known.subscriptions, other, GROUP)
    same = field(subscriptions, slot, FILTER) == field(subscriptions, other, FILTER)
    return same and (group == field(subscriptions, slot, GROUP) or group == SEVERAL)


@register_jitable
def _stays(slot: int, known: Known) -> bool:
    """Whether the client is still on the connection on which the delivery came."""
    client = field(known.deliveries, slot, TO)
    return is_present(known.clients, client) and field(known.deliveries, slot, LAST_CONNECTION) == connection_of(
        known.clients, client
    )


@register_jitable
def _all_came(flags: int, known: Known, crash_ns: int) -> Outcome:
    """The outcome when the run has settled: violated for the message that no member has and was published first, then
    by subscription; SILENT where none is owed."""
    messages, subscriptions = known.messages, known.subscriptions
    at_stake = False
    for one in range(room(messages) if settled(flags) else 0):
        for slot in range(room(subscriptions)):
            if not _is_owed(one, slot, known, crash_ns):
                continue
            at_stake, member = True, field(subscriptions, slot, CLIENT)
            if not _has_one(one, slot, known):
                return violated(1, member, field(messages, one, OF_NUMBER), field(messages, one, AT))
    return HOLDS if at_stake else SILENT


@register_jitable
def _is_owed(one: int, slot: int, known: Known, crash_ns: int) -> bool:
    """Whether a member of the subscription's group must have the message: the subscription is surely in force, no
    member asked for level 0, and no member with a lasting session is away, in which the message may wait."""
    messages, subscriptions, clients = known.messages, known.subscriptions, known.clients
    since_ns = field(messages, one, CALLED_NS)
    if not is_live(messages, one) or field(messages, one, LEVEL) < 1 or crash_ns >= since_ns:
        return False
    if not 0 < field(subscriptions, slot, GROUP) < SEVERAL or not is_sure(subscriptions, slot, since_ns):
        return False
    if not does_bring(slot, field(messages, one, TOPIC), known):
        return False
    for other in range(room(subscriptions)):
        if not _is_one_group(slot, other, known):
            continue
        own, node = find(clients, (field(subscriptions, other, CLIENT),)), field(subscriptions, other, CLIENT)
        waits = not is_present(clients, node) and field(clients, own, LASTS) > 0
        if field(subscriptions, other, LOWEST) < 1 or (waits and field(subscriptions, other, MAY_UNTIL) == FOREVER):
            return False
    return True


@register_jitable
def _has_one(one: int, slot: int, known: Known) -> bool:
    """Whether a member has the message, and did not leave without acknowledging it."""
    deliveries, subscriptions = known.deliveries, known.subscriptions
    for other in range(room(subscriptions)):
        if not _is_one_group(slot, other, known):
            continue
        name = (field(known.messages, one, OF_SENDER), field(known.messages, one, OF_NUMBER))
        before = find(deliveries, (field(subscriptions, other, CLIENT), *name))
        if before < 0:
            continue
        if field(deliveries, before, ACKNOWLEDGED) > 0 or field(deliveries, before, LEVEL_GOT) != 1:
            return True
        if _stays(before, known):
            return True
    return False


HERE = (one_member_gets_it,)
