"""What a group of subscribers gets, as a predicate over a whole trace as in `oracles`: PS-SHARED."""

from __future__ import annotations

from scatterproof.conformance.pubsub.oracles import LEAST, MOST, Box, Got, History, Subscription, look
from scatterproof.conformance.pubsub.session_oracles import acknowledged
from scatterproof.spec.core import Outcome
from scatterproof.spec.pubsub.messages import CallName
from scatterproof.spec.trace import Trace

Group = tuple[int, int]  # its number and filter


def one_member_gets_it(trace: Trace) -> set[int]:
    history = look(trace)
    broken = {got.row for got in history.got if _is_one_too_many(history, got)}
    end = history.settled_end()
    return broken if end is None or not _is_lost(history, end) else broken | {end}


def _group(history: History, client: int, publish: Box, row: int) -> Group | None:
    """The group of the subscription that alone can have brought the client the message; None where there is none."""
    found = [one for node, one in history.subscriptions(row, publish.given["topic"]) if node == client]
    may = [one for one in found if one.may_until() >= publish.ns]
    return (may[0].group, may[0].filter) if len(may) == 1 and 0 < may[0].group < MOST else None


def _is_one_too_many(history: History, got: Got) -> bool:
    """Whether another member acknowledged the message, has it at level 0, or has it and stays while this delivery is
    not marked as a repeat."""
    publish = history.of(got)
    if publish is None or history.is_kept(got):
        return False
    group = _group(history, got.client, publish, got.row)
    if group is None:
        return False
    for other in {one.client for one in history.got if one.client != got.client}:
        copies = history.copies(other, publish, got.row)
        if not copies or _group(history, other, publish, got.row) != group:
            continue
        last = copies[-1]
        if acknowledged(history, last, got.row) == 2 or last.told["level"] == 0:
            return True
        if got.told["again"] != 1 and _stays(history, last, got.row):
            return True
    return False


def _stays(history: History, got: Got, row: int) -> bool:
    now = history.sessions(got.client, row)
    return now.is_present and now.connection == history.sessions(got.client, got.row).connection


def _is_lost(history: History, end: int) -> bool:
    for publish in history.boxes:
        if publish.call is not CallName.PUBLISH or publish.end(end) is not Outcome.OK or publish.given["level"] < 1:
            continue
        if publish.given["retain"] > 0 or publish.given["expiry_ns"] > 0 or history.crash_ns(end) >= publish.ns:
            continue
        members = [(node, one) for node, one in history.subscriptions(end, publish.given["topic"]) if one.group > 0]
        for _, one in members:
            since = one.sure_from()
            if one.group == MOST or since is None or not LEAST < since < publish.ns:
                continue
            alike = [(node, other) for node, other in members if other.filter == one.filter]
            group = [(node, other) for node, other in alike if other.group in (one.group, MOST)]
            if any(_may_keep(history, node, other, end) for node, other in group):
                continue
            if not any(_has(history, node, publish, end) for node, _ in group):
                return True
    return False


def _may_keep(history: History, client: int, one: Subscription, end: int) -> bool:
    """Whether the member may have asked for level 0, or the message may wait in its session while it is away."""
    if one.levels(LEAST)[0] < 1:
        return True
    sessions = history.sessions(client, end)
    return not sessions.is_present and sessions.lasts is not False and one.may_until() == MOST


def _has(history: History, client: int, publish: Box, end: int) -> bool:
    """Whether the client has the message, and did not leave without acknowledging it."""
    copies = history.copies(client, publish, end)
    if not copies:
        return False
    last = copies[-1]
    return acknowledged(history, last, end) > 0 or last.told["level"] != 1 or _stays(history, last, end)


ORACLES = {"one_member_gets_it": one_member_gets_it}
