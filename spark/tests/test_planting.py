"""What is planted is found by trying, the same runs each time, and its labels come from the oracles alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from scatterproof.conformance.judge import judge
from scatterproof.impl.protocol import load as implemented
from scatterproof.spark.corpus import simulate_run
from scatterproof.spark.layout import Expected
from scatterproof.spark.planting import LONGEST, Plan, PlantOutcome, Probe, Trial, choose, refuse_wishes
from scatterproof.spark.plants import Plant, Wish, altered, row_wish
from scatterproof.spark.protocol import kinds_of
from scatterproof.spark.tests.material import PROTOCOLS, material
from scatterproof.spec.errors import BadInput

ANY, SEED = PROTOCOLS[0], 1
EVERY = 1 << 62
SOMETHING = (Expected("X-1", 1, 0),)
each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)


def wish(wanted: float, name: str = "a/b") -> Wish:
    return Wish(name=name, wanted=wanted, nodes=lambda: implemented(ANY).make_core)


def of_plant(protocol: str, plant: Plant, wanted: int = 1) -> Wish:
    nodes = partial(implemented(protocol).make_core, rules=plant.rules)
    return Wish(name=plant.name, wanted=wanted, nodes=lambda: nodes)


class Asked:
    """Answers as `outcome` says, without any run; knows what was asked."""

    def __init__(
        self, outcome: dict[int, PlantOutcome] | None = None, otherwise: PlantOutcome = PlantOutcome.BROKEN
    ) -> None:
        self._outcome, self._otherwise = outcome or {}, otherwise
        self.runs: list[int] = []

    def __call__(self, wish: Wish, runs: Sequence[int]) -> list[Probe]:
        self.runs += runs
        outcomes = [(run, self._outcome.get(run, self._otherwise)) for run in runs]
        return [Probe(run, out, 0, SOMETHING if out is PlantOutcome.BROKEN else ()) for run, out in outcomes]


def chosen(plan: Plan, name: str = "a/b") -> list[int]:
    return [one.run for one in plan.runs if one.name == name]


@pytest.mark.parametrize(("wanted", "count"), [(1, 1), (17, 17), (0.1, 30), (0.0001, 1), (1.0, 300)])
def test_a_rate_is_a_number_of_runs_or_a_share_of_them(wanted: float, count: int) -> None:
    plan = choose(ANY, SEED, 300, [wish(wanted)], Asked())
    assert len(set(chosen(plan))) == count
    assert [one.runs for one in plan.plantings] == [count]


def test_the_runs_depend_on_seed_and_mutant_and_come_from_everywhere() -> None:
    first = chosen(choose(ANY, SEED, 300, [wish(20)], Asked()))
    assert first == chosen(choose(ANY, SEED, 300, [wish(20)], Asked()))
    assert first != chosen(choose(ANY, SEED + 1, 300, [wish(20)], Asked()))
    assert first != chosen(choose(ANY, SEED, 300, [wish(20, "c/d")], Asked()), "c/d")
    assert max(first) - min(first) > 200


def test_of_those_that_are_asked_for_the_first_that_break_something_are_chosen() -> None:
    asked = Asked(dict.fromkeys(range(0, 300, 3), PlantOutcome.BROKEN), otherwise=PlantOutcome.UNCHANGED)
    plan = choose(ANY, SEED, 300, [wish(12)], asked)
    told = plan.plantings[0]
    assert chosen(plan) == sorted([run for run in asked.runs if run % 3 == 0][:12])
    assert (told.tried, told.unchanged) == (len(asked.runs), sum(run % 3 > 0 for run in asked.runs))
    assert told.harmless == told.unfit == 0


def test_no_run_is_planted_twice() -> None:
    plan = choose(ANY, SEED, 40, [wish(20), wish(20, "c/d")], Asked())
    assert sorted(chosen(plan) + chosen(plan, "c/d")) == list(range(40))


@pytest.mark.parametrize("outcome", [PlantOutcome.UNCHANGED, PlantOutcome.HARMLESS, PlantOutcome.UNFIT])
def test_a_mutant_that_never_shows_is_given_up_and_told_so(outcome: PlantOutcome) -> None:
    asked = Asked(otherwise=outcome)
    kinds, runs = len(kinds_of(ANY)), 20_000
    with pytest.raises(
        BadInput, match=r"^--plant a/b: 0 of 3 runs found in which it breaks a clause: of \d+ that were tried"
    ):
        choose(ANY, SEED, runs, [wish(3)], asked)
    assert kinds <= len(asked.runs) < runs / 4
    assert {run % kinds for run in asked.runs} == set(range(kinds))


def test_kinds_in_which_it_shows_are_gone_on_with_and_others_are_not() -> None:
    kinds, runs = len(kinds_of(ANY)), 400 * len(kinds_of(ANY))
    # In a quarter of its runs, so that it is mostly in vain there, too.
    asked = Asked(dict.fromkeys(range(0, runs, 4 * kinds), PlantOutcome.BROKEN), otherwise=PlantOutcome.UNCHANGED)
    plan = choose(ANY, SEED, runs, [wish(12)], asked)
    assert {run % kinds for run in chosen(plan)} == {0}
    assert len(asked.runs) < runs / 2


def test_wishes_that_cannot_be_met_are_one_sentence() -> None:
    for wishes, sentence in (
        ([wish(3), wish(4)], "--plant a/b is given twice"),
        ([wish(0)], r"--plant a/b:0: give a share above 0.0 up to 1.0, or how many runs"),
        ([wish(1.5)], r"--plant a/b:1.5: give a share"),
        ([wish(6), wish(5, "c/d")], "--plant asks for 11 runs, and there are 10; ask for fewer"),
    ):
        with pytest.raises(BadInput, match=sentence):
            refuse_wishes(wishes, 10)


def tried(protocol: str, wish: Wish, outcome: PlantOutcome, most: int = 400) -> tuple[int, Probe]:
    """The first run with this outcome."""
    for run in range(most):
        probe = Trial(protocol, SEED, wish, run).probe(implemented(protocol).make_core)
        if probe.outcome is outcome:
            return run, probe
    raise AssertionError(f"no run of {most} is {outcome}")


@each_protocol
def test_labels_are_what_the_online_checks_say_too(protocol: str) -> None:
    """The oracles alone are asked for them; here the checks are held to it."""
    planted = of_plant(protocol, material(protocol).plant)
    run, probe = tried(protocol, planted, PlantOutcome.BROKEN)
    wrong = simulate_run(protocol, SEED, run, planted.plant(probe.number, probe.expected))
    assert len(wrong.rows) <= LONGEST
    assert wrong.rows != simulate_run(protocol, SEED, run).rows
    assert probe.expected == tuple(
        Expected(result.clause, result.broken, result.violations[0].position)
        for result in judge(wrong, shown=EVERY)
        if result.broken
    )


@pytest.mark.slow
@each_protocol
def test_an_altered_row_breaks_one_clause_at_one_row(protocol: str) -> None:
    wanted = row_wish("", 1)
    run, probe = tried(protocol, wanted, PlantOutcome.BROKEN)
    wrong = simulate_run(protocol, SEED, run, wanted.plant(probe.number, probe.expected))
    right = simulate_run(protocol, SEED, run)
    found = [(result.clause, result.broken) for result in judge(wrong) if result.broken]
    assert found == [(one.clause, one.rows) for one in probe.expected]
    assert [rows for _, rows in found] == [1]
    differing = sum(row != other for row, other in zip(wrong.rows, right.rows, strict=False))
    assert (len(wrong.rows), differing <= 2) in ((len(right.rows), True), (len(right.rows) - 1, differing <= 2))


def test_an_alteration_that_breaks_more_than_one_row_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = row_wish("", 1)
    right = Wish(name="right", wanted=1, nodes=lambda: implemented(PROTOCOLS[-1]).make_core)
    run, _ = tried(PROTOCOLS[-1], right, PlantOutcome.UNCHANGED)
    two, both, one = (Expected("X-1", 2, 0),), (Expected("X-1", 1, 0), Expected("X-2", 1, 0)), SOMETHING
    answers = iter([two, both, None, (), one])
    monkeypatch.setattr("scatterproof.spark.planting.expected_of", lambda trace: next(answers))
    probe = Trial(PROTOCOLS[-1], SEED, wanted, run).probe(implemented(PROTOCOLS[-1]).make_core)
    assert (probe.outcome, probe.expected) == (PlantOutcome.BROKEN, one)
    assert list(answers) == []


def test_right_rules_leave_everything_unchanged_and_long_runs_are_left_alone() -> None:
    right = Wish(name="right", wanted=1, nodes=lambda: implemented(ANY).make_core)
    run, _ = tried(ANY, right, PlantOutcome.UNCHANGED)
    assert len(simulate_run(ANY, SEED, run).rows) <= LONGEST
    run, _ = tried(ANY, right, PlantOutcome.UNFIT)
    assert len(simulate_run(ANY, SEED, run).rows) > LONGEST


@each_protocol
def test_alterations_leave_submissions_and_the_end_alone(protocol: str) -> None:
    trace = next(iter(material(protocol).traces()))
    changed = [altered(trace, number) for number in range(60)]
    assert changed == [altered(trace, number) for number in range(60)]
    assert len({tuple(one.rows) for one in changed}) > 30
    assert {len(one.rows) - len(trace.rows) for one in changed} == {0, -1}
    assert all(one.rows[-1] == trace.rows[-1] for one in changed)
