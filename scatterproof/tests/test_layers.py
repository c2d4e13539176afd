"""What each layer of the main job gives to whom, and what it leaves out: said, never passed, never failed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from scatterproof.conformance.case import CaseResult, cases
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.verdict import Verdict
from scatterproof.fuzz import protocol as fuzz_protocol
from scatterproof.fuzz.kill_matrix import subjects_of
from scatterproof.fuzz.mutant_rates import Rate
from scatterproof.fuzz.survivors import SurvivorStanding, Triage
from scatterproof.fuzz.trying import CoreBench, TriedOutcome
from scatterproof.layer_report import Status
from scatterproof.layers import cases as of_cases
from scatterproof.layers import core_mutants, mutants
from scatterproof.layers.every import LAYERS
from scatterproof.layers.job import Depth, Lane, MainJob, Unit, report_of
from scatterproof.matrix import matrix
from scatterproof.models.expected import Tier, models_in
from scatterproof.program_runs import reference_command
from scatterproof.spec import clauses
from scatterproof.spec.errors import CannotRun

OVER_SOCKETS = next(protocol for protocol in clauses.protocols() if reference_command(protocol) is None)


def job(protocol: str, depth: Depth = Depth.EVERYDAY) -> MainJob:
    return MainJob(protocol=protocol, seed=1, results=Path(), depth=depth)


def given(units: list[Unit]) -> list[str]:
    """The ids of the cases that the units give, or may come to give."""
    listed = (argument for unit in units for argument in unit.work.args if isinstance(argument, list | tuple))  # type: ignore[attr-defined]
    return [case.id for some in listed for case in some]


def passed(units: list[Unit]) -> list[list[CaseResult]]:
    by_id = {case.id: case for case in cases(OVER_SOCKETS)}
    passing = [
        CaseResult(case=by_id[name], verdict=Verdict.PASS, reason="", results=(), trace=None) for name in given(units)
    ]
    return [passing]


def test_a_clause_whose_cases_are_left_out_over_udp_is_not_run_with_the_reason() -> None:
    everyday = job(OVER_SOCKETS)
    units = of_cases.over_udp(everyday)
    catalogue = clauses.load(OVER_SOCKETS)
    report = of_cases.report_udp(everyday, {"conform-udp": passed(units)})
    layer = next(layer for layer in LAYERS if layer.name == "conform-udp")
    named = report.__class__(
        layer=layer.name,
        title=layer.title,
        status=report.status,
        sentence=report.sentence,
        seconds=0.0,
        cells=report.cells,
    )
    rows = {row.clause: row.cells[0] for row in matrix(catalogue, [named])}
    assert Status.FAIL not in {cell.status for cell in rows.values()}
    left_out = {name: cell.note for name, cell in rows.items() if cell.status is Status.NOT_RUN}
    assert left_out
    assert all("drift" in why for why in left_out.values())


@pytest.mark.parametrize("protocol", clauses.protocols())
def test_every_clause_with_a_case_has_one_over_stdio_every_day(protocol: str) -> None:
    everyday, full = (set(given(of_cases.over_stdio(job(protocol, depth)))) for depth in (Depth.EVERYDAY, Depth.FULL))
    by_id = {case.id: case for case in cases(protocol)}
    assert full == by_id.keys()
    assert everyday <= full
    assert sorted(by_id[name].clause for name in everyday) == sorted({case.clause for case in cases(protocol)})


def test_only_clocks_that_drift_are_left_out_over_udp_and_nothing_in_a_full_run() -> None:
    by_id = {case.id: case for case in cases(OVER_SOCKETS)}
    everyday = given(of_cases.over_udp(job(OVER_SOCKETS)))
    missing = {case.clause for case in by_id.values()} - {by_id[name].clause for name in everyday}
    assert missing == {"TO-ADJ-ROUNDS"}
    assert set(given(of_cases.over_udp(job(OVER_SOCKETS, Depth.FULL)))) == by_id.keys()


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        ([Verdict.PASS], (0, Verdict.PASS)),
        ([Verdict.NOT_RUN, Verdict.PASS], (1, Verdict.PASS)),
        ([Verdict.NOT_RUN, Verdict.FAIL], (1, Verdict.FAIL)),
        ([Verdict.FAIL], (0, Verdict.FAIL)),
        ([Verdict.NOT_RUN, Verdict.NOT_RUN], (0, Verdict.NOT_RUN)),
    ],
)
def test_a_clause_whose_shortest_case_is_left_open_over_udp_has_its_next_one(
    monkeypatch: pytest.MonkeyPatch, verdicts: list[Verdict], told: tuple[int, Verdict]
) -> None:
    left = iter(verdicts)

    def given_as(case: Case, *_: object) -> CaseResult:
        return CaseResult(case=case, verdict=next(left), reason="", results=(), trace=None)

    monkeypatch.setattr(of_cases, "_in_real_time", given_as)
    monkeypatch.setattr("scatterproof.iuts.maker", lambda *_: lambda *_: None)
    some = [case for case in cases(OVER_SOCKETS) if case.clause == "TO-RETX-BAR"][:2]
    assert [(some.index(one.case), one.verdict) for one in of_cases.until_told(some, job(OVER_SOCKETS))] == [told]
    assert next(left, None) is None


@pytest.mark.parametrize("protocol", clauses.protocols())
def test_what_waits_in_real_time_has_processes_of_its_own(protocol: str) -> None:
    assert {unit.lane for unit in of_cases.over_udp(job(protocol))} == {Lane.REAL_TIME}
    assert {unit.lane for unit in of_cases.over_stdio(job(protocol))} == {Lane.COMPUTING}


def names_of(protocol: str, depth: Depth, seed: int = 1) -> list[str]:
    """The mutants that the units try; the first one, and those of samples, try none by name."""
    units = mutants.units(MainJob(protocol=protocol, seed=seed, results=Path(), depth=depth))[
        1 + len(core_mutants.subjects(protocol)) :
    ]
    return [name for unit in units for name in unit.work.args[1]]  # type: ignore[attr-defined]


@pytest.mark.parametrize("protocol", clauses.protocols())
def test_every_mutant_is_tried_once_in_a_full_run_and_with_the_seeds_in_turn(protocol: str) -> None:
    everything = names_of(protocol, Depth.FULL)
    assert sorted(everything) == sorted(one.name for one in subjects_of(fuzz_protocol.load(protocol)))
    assert len(everything) == len(set(everything))
    in_turn = [name for seed in range(mutants.EVERY) for name in names_of(protocol, Depth.EVERYDAY, seed)]
    assert sorted(in_turn) == sorted(everything)


@pytest.mark.parametrize("protocol", clauses.protocols())
def test_a_full_run_checks_all_models(protocol: str) -> None:
    tlc = next(layer for layer in LAYERS if layer.name == "tlc")
    everyday, full = (tlc.units(job(protocol, depth)) for depth in (Depth.EVERYDAY, Depth.FULL))
    assert {unit.text for unit in everyday} <= {unit.text for unit in full}
    assert len(everyday) == len(models_in(protocol))
    assert len(full) == len(models_in(protocol, Tier.FULL))


@pytest.mark.parametrize("protocol", clauses.protocols())
def test_what_a_quick_run_leaves_out_is_not_run_and_fails_nothing(protocol: str) -> None:
    tlc = next(layer for layer in LAYERS if layer.name == "tlc")
    quick = job(protocol, Depth.QUICK)
    chosen = {unit.text for unit in tlc.units(quick)}
    assert chosen < {unit.text for unit in tlc.units(job(protocol))}
    report = tlc.report(quick, {"tlc": []})
    assert {cell.status for cell in report.cells.values()} == {Status.NOT_RUN}
    asked = {clause.id for clause in clauses.load(protocol).clauses if clauses.Layer.TLC in clause.layers}
    assert asked <= report.cells.keys()


def rate_of(killed: int, fresh: int, area: str = "here") -> Rate:
    by = dict.fromkeys(TriedOutcome, 0) | {TriedOutcome.BY_CLAUSE: killed, TriedOutcome.SURVIVED: fresh}
    names = tuple(f"mutant {number}" for number in range(fresh))
    return Rate(area=area, mutants=killed + fresh, by=by, standings=dict.fromkeys(SurvivorStanding, 0), fresh=names)


@pytest.mark.parametrize(
    ("known", "killed", "fresh", "said"),
    [
        (Triage(at_least=0.6), 50, 50, ["the rate has fallen below 60% of those that can be told"]),
        (Triage(at_least=0.55), 50, 50, []),  # it may be luck
        (Triage(), 0, 30, ["none was killed"]),
        (Triage(), 0, 13, []),
        (Triage(done=("here",)), 99, 1, ["mutant 0 survives in here, where all survivors were known"]),
        (Triage(done=("here",)), 99, 0, []),
        (Triage(done=("there",)), 99, 1, []),
    ],
)
def test_a_sample_of_core_mutants_fails_by_what_is_no_luck(
    known: Triage, killed: int, fresh: int, said: list[str]
) -> None:
    assert core_mutants.faults(known, [rate_of(killed, fresh), rate_of(killed, fresh, "all")]) == said


def test_cores_are_not_sampled_where_no_areas_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    without = replace(fuzz_protocol.load(OVER_SOCKETS), areas={})
    monkeypatch.setattr(core_mutants, "load", lambda protocol: without)
    monkeypatch.setattr("scatterproof.fuzz.trying.load", lambda protocol: without)
    assert core_mutants.subjects(OVER_SOCKETS) == [core_mutants.JUDGES]
    assert [unit.text for unit in core_mutants.units(job(OVER_SOCKETS))] == ["13 judge mutants"]
    with pytest.raises(CannotRun, match="names no areas"):
        CoreBench(OVER_SOCKETS, 1)
    sampled = core_mutants.Sampled(seed=7, of=9, rates=(rate_of(3, 0), rate_of(3, 0, "all")), survived=())
    report = mutants.report(job(OVER_SOCKETS), {"mutants": [{}, sampled]})
    assert "none is named that breaks a clause" in report.sentence
    assert "no core mutants" in report.sentence


@pytest.mark.parametrize("subject", core_mutants.SUBJECTS, ids=lambda subject: subject.name)
def test_what_is_wrong_with_the_sample_is_wrong_with_the_layer(subject: core_mutants.ChangedCode) -> None:
    before = report_of(Status.PASS, "fine", {})
    bad = core_mutants.Sampled(seed=7, of=90, rates=(rate_of(0, 30), rate_of(0, 30, "all")), survived=())
    report = core_mutants.with_sample(before, job(OVER_SOCKETS), subject, bad)
    assert (report.status, len(report.details)) == (Status.FAIL, 2 if subject.judges else 3)
    assert f"{subject.name} mutants, 30 of 90 by seed 7" in report.sentence


def test_the_sample_is_another_one_each_day_and_for_each_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock:
        day = datetime(2026, 1, 1, tzinfo=UTC)

        @classmethod
        def now(cls, _zone: object) -> datetime:
            return cls.day

    monkeypatch.setattr(core_mutants, "datetime", Clock)
    today = core_mutants.seed_of_today(1)
    assert today == core_mutants.seed_of_today(1) != core_mutants.seed_of_today(2)
    Clock.day = datetime(2026, 1, 2, tzinfo=UTC)
    assert core_mutants.seed_of_today(1) != today
