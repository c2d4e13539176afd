"""Which messages measure a recovery, and how it is read from a trace."""

from __future__ import annotations

import pytest

from ci.figures.recovery import (
    LONGEST_NS,
    TIMEOUT_NS,
    TREE,
    Failed,
    recovered,
    recovery_ns,
    schedule_with,
)
from ci.figures.testbed import network
from scatterproof.spec.schedule import FailureKind
from scatterproof.spec.topology import route
from scatterproof.spec.trace import Header, Kind, Order, Row, Trace, schema

COLUMNS = schema("totalorder").columns


def row(kind: Kind, time_ns: int) -> Row:
    return tuple({"kind": int(kind), "time_ns": time_ns}.get(column, -1) for column in COLUMNS)


@pytest.mark.parametrize("processes", [4, 16, 64])
@pytest.mark.parametrize("failed", Failed)
def test_messages_go_only_where_the_failure_leaves_the_way_alone(failed: Failed, processes: int) -> None:
    there = network(processes, TREE)
    topology, routes = there.topology, route(there.topology)
    schedule, at = schedule_with(failed, there, seed=1)
    nodes = {failure.node for failure in schedule.failures if failure.kind is FailureKind.CRASH}
    links = {failure.link for failure in schedule.failures if failure.kind is FailureKind.CUT}

    assert (len(nodes), len(links)) == ((0, 2) if failed is Failed.LINK else (1, 0))
    for submission in schedule.submissions:
        way = routes.path(topology, submission.node, submission.messages[0].receiver)
        assert not links.intersection(way)
        assert not nodes.intersection(end for n in way for end in (topology.links[n].source, topology.links[n].target))
        assert submission.time_ns == at == schedule.failures[0].time_ns


def test_a_failed_switch_cuts_off_its_rack_and_a_failed_server_all_its_processes() -> None:
    def reached(failed: Failed, processes: int) -> set[int]:
        schedule, _ = schedule_with(failed, network(processes, TREE), seed=1)
        return {submission.messages[0].receiver for submission in schedule.submissions}

    assert reached(Failed.SWITCH, 32) == set(range(24))
    assert reached(Failed.LINK, 32) == set(range(31))
    assert reached(Failed.HOST, 64) == set(range(64)) - {31, 63}


def test_a_failed_host_stops_the_others_for_at_least_the_time_out_and_not_for_ever() -> None:
    took = recovery_ns(Failed.HOST, network(4, TREE), seed=1)

    assert took is not None
    assert TIMEOUT_NS < took < LONGEST_NS


def test_the_only_switch_cuts_off_everybody() -> None:
    assert schedule_with(Failed.SWITCH, network(8, TREE), seed=1)[0].submissions == ()


def test_recovery_ends_with_the_last_delivery_and_never_while_one_is_missing() -> None:
    header = Header("totalorder", network(2).topology, {}, {}, Order.GLOBAL)
    rows = [row(Kind.SUBMITTED, 100), row(Kind.SUBMITTED, 100), row(Kind.DELIVERED, 130), row(Kind.DELIVERED, 170)]

    assert recovered(Trace(header, rows), 100) == 70
    assert recovered(Trace(header, rows[:3]), 100) is None
