"""When a failure became likely: the jump is where the harm was done, and what comes up to there stays as it was."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from msgspec.structs import replace

from scatterproof.conformance.case import cases
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.fuzz.fuzzer import RUN_ENDS
from scatterproof.fuzz.kill_matrix import subjects_of
from scatterproof.fuzz.likelihood import NOTHING_KEPT, likelihood, network_moments, redrawn
from scatterproof.fuzz.protocol import load
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.schedule import Delay, Schedule, validate
from scatterproof.spec.trace import Trace

CLAUSE = "BC-URB-AGREE"
PLUGIN = load("broadcast")
(MUTANT,) = (mutant for mutant in subjects_of(PLUGIN) if mutant.name == "uniform/delivers-own-at-once")
IUT = SimulatedIut(MUTANT.name, MUTANT.make_node)


def creator_reaches_nobody() -> Schedule:
    """Its two packets are lost at 0 ns, it crashes at 200 ns; what another process sends later does no harm."""
    (found,) = (case.schedule for case in cases("broadcast") if case.id == f"{CLAUSE}/creator-reaches-nobody")
    return replace(found, delays=tuple(Delay(delay.base_ns, 400) for delay in found.delays))


SCHEDULE = creator_reaches_nobody()
TRACE = IUT.run(SCHEDULE)


def test_the_jump_is_where_the_packets_are_lost() -> None:
    found = likelihood(SCHEDULE, CLAUSE, IUT, runs=20)
    low, high = found.jump
    assert (low.time_ns, high.time_ns) == (NOTHING_KEPT, 0)
    assert low.share < 0.6
    assert high.share == 1
    assert found.whole
    assert {moment.runs for moment in found.moments} == {20}


def test_what_is_kept_stays_and_what_comes_later_does_not() -> None:
    times = network_moments(SCHEDULE, TRACE)
    assert times[:3] == [0, 200, 500]
    for until_ns in (NOTHING_KEPT, 0, 200, 500, times[-1]):
        drawn = [validate(redrawn(SCHEDULE, TRACE, until_ns, Random(number))) for number in range(6)]
        kept = [row for row in TRACE.rows if row[0] <= until_ns]
        assert all(rows_until(IUT.run(one), until_ns) == kept for one in drawn)
        assert {len(one.faults) for one in drawn} == {len(SCHEDULE.faults)}
        later = {failure.time_ns for one in drawn for failure in one.failures if failure.time_ns > until_ns}
        assert (len(later) > 1) == (until_ns < 200)
        others = {tuple(IUT.run(one).rows) for one in drawn}
        assert (len(others) > 3) == (until_ns < times[-1])
    assert len({one.faults for one in (redrawn(SCHEDULE, TRACE, NOTHING_KEPT, Random(n)) for n in range(9))}) > 3


def rows_until(trace: Trace, until_ns: int) -> list[tuple[int, ...]]:
    return [row for row in trace.rows if row[0] <= until_ns]


def test_a_failure_that_is_there_whatever_the_network_does_has_no_jump() -> None:
    found = likelihood(SCHEDULE, "BC-URB-MAJ", IUT, runs=3)
    assert {moment.share for moment in found.moments} == {1.0}


def test_a_run_that_is_cut_has_its_last_row_for_a_violation() -> None:
    cut = SimulatedIut("cut", MUTANT.make_node, max_events=20)
    found = likelihood(SCHEDULE, RUN_ENDS, cut, runs=3)
    assert found.rows == (len(found.trace.rows) - 1,)
    assert {moment.share for moment in found.moments} == {1.0}


def test_a_schedule_that_breaks_nothing_is_refused() -> None:
    reference = SimulatedIut("reference", PLUGIN.node_with({}))
    with pytest.raises(BadInput, match=f"the schedule does not break {CLAUSE}"):
        likelihood(SCHEDULE, CLAUSE, reference)


class Moody:
    """Its second run and all later ones begin otherwise: with another message."""

    def __init__(self) -> None:
        self.runs = 0
        self.name = "moody"

    def run(self, schedule: Schedule) -> Trace:
        self.runs += 1
        first, *rest = schedule.submissions
        other = replace(first, messages=(replace(first.messages[0], payload=b"other"),))
        return IUT.run(schedule if self.runs == 1 else replace(schedule, submissions=(other, *rest)))


def test_an_implementation_that_draws_for_itself_is_refused() -> None:
    with pytest.raises(CannotRun, match="is another one from 0 ns on: the implementation is not deterministic"):
        likelihood(SCHEDULE, CLAUSE, Moody(), runs=3)


def test_when_time_is_over_what_was_run_counts() -> None:
    answers: Iterator[bool] = iter([False] * 30 + [True] * 10_000)
    found = likelihood(SCHEDULE, CLAUSE, IUT, runs=40, is_over=lambda: next(answers))
    assert sum(moment.runs for moment in found.moments) < 60
    assert all(moment.runs for moment in found.moments)
