"""What brokers keep for who subscribes later, as predicates over a whole trace, as in `oracles`: PS-RETAIN."""

from __future__ import annotations

from scatterproof.conformance.pubsub.oracles import KEPT, Got, History
from scatterproof.spec.pubsub.messages import CallName
from scatterproof.spec.trace import Trace


def retained_comes_once(trace: Trace) -> set[int]:
    history = History(trace)
    return {got.row for got in history.got if got.told["retain"] == 1 and not _is_due(history, got)}


def _is_due(history: History, got: Got) -> bool:
    """Whether it was to be kept, the client has subscribed to it since, or is about to, and it is no copy too many."""
    publish = history.of(got)
    if publish is None:
        return True
    if publish.given["retain"] != KEPT:
        return False
    asked = [
        box
        for box in history.boxes
        if box.call is CallName.SUBSCRIBE and box.client == got.client and box.row < got.row
        if history.matches(box.given["filter"], publish.given["topic"])
    ]
    if not any(box.over is None or box.over > got.row or box.over_ns >= publish.ns for box in asked):
        return False
    copies = [
        other
        for other in history.got
        if other.client == got.client and other.row <= got.row and other.told["retain"] == 1
        if history.of(other) is publish and other.told["again"] != 1 and _came_since(history, other)
    ]
    return got.told["again"] == 1 or len(copies) <= len(asked)


def _came_since(history: History, got: Got) -> bool:
    """Whether the client had subscribed to it since it was published, so that this copy counts."""
    publish = history.of(got)
    return publish is not None and any(
        box.over is None or box.over > got.row or box.over_ns >= publish.ns
        for box in history.boxes
        if box.call is CallName.SUBSCRIBE and box.client == got.client and box.row < got.row
        if history.matches(box.given["filter"], publish.given["topic"])
    )


ORACLES = {"retained_comes_once": retained_comes_once}
