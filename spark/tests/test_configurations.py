"""Run configurations drawn from a seed."""

from __future__ import annotations

from random import Random

import pytest

from conformance.network.topologies import chain, diamond, one_way
from spark.configurations import configuration, draw_run
from spark.kinds import kinds_of
from spark.networks import FAMILIES, all_answered, in_a_tree
from spec.errors import BadInput
from spec.schedule import FaultKind, Schedule, Submission
from spec.totalorder.messages import Environment

PROTOCOL = "totalorder"


def drawn(count: int, seed: int = 5) -> list[Schedule]:
    return [configuration(PROTOCOL, seed, run) for run in range(count)]


def test_a_configuration_is_a_function_of_seed_and_run() -> None:
    assert drawn(20) == drawn(20)
    assert len({repr(schedule) for schedule in drawn(20)}) == 20
    assert configuration(PROTOCOL, 6, 0) != configuration(PROTOCOL, 5, 0)


def test_among_some_hundred_runs_every_feature_is_on_and_off() -> None:
    schedules = drawn(400)
    assert len({draw_run(PROTOCOL, 5, run).family for run in range(400)}) == 7
    for feature in (_jittered, _skewed, _drifting, _has_idle_hosts, _has_equal_instants, _scatters, *CHOICES):
        assert {feature(schedule) for schedule in schedules} == {True, False}, feature.__name__


def test_kinds_of_runs_take_turns_and_every_environment_is_among_them() -> None:
    kinds = kinds_of(PROTOCOL)
    runs = [draw_run(PROTOCOL, 5, run) for run in range(2 * len(kinds))]
    assert [run.kind for run in runs] == 2 * [kind.name for kind in kinds]
    assert len({kind.name for kind in kinds}) == len(kinds)
    assert {run.schedule.parameters["environment"] for run in runs} == set(Environment)


def test_under_loss_most_runs_lose_packets_and_without_it_some_do() -> None:
    lost = {True: [0, 0], False: [0, 0]}
    for run in range(200):
        drawn_run = draw_run(PROTOCOL, 5, run)
        if drawn_run.kind in set(Environment):
            count = lost[Environment(drawn_run.kind).loses]
            count[any(fault.kind is FaultKind.LOSE for fault in drawn_run.schedule.faults)] += 1
    assert lost[True][1] > lost[True][0]
    assert lost[False][0] > lost[False][1] > 0


def test_a_kind_is_drawn_in_networks_that_suit_it_alone() -> None:
    for kind in kinds_of(PROTOCOL):
        assert all(kind.suits(draw_run(PROTOCOL, 5, run, kind).schedule.topology) for run in range(20)), kind.name


def test_something_is_sent_to_a_crashed_host_alone() -> None:
    crashing = [kind for kind in kinds_of(PROTOCOL) if kind.name.endswith("a host crashes")]
    after = [
        [message.receiver for message in submission.messages]
        for kind in crashing
        for run in range(40)
        for schedule in [draw_run(PROTOCOL, 5, run, kind).schedule]
        for submission in schedule.submissions
        if submission.time_ns > schedule.failures[0].time_ns and schedule.failures[0].node in _receivers(submission)
    ]
    assert any(len(receivers) == 1 for receivers in after)


def test_networks_without_an_answer_and_with_several_ways_are_told_apart() -> None:
    answered = {"star", "chain", "fat_tree", "diamond"}
    assert {name for name, make in FAMILIES.items() if all_answered(make(Random(1)))} == answered
    assert in_a_tree(chain(3, 2))
    assert not in_a_tree(diamond(2, 1))
    assert not in_a_tree(one_way(2, 2, 1))


def test_a_protocol_without_corpora_is_one_sentence() -> None:
    with pytest.raises(BadInput, match="protocol 'carrier_pigeon' is unknown"):
        configuration("carrier_pigeon", 0, 0)


def _receivers(submission: Submission) -> set[int]:
    return {message.receiver for message in submission.messages}


def _jittered(schedule: Schedule) -> bool:
    return any(delay.jitter_ns for delay in schedule.delays)


def _skewed(schedule: Schedule) -> bool:
    return len({clock.offset_ns for clock in schedule.clocks}) > 1


def _drifting(schedule: Schedule) -> bool:
    return len({clock.drift_ppb for clock in schedule.clocks}) > 1


def _has_idle_hosts(schedule: Schedule) -> bool:
    return len({submission.node for submission in schedule.submissions}) < len(schedule.topology.hosts())


def _has_equal_instants(schedule: Schedule) -> bool:
    instants = [submission.time_ns for submission in schedule.submissions]
    return len(set(instants)) < len(instants) // 2


def _scatters(schedule: Schedule) -> bool:
    return any(len(submission.messages) > 1 for submission in schedule.submissions)


def _loses_packets(schedule: Schedule) -> bool:
    return any(fault.kind is FaultKind.LOSE for fault in schedule.faults)


def _delays_packets(schedule: Schedule) -> bool:
    return any(fault.kind is FaultKind.DELAY for fault in schedule.faults)


def _adjusts(schedule: Schedule) -> bool:
    return "adjustment_interval_ns" in schedule.parameters


def _has_host_flags(schedule: Schedule) -> bool:
    return "host_flags" in schedule.parameters


def _is_causal(schedule: Schedule) -> bool:
    return "causal" in schedule.parameters


def _leaves_barriers_to_be_filled(schedule: Schedule) -> bool:
    return "fill_barrier" in schedule.parameters


def _withholds_beacons(schedule: Schedule) -> bool:
    return schedule.parameters.get("every_beacon") == 0


def _has_two_processors(schedule: Schedule) -> bool:
    return schedule.parameters.get("switch") == "two"


def _has_a_failure(schedule: Schedule) -> bool:
    return bool(schedule.failures)


CHOICES = (
    *(_loses_packets, _delays_packets, _adjusts, _has_host_flags, _is_causal, _leaves_barriers_to_be_filled),
    *(_withholds_beacons, _has_two_processors, _has_a_failure),
)
