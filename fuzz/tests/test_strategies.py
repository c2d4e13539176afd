"""The strategies make valid schedules only, of many kinds, and shrink to the simplest."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import find, given, settings

from scatterproof.conformance.network.incidents import stops
from scatterproof.conformance.network.run import simulate
from scatterproof.fuzz.corpus import drawn_schedules
from scatterproof.fuzz.protocol import load
from scatterproof.fuzz.strategies import network_of, topologies
from scatterproof.impl.broadcast import make_core as make_process
from scatterproof.impl.totalorder import make_core
from scatterproof.spec.schedule import FailureKind, FaultKind, Schedule, validate
from scatterproof.spec.topology import NO_LINK, Topology, route
from scatterproof.spec.totalorder.messages import ANSWER, PacketKind
from scatterproof.spec.trace import Kind, schema

PLUGIN = load("totalorder")


@pytest.fixture(scope="module")
def drawn() -> list[Schedule]:
    return list(islice(drawn_schedules("totalorder", 7), 400))


@given(PLUGIN.schedules())
@settings(max_examples=200)
def test_drawn_schedules_are_valid_and_every_message_has_a_route(schedule: Schedule) -> None:
    validate(schedule)
    table = route(schedule.topology).next_link
    for submission in schedule.submissions:
        assert all(table[submission.node][message.receiver] != NO_LINK for message in submission.messages)


@given(PLUGIN.schedules())
@settings(max_examples=100)
def test_links_of_total_order_never_repeat_a_packet(schedule: Schedule) -> None:
    assert all(fault.kind is not FaultKind.DUPLICATE for fault in schedule.faults)


@given(topologies())
@settings(max_examples=200)
def test_topologies_have_acyclic_routes_and_some_host_reaches_another(topology: Topology) -> None:
    route(topology)  # raises for barriers that would wait for themselves
    assert any(receivers != (sender,) for sender, receivers in network_of(topology).reach)


def test_schedules_shrink_to_one_switch_two_senders_one_receiver() -> None:
    simplest = find(PLUGIN.schedules(), lambda schedule: True)
    assert [node.name for node in simplest.topology.nodes] == ["h0", "h1", "h2", "s0"]
    assert len(simplest.topology.links) == 3
    assert (len(simplest.submissions), simplest.submissions[0].time_ns) == (1, 0)


def test_the_same_seed_draws_the_same_schedules() -> None:
    first, again = (list(islice(drawn_schedules("totalorder", 3), 50)) for _ in range(2))
    assert first == again
    assert first != list(islice(drawn_schedules("totalorder", 4), 50))


@pytest.mark.parametrize(
    ("kind", "shows"),
    [
        ("a tie of submission times", lambda s: len({x.time_ns for x in s.submissions}) < len(s.submissions)),
        ("a burst of one sender", lambda s: any(_burst(s, node) for node in s.topology.hosts())),
        ("skewed clocks", lambda s: len({s.clock(node).offset_ns for node in s.topology.hosts()}) > 1),
        ("drifting clocks", lambda s: any(clock.drift_ppb for clock in s.clocks)),
        ("a lost packet", lambda s: any(fault.kind is FaultKind.LOSE for fault in s.faults)),
        ("several switches", lambda s: len(s.topology.switches()) > 2),
        ("partial reach", lambda s: len({receivers for _, receivers in network_of(s.topology).reach}) > 1),
        ("an idle sender", lambda s: len({x.node for x in s.submissions}) < len(network_of(s.topology).reach)),
        ("two ingress links at a host", lambda s: any(len(s.topology.ingress(h)) > 1 for h in s.topology.hosts())),
    ],
)
def test_a_few_hundred_schedules_show_every_kind_of_run(kind: str, shows: object, drawn: list[Schedule]) -> None:
    assert callable(shows)
    assert any(shows(schedule) for schedule in drawn), f"none of {len(drawn)} schedules has {kind}"


@pytest.fixture(scope="module")
def failing() -> list[Schedule]:
    """Of the runs in which failures are handled."""
    group = next(number for number, one in enumerate(PLUGIN.groups) if one.parameters.__name__ == "failing_parameters")
    return list(islice(drawn_schedules("totalorder", 7, group), 300))


def _of_nodes(schedule: Schedule, kind: FailureKind) -> list[int]:
    return [failure.node for failure in schedule.failures if failure.kind is kind]


def _kinds(schedule: Schedule) -> set[FailureKind]:
    return {failure.kind for failure in schedule.failures}


@pytest.mark.parametrize(
    ("kind", "shows"),
    [
        ("several nodes that crash", lambda s: len(set(_of_nodes(s, FailureKind.CRASH))) > 2),
        ("a restart and a cut together", lambda s: {FailureKind.RESTART, FailureKind.CUT} <= _kinds(s)),
        (
            "a host that restarts",
            lambda s: any(s.topology.nodes[n].role == "host" for n in _of_nodes(s, FailureKind.RESTART)),
        ),
        (
            "a switch that restarts again",
            lambda s: any(_of_nodes(s, FailureKind.RESTART).count(n) > 1 for n in s.topology.switches()),
        ),
        ("a restart under loss", lambda s: bool(s.faults) and bool(_of_nodes(s, FailureKind.RESTART))),
        ("a link that is mended", lambda s: FailureKind.MEND in _kinds(s)),
        ("a silent neighbour", lambda s: any(_is_cut_off(s, host) for host in s.topology.hosts())),
    ],
)
def test_runs_with_failures_have_several_of_all_kinds(kind: str, shows: object, failing: list[Schedule]) -> None:
    assert callable(shows)
    assert any(shows(schedule) for schedule in failing), f"none of {len(failing)} schedules has {kind}"


def _is_cut_off(schedule: Schedule, host: int) -> bool:
    cut = {failure.link for failure in schedule.failures if failure.kind is FailureKind.CUT}
    return cut.issuperset((*schedule.topology.ingress(host), *schedule.topology.egress(host)))


@pytest.mark.slow
def test_notices_and_answers_are_lost_too(failing: list[Schedule]) -> None:
    kind, packet, number = (schema("totalorder").index(name) for name in ("kind", "packet", "number"))
    lost = {
        bool(row[number] & ANSWER)
        for schedule in failing[:100]
        for row in simulate(schedule, make_core).rows
        if row[kind] == Kind.LOST and row[packet] == PacketKind.NOTICE
    }
    assert lost == {False, True}


def test_what_stops_for_good_never_comes_back_where_nothing_is_resent() -> None:
    group = next(number for number, one in enumerate(PLUGIN.groups) if one.failures is stops)
    drawn = list(islice(drawn_schedules("totalorder", 7, group), 100))
    assert {FailureKind.CRASH, FailureKind.CUT} == {kind for schedule in drawn for kind in _kinds(schedule)}


def test_runs_of_broadcast_have_many_messages_without_contents() -> None:
    kind, count = (schema("broadcast").index(name) for name in ("kind", "count"))
    counts: set[int] = set()
    for schedule in islice(drawn_schedules("broadcast", 7), 60):
        counts |= {row[count] for row in simulate(schedule, make_process).rows if row[kind] == Kind.SENT}
    assert max(counts) > 4


def _burst(schedule: Schedule, node: int) -> bool:
    times = [submission.time_ns for submission in schedule.submissions if submission.node == node]
    return any(times.count(time_ns) > 2 for time_ns in times)
