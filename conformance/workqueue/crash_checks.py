"""Crashes and lost answers: Q-CRASH-SEND, Q-CRASH-BOOT, Q-CRASH-DEAD, Q-DURABLE, Q-CALL-ONCE, Q-ANSWER."""

from __future__ import annotations

from scatterproof.conformance.checks.calls import Answering, check_of_answers, latest_answered
from scatterproof.conformance.checks.step import (
    HOLDS,
    NO_WITNESS,
    SILENT,
    Outcome,
    State,
    TableState,
    violated,
)
from scatterproof.conformance.checks.tables import field, find, room
from scatterproof.conformance.workqueue.checking import (
    check_of_returns,
    is_done_to_nothing,
)
from scatterproof.conformance.workqueue.records import (
    ABOUT_RECEIVERS_BEFORE,
    ABOUT_SENDERS_BEFORE,
    ABOUT_SERVER,
    BOOTED,
    BY_BOOT,
    BY_CLEANING,
    CLEAN,
    CLOSE,
    CLOSE_ASKED,
    CLOSED_NS,
    FREED,
    FREED_NS,
    HAND_AT,
    HAND_NS,
    HELD,
    HOLDER,
    HSERVER,
    KNOWN,
    NEVER,
    NEXT,
    OPEN,
    POP,
    POP_GROUP,
    READ,
    REMOVED_NS,
    SEND,
    TOKEN,
    UNLOCK,
    may_be_in,
)
from scatterproof.conformance.workqueue.releasing import is_miscounted, is_there, standing, undisturbed
from scatterproof.spec.trace import schema

REQUEST, ANSWER = schema("workqueue").packets["request"], schema("workqueue").packets["answer"]


@check_of_returns(
    "Q-CRASH-SEND",
    "a call about group {found} returns ok, which cleaning removed at {expected} ns",
    "group {found} is handed out, which cleaning removed at {expected} ns",
    "cleaning removes {found} groups; those locked for sending, and said to be dead, are {expected} at the most",
)
def incomplete_is_removed(
    node: int,
    done: int,
    begun_ns: int,
    about: int,
    group: int,
    removed: int,
    node_count: int,
    groups: TableState,
    clients: TableState,
    loose: State,
    stirred_ns: State,
) -> Outcome:
    if done == CLEAN:
        if not undisturbed(node, begun_ns, node_count, clients, loose, stirred_ns):
            return SILENT
        sending, _, definite = standing(groups)
        before_ns = field(clients, find(clients, (node,)), ABOUT_SENDERS_BEFORE)
        wrong = is_miscounted(removed, sending, definite, before_ns)
        return violated(2, sending if before_ns > 0 else 0, removed, -1) if wrong else HOLDS
    slot = find(groups, (group if done == NEXT else about,))
    if slot < 0 or field(groups, slot, REMOVED_NS) >= begun_ns:
        return SILENT
    if done == NEXT:
        return violated(1, field(groups, slot, REMOVED_NS), group, -1)
    return violated(0, field(groups, slot, REMOVED_NS), about, -1) if done != 0 else SILENT


@check_of_returns(
    "Q-CRASH-BOOT",
    "a call about group {found} returns ok, whose lock was released at {expected} ns when its receiver began anew",
    "no group is handed out, and group {expected} was ready, released when its receiver began anew",
    "group {found} is handed out half sent, after the receiver of its sender's server began anew",
    "{found} locks are released as a receiver begins anew, and {expected} were held for receiving under its server id",
)
def boot_frees_receive_locks(
    node: int,
    done: int,
    denied: int,
    begun_ns: int,
    about: int,
    group: int,
    released: int,
    ready: int,
    node_count: int,
    groups: TableState,
    clients: TableState,
    loose: State,
    stirred_ns: State,
) -> Outcome:
    if done == UNLOCK:
        if not undisturbed(node, begun_ns, node_count, clients, loose, stirred_ns) or not standing(groups)[2]:
            return SILENT
        held, server = 0, field(clients, find(clients, (node,)), ABOUT_SERVER)
        for slot in range(room(groups)):
            held += int(
                is_there(groups, slot) and field(groups, slot, HELD) > 0 and field(groups, slot, HSERVER) == server
            )
        return HOLDS if released == held else violated(3, held, released, -1)
    if done == NEXT:
        slot, better = find(groups, (group,)), find(groups, (ready,))
        if slot >= 0 and field(groups, slot, CLOSE_ASKED) == 0 and field(groups, slot, BOOTED) == 1:
            return violated(2, 0, group, -1)
        if group == 0 and better >= 0 and field(groups, better, FREED) == BY_BOOT:
            return violated(1, ready, 0, -1)
        return HOLDS if slot >= 0 and field(groups, slot, FREED) == BY_BOOT else SILENT
    slot = find(groups, (about,))
    if slot < 0 or field(groups, slot, FREED) != BY_BOOT or field(groups, slot, HOLDER) != node:
        return SILENT
    if field(groups, slot, FREED_NS) >= begun_ns:
        return SILENT
    if done in (READ, POP, POP_GROUP):
        return violated(0, field(groups, slot, FREED_NS), about, field(groups, slot, HAND_AT))
    return HOLDS if denied != 0 else SILENT


