"""Retained and expiring messages, as predicates over a whole trace as in `oracles`: PS-RETAIN, PS-EXPIRE."""

from __future__ import annotations

from scatterproof.conformance.pubsub.oracles import KEPT, Box, Got, History, look
from scatterproof.conformance.pubsub.session_oracles import Why, missing
from scatterproof.spec.core import Outcome
from scatterproof.spec.pubsub.messages import CallName
from scatterproof.spec.trace import Trace


def retained_comes_once(trace: Trace) -> set[int]:
    history = look(trace)
    return {got.row for got in history.got if got.told["retain"] == 1 and not _is_due(history, got)}


def _is_due(history: History, got: Got) -> bool:
    """Whether the message was published to be kept, a subscribe of the client that shares nothing returned after that
    or may still take effect, and no more copies came than such subscribes were called."""
    publish = history.of(got)
    if publish is None:
        return True
    if publish.given["retain"] != KEPT:
        return False
    if not _came_since(history, got, publish):
        return False
    copies = [
        other
        for other in history.got
        if other.client == got.client and other.row <= got.row and other.told["retain"] == 1
        if history.of(other) is publish and other.told["again"] != 1 and _came_since(history, other, publish)
    ]
    return got.told["again"] == 1 or len(copies) <= len(_asked(history, got, publish))


def _asked(history: History, got: Got, publish: Box) -> list[Box]:
    """The subscribes of the client that match, and share nothing."""
    return [
        box
        for box in history.boxes
        if box.call is CallName.SUBSCRIBE and box.client == got.client and box.row < got.row
        if box.given["group"] <= 0 and history.matches(box.given["filter"], publish.given["topic"])
    ]


def _came_since(history: History, got: Got, publish: Box) -> bool:
    """Whether such a subscribe of the client returned after the publish, was open, or may take effect later: only then
    the copy counts."""
    return any(
        box.end(got.row) in (None, Outcome.UNKNOWN) or box.over_ns >= publish.ns
        for box in _asked(history, got, publish)
    )


SECOND_NS = 1_000_000_000


def expired_is_not_delivered(trace: Trace) -> set[int]:
    history = look(trace)
    return {got.row for got in history.got if _is_too_late(history, got)} | missing(trace, Why.EXPIRED)


def _is_too_late(history: History, got: Got) -> bool:
    """Whether the message had expired by more than a second when the client's last connection began, and the client had
    left before the message was published."""
    publish = history.of(got)
    if publish is None or publish.given["expiry_ns"] <= 0 or history.is_kept(got):
        return False
    if publish.end(got.row) is not Outcome.OK:
        return False
    connects = (CallName.CONNECT, CallName.DISCONNECT)
    mine = [box for box in history.boxes if box.client == got.client and box.call in connects and box.row < got.row]
    back = next((box for box in reversed(mine) if box.call is CallName.CONNECT), None)
    if back is None or back.ns <= publish.over_ns + publish.given["expiry_ns"] + SECOND_NS:
        return False
    earlier = mine[: mine.index(back)]
    began = max((at for at, box in enumerate(earlier) if box.call is CallName.CONNECT), default=-1)
    left = [box.over_ns for box in earlier[began + 1 :] if box.end(got.row) is Outcome.OK]
    return began < 0 or min(left, default=publish.ns) < publish.ns


ORACLES = {"retained_comes_once": retained_comes_once, "expired_is_not_delivered": expired_is_not_delivered}
