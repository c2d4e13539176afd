"""The action for GitHub and the template for GitLab: read, held against the command, and their shell lines run by bash
on the reference, as a runner would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ci.tests.small_yaml import read
from scatterproof.app import whole

ROOT = Path(__file__).resolve().parents[2]
ACTION: Any = read((ROOT / "ci/action.yml").read_text())
TEMPLATE: Any = read((ROOT / "ci/scatterproof.gitlab-ci.yml").read_text())
JOB = TEMPLATE[".scatterproof"]
SCRIPT = (ROOT / "ci/conform").read_text()
STEPS = ACTION["runs"]["steps"]
CASE = "TO-DELIVER/itself-only"
BROKEN = "mutant:host/delivers-on-arrival"


def bash(script: str, place: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """The lines as GitHub's `shell: bash` runs them."""
    place.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=place,
        env={**os.environ, "CI": "true", **environment},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


# ---------------------------------------------------------------- as text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: b\nc:\n  - d\n  - e: f\n    g: h\n", {"a": "b", "c": ["d", {"e": "f", "g": "h"}]}),
        ('a: "1: 2"  \nb: |\n  x\n\n    y # z\nc: d', {"a": "1: 2", "b": "x\n\n  y # z\n", "c": "d"}),
        ("# said\na:\n  # said\n  b: c\n", {"a": {"b": "c"}}),
    ],
)
def test_the_reader_reads_its_part_of_yaml(text: str, found: object) -> None:
    assert read(text) == found


@pytest.mark.parametrize(
    "text",
    ["a: b: c", "a: [b]", "a: b\n  c: d", "a: b\na: c", "a:\nb: c", "a b", "a: *b", "a: b #c", "a:\n - b\n  - c"],
)
def test_the_reader_refuses_what_it_might_take_for_something_else(text: str) -> None:
    with pytest.raises(ValueError, match=r"line \d|no value"):
        read(text)


def test_every_input_is_used_and_every_one_used_is_there() -> None:
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "ci/action.yml").read_text()))
    assert used == set(ACTION["inputs"])
    assert all(value.get("required") == "true" or "default" in value for value in ACTION["inputs"].values())


def test_steps_refer_to_steps_before_them() -> None:
    known: set[str] = set()
    for step in STEPS:
        assert set(re.findall(r"steps\.([\w-]+)\.", str(step))) <= known
        known.add(step.get("id", ""))
    assert set(re.findall(r"steps\.([\w-]+)\.", str(ACTION["outputs"]))) <= known


def test_shell_lines_take_nothing_from_the_user_but_through_the_environment() -> None:
    # An expression in a script is put there as text: whoever can choose an input could write any command.
    assert all("${{" not in step["run"] for step in STEPS if "run" in step)


def test_the_cache_hangs_on_every_lock_that_the_set_up_reads() -> None:
    (place,) = (step["run"] for step in STEPS if step.get("id") == "place")
    read_by_setup = set(re.findall(r"stamped \w+ .*? (\S+\.(?:lock|toml))\)", (ROOT / "ci/setup").read_text()))
    assert read_by_setup == set(re.findall(r'"\$root"/(\S+\.(?:lock|toml))', place))


def test_every_option_is_one_of_the_command() -> None:
    known = {option for parameter in whole("conform").params for option in parameter.opts}
    lines = [SCRIPT, *(step.get("run", "") for step in STEPS if step.get("id") == "conform"), JOB["script"][-1]]
    given = {word for line in lines for word in re.findall(r"(?<![\w-])--[a-z][a-z-]*", line)}
    assert {"--iut", "--case", "--junit", "--html", "--summary", "--baseline", "--strict"} <= given <= known


def test_what_is_set_is_what_the_script_reads() -> None:
    read_there = set(re.findall(r"\$\{([A-Z]+):-", SCRIPT))
    (step,) = (step for step in STEPS if step.get("id") == "conform")
    assert set(step["env"]) == read_there
    assert set(JOB["variables"]) <= read_there


# ---------------------------------------------------------------- run


