"""What is proved of mutants of publish and subscribe, what is drawn for them, and how failing runs are made small."""

from __future__ import annotations

from functools import cache
from itertools import islice

import pytest

from scatterproof.conformance.case import cases
from scatterproof.conformance.judge import judge, judge_by_oracles
from scatterproof.fuzz.corpus import drawn_schedules
from scatterproof.fuzz.kill_matrix import equivalence_of, subjects_of
from scatterproof.fuzz.protocol import load
from scatterproof.fuzz.shrink import simpler
from scatterproof.spec.pubsub.messages import CallName
from scatterproof.spec.schedule import FailureKind, Schedule, validate

PLUGIN = load("pubsub")
SUBJECTS = {subject.name: subject for subject in subjects_of(PLUGIN)}
PROVED = {
    "delivered_level/swap-published-subscribed",
    "is_passed_on/swap-neighbour-source",
    "is_told/swap-fresh-uncovered",
    "stays_home/swap-covers-came_first",
}


def test_arguments_that_change_places_alone_are_proved_equivalent() -> None:
    assert {name for name, subject in SUBJECTS.items() if equivalence_of(PLUGIN, subject)} == PROVED


def test_every_call_grammar_and_failure_is_drawn() -> None:
    schedules = list(islice(drawn_schedules("pubsub", 3, 0), 200))
    calls = {call.call for schedule in schedules for call in schedule.calls}
    assert calls == {CallName.PUBLISH, CallName.SUBSCRIBE, CallName.UNSUBSCRIBE}
    assert {schedule.parameters["grammar"] for schedule in schedules} == {"document", "mqtt", "nats", "amqp"}
    kinds = {failure.kind for schedule in schedules for failure in schedule.failures}
    assert kinds == {FailureKind.PAUSE, FailureKind.RESUME, FailureKind.CUT, FailureKind.MEND}
    assert {schedule.parameters["paths"] for schedule in schedules} == {"one", "all", "best"}
    assert {len(schedule.topology.hosts()) for schedule in schedules} == {1, 2, 3}


@cache
def schedules_to_try() -> list[Schedule]:
    return [*(case.schedule for case in cases("pubsub")), *islice(drawn_schedules("pubsub", 5, 0), 24)]


@pytest.mark.parametrize("mutant", [mutant.name for mutant in PLUGIN.mutants])
def test_checks_and_oracles_find_the_same_in_cases_and_drawn_runs_of_a_mutant(mutant: str) -> None:
    found = 0
    for schedule in schedules_to_try():
        trace = SUBJECTS[mutant].iut.run(schedule)
        told = [
            {(one.clause, one.position) for result in judging(trace, shown=1 << 30) for one in result.violations}
            for judging in (judge, judge_by_oracles)
        ]
        assert told[0] == told[1]
        found += len(told[0])
    assert found


def test_what_is_simpler_is_a_network_in_which_the_protocol_works() -> None:
    """An appliance goes only with its clients, and none that joins two others."""
    for case in cases("pubsub"):
        for schedule in simpler(case.schedule):
            validate(schedule)
