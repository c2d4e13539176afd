"""The suite as tests of pytest, in sessions of pytest's own: names, outcomes, exit codes, and what they say."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import scatterproof.conformance.judge  # noqa: F401
from scatterproof.commands.protocols import RECORDS, hooks_of
from scatterproof.conformance.case import cases
from scatterproof.spec.clauses import protocols

pytest_plugins = ["pytester"]

PROTOCOL, *OTHERS = protocols()
# What a session in this process imports it forgets at its end, and would import anew in the next one. Some packages
# cannot be imported twice, and records that are kept would be of the old modules.
GIVEN = {(package, protocol): hooks_of(package, protocol) for package in RECORDS for protocol in protocols()}
MUTANT = "--scatterproof-iut=mutant:host/delivers-on-arrival"
REFERENCE = "--scatterproof-iut=reference"
ADVICE = ("--scatterproof-iut=mutant:host/asks-seldom", "--scatterproof-case=TO-ADJ-ROUNDS")


def test_it_is_known_to_every_pytest_and_costs_none_of_our_packages_until_it_is_asked_for() -> None:
    (found,) = (entry for entry in importlib.metadata.entry_points(group="pytest11") if entry.name == "scatterproof")
    ours = (*(f"scatterproof.{name}" for name in (*RECORDS, "console")), "msgspec", "numba")
    code = (
        f"import sys; import {found.value}; import pytest; pytest.console_main;"
        f"print([name for name in {ours!r} if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


def test_cases_are_tests_named_by_clause_without_a_file(pytester: pytest.Pytester) -> None:
    ran = pytester.runpytest(REFERENCE, "--collect-only", "-q")
    ids = [line for line in ran.outlines if line.startswith("scatterproof::")]
    assert sorted(ids) == sorted(f"scatterproof::{case.id.replace('/', '::')}" for case in cases(PROTOCOL))


def test_what_fails_tells_witness_duty_and_the_commands_that_have_it_again(pytester: pytest.Pytester) -> None:
    ran = pytester.runpytest(MUTANT, "-k", "at-the-barrier")
    assert ran.ret == pytest.ExitCode.TESTS_FAILED
    ran.assert_outcomes(failed=1, deselected=len(cases(PROTOCOL)) - 1)
    ran.stdout.fnmatch_lines(
        [
            "fail: TO-DELIVER, row * which is not strictly below its barrier *",
            "When * it keeps a message at the barrier until the barrier is strictly above it.",
            "again: scatterproof conform --iut mutant:host/delivers-on-arrival --case *TO-DELIVER/at-the-barrier",
            "smaller: scatterproof replay results/latest/TO-DELIVER.at-the-barrier/schedule.json *",
            "trace: results/latest/TO-DELIVER.at-the-barrier/trace.ndjson",
            "FAILED scatterproof::TO-DELIVER::at-the-barrier - fail: TO-DELIVER*",
        ]
    )
    assert "Traceback" not in ran.stdout.str()
    assert "pytest_suite.py" not in ran.stdout.str()
    assert (pytester.path / "results/latest/TO-DELIVER.at-the-barrier/schedule.json").is_file()


def test_a_program_that_does_nothing_fails(pytester: pytest.Pytester) -> None:
    ran = pytester.runpytest(f"--scatterproof-iut=stdio:{sys.executable} -c pass", "-k", "itself-only")
    ran.assert_outcomes(failed=1, deselected=len(cases(PROTOCOL)) - 1)
    ran.stdout.fnmatch_lines(["inconclusive: the run was cut short: *"])


def test_a_program_that_cannot_be_started_fails_and_is_not_skipped(pytester: pytest.Pytester) -> None:
    ran = pytester.runpytest("--scatterproof-iut=stdio:./no-such-node", "-k", "itself-only")
    assert ran.ret == pytest.ExitCode.TESTS_FAILED
    ran.stdout.fnmatch_lines(["not run: ./no-such-node: cannot be started: *"])


def test_what_is_not_applicable_is_skipped_and_a_session_of_nothing_else_is_no_pass(pytester: pytest.Pytester) -> None:
    mine = pytester.path / "mine.toml"
    mine.write_text(f'profile = 1\nprotocol = "{PROTOCOL}"\nclauses = ["TO-MONO"]\n')
    words = (REFERENCE, f"--scatterproof-profile={mine}", "-rs")
    ran = pytester.runpytest(*words, "-k", "one-instant or itself-only")
    assert ran.ret == pytest.ExitCode.OK
    ran.assert_outcomes(passed=1, skipped=1, deselected=len(cases(PROTOCOL)) - 2)
    ran.stdout.fnmatch_lines(["SKIPPED *TO-DELIVER: the profile does not claim it"])
    ran = pytester.runpytest(*words, "-k", "itself-only")
    assert ran.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    ran.stdout.fnmatch_lines(["scatterproof: no case was applicable, so that nothing was tried: no pass"])


def test_what_only_should_be_kept_is_an_expected_failure_unless_strict(pytester: pytest.Pytester) -> None:
    ran = pytester.runpytest(*ADVICE, "-rx")
    ran.assert_outcomes(xfailed=1)
    ran.stdout.fnmatch_lines(["XFAIL *TO-ADJ-ROUNDS only SHOULD be kept: *"])
    pytester.runpytest(*ADVICE, "--scatterproof-strict").assert_outcomes(failed=1)


def test_a_node_id_picks_cases_and_leaves_the_user_s_own_tests_out(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_mine(): pass")
    pytester.runpytest(REFERENCE, "-k", "mine or one-instant").assert_outcomes(
        passed=2, deselected=len(cases(PROTOCOL)) - 1
    )
    pytester.runpytest(REFERENCE, "scatterproof::TO-MONO::one-instant").assert_outcomes(passed=1)
    of_the_clause = sum(case.clause == "TO-MONO" for case in cases(PROTOCOL))
    pytester.runpytest(REFERENCE, "scatterproof::TO-MONO").assert_outcomes(passed=of_the_clause)
    pytester.runpytest().assert_outcomes(passed=1)


@pytest.mark.parametrize("other", OTHERS)
def test_an_address_chooses_the_protocol(pytester: pytest.Pytester, other: str) -> None:
    wanted = cases(other)[0]
    pytester.runpytest(REFERENCE, f"--scatterproof-case={wanted.address}").assert_outcomes(passed=1)
    pytester.runpytest(REFERENCE, f"--scatterproof-protocol={other}", "-k", wanted.clause).assert_outcomes(
        passed=sum(case.clause == wanted.clause for case in cases(other)),
        deselected=sum(case.clause != wanted.clause for case in cases(other)),
    )


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--scatterproof-iut=nobody",), "nobody"),
        ((REFERENCE, "--scatterproof-case=TO-NONSENSE"), "TO-NONSENSE"),
        ((REFERENCE, "--scatterproof-profile=no-such.toml"), "no-such.toml"),
        ((REFERENCE, "scatterproof::TO-NONSENSE"), "TO-NONSENSE"),
        (("--scatterproof-case=TO-MONO",), "add --scatterproof-iut"),
        (("scatterproof::TO-MONO",), "add --scatterproof-iut"),
    ],
)
def test_wrong_usage_ends_with_one_sentence(pytester: pytest.Pytester, words: tuple[str, ...], named: str) -> None:
    ran = pytester.runpytest(*words)
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    assert "Traceback" not in ran.stderr.str()
    (complaint,) = (line for line in ran.errlines if line)
    assert named in complaint


@pytest.mark.slow
def test_workers_of_xdist_share_the_cases_out(pytester: pytest.Pytester, tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    ran = pytester.runpytest(MUTANT, "-n", "2", "-k", "TO-DELIVER or TO-FMT-5 or TO-FMT-6", f"--junitxml={junit}")
    ran.assert_outcomes(failed=5)
    found = {(case.get("classname"), case.get("name")) for case in ET.parse(junit).iter("testcase")}
    chosen = (case for case in cases(PROTOCOL) if case.clause in ("TO-DELIVER", "TO-FMT-5", "TO-FMT-6"))
    assert found == {(f"scatterproof.{case.clause}", case.id.split("/")[1]) for case in chosen}
    ran.stdout.fnmatch_lines(["FAILED scatterproof::TO-DELIVER::*"])
