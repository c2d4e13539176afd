"""Findings: what decides them, and how they are told."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from scatterproof.models import findings
from scatterproof.models.expected import models_of
from scatterproof.models.finding import Finding, Suspicion, decide, findings_of
from scatterproof.models.findings import findings_markdown, run_findings
from scatterproof.models.protocol import ModelsPlugin
from scatterproof.models.tests.test_expected import CFG, FINDING, HOLDS, STEPS
from scatterproof.spec.errors import BadInput, CannotRun

TWO = Finding(
    number=1,
    name="big_steps",
    title="Steps of two",
    suspicion=Suspicion.CONFIRMED,
    expected=True,
    clauses=("X-STEP",),
    rule="A step adds two.",
    source="document, paragraph 2",
    happens="It meets two at once.",
    corrected="A step adds one.",
    weakest="None is smaller.",
    models=("big_steps",),
    unplayed="nothing plays it",
)


@pytest.fixture
def spec_folder(tmp_path: Path) -> Path:
    (tmp_path / "steps").mkdir()
    (tmp_path / "steps" / "Steps.tla").write_text(STEPS)
    (tmp_path / "steps" / "Steps.cfg").write_text(CFG)
    (tmp_path / "steps" / "models.toml").write_text(HOLDS + FINDING)
    write(tmp_path, TWO)
    return tmp_path


def write(spec_folder: Path, *findings: Finding) -> None:
    # Strings, whole numbers, truth values and lists of strings look alike in JSON and in TOML.
    parts = [
        "\n".join(f"{name} = {json.dumps(value)}" for name, value in msgspec.to_builtins(finding).items())
        for finding in findings
    ]
    (spec_folder / "steps" / "findings.toml").write_text("".join(f"[[finding]]\n{part}\n" for part in parts))


def test_a_finding_is_told_with_its_counterexample_and_what_takes_its_place(
    spec_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "load", lambda protocol: ModelsPlugin())  # it has no sentences for steps
    found = findings_of("steps", spec_folder)
    text = findings_markdown("steps", found, run_findings("steps", spec_folder), models_of("steps", spec_folder))
    assert "## 1 Steps of two" in text
    assert "A step adds two. (document, paragraph 2.)" in text
    assert "`NotTwo` is violated; 1 steps, shortest:\n\n1. Action: `x = 2`\n" in text
    assert "A step adds one." in text


def test_a_finding_whose_model_finds_nothing_any_more_is_refused(spec_folder: Path) -> None:
    (spec_folder / "steps" / "models.toml").write_text(HOLDS + FINDING.replace("NotTwo", "NotThree"))
    with pytest.raises(CannotRun, match="model big_steps: expected NotThree, found that all holds"):
        run_findings("steps", spec_folder)


def test_a_finding_stands_when_its_model_agrees(spec_folder: Path) -> None:
    agreeing = [one.result for one in run_findings("steps", spec_folder).values()]
    (result,) = decide([TWO], agreeing, [])
    assert (result.verdict, result.refutations[0].trace, result.refutations[0].shortest) == ("confirmed", 2, True)


def test_a_finding_is_open_when_its_model_disagrees_or_was_not_run(spec_folder: Path) -> None:
    agreeing = [one.result for one in run_findings("steps", spec_folder).values()]
    apart = [msgspec.structs.replace(result, differences=("it holds",)) for result in agreeing]
    assert decide([TWO], apart, [])[0].reason == "not as expected: big_steps"
    assert decide([TWO], [], [])[0].reason == "not run: big_steps"
    assert {decide([TWO], found, [])[0].verdict for found in (apart, [])} == {"open"}


def test_a_finding_stands_on_the_models_that_ran_and_names_the_others(spec_folder: Path) -> None:
    agreeing = [one.result for one in run_findings("steps", spec_folder).values()]
    (result,) = decide([msgspec.structs.replace(TWO, models=("big_steps", "deep_steps"))], agreeing, [])
    assert (result.verdict, result.reason) == ("confirmed", "not run: deep_steps")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"number": 2}, "number them in their order"),
        ({"models": ()}, "no model and no claim"),
        ({"mutant": "m"}, "either `mutant` or `unplayed`"),
    ],
)
def test_a_finding_that_is_not_whole_is_refused(spec_folder: Path, change: dict[str, object], problem: str) -> None:
    write(spec_folder, msgspec.structs.replace(TWO, **change))
    with pytest.raises(BadInput, match=problem):
        findings_of("steps", spec_folder)


def test_a_finding_that_names_an_unknown_model_is_refused(spec_folder: Path) -> None:
    write(spec_folder, msgspec.structs.replace(TWO, models=("nowhere",)))
    with pytest.raises(BadInput, match="names model nowhere, which models"):
        run_findings("steps", spec_folder)
