"""A planted failure is found, shrunk until nothing more can go, saved, and replayed to the same violation."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from msgspec.structs import replace

from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.fuzz.corpus import drawn_schedules
from scatterproof.fuzz.fuzzer import RUN_ENDS, FoundFailure, FuzzResult, broken_by, fuzz, violations_of
from scatterproof.fuzz.protocol import load
from scatterproof.fuzz.shrink import lower, shrink, simpler, without_node
from scatterproof.spec import schedule as schedules
from scatterproof.spec.clauses import load as load_clauses
from scatterproof.spec.schedule import Schedule, validate
from scatterproof.spec.trace import ABSENT, CLEAN, Trace, schema

PLUGIN = load("totalorder")
REFERENCE = SimulatedIut("reference", PLUGIN.node_with({}))
NO_TIE_BREAK = SimulatedIut("no-tie-break", PLUGIN.node_with({"precedence": lambda timestamp, sender: (timestamp,)}))


RARE = {"TO-ADJ-2", "TO-ATOMIC", "TO-BAR-FILL", "TO-BEACON-MIN", "TO-CAUSAL", "TO-FAIL", "TO-RESTART"}


def of_order(found: FuzzResult) -> FoundFailure:
    """The failure under TO-ORDER; under loss TO-LOSS-SAFE says the same."""
    return next(failure for failure in found.failures if failure.clause == "TO-ORDER")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> FuzzResult:
    folder = tmp_path_factory.mktemp("failures")
    return fuzz("totalorder", NO_TIE_BREAK, examples=30, seed=1, folder=folder)


def test_reference_core_keeps_every_clause_and_puts_each_at_stake(tmp_path: Path) -> None:
    done: list[tuple[int, int]] = []
    result = fuzz(
        "totalorder", REFERENCE, examples=120, seed=1, folder=tmp_path, on_progress=lambda *at: done.append(at)
    )
    assert result.failures == ()
    assert list(tmp_path.iterdir()) == []
    assert done[-1] == (120, 0)
    # Failures are not drawn: conformance/tests/test_failures.py does that. Variants are rare among 120 schedules.
    never = {clause for clause, count in result.at_stake.items() if count == 0}
    assert never <= RARE


@pytest.mark.slow
def test_every_checked_clause_of_the_catalogue_is_reported(found: FuzzResult) -> None:
    checked = {clause.id for clause in load_clauses("totalorder").clauses if "check" in clause.layers}
    assert set(found.at_stake) == checked


@pytest.mark.slow
def test_to_order_a_missing_tie_break_is_found_and_nothing_else_blamed(found: FuzzResult) -> None:
    failure = of_order(found)
    assert {other.clause for other in found.failures} <= {"TO-ORDER", "TO-LOSS-SAFE"}
    assert failure.violation is not None
    assert failure.minimal


def test_a_shrunk_failure_is_1_minimal(found: FuzzResult) -> None:
    failure = of_order(found)
    small = failure.schedule
    steps = list(simpler(small))
    # A host or switch, a submission, and a time at least can be tried; none can go.
    assert len(steps) > len(small.topology.nodes)
    for step in steps:
        assert "TO-ORDER" not in violations_of(NO_TIE_BREAK.run(step)), f"this is smaller and fails too: {step}"
    assert len(small.submissions) == 2
    assert all(len(submission.messages) == 1 for submission in small.submissions)


def test_a_saved_failure_replays_to_the_same_violation(found: FuzzResult) -> None:
    failure = of_order(found)
    path = Path(failure.file)
    assert path.name.startswith("TO-ORDER-")
    replayed = schedules.read(path)
    assert replayed == failure.schedule
    assert violations_of(NO_TIE_BREAK.run(replayed))["TO-ORDER"] == failure.violation
    assert violations_of(REFERENCE.run(replayed)) == {}


@pytest.mark.slow
def test_the_same_seed_finds_the_same_failure(found: FuzzResult, tmp_path: Path) -> None:
    again = fuzz("totalorder", NO_TIE_BREAK, examples=30, seed=1, folder=tmp_path)
    assert [failure.schedule for failure in again.failures] == [failure.schedule for failure in found.failures]


def test_a_run_that_ends_cut_is_a_failure_of_its_own(tmp_path: Path) -> None:
    class Crashing:
        name = "crashing"

        def run(self, schedule: Schedule) -> Trace:
            trace = REFERENCE.run(schedule)
            if len(schedule.submissions) < 2:
                return trace
            return Trace(trace.header, trace.rows[:-1])

    result = fuzz("totalorder", Crashing(), examples=10, seed=1, folder=tmp_path)
    assert [failure.clause for failure in result.failures] == [RUN_ENDS]
    assert len(result.failures[0].schedule.submissions) == 2


def test_a_run_ends_as_planned_only_where_its_last_row_says_that_it_ended() -> None:
    trace = REFERENCE.run(next(drawn_schedules("totalorder", 1)))
    assert RUN_ENDS not in violations_of(trace)
    flags = schema("totalorder").index("flags")
    *_, last, ended = trace.rows
    for value in (ABSENT, 0, CLEAN):  # of a packet, where the bits mean something else
        cut = [*trace.rows[:-2], (*last[:flags], value, *last[flags + 1 :])]
        assert RUN_ENDS in broken_by(Trace(trace.header, cut), []), value
    assert RUN_ENDS in broken_by(Trace(trace.header, []), [])
    assert broken_by(Trace(trace.header, [ended]), []) == {}


def test_every_simpler_schedule_is_valid_and_differs() -> None:
    for schedule in islice(drawn_schedules("totalorder", 5), 12):
        for step in simpler(schedule):
            assert step != schedule
            validate(step)


def test_a_node_takes_its_links_faults_and_messages_along() -> None:
    schedule = next(s for s in drawn_schedules("totalorder", 2) if len(s.topology.hosts()) > 3 and s.clocks)
    gone = len(schedule.topology.hosts()) - 1
    smaller = without_node(schedule, gone)
    assert smaller is not None
    validate(smaller)
    assert len(smaller.topology.nodes) == len(schedule.topology.nodes) - 1
    assert len(smaller.clocks) == len(smaller.topology.nodes)
    assert schedule.topology.nodes[gone] not in smaller.topology.nodes


def test_lowering_ends_one_step_below_and_nears_zero_from_both_sides() -> None:
    assert list(lower(8)) == [0, 4, 6, 7]
    assert list(lower(-8)) == [0, -4, -6, -7]
    assert list(lower(3, least=1)) == [1, 2]
    assert list(lower(1, least=1)) == []


def test_shrinking_stops_at_its_budget_and_says_so() -> None:
    schedule = next(drawn_schedules("totalorder", 1))
    slow = replace(schedule, end_ns=1 << 40)
    shrunk = shrink(slow, lambda candidate: candidate.end_ns is not None and candidate.end_ns > 999, max_runs=5)
    assert (shrunk.runs, shrunk.minimal) == (5, False)
    assert shrink(slow, lambda candidate: (candidate.end_ns or 0) > 999).schedule.end_ns == 1000
