"""What is shown of each node at a row, against what all rows up to there say when they are read anew."""

from __future__ import annotations

import pickle

import pytest

from scatterproof.conformance.explorer.tests.runs import again, broadcast, hasty, lossy
from scatterproof.conformance.views import LATEST, RowView, label_of, marks
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.trace import Kind, Trace, schema


def told(trace: Trace, seen: int) -> list[dict[str, int]]:
    return [dict(zip(schema(trace.header.protocol).columns, row, strict=True)) for row in trace.rows[:seen]]


def viewed(trace: Trace, seen: int) -> RowView:
    view = RowView(trace.header)
    for row in trace.rows[:seen]:
        view.see(row)
    return view


def places(trace: Trace) -> range:
    return range(1, len(trace.rows), max(1, len(trace.rows) // 25))


@pytest.mark.parametrize("trace", [lossy(), again(), hasty()], ids=["lossy", "again", "hasty"])
def test_host_holds_what_has_arrived_and_was_not_delivered(trace: Trace) -> None:
    held = 0
    for seen in places(trace):
        rows, view = told(trace, seen), viewed(trace, seen)
        for host in trace.header.topology.hosts():
            here = [row for row in rows if row["node"] == host]
            delivered = {(r["sender"], r["number"]) for r in here if r["kind"] == Kind.DELIVERED}
            arrived = {
                (r["timestamp"], r["sender"], r["number"])
                for r in here
                if r["kind"] == Kind.ARRIVED and r["packet"] == PacketKind.DATA and r["receiver"] == host
            }
            expected = [f"{s}@{t}" for t, s, n in sorted(arrived) if (s, n) not in delivered]
            state = view.state(host)
            assert state.buffer == tuple(expected[:LATEST])
            assert state.buffered == len(expected)
            assert state.delivered == len([r for r in here if r["kind"] == Kind.DELIVERED])
            held += len(expected)
    # One message at a time: none waits at the rows that are looked at, nor must it once it was delivered.
    assert held > 0 or trace is again()


@pytest.mark.parametrize("trace", [lossy(), again(), hasty()], ids=["lossy", "again", "hasty"])
def test_barrier_is_the_least_of_what_the_ingress_links_have_carried(trace: Trace) -> None:
    links = trace.header.topology.links
    spoken = 0
    for seen in places(trace):
        rows, view = told(trace, seen), viewed(trace, seen)
        for node in range(len(trace.header.topology.nodes)):
            carried = [
                max([-1, *(r["barrier"] for r in rows if r["kind"] == Kind.ARRIVED and r["link"] == link)])
                for link, ends in enumerate(links)
                if ends.target == node
            ]
            least = min(carried, default=-1)
            assert dict(view.state(node).facts)["barrier"] == ("none yet" if least < 0 else str(least))
            spoken += least >= 0
    assert spoken > 0


def test_process_has_delivered_and_holds_what_the_rows_say() -> None:
    trace = broadcast()
    for seen in places(trace):
        rows, view = told(trace, seen), viewed(trace, seen)
        for node in range(len(trace.header.topology.nodes)):
            here = [row for row in rows if row["node"] == node]
            delivered = [(r["sender"], r["number"]) for r in here if r["kind"] == Kind.DELIVERED]
            arrived = {
                (r["sender"], number)
                for r in here
                if r["kind"] == Kind.ARRIVED and r["packet"] == 1
                for number in range(r["number"], r["number"] + max(1, r["count"]))
            }
            state = view.state(node)
            assert state.buffered == len(arrived - set(delivered))
            assert state.deliveries == tuple(f"{s}.{n}" for s, n in delivered[::-1][:LATEST])


def test_copy_goes_its_own_way() -> None:
    trace = lossy()
    view = viewed(trace, 50)
    copy: RowView = pickle.loads(pickle.dumps(view))
    for row in trace.rows[50:]:
        copy.see(row)
    hosts = range(len(trace.header.topology.nodes))
    assert [copy.state(node) for node in hosts] == [viewed(trace, len(trace.rows)).state(node) for node in hosts]
    assert [view.state(node) for node in hosts] == [viewed(trace, 50).state(node) for node in hosts]


def test_a_mark_stands_where_a_barrier_rises_and_nowhere_else() -> None:
    trace = hasty()
    found = marks(trace.header, trace.rows)
    assert found
    for position, row in enumerate(trace.rows):
        node = row[schema("totalorder").index("node")]
        if node < 0:
            continue
        changed = viewed(trace, position).mark(node) != viewed(trace, position + 1).mark(node)
        assert (position in found) is changed
    later = marks(trace.header, trace.rows[20:], viewed(trace, 20), 20)
    assert later == {position: mark for position, mark in found.items() if position >= 20}


def test_every_packet_submission_and_delivery_has_a_name() -> None:
    for trace in (hasty(), broadcast()):
        kind = schema(trace.header.protocol).index("kind")
        for row in trace.rows:
            named = row[kind] in (Kind.SUBMITTED, Kind.SENT, Kind.ARRIVED, Kind.LOST, Kind.DELIVERED, Kind.BEGUN)
            assert bool(label_of(trace.header.protocol, row)) is named
