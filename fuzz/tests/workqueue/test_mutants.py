"""What is proved of mutants of the queue, and what is drawn for them."""

from __future__ import annotations

from functools import cache
from itertools import islice

import pytest

from scatterproof.conformance.case import cases
from scatterproof.conformance.judge import judge, judge_by_oracles
from scatterproof.fuzz.corpus import drawn_schedules
from scatterproof.fuzz.kill_matrix import equivalence_of, subjects_of
from scatterproof.fuzz.protocol import load
from scatterproof.spec.schedule import FailureKind, Schedule
from scatterproof.spec.workqueue.messages import CallName

PLUGIN = load("workqueue")
SUBJECTS = {subject.name: subject for subject in subjects_of(PLUGIN)}
PROVED = {"is_current/swap-token-present", "may_pop/swap-message-first", "is_freed/swap-receiving-own"}


def test_arguments_that_change_places_alone_are_proved_equivalent() -> None:
    assert {name for name, subject in SUBJECTS.items() if equivalence_of(PLUGIN, subject)} == PROVED


def test_every_call_and_failure_is_drawn() -> None:
    schedules = [one for group in range(2) for one in islice(drawn_schedules("workqueue", 3, group), 120)]
    assert {call.call for schedule in schedules for call in schedule.calls} == set(CallName)
    kinds = {failure.kind for schedule in schedules for failure in schedule.failures}
    assert kinds == {FailureKind.CRASH, FailureKind.RESTART, FailureKind.PAUSE, FailureKind.RESUME}
    assert any(failure.node == 0 for schedule in schedules for failure in schedule.failures)


OF_LEASES = (
    "back/at-the-end",
    "is_good/any",
    "extended/for-ever",
    "lease-store/keeps-deleted",
    "is_seen/while-it-is-there",
)
TOLD = ("store/keeps-popped", "store/hoards", "store/cleans-closed", "literal/Q-CRASH-BOOT-lit-1")


@cache
def schedules_to_try(group: int) -> list[Schedule]:
    return [*(case.schedule for case in cases("workqueue")), *islice(drawn_schedules("workqueue", 5, group), 24)]


@pytest.mark.parametrize("name", [*TOLD, *OF_LEASES])
def test_checks_and_oracles_find_the_same_in_cases_and_drawn_runs_of_a_mutant(name: str) -> None:
    found = 0
    for schedule in schedules_to_try(SUBJECTS[name].group):
        trace = SUBJECTS[name].iut.run(schedule)
        told = [
            {(one.clause, one.position) for result in judging(trace, shown=1 << 30) for one in result.violations}
            for judging in (judge, judge_by_oracles)
        ]
        assert told[0] == told[1]
        found += len(told[0])
    assert found
