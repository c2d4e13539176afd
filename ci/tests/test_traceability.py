"""`ci/traceability` on small trees: green when each layer has its part, red, with one line, for each part missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "traceability.py"

CATALOGUE = """\
protocol = "echo"
version = "1"
title = "Echo"
[sources]
ours = "ours"
[[clause]]
id = "EC-ANSWER"
name = "AnswerFollowsCall"
kind = "safety"
level = "MUST"
must = "An answer MUST follow its call."
source = "ours: an example"
layers = ["tlc", "z3", "oracle", "check", "case"]
[[clause]]
id = "EC-ANSWER-LATE"
name = "AnswerIsLate"
kind = "safety"
level = "MAY"
must = "An answer MAY be late."
source = "ours: an example"
not_yet = "time is not modelled"
"""

TREE = {
    "spec/echo/clauses.toml": CATALOGUE,
    "spec/echo/Echo.tla": "---- MODULE Echo ----\nAnswerFollowsCall ==\n  TRUE\n====\n",
    "spec/echo/MCEcho.cfg": "INVARIANTS\n  AnswerFollowsCall\n",
    "models/echo/calls.py": 'CLAIMS = (Claim(name="answer_follows_call", clauses=("EC-ANSWER",)),)\n',
    "conformance/echo/checks.py": "def answer_follows_call() -> None: ...\n",
    "conformance/echo/oracles.py": "def answer_follows_call() -> None: ...\n",
    "conformance/echo/cases/first.toml": 'clauses = ["EC-ANSWER"]\n',
}


def run_on(root: Path, changed: dict[str, str]) -> tuple[int, list[str]]:
    """Exit code and lines of the script on TREE with some files changed (empty text: left out)."""
    for name, text in {**TREE, **changed}.items():
        if text:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, str(SCRIPT), str(root)], capture_output=True, text=True, check=False, timeout=60
    )
    return run.returncode, (run.stdout + run.stderr).splitlines()


def test_a_tree_with_every_part_is_green(tmp_path: Path) -> None:
    assert run_on(tmp_path, {}) == (0, ["2 clauses of echo: every layer that is named has its part"])


@pytest.mark.parametrize(
    ("file", "text", "layer", "missing"),
    [
        ("spec/echo/Echo.tla", "", "tlc", "AnswerFollowsCall"),
        ("spec/echo/Echo.tla", "\\* AnswerFollowsCall ==\n(*\nAnswerFollowsCall == 1\n*)", "tlc", "AnswerFollowsCall"),
        ("spec/echo/Echo.tla", "AnswerFollowsCalls == TRUE\n", "tlc", "AnswerFollowsCall"),
        ("spec/echo/MCEcho.cfg", "INVARIANTS\n  \\* AnswerFollowsCall\n", "tlc", "AnswerFollowsCall"),
        ("models/echo/calls.py", "", "z3", "answer_follows_call"),
        ("models/echo/calls.py", '"""answer_follows_call"""\n', "z3", "answer_follows_call"),
        ("models/echo/calls.py", 'Mutant(name="answer_follows_call")\n', "z3", "answer_follows_call"),
        ("conformance/echo/checks.py", "", "check", "answer_follows_call"),
        ("conformance/echo/checks.py", "# def answer_follows_call()\n", "check", "answer_follows_call"),
        ("conformance/echo/oracles.py", "answer_follows_call = 1\n", "oracle", "answer_follows_call"),
        ("conformance/echo/cases/first.toml", "", "case", "EC-ANSWER"),
        ("conformance/echo/cases/first.toml", 'clauses = ["EC-ANSWER-LATE"]\n', "case", "EC-ANSWER"),
    ],
)
def test_a_missing_part_is_one_red_line(tmp_path: Path, file: str, text: str, layer: str, missing: str) -> None:
    code, lines = run_on(tmp_path, {file: text})
    assert code == 1
    assert len(lines) == 1
    assert lines[0].startswith(
        f"echo: EC-ANSWER: the catalogue says that {layer} checks it, but there is no {missing} ("
    )


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("models/echo/more.py", "def answer_follows_call() -> None: ...\n"),
        ("models/echo/more.py", 'claim = [Claim(sentence="x", name="answer_follows_call")]\n'),
    ],
)
def test_a_claim_is_a_function_or_a_named_claim(tmp_path: Path, file: str, text: str) -> None:
    assert run_on(tmp_path, {"models/echo/calls.py": "", file: text})[0] == 0


def test_an_oracle_may_be_one_that_protocols_share(tmp_path: Path) -> None:
    shared = "from scatterproof.conformance.oracles.calls import answer_follows_call\n"
    assert run_on(tmp_path, {"conformance/echo/oracles.py": shared})[0] == 0
    elsewhere = shared.replace("scatterproof.conformance.oracles", "calls")
    assert run_on(tmp_path, {"conformance/echo/oracles.py": elsewhere})[0] == 1


def test_checks_and_oracles_may_be_folders(tmp_path: Path) -> None:
    moved = {
        "conformance/echo/checks.py": "",
        "conformance/echo/oracles.py": "",
        "conformance/echo/checks/calls.py": TREE["conformance/echo/checks.py"],
        "conformance/echo/oracles/calls.py": TREE["conformance/echo/oracles.py"],
    }
    assert run_on(tmp_path, moved)[0] == 0


@pytest.mark.parametrize(
    ("layer", "changed"),
    [
        ("tlc", {"spec/echo/Late.tla": "AnswerIsLate == TRUE\n", "spec/echo/MCLate.cfg": "INVARIANT AnswerIsLate\n"}),
        ("z3", {"models/echo/late.py": 'Claim(name="answer_is_late")\n'}),
        ("check", {"conformance/echo/late_checks.py": "def answer_is_late() -> None: ...\n"}),
        ("oracle", {"conformance/echo/late_oracles.py": "def answer_is_late() -> None: ...\n"}),
    ],
)
def test_a_part_that_the_catalogue_denies_is_one_red_line(tmp_path: Path, layer: str, changed: dict[str, str]) -> None:
    code, lines = run_on(tmp_path, changed)
    assert code == 1
    assert len(lines) == 1
    assert f"the catalogue says that {layer} does not check it: add {layer} to its layers" in lines[0]
    assert next(iter(changed)) in lines[0]


def test_an_operator_that_no_configuration_names_is_no_part(tmp_path: Path) -> None:
    assert run_on(tmp_path, {"spec/echo/Late.tla": "AnswerIsLate == TRUE\n"})[0] == 0


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"spec/echo/clauses.toml": ""}, "no protocol has a clauses.toml"),
        ({"spec/echo/clauses.toml": CATALOGUE.replace("MAY be", "may be")}, "EC-ANSWER-LATE"),
        ({"conformance/echo/checks.py": "def broken(:\n"}, "checks.py, line 1"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(tmp_path: Path, changed: dict[str, str], named: str) -> None:
    code, lines = run_on(tmp_path, changed)
    assert code == 2
    assert len(lines) == 1
    assert named in lines[0]
