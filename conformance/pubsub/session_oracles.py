"""The clauses about sessions as predicates over a whole trace, as in `oracles`: PS-QOS-GD, PS-SESSION,
PS-PER-PUBLISHER, PS-PERSISTED."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from scatterproof.conformance.pubsub.oracles import Box, Got, History, look, of_its_own
from scatterproof.spec.core import Outcome
from scatterproof.spec.pubsub.messages import CallName
from scatterproof.spec.trace import Trace


class Why(Enum):
    """Why a message may be lost: its client was away, the broker was killed, or another message expired ahead of it."""

    AWAY = "away"
    KILLED = "killed"
    EXPIRED = "expired"


def missing(trace: Trace, why: Why) -> set[int]:
    """The position of the end, where a message never came to a session older than its client's last connection."""
    history = look(trace)
    end = history.settled_end()
    if end is None:
        return set()
    for publish, client, one in history.owed(end):
        since = one.sure_from()
        assert since is not None
        if since >= history.sessions(client, end).back_ns:
            continue
        killed = history.crash_ns(end) >= since
        expired = _expired_ahead(history, publish, client, one.filter, end)
        found = Why.KILLED if killed else Why.EXPIRED if expired else Why.AWAY
        if why is found and not history.came_before(client, publish, end):
            return {end}
    return set()


def _expired_ahead(history: History, publish: Box, client: int, filter_: int, end: int) -> bool:
    return any(
        box.call is CallName.PUBLISH
        and box.row < publish.row
        and box.given["expiry_ns"] > 0
        and history.matches(filter_, box.given["topic"])
        and not history.came_before(client, box, end)
        for box in history.boxes
    )


def disconnected_get_all(trace: Trace) -> set[int]:
    return missing(trace, Why.AWAY)


def stored_survives(trace: Trace) -> set[int]:
    return missing(trace, Why.KILLED)


def broker_keeps_order(trace: Trace) -> set[int]:
    history = look(trace)
    return {got.row for got in history.got if _is_behind(history, got)}


def _is_behind(history: History, got: Got) -> bool:
    """Whether a later message of its publisher, topic and level came ahead of it on this connection."""
    publish = history.of(got)
    if (
        history.is_shared(got)
        or publish is None
        or publish.end(got.row) is not Outcome.OK
        or _is_no_first(history, got)
    ):
        return False
    return any(
        other.told["number"] > got.told["number"] and not _is_no_first(history, other)
        for other in _on_connection(history, got)
        if all(other.told[a] == got.told[a] for a in ("sender", "topic", "level"))
    )


def _on_connection(history: History, got: Got) -> Iterator[Got]:
    """The deliveries ahead of it on its connection."""
    connection = history.sessions(got.client, got.row).connection
    for other in history.got:
        mine = other.client == got.client and other.row < got.row
        if mine and history.sessions(got.client, other.row).connection == connection:
            yield other


def _is_no_first(history: History, got: Got) -> bool:
    """Whether it is of a retained message, or not the first copy on its connection."""
    publish, connection = history.of(got), history.sessions(got.client, got.row).connection
    if publish is None or history.is_kept(got):
        return True
    before = history.copies(got.client, publish, got.row)
    return bool(before) and history.sessions(got.client, before[-1].row).connection == connection


def waiting_come_first(trace: Trace) -> set[int]:
    history = look(trace)
    broken = {got.row for got in history.got if _is_odd(history, got)}
    end = history.settled_end()
    return broken if end is None or not _is_not_again(history, end) else broken | {end}


def _is_odd(history: History, got: Got) -> bool:
    publish, sessions = history.of(got), history.sessions(got.client, got.row)
    if publish is None or history.is_kept(got):
        return False
    before = history.copies(got.client, publish, got.row)
    if not before:
        return publish.ns > sessions.back_ns and _is_ahead(history, got, publish)
    if history.sessions(got.client, before[-1].row).connection == sessions.connection:
        return False
    if history.crash_ns(got.row) >= publish.ns or _has_several(history, got.client, publish, got.row):
        return False
    at_level_1 = got.told["level"] == before[-1].told["level"] == 1
    return acknowledged(history, before[-1], got.row) == 2 or got.told["again"] != 1 or not at_level_1


def _has_several(history: History, client: int, publish: Box, row: int) -> bool:
    """Whether several copies may be the client's: which of them came, and was acknowledged, nobody can tell."""
    return of_its_own(history.in_force(client, publish.given["topic"], publish.ns, row)) > 1


def acknowledged(history: History, got: Got, row: int) -> int:
    """Whether the client acknowledged the delivery on its connection before this row: 2 surely, 1 perhaps, 0 surely
    not."""
    connection = history.sessions(got.client, got.row).connection
    made = [
        box
        for box in history.boxes
        if box.client == got.client and box.call is CallName.ACKNOWLEDGE and got.row < box.row < row
        if history.sessions(got.client, box.row).connection == connection
    ]
    return 2 if any(box.end(row) is Outcome.OK for box in made) else int(bool(made))


def _is_ahead(history: History, got: Got, publish: Box) -> bool:
    """Whether a message waits that its publisher sent before the client came back, on the same topic and level."""
    sessions, row, level = history.sessions(got.client, got.row), got.row, got.told["level"]
    for other in history.boxes:
        if other.call is not CallName.PUBLISH or other.client != publish.client or level < 1:
            continue
        alike = other.given["topic"] == got.told["topic"] and other.given["level"] == publish.given["level"]
        if not alike or other.ns >= sessions.back_ns or history.crash_ns(row) >= other.ns:
            continue
        mine = [one for client, one in history.subscriptions(row, other.given["topic"]) if client == got.client]
        if not any(history.sure_level(other, one, row) == level for one in mine):
            continue
        before = history.copies(got.client, other, row)
        if not before or _is_to_come_again(history, before[-1], other, row):
            return True
    return False


def _is_to_come_again(history: History, got: Got, publish: Box, row: int) -> bool:
    """Whether its last copy came at level 1 on an earlier connection, and was surely not acknowledged there."""
    if _has_several(history, got.client, publish, row):
        return False
    ended = history.sessions(got.client, got.row).connection < history.sessions(got.client, row).connection
    return ended and got.told["level"] == 1 and acknowledged(history, got, row) == 0


def _is_not_again(history: History, end: int) -> bool:
    """Whether a message that was not acknowledged never came again for a subscription in force."""
    for publish, client, one in history.owed(end):
        if history.sure_level(publish, one, end) != 1 or history.crash_ns(end) >= publish.ns:
            continue
        before = history.copies(client, publish, end)
        if before and _is_to_come_again(history, before[-1], publish, end):
            return True
    return False


_HERE = (disconnected_get_all, waiting_come_first, broker_keeps_order, stored_survives)
ORACLES = {oracle.__name__: oracle for oracle in _HERE}
