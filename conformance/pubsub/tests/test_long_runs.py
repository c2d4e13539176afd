"""How much is done for a row does not grow with the run: of a broker for many messages, one after another."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import FrameType

import pytest

from scatterproof import conformance
from scatterproof.conformance.judge import Judging
from scatterproof.spec import trace_ndjson
from scatterproof.spec.core import Outcome
from scatterproof.spec.trace import ABSENT, Kind, Row, schema

SCHEMA = schema("pubsub")
CALLS = SCHEMA.calls
PATH = Path(conformance.__file__).parent / "traces/pubsub/conforming/PS-SHARED.a-member-of-best-effort.ndjson"
PUBLISHER, MEMBERS = 1, (2, 3)


def rows(messages: int, group: int, stay: int) -> Iterator[Row]:
    """Both members have one subscription each, and acknowledge what they get: all of it, or every second message where
    they share one. stay: after how many messages one of them leaves and comes back."""
    now, made = count(10, 10), dict.fromkeys((PUBLISHER, *MEMBERS), 0)

    def row(kind: Kind, **given: int) -> Row:
        return tuple({"time_ns": next(now), "kind": int(kind), **given}.get(name, ABSENT) for name in SCHEMA.columns)

    def call(node: int, name: str, **given: int) -> Iterator[Row]:
        made[node] += 1
        about = {"node": node, "call": CALLS[name], "operation": made[node]}
        yield row(Kind.CALLED, **about, **given)
        yield row(Kind.RETURNED, **about, outcome=int(Outcome.OK))

    for node in MEMBERS:
        yield from call(node, "connect", session=1)
        yield from call(node, "subscribe", filter=1, level=1, group=group)
    for number in range(1, messages + 1):
        message = {"digest": number, "topic": 1, "level": 1, "retain": 0}
        yield from call(PUBLISHER, "publish", **message, expiry_ns=0)
        for node in MEMBERS[number % 2 :][:1] if group else MEMBERS:
            yield row(Kind.DELIVERED, node=node, sender=PUBLISHER, number=number, **message, again=0)
            yield from call(node, "acknowledge")
        if number % stay == 0:
            yield from call(MEMBERS[0], "disconnect")
            yield from call(MEMBERS[0], "connect", session=1)
    yield row(Kind.ENDED, flags=3)


def steps_a_row(messages: int, group: int, stay: int) -> float:
    """How many functions are called for a row, in the mean."""
    judging, calls = Judging(trace_ndjson.read(PATH).header), 0
    recorded = list(rows(messages, group, stay))

    def note(frame: FrameType, event: str, given: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        judging.observe(recorded)
    finally:
        sys.setprofile(before)
    assert not judging.broken
    return calls / len(recorded)


@pytest.mark.parametrize("stay", [5, 1000])
@pytest.mark.parametrize("group", [0, 1])
def test_a_row_of_a_long_run_is_as_much_work_as_one_of_a_short_run(group: int, stay: int) -> None:
    assert steps_a_row(400, group, stay) < 1.05 * steps_a_row(100, group, stay)