@check_of_returns(
    "Q-CRASH-DEAD",
    "a call with token {found} returns ok, and the group was handed out with token {expected} since",
    "a group is handed out with token {found}, and was locked with token {expected} before",
    "no group is handed out, and group {expected} was ready, released by cleaning",
    "cleaning releases {found} locks; those held for receiving, and said to be dead, are {expected} at the most",
)
def dead_holder_is_fenced(
    node: int,
    done: int,
    denied: int,
    begun_ns: int,
    about: int,
    about_token: int,
    group: int,
    token: int,
    released: int,
    ready: int,
    node_count: int,
    groups: TableState,
    clients: TableState,
    loose: State,
    stirred_ns: State,
) -> Outcome:
    if done == CLEAN:
        if not undisturbed(node, begun_ns, node_count, clients, loose, stirred_ns):
            return SILENT
        _, held, definite = standing(groups)
        before_ns = field(clients, find(clients, (node,)), ABOUT_RECEIVERS_BEFORE)
        wrong = is_miscounted(released, held, definite, before_ns)
        return violated(3, held if before_ns > 0 else 0, released, -1) if wrong else HOLDS
    if done == NEXT:
        slot, better = find(groups, (group,)), find(groups, (ready,))
        if group == 0 and better >= 0 and field(groups, better, FREED) == BY_CLEANING:
            return violated(2, ready, 0, -1)
        if slot < 0 or field(groups, slot, HAND_NS) >= begun_ns or field(groups, slot, KNOWN) == 0:
            return SILENT
        return HOLDS if token > field(groups, slot, TOKEN) else violated(1, field(groups, slot, TOKEN), token, -1)
    slot = find(groups, (about,))
    if slot < 0 or field(groups, slot, HAND_NS) >= begun_ns or about_token >= field(groups, slot, TOKEN):
        return SILENT
    if denied != 0:
        return HOLDS
    if done == 0:
        return SILENT
    return violated(0, field(groups, slot, TOKEN), about_token, field(groups, slot, HAND_AT))


@check_of_returns(
    "Q-DURABLE",
    "no group is handed out, and group {expected} was closed when the store crashed at {found} ns",
    "a call is refused after the store crashed at {found} ns, and nothing forbids it",
)
def acknowledged_is_kept(
    done: int, group: int, ready: int, groundless: int, groups: TableState, store_down_ns: State
) -> Outcome:
    """At stake once the store has crashed: in what is handed out, read, popped, sent or closed then."""
    down_ns = store_down_ns[0]
    if down_ns == NEVER:
        return SILENT
    if done == NEXT and group == 0:
        better = find(groups, (ready,))
        lost = better >= 0 and field(groups, better, CLOSED_NS) < down_ns
        return violated(0, ready, down_ns, -1) if lost else SILENT
    if groundless == 1:
        return violated(1, 0, down_ns, -1)
    return HOLDS if done in (NEXT, READ, POP, POP_GROUP, SEND, CLOSE) else SILENT


@check_of_returns(
    "Q-CALL-ONCE",
    "a call is refused, and nothing forbids it",
    "open_group returns group {found}, which was begun before",
    "open_group returns group {found} with token {expected}, and both count from 1",
    "a call about group {found} returns ok, which was not there, or not locked so, at any moment of it",
    "message {found} of group {expected} is popped, and was never sent to it",
)
def calls_take_effect_once(
    node: int,
    done: int,
    about: int,
    about_message: int,
    begun_ns: int,
    group: int,
    token: int,
    groundless: int,
    node_count: int,
    groups: TableState,
    gone: TableState,
    messages: TableState,
    clients: TableState,
    loose: State,
) -> Outcome:
    if groundless == 1:
        return violated(0, 0, 0, NO_WITNESS)
    if done == OPEN and (find(groups, (group,)) >= 0 or find(gone, (group,)) >= 0):
        return violated(1, 0, group, NO_WITNESS)
    if done == OPEN and (group < 1 or token < 1):
        return violated(2, token, group, NO_WITNESS)
    if is_done_to_nothing(node, done, begun_ns, about, node_count, groups, gone, clients, loose):
        return violated(3, 0, about, NO_WITNESS)
    slot = find(groups, (about,))
    known = done == POP and slot >= 0 and field(groups, slot, KNOWN) == 1
    if known and not may_be_in(about_message, node, slot, node_count, groups, clients, messages):
        return violated(4, about, about_message, NO_WITNESS)
    return HOLDS if done != 0 else SILENT


@check_of_answers("Q-ANSWER")
def latest_is_answered(row: Answering) -> Outcome:
    return latest_answered(row, REQUEST, ANSWER)
