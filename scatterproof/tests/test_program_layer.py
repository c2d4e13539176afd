"""The layer of programs under stress: a clause that fails at one level fails, one that none shows is not passed."""

from __future__ import annotations

import pytest

from scatterproof.conformance.protocol import programs_of
from scatterproof.conformance.stress.contract import Course, ProgramJudgement
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.layer_report import LayerReport, Status
from scatterproof.program_layer import UNSEEN, summarise_programs
from scatterproof.program_runs import ProgramRun, reference_command
from scatterproof.spec import clauses
from scatterproof.spec.clauses import protocols

WITH_PROGRAM = [protocol for protocol in protocols() if reference_command(protocol) is not None]
PROTOCOL = WITH_PROGRAM[0]
FIRST, SECOND, THIRD = (clause.id for clause in clauses.load(PROTOCOL).clauses[:3])


def run_at(level: str, **verdicts: Verdict) -> ProgramRun:
    """A run whose clauses, given by place, were judged so."""
    ids = {"first": FIRST, "second": SECOND, "third": THIRD}
    results = tuple(
        ClauseResult(clause=ids[name], name=name, verdict=verdict, reason="", held=1, broken=0, violations=())
        for name, verdict in verdicts.items()
    )
    course = Course(
        outcomes=(),
        seconds=1.0,
        still_s=0.0,
        quiet_s=0.0,
        window_s=1.0,
        busy_s=1.0,
        woke_s=0.0,
        complete=True,
        faults={},
    )
    return ProgramRun(
        protocol=PROTOCOL,
        level=level,
        command="x",
        seed=1,
        processes=3,
        messages=1,
        catalogue="",
        course=course,
        judgement=ProgramJudgement(clauses=results, deliveries=3, seconds=1.0),
        trace_rows=0,
        left_out="",
    )


def summed_up(*runs: ProgramRun) -> LayerReport:
    return summarise_programs(PROTOCOL, runs)


def test_a_clause_fails_that_fails_at_one_level() -> None:
    report = summed_up(run_at("a", first=Verdict.PASS), run_at("b", first=Verdict.FAIL))
    assert (report.status, report.cells[FIRST].status) == (Status.FAIL, Status.FAIL)


def test_a_clause_that_no_level_shows_is_not_run_and_does_not_pass() -> None:
    report = summed_up(
        run_at("a", first=Verdict.PASS, second=Verdict.NOT_APPLICABLE, third=Verdict.INCONCLUSIVE),
        run_at("b", first=Verdict.NOT_APPLICABLE),
    )
    assert report.status is Status.INCONCLUSIVE
    assert [report.cells[clause].status for clause in (FIRST, SECOND, THIRD)] == [
        Status.PASS,
        Status.NOT_RUN,
        Status.NOT_RUN,
    ]
    assert report.cells[SECOND].note == UNSEEN


@pytest.mark.parametrize("protocol", WITH_PROGRAM)
def test_a_reference_program_has_every_place_that_its_tester_fills(protocol: str) -> None:
    command = reference_command(protocol)
    assert command is not None
    part = programs_of(protocol)
    assert part.levels
    for place in ("{id}", "{config}"):
        assert place in command