def run_action(place: Path, inputs: Mapping[str, str]) -> tuple[int, dict[str, str], str]:
    """The steps that are shell lines, one after the other until one fails: exit code, outputs, job summary. The others
    are GitHub's own."""
    values = {name: inputs.get(name, value.get("default", "")) for name, value in ACTION["inputs"].items()}
    outputs, summary = place / "outputs", place / "summary.md"
    place.mkdir()
    known: dict[str, str] = {"python.python-path": sys.executable, "python.python-version": "3.11"}

    def filled(text: str) -> str:
        text = re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: values[match[1]], text)
        return re.sub(r"\$\{\{ steps\.([\w-]+)\.outputs\.([\w-]+) \}\}", lambda m: known[f"{m[1]}.{m[2]}"], text)

    code = 0
    for step in STEPS:
        if "run" not in step:
            continue
        outputs.write_text("")
        environment = {
            "GITHUB_ACTION_PATH": str(ROOT / "ci"),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(summary),
            "RUNNER_OS": "Linux",
            "RUNNER_ARCH": "X64",
            **{name: filled(value) for name, value in step.get("env", {}).items()},
        }
        ran = bash(step["run"], place / "workspace", environment)
        known |= {
            f"{step['id']}.{name}": value
            for name, _, value in (line.partition("=") for line in outputs.read_text().splitlines())
        }
        if ran.returncode:
            code = ran.returncode
            break
    return code, known, summary.read_text() if summary.exists() else ""


def test_the_action_judges_and_leaves_report_junit_and_summary(tmp_path: Path) -> None:
    cases = f"  {CASE}  \n\nTO-MONO/one-instant\n"
    code, outputs, summary = run_action(tmp_path / "good", {"iut": "reference", "cases": cases, "strict": "true"})

    results = tmp_path / "good/workspace/scatterproof-results"
    assert (code, outputs["conform.exit-code"]) == (0, "0")
    assert outputs["place.venv"] == str(ROOT / ".venv")
    assert re.fullmatch(r"scatterproof-Linux-X64-3\.11-[0-9a-f]{16}-[0-9a-f]{8}", outputs["place.key"])
    assert [case.get("name") for case in ET.parse(results / "junit.xml").iter("testcase")] == [
        "TO-MONO/one-instant",
        CASE,
    ]
    assert CASE in (results / "report.html").read_text()
    assert (results / f"latest/{CASE.replace('/', '.')}/trace.ndjson").is_file()
    assert "## Conformance of reference: pass" in summary


@pytest.mark.slow
def test_the_action_fails_with_the_command_s_exit_code_and_says_why(tmp_path: Path) -> None:
    code, outputs, summary = run_action(tmp_path / "bad", {"iut": BROKEN, "cases": CASE})

    assert (code, outputs["conform.exit-code"]) == (1, "1")
    assert "TO-DELIVER, row" in summary
    junit = ET.parse(tmp_path / "bad/workspace/scatterproof-results/junit.xml")
    assert [failure.get("type") for failure in junit.iter("failure")] == ["TO-DELIVER"]


@pytest.mark.parametrize(
    ("environment", "named"), [({}, "IUT is not set"), ({"IUT": "reference", "STRICT": "yes"}, "STRICT is 'yes'")]
)
def test_a_wrong_setting_is_refused_in_one_sentence(tmp_path: Path, environment: dict[str, str], named: str) -> None:
    ran = bash(str(ROOT / "ci/conform"), tmp_path, environment)
    assert ran.returncode == 2
    assert len(ran.stderr.splitlines()) == 1
    assert named in ran.stderr


@pytest.mark.slow
def test_the_template_fetches_the_revision_sets_it_up_and_judges(tmp_path: Path) -> None:
    # What is fetched is a repository with our script; only its set-up is a stand-in, that finds everything installed.
    theirs = tmp_path / "theirs/ci"
    theirs.mkdir(parents=True)
    (theirs / "conform").write_text(SCRIPT)
    (theirs / "setup").write_text(f'#!/bin/sh\nln -sfn {ROOT}/.venv "$(dirname "$0")/../.venv"\n')
    for file in theirs.iterdir():
        file.chmod(0o755)
    commit = "git init -q && git add -A && git -c user.name=a -c user.email=a@example commit -qm one && git tag v1"
    assert bash(commit, theirs.parent, {}).returncode == 0
    fetched = {"SCATTERPROOF_REPOSITORY": str(theirs.parent), "SCATTERPROOF_REVISION": "v1"}
    script = "\n".join(JOB["script"])

    # Twice: the second run has what the cache kept.
    for iut, code in (("reference", 0), (BROKEN, 1)):
        settings = {**JOB["variables"], **fetched, "IUT": iut, "CASES": CASE}
        ran = bash(script, tmp_path / "project", settings)
        assert ran.returncode == code, ran.stderr
        for name in (*JOB["artifacts"]["paths"], JOB["artifacts"]["reports"]["junit"], *JOB["cache"]["paths"]):
            assert (tmp_path / "project" / name).exists()
        assert (
            f"## Conformance of {iut.split('/')[0]}"
            in (tmp_path / "project/scatterproof-results/summary.md").read_text()
        )
    refused = bash(script, tmp_path / "other", {"IUT": "reference"})
    assert refused.returncode == 2
    assert "set SCATTERPROOF_REPOSITORY and SCATTERPROOF_REVISION" in refused.stderr
