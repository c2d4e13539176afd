"""Run configurations drawn from a seed."""

from __future__ import annotations

import pytest

from spark.configurations import configuration, draw_run
from spec.errors import BadInput
from spec.schedule import Schedule

PROTOCOL = "totalorder"


def drawn(count: int, seed: int = 5) -> list[Schedule]:
    return [configuration(PROTOCOL, seed, run) for run in range(count)]


def test_a_configuration_is_a_function_of_seed_and_run() -> None:
    assert drawn(20) == drawn(20)
    assert len({repr(schedule) for schedule in drawn(20)}) == 20
    assert configuration(PROTOCOL, 6, 0) != configuration(PROTOCOL, 5, 0)


def test_among_a_hundred_runs_every_feature_is_on_and_off() -> None:
    schedules = drawn(100)
    assert len({draw_run(PROTOCOL, 5, run).family for run in range(100)}) == 7
    assert {schedule.parameters["environment"] for schedule in schedules} == {"A", "B", "C"}
    for feature in (_jittered, _skewed, _drifting, _has_idle_hosts, _has_equal_instants, _scatters):
        assert {feature(schedule) for schedule in schedules} == {True, False}, feature.__name__


def test_a_protocol_without_corpora_is_one_sentence() -> None:
    with pytest.raises(BadInput, match="protocol 'carrier_pigeon' is unknown"):
        configuration("carrier_pigeon", 0, 0)


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
