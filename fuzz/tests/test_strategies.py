"""The strategies make valid schedules only, of many kinds, and shrink to the simplest."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import find, given, settings

from fuzz.corpus import drawn_schedules
from fuzz.protocol import load
from fuzz.strategies import network_of, topologies
from spec.schedule import FaultKind, Schedule, validate
from spec.topology import NO_LINK, Topology, route

PLUGIN = load("totalorder")


@pytest.fixture(scope="module")
def drawn() -> list[Schedule]:
    return list(islice(drawn_schedules("totalorder", 7), 400))


@given(PLUGIN.schedules())
@settings(max_examples=200, deadline=None)
def test_drawn_schedules_are_valid_and_every_message_has_a_route(schedule: Schedule) -> None:
    validate(schedule)
    table = route(schedule.topology).next_link
    for submission in schedule.submissions:
        assert all(table[submission.node][message.receiver] != NO_LINK for message in submission.messages)


@given(PLUGIN.schedules())
@settings(max_examples=100, deadline=None)
def test_links_of_total_order_never_repeat_a_packet(schedule: Schedule) -> None:
    assert all(fault.kind is not FaultKind.DUPLICATE for fault in schedule.faults)


@given(topologies())
@settings(max_examples=200, deadline=None)
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


def _burst(schedule: Schedule, node: int) -> bool:
    times = [submission.time_ns for submission in schedule.submissions if submission.node == node]
    return any(times.count(time_ns) > 2 for time_ns in times)
