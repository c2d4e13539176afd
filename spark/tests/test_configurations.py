"""Run configurations drawn from a seed."""

from __future__ import annotations

from statistics import mean

import pytest

from scatterproof.spark.configurations import configuration, draw_run
from scatterproof.spark.protocol import kinds_of
from scatterproof.spark.tests.material import PROTOCOLS, material
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import FaultKind, Schedule

MANY_FAULTS = 6
each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)


def drawn(protocol: str, count: int, seed: int = 5) -> list[Schedule]:
    return [configuration(protocol, seed, run) for run in range(count)]


@each_protocol
def test_a_configuration_is_a_function_of_seed_and_run(protocol: str) -> None:
    assert drawn(protocol, 20) == drawn(protocol, 20)
    assert len({repr(schedule) for schedule in drawn(protocol, 20)}) == 20
    assert configuration(protocol, 6, 0) != configuration(protocol, 5, 0)


@each_protocol
def test_among_some_hundred_runs_every_feature_is_on_and_off(protocol: str) -> None:
    schedules = drawn(protocol, 400)
    families = {name for kind in kinds_of(protocol) for name in kind.networks}
    assert {draw_run(protocol, 5, run).family for run in range(400)} == families
    submits = any(kind.calls is None for kind in kinds_of(protocol))
    for feature in (*FEATURES, *(OF_SUBMISSIONS if submits else ()), *material(protocol).choices):
        assert {feature(schedule) for schedule in schedules} == {True, False}, feature.__name__


@each_protocol
def test_kinds_of_runs_take_turns_and_every_environment_is_among_them(protocol: str) -> None:
    kinds = kinds_of(protocol)
    runs = [draw_run(protocol, 5, run) for run in range(2 * len(kinds))]
    assert [run.kind for run in runs] == 2 * [kind.name for kind in kinds]
    assert len({kind.name for kind in kinds}) == len(kinds)
    assert set(material(protocol).environments) <= {v for run in runs for v in run.schedule.parameters.values()}


@each_protocol
def test_under_loss_more_runs_lose_packets_than_without_it_where_some_do(protocol: str) -> None:
    lost: dict[bool, list[bool]] = {True: [], False: []}
    kinds = kinds_of(protocol)
    for run in range(60 * len(kinds)):
        kind = kinds[run % len(kinds)]
        if FaultKind.LOSE in kind.faults:
            lost[kind.often_faulty].append(_loses_packets(draw_run(protocol, 5, run).schedule))
    often, else_ = (mean(lost[is_often]) for is_often in (True, False))
    assert 1 > often > 1.5 * else_ > 0


@each_protocol
def test_each_run_has_faults_of_kinds_of_its_own(protocol: str) -> None:
    kinds = kinds_of(protocol)
    for several in {frozenset(kind.faults) for kind in kinds if not kind.late_to_one} - {frozenset()}:
        alike = [at for at, kind in enumerate(kinds) if not kind.late_to_one and several == set(kind.faults)]
        runs = [run for run in range(40 * len(kinds)) if run % len(kinds) in alike]
        faults = [draw_run(protocol, 5, run).schedule.faults for run in runs]
        # Were they drawn one by one, hardly any of those with many faults would have one kind of them alone.
        seen = [frozenset(fault.kind for fault in some) for some in faults if len(some) >= MANY_FAULTS]
        assert several in seen
        assert all(40 * seen.count(frozenset({one})) >= len(seen) for one in several), several


@each_protocol
def test_a_kind_is_drawn_in_networks_that_suit_it_alone(protocol: str) -> None:
    for kind in kinds_of(protocol):
        assert all(kind.suits(draw_run(protocol, 5, run, kind).schedule.topology) for run in range(20)), kind.name


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


def _loses_packets(schedule: Schedule) -> bool:
    return any(fault.kind is FaultKind.LOSE for fault in schedule.faults)


def _delays_packets(schedule: Schedule) -> bool:
    return any(fault.kind is FaultKind.DELAY for fault in schedule.faults)


def _has_a_failure(schedule: Schedule) -> bool:
    return bool(schedule.failures)


FEATURES = (_jittered, _skewed, _drifting, _loses_packets, _delays_packets, _has_a_failure)
OF_SUBMISSIONS = (_has_idle_hosts, _has_equal_instants, _scatters)
