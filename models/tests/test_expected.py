"""Expected results: reading the list of models, replacing lines of a .cfg, and comparing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scatterproof.models.expected import (
    SPEC_FOLDER,
    STATES_A_SECOND,
    Model,
    ModelKind,
    Tier,
    check_models,
    compare,
    configuration,
    models_in,
    models_of,
)
from scatterproof.models.finding import findings_of
from scatterproof.models.progress import ModelProgress
from scatterproof.models.tlc import State, TlcOutcome, TlcRun, listed
from scatterproof.spec.clauses import Layer
from scatterproof.spec.clauses import load as load_clauses
from scatterproof.spec.errors import BadInput, CannotRun

STEPS = """
---- MODULE Steps ----
EXTENDS Naturals
CONSTANT Step(_)
VARIABLE x
ByOne(n) == n + 1
ByTwo(n) == n + 2
Spec == x = 0 /\\ [][x' = IF x < 4 THEN Step(x) ELSE x]_x
Small == x <= 4
NotTwo == x # 2
NotThree == x # 3
====
"""
CFG = "SPECIFICATION Spec\nCONSTANTS\n  Step <- ByOne\nINVARIANTS\n  Small\n"
HOLDS = """
[[model]]
name = "small"
module = "Steps"
cfg = "Steps.cfg"
says = "Steps of one stay small."
distinct = 5
depth = 5
"""
FINDING = """
[[model]]
name = "big_steps"
kind = "finding"
module = "Steps"
cfg = "Steps.cfg"
set = { Step = "ByTwo" }
invariants = ["NotTwo"]
violates = "NotTwo"
trace = 2
clauses = ["ST-SMALL"]
says = "Steps of two meet two at once."
"""


LIVENESS = {"ArrivedIsDelivered", "ScatteredIsDelivered", "LostIsResent", "LossStateEnds", "IdleAckBarrierRises"}
LIVENESS |= {"AdjustmentIsRepeated", "FailureStopsNobody"}
PROTOCOLS = sorted(path.parent.name for path in SPEC_FOLDER.glob("*/models.toml"))


@pytest.fixture
def spec_folder(tmp_path: Path) -> Path:
    (tmp_path / "steps").mkdir()
    (tmp_path / "steps" / "Steps.tla").write_text(STEPS)
    (tmp_path / "steps" / "Steps.cfg").write_text(CFG)
    (tmp_path / "steps" / "models.toml").write_text(HOLDS + FINDING)
    return tmp_path


def rewrite(spec_folder: Path, text: str) -> None:
    (spec_folder / "steps" / "models.toml").write_text(text)


def test_models_that_find_what_is_expected_agree(spec_folder: Path) -> None:
    seen: list[ModelProgress] = []
    results = check_models("steps", spec_folder=spec_folder, on_progress=seen.append)
    assert [(result.name, result.differences) for result in results] == [("small", ()), ("big_steps", ())]
    assert results[1].seen.violates == "NotTwo"
    assert ("small", 5) in {(one.name, one.distinct) for one in seen}


@pytest.mark.slow
def test_the_longest_model_begins_first_and_progress_ends_with_all_that_there_was(spec_folder: Path) -> None:
    rewrite(spec_folder, HOLDS + FINDING + "cost = 3\n")
    seen: list[ModelProgress] = []
    ended: list[str] = []
    results = check_models(
        "steps", jobs=1, spec_folder=spec_folder, on_progress=seen.append, on_result=lambda one: ended.append(one.name)
    )
    assert [one.name for one in results] == ["small", "big_steps"]
    assert ended == ["big_steps", "small"]
    assert (seen[0].name, seen[0].done) == ("big_steps", 0)
    assert [one.done for one in seen] == sorted(one.done for one in seen)
    assert seen[-1].done == seen[-1].total == pytest.approx(3 + 1 + 5 / STATES_A_SECOND)
    assert str(seen[-1]) == "100%, small, 5 distinct states"


def test_another_count_of_states_is_a_difference(spec_folder: Path) -> None:
    rewrite(spec_folder, HOLDS.replace("distinct = 5", "distinct = 6"))
    (result,) = check_models("steps", spec_folder=spec_folder)
    assert result.differences == ("expected 6 distinct states, found 5",)
    assert not result.agrees


def test_each_tier_but_the_random_one_includes_those_above_it(spec_folder: Path) -> None:
    full = FINDING.replace("big_steps", "full") + 'tier = "full"\n'
    deep = FINDING.replace("big_steps", "deep") + 'tier = "deep"\n'
    rewrite(spec_folder, deep + full + HOLDS)
    named = {tier: [one.name for one in models_in("steps", tier, spec_folder)] for tier in Tier}
    assert named == {
        Tier.QUICK: ["small"],
        Tier.FULL: ["full", "small"],
        Tier.DEEP: ["deep", "full", "small"],
        Tier.RANDOM: [],
    }


@pytest.mark.slow
def test_a_deep_model_runs_only_when_asked_for(spec_folder: Path) -> None:
    rewrite(spec_folder, HOLDS + 'tier = "deep"\n')
    assert check_models("steps", spec_folder=spec_folder) == []
    assert len(check_models("steps", Tier.DEEP, spec_folder=spec_folder)) == 1


@pytest.mark.slow
def test_random_behaviours_refute_or_say_no_more_than_that_they_did_not(spec_folder: Path) -> None:
    walks = 'tier = "random"\nbehaviours = 20\nlength = 10\n'
    rewrite(spec_folder, HOLDS.replace("distinct = 5\ndepth = 5\n", walks) + FINDING.replace("trace = 2\n", walks))
    assert check_models("steps", spec_folder=spec_folder) == []
    small, big_steps = check_models("steps", Tier.RANDOM, spec_folder=spec_folder)
    assert (small.seen.result, small.differences) == ("not refuted", ())
    assert small.seen.generated > 20
    assert (big_steps.seen.violates, big_steps.seen.shortest, big_steps.differences) == ("NotTwo", False, ())
    rewrite(spec_folder, HOLDS + 'tier = "random"\n')
    with pytest.raises(BadInput, match="`behaviours` says how many"):
        models_of("steps", spec_folder)


def test_set_replaces_one_line_and_the_sections_named(spec_folder: Path) -> None:
    _, finding = models_of("steps", spec_folder)
    text = configuration(finding, spec_folder, "steps")
    assert text == "SPECIFICATION Spec\nCONSTANTS\n  Step <- ByTwo\nINVARIANTS\n  NotTwo\n"


def test_a_definition_without_a_line_gets_one(spec_folder: Path) -> None:
    model = Model(name="m", module="Steps", cfg="Steps.cfg", says="", set={"Small": "NotTwo"}, invariants=())
    assert configuration(model, spec_folder, "steps").endswith("  Step <- ByOne\nCONSTANT Small <- NotTwo\n")


def run(
    outcome: TlcOutcome = TlcOutcome.HOLDS, *, states: int = 0, violated: str | None = None, depth: int = 0
) -> TlcRun:
    trace = tuple(State("Step", {"x": number}) for number in range(states))
    return TlcRun(outcome=outcome, seconds=0.1, violated=violated, trace=trace, depth=depth)


def model(**fields: object) -> Model:
    return Model(name="m", module="Steps", cfg="Steps.cfg", says="", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("expected", "seen", "difference"),
    [
        (model(violates="Small"), run(), "expected Small, found that all holds"),
        (model(), run(TlcOutcome.VIOLATED, violated="Small"), "expected that all holds, found Small"),
        (model(violates="A"), run(TlcOutcome.VIOLATED, violated="B"), "expected A, found B"),
        (model(depth=3), run(depth=4), "expected 3 levels of depth, found 4"),
        (
            model(violates="A", trace=4),
            run(TlcOutcome.VIOLATED, violated="A", states=5),
            "counterexample of 4 states, found 5",
        ),
        (model(), run(TlcOutcome.DEADLOCK), "TLC gave no verdict: deadlock"),
        (model(violates="A"), run(TlcOutcome.TIMED_OUT), "TLC gave no verdict: timed out"),
        (model(every_action=True), run(), "TLC told nothing of the actions taken"),
        (model(tier=Tier.RANDOM, behaviours=1), run(), "TLC walked through no state at all"),
    ],
)
def test_a_run_that_differs_is_told_in_a_sentence(expected: Model, seen: TlcRun, difference: str) -> None:
    (told,) = compare(expected, seen).differences
    assert difference in told


def test_an_action_never_taken_is_told() -> None:
    seen = TlcRun(outcome=TlcOutcome.HOLDS, seconds=0.1, actions={"Send": 3, "Deliver": 0})
    assert compare(model(every_action=True), seen).differences == ("action Deliver was never taken",)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[model]\n", "models.toml: not TOML"),
        (HOLDS.replace("module", "modul"), "models.toml: .*modul"),
        (HOLDS.replace("distinct = 5", 'distinct = "five"'), r"models.toml: Expected `int \| null`"),
        (HOLDS + HOLDS, "'small' is listed twice"),
        (HOLDS.replace('"Steps"', '"Gone"'), "'small' names Gone.tla, which is not in"),
        (HOLDS + 'kind = "mutant"\n', "'small' is a mutant that replaces nothing"),
        (HOLDS + 'kind = "mutant"\nset = { Step = "ByTwo" }\n', "'small' needs either `violates`"),
        (HOLDS + 'kind = "reach"\n', "'small' is a reach model that expects no violation"),
    ],
)
def test_a_malformed_list_is_refused_by_file_and_place(spec_folder: Path, text: str, sentence: str) -> None:
    rewrite(spec_folder, text)
    with pytest.raises(BadInput, match=sentence):
        models_of("steps", spec_folder)


REFUTED = """
[[refuted]]
property = "Small"
of = "small"
set = { Step = "ByThree" }
says = "Steps of three grow big."
tier = "quick"
trace = 3
"""


@pytest.mark.slow
def test_a_refutation_is_the_model_that_holds_the_property_with_other_lines(spec_folder: Path) -> None:
    (spec_folder / "steps" / "Steps.tla").write_text(STEPS.replace("NotTwo ==", "ByThree(n) == n + 3\nNotTwo =="))
    rewrite(spec_folder, HOLDS + REFUTED)
    _, refuted = check_models("steps", spec_folder=spec_folder)
    assert refuted.name == "small_in_small_where_step_is_by_three"
    assert (refuted.kind, refuted.seen.violates, refuted.seen.trace) == (ModelKind.MUTANT, "Small", 3)
    assert refuted.agrees


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (REFUTED.replace('of = "small"', 'of = "gone"'), "Small is to be refuted in 'gone', which is not listed"),
        (REFUTED.replace('"Small"', '"NotTwo"'), "NotTwo is to be refuted in 'small', which does not hold it"),
        (FINDING + REFUTED.replace('of = "small"', 'of = "big_steps"'), "in 'big_steps', which does not hold it"),
        (REFUTED + REFUTED, "is listed twice"),
    ],
)
def test_a_refutation_of_what_is_not_held_is_refused(spec_folder: Path, text: str, sentence: str) -> None:
    rewrite(spec_folder, HOLDS + text)
    with pytest.raises(BadInput, match=sentence):
        models_of("steps", spec_folder)


def properties(protocol: str, one: Model) -> set[tuple[str, str]]:
    text = configuration(one, SPEC_FOLDER, protocol)
    return {(section, name) for section in ("INVARIANTS", "PROPERTIES") for name in listed(text, section)}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_property_that_some_model_holds_is_refuted_by_a_model_of_its_own(protocol: str) -> None:
    models = models_of(protocol)
    held = {name for one in models if one.violates is None for _, name in properties(protocol, one)}
    # Of liveness and of refinement TLC tells no name: it must be the only one there.
    refuted = {
        one.violates
        for one in models
        if one.violates is not None
        and (("INVARIANTS", one.violates) in properties(protocol, one) or len(properties(protocol, one)) == 1)
    }
    refuted |= {one.violates for one in models if one.violates is not None and one.trace is not None}
    assert held - refuted == set()


FAIR = {
    "MCLoss": {"Readings", "Copies", "Answers", "Resendings", "HostTells", "SwitchTells", "Takings", "Deliveries"},
    # Where nothing arrives, what has arrived is delivered.
    "MCOneSwitch": {"Tick", "Deliver", "TakeBeacon", "HostBeacon", "SwitchBeacon"},
    "MCFailures": {"Tick", "HostBeacon", "SwitchBeacon", "Learn", "Arrive", "GiveUp", "Notice", "Remove", "Answer"}
    | {"SendNotice", "TakeBeacon", "TakeNotice", "TakeAnswer"},
    "MCLinks": {"Resend", "Arrive", "Acknowledge"},
    "MCMajority": {"Receive", "Forward", "Deliver"},
    "MCFifo": {"Receive", "Deliver", "HasLooked"},
    "MCCausal": {"Receive", "Deliver", "HasLooked"},
    "MCWorkQueue": {"Send", "Close", "Take", "Read", "Pop", "Fail", "Finish", "Cleaned", "Boot"},
}


@pytest.mark.parametrize("module", FAIR)
def test_each_action_that_fairness_asks_for_is_missed_by_some_model_where_it_is_never_taken(module: str) -> None:
    never = {
        name
        for protocol in PROTOCOLS
        for one in models_of(protocol)
        for name, value in one.set.items()
        if one.module == module and value.startswith(("Never", "Nothing"))
    }
    assert FAIR[module] - never == set()


def test_a_protocol_without_models_is_named() -> None:
    with pytest.raises(BadInput, match="no models for protocol 'nosuch'"):
        models_of("nosuch")


def test_a_protocol_that_has_none_yet_cannot_be_checked(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    with pytest.raises(CannotRun, match=r"'toy' has no models yet; give it spec/toy/models\.toml"):
        models_of("toy", tmp_path)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_clause_that_tlc_checks_holds_and_is_refuted_in_a_model_of_every_day(protocol: str) -> None:
    def shown(tier: Tier) -> set[tuple[str, bool]]:
        """Clauses by id, and whether they are refuted there, under their own names where such a model is listed."""
        models = [model for model in models_in(protocol, tier) if model.kind is not ModelKind.REACH]
        held = {(id_, False) for model in models if model.violates is None for id_ in model.clauses}
        refuted = {name for model in models if model.violates is not None for name in model.violates.split(" or ")}
        return held | {(clause.id, True) for clause in catalogue.clauses if clause.name in refuted}

    catalogue = load_clauses(protocol)
    checked = {(clause.id, False) for clause in catalogue.clauses if Layer.TLC in clause.layers}
    assert checked - shown(Tier.QUICK) == set()
    assert {one for one in shown(Tier.FULL) if one[1]} - shown(Tier.QUICK) == set()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_finding_that_tlc_decides_has_a_model_of_every_day(protocol: str) -> None:
    everyday = {model.name for model in models_in(protocol)}
    findings = [finding for finding in findings_of(protocol) if finding.models]
    assert [finding.name for finding in findings if not everyday & set(finding.models)] == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_models_of_every_day_are_a_small_part_of_the_work(protocol: str) -> None:
    everyday = sum(model.weight for model in models_in(protocol))
    assert everyday < 135
    # Of what takes seconds in all, everything may be done every day.
    assert everyday < max(10, sum(model.weight for model in models_in(protocol, Tier.FULL)) * 0.75)


def test_totalorder_lists_an_instance_for_each_environment_and_a_mutant_for_each_rule() -> None:
    listed = models_of("totalorder")
    names = {one.name for one in listed}
    assert {"two_switches", "environment_a", "environment_b", "environment_c", "second_topology"} <= names
    damaged = {rule for one in listed if one.kind is ModelKind.MUTANT for rule in one.set}
    rules = {"Stamp", "DataBarrier", "BeaconBarrier", "Register", "Aggregate", "Counted", "Deliverable", "Precedence"}
    assert rules <= damaged


def test_no_configuration_of_totalorder_is_left_unlisted() -> None:
    listed = {one.cfg for one in models_of("totalorder")}
    # Those that read recorded runs are filled in from a trace.
    assert listed == {path.name for path in (SPEC_FOLDER / "totalorder").rglob("*.cfg") if "Trace" not in path.name}


def test_every_mutant_operator_is_tried_by_a_model() -> None:
    text = (SPEC_FOLDER / "totalorder" / "modules" / "Mutants.tla").read_text(encoding="utf-8")
    operators = set(re.findall(r"^([A-Z]\w*)(?:\(.*\))? ==", text, re.MULTILINE))
    tried = {value for one in models_of("totalorder") for value in one.set.values()}
    assert operators <= tried


def test_every_loss_rule_is_tried_by_a_model() -> None:
    folder = SPEC_FOLDER / "totalorder"
    operators = set(
        re.findall(r"^([A-Z]\w*)\(.*\) ==", (folder / "modules" / "LossRules.tla").read_text(), re.MULTILINE)
    )
    tried = {value for one in models_of("totalorder") for value in one.set.values()}
    corrected = set(re.findall(r"<- (\w+)$", (folder / "instances" / "MCLoss.cfg").read_text(), re.MULTILINE))
    assert operators <= tried | corrected


@pytest.mark.parametrize("module", ["AdjustmentRules", "BeaconPathRules", "VariantRules"])
def test_every_rule_of_a_variant_is_in_a_configuration_or_tried_by_a_model(module: str) -> None:
    folder = SPEC_FOLDER / "totalorder"
    text = (folder / "modules" / f"{module}.tla").read_text(encoding="utf-8")
    operators = set(re.findall(r"^([A-Z]\w*)(?:\(.*\))? ==", text, re.MULTILINE))
    tried = {value for one in models_of("totalorder") for value in one.set.values()}
    configured = {
        name for path in folder.rglob("*.cfg") for name in re.findall(r"<- (\w+)$", path.read_text(), re.MULTILINE)
    }
    assert operators <= tried | configured


def test_the_main_instance_is_not_small() -> None:
    (main,) = (one for one in models_of("totalorder") if one.name == "two_switches")
    assert main.distinct is not None
    assert main.distinct >= 100_000


def test_every_model_of_totalorder_states_what_it_counts() -> None:
    for one in models_of("totalorder"):
        if one.tier is Tier.RANDOM:
            continue  # no state graph, and no shortest counterexample
        if one.violates is None:
            assert one.distinct is not None, one.name
            assert one.depth is not None, one.name
        elif one.violates not in LIVENESS:  # which lasso the search for cycles meets is its own affair
            assert one.trace is not None, one.name
