"""Subscriptions and messages as the view shows them, against the oracles' reading of the same rows; and ways."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from scatterproof.conformance.protocol import load
from scatterproof.conformance.pubsub import view as viewing
from scatterproof.conformance.pubsub.oracles import History, Subscription
from scatterproof.conformance.pubsub.tests.runs import run
from scatterproof.conformance.pubsub.view import View
from scatterproof.conformance.views import label_of
from scatterproof.spec import trace_ndjson
from scatterproof.spec.pubsub.messages import CallName
from scatterproof.spec.trace import ABSENT, Kind, Trace, schema

TRACES = sorted((Path(__file__).parents[2] / "traces" / "pubsub").glob("*ing/*.ndjson"))
NAMES = schema("pubsub")
UNSUBSCRIBED, RING = "PS-ROUTE/unsubscribed", "PS-MULTIPATH/around-a-ring-at-level-2"


def seen(trace: Trace) -> Iterator[tuple[int, View]]:
    """The number of rows seen, with the view after them; it is copied on its way."""
    view = load("pubsub").view(trace.header)  # type: ignore[misc]
    for count, row in enumerate(trace.rows, 1):
        view.see(row)
        assert isinstance(view, View)
        view = pickle.loads(pickle.dumps(view))
        yield count, view


def surely_subscribed(history: History, client: int, row: int) -> list[int]:
    boxes = [box for box in history.boxes if box.client == client and box.row < row]
    of = {
        filter_: [box for box in boxes if box.given["filter"] == filter_]
        for filter_ in dict.fromkeys(box.given["filter"] for box in boxes if box.call is CallName.SUBSCRIBE)
    }
    sessions = history.sessions(client, row)
    return [one for one, made in of.items() if Subscription(made, row, sessions).sure_from() is not None]


def owed(history: History, client: int, row: int, topics: list[str]) -> Iterator[str]:
    """Messages that surely must come and have not."""
    for box in history.boxes:
        if box.call is CallName.PUBLISH and box.row < row and not history.came_before(client, box, row):
            topic = box.given["topic"]
            found = (one for of, one in history.subscriptions(row, topic) if of == client)
            level = max((history.sure_level(box, one, row) for one in found), default=-1)
            if level >= 0:
                lossy = " (best effort)" if level == 0 else ""
                yield f"owed {box.client}.{box.given['operation']} on {topics[topic - 1]}{lossy}"


def test_each_client_is_connected_subscribed_and_owed_as_the_oracles_say() -> None:
    waiting, connections, at_appliances = set[str](), set[str](), set[str]()
    assert TRACES
    for trace in [*map(trace_ndjson.read, TRACES), run(UNSUBSCRIBED)]:
        history = History(trace)
        topics, filters = (str(trace.header.parameters[name]).split("\n") for name in ("topics", "filters"))
        for count, view in seen(trace):
            for client in trace.header.topology.clients():
                sure = surely_subscribed(history, client, count)
                assert view.mark(client) == ", ".join(filters[one - 1] for one in sure)
                assert view.buffer(client) == list(owed(history, client, count, topics))
                sessions = history.sessions(client, count)
                told = dict(view.facts(client)).get("connection", "0")
                assert told == f"{sessions.connection}{'' if sessions.is_present else ', not up for sure'}"
                waiting |= {line.partition("(")[2] for line in view.buffer(client)}
                connections.add(told)
            at_appliances.update(*map(view.buffer, trace.header.topology.hosts()))
    assert waiting == {"", "best effort)"}
    assert {"0", "1", "2", "1, not up for sure"} <= connections
    assert any(line.endswith(" in group 1") for line in at_appliances)


def test_an_appliance_has_subscriptions_of_its_clients_until_they_are_withdrawn() -> None:
    one, other = "c4 subscribed to T1.* at level 2", "c4 subscribed to T1.> at level 2"
    assert [lines for lines, _ in groupby(tuple(view.buffer(2)) for _, view in seen(run(UNSUBSCRIBED)))] == [
        (f"{one}, perhaps",),
        (one,),
        (one, f"{other}, perhaps"),
        (one, other),
        (f"{one}, perhaps", other),
        (other,),
        (f"{other}, perhaps",),
        (),
        (f"{one}, perhaps",),
        (one,),
    ]
    assert not any(view.buffer(node) for _, view in seen(run(UNSUBSCRIBED)) for node in (0, 1))


def facts(name: str, fact: str, node: int) -> list[str]:
    """What is said at the node in the run of a case, each time that it changes."""
    told = (dict(view.facts(node)).get(fact, "") for _, view in seen(run(name)))
    return [value for value, _ in groupby(filter(None, told))]


def test_neighbours_are_told_what_is_wanted_until_it_is_withdrawn() -> None:
    assert facts(UNSUBSCRIBED, "wants of h1", 2) == ["T1.*", "T1.*, T1.>", "T1.>", "nothing", "T1.*"]
    # The first want is sent again behind its withdrawal, and is no news.
    again = facts("PS-ANSWER/wanted-again", "wants of h2", 1)
    assert again == ["T1.*", "nothing", "T1.*", "T1.*, T4", "T1.*", "T1.*, T4"]


def test_a_row_of_a_message_tells_its_way() -> None:
    assert facts(UNSUBSCRIBED, "way of 3.1", 4) == ["c3->h0, h0->h1, h1->h2, h2->c4"]
    assert facts(UNSUBSCRIBED, "way of 3.3", 0) == ["c3->h0"]
    assert facts(UNSUBSCRIBED, "way of 3.3", 1) == []
    assert facts(RING, "way of 3.1", 0) == [
        "c3->h0",
        "c3->h0, h0->h1 (under way)",
        "c3->h0, h0->h1 (under way), h0->h2 (under way)",
    ]
    assert facts(RING, "way of 3.2", 0)[-1].startswith("c3->h0, h0->h1, h0->h2, ")  # sent again, and there already
    assert facts(RING, "way of 3.1", 4) == ["c3->h0, h0->h1, h0->h2, h1->h2, h1->c4, h2->h1 (under way)"]


def test_other_rows_tell_no_way() -> None:
    trace, carrying = run(UNSUBSCRIBED), 0
    for row, (_, view) in zip(trace.rows, seen(trace), strict=True):
        told, label = dict(zip(NAMES.columns, row, strict=True)), label_of("pubsub", row)
        carries = label.startswith(("message", "publish")) and told["outcome"] == ABSENT and told["kind"] != Kind.CALLED
        with_way = [node for node in range(6) if any("way of" in fact for fact, _ in view.facts(node))]
        assert with_way == ([told["node"]] if carries else [])
        carrying += carries
    assert carrying > 0


@pytest.mark.parametrize("most", [0, 1, 2])
def test_of_messages_the_latest_are_remembered(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewing, "MOST", most)
    *_, (_, view) = seen(run(UNSUBSCRIBED))
    messages, _, _, deliveries, _ = view._book
    assert list(messages.places) == [(3, number) for number in range(5 - max(1, most), 5)]
    assert set(deliveries.places) <= {(4, *name) for name in messages.places}
    assert len(view._ways) == most
