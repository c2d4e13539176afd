"""Measures and view agree with what is computed from the whole trace, obviously and slowly."""

from __future__ import annotations

import pytest

from scatterproof.conformance.protocol import gauge
from scatterproof.conformance.tests.test_measures import binned, measured, rows_of
from scatterproof.conformance.workqueue.recording import NAMES
from scatterproof.conformance.workqueue.tests.runs import run
from scatterproof.conformance.workqueue.view import View
from scatterproof.spec.core import Outcome
from scatterproof.spec.trace import Kind, Trace

CALLS = NAMES.calls
GROUPS, LEASES = "Q-ORDER-CORR/slow-sender-first", "Q-LEASE-ALL/what-comes-next"


def returns(trace: Trace) -> list[tuple[int, dict[str, int]]]:
    """When each call was made, and the row of its return."""
    made: dict[int, int] = {}
    found = []
    for row in rows_of(trace):
        if row["kind"] == Kind.CALLED:
            made[row["node"]] = row["time_ns"]
        elif row["kind"] == Kind.RETURNED:
            found.append((made[row["node"]], row))
    return found


@pytest.mark.parametrize("name", [GROUPS, LEASES])
def test_a_call_lasts_until_it_returns(name: str) -> None:
    trace = run(name)
    spans = [(row["outcome"] - 1, row["time_ns"] - since) for since, row in returns(trace)]
    assert measured(trace, "call_duration", 7).tolist() == binned(spans, 3)
    assert spans


def test_a_group_waits_until_it_is_handed_out_and_is_held_until_it_is_removed() -> None:
    trace = run(GROUPS)
    at = {
        (name, row["group"]): row["time_ns"]
        for _, row in returns(trace)
        for name in ("close_group", "next_group", "pop_group")
        if row["call"] == CALLS[name] and row["outcome"] == Outcome.OK and row["group"] > 0
    }
    given = [group for name, group in at if name == "next_group"]
    waited = [(0, at["next_group", group] - at["close_group", group]) for group in given]
    held = [(1, at["pop_group", group] - at["next_group", group]) for group in given if ("pop_group", group) in at]
    assert waited
    assert held
    assert measured(trace, "waiting_and_held", 5).tolist() == binned([*waited, *held], 2)


def test_a_message_is_held_until_it_is_deleted_since_it_was_handed_out_last() -> None:
    trace = run(LEASES)
    rows = rows_of(trace)
    handed = [row for row in rows if row["kind"] == Kind.DELIVERED]
    last = {(row["sender"], row["number"]): row["time_ns"] for row in handed}
    held = [
        row["time_ns"] - last[row["sender"], row["number"]]
        for _, row in returns(trace)
        if row["call"] == CALLS["delete"] and row["outcome"] == Outcome.OK
    ]
    assert held
    assert measured(trace, "waiting_and_held")[1].tolist() == binned([(0, span) for span in held], 1)[0]


def test_it_is_said_which_queue_was_measured() -> None:
    found = gauge("workqueue")
    assert found is not None
    assert [found.carrier(run(name).header.parameters) for name in (GROUPS, LEASES)] == ["of groups", "of leases"]


def test_a_view_tells_groups_locks_holders_and_the_call_that_a_client_is_in() -> None:
    trace = run(GROUPS)
    view, told, marks = View(trace.header), set(), set()
    for row in trace.rows:
        view.see(row)
        told |= {line.partition(",")[0].partition(": ")[2] for line in view.buffer(0)}
        marks |= {view.mark(node) for node in range(1, len(trace.header.topology.nodes))}
        called = row[NAMES.index("kind")] == Kind.CALLED
        assert not called or "since" in dict(view.facts(row[NAMES.index("node")]))["in call"]
    assert {"ready", "locked for sending by c1"} <= told
    assert any(word.startswith("locked for receiving by c") for word in told)
    assert {"", "group 1"} <= marks


def test_a_view_tells_messages_and_who_has_them() -> None:
    trace = run(LEASES)
    view, held = View(trace.header), set()
    for row in trace.rows:
        view.see(row)
        held |= {line for line in view.buffer(0) if " by " in line}
    assert {"1.1 of group 1 by c2", "1.2 of group 1 by c3"} <= held
    assert dict(view.facts(0)) == {"messages": "0", "held": "0"}
