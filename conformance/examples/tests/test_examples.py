"""The example nodes pass what their profile claims, import nothing of the project's, and fail by the right clause when
one line of them is damaged."""

from __future__ import annotations

import ast
import re
import shutil
import sys
from pathlib import Path

import pytest

from scatterproof.conformance.adapters.stdio import StdioIut
from scatterproof.conformance.case import CaseResult, run_case, select
from scatterproof.conformance.examples.tests.languages import BUILD, EXAMPLES, PROFILE, build
from scatterproof.conformance.examples.tests.mutations import MUTATIONS, Mutation
from scatterproof.conformance.examples.tests.tutorial import PAGE, played
from scatterproof.conformance.profile import read_profile
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.supervisor import Limits
from scatterproof.conformance.verdict import Verdict

CLAIMED = read_profile(PROFILE)
CASES = [case for case in select(CLAIMED.protocol) if CLAIMED.why_not(case) is None]
# One a clause; what starts quickly is given the others every day, too.
FIRST = list({case.clause: case for case in reversed(CASES)}.values())
QUICK = "c"


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The commands that were asked for so far, by language."""
    return {}


def command(language: str, made: dict[str, list[str]], factory: pytest.TempPathFactory) -> list[str]:
    if language not in made:
        made[language] = build(language, factory.mktemp(language))
    return made[language]


def failed(found: CaseResult) -> set[str]:
    return {result.clause for result in found.results if result.verdict is Verdict.FAIL}


def test_the_profile_claims_all_that_needs_no_more_than_networks_without_loss() -> None:
    assert len(CASES) >= 30
    assert {case.schedule.parameters["environment"] for case in CASES} == {"A", "B", "C"}


def passes(case: Case, command: list[str]) -> None:
    found = run_case(case, StdioIut("example", command), CLAIMED)
    assert (found.verdict, found.reason) == (Verdict.PASS, ""), case.id


@pytest.mark.parametrize("language", BUILD)
@pytest.mark.parametrize("case", FIRST, ids=lambda case: case.id)
def test_an_example_passes_a_case_of_every_clause_that_it_claims(
    case: Case, language: str, commands: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    passes(case, command(language, commands, tmp_path_factory))


@pytest.mark.parametrize("case", [case for case in CASES if case not in FIRST], ids=lambda case: f"{case.id}-{QUICK}")
def test_the_quickest_example_passes_all_that_it_claims(
    case: Case, commands: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    passes(case, command(QUICK, commands, tmp_path_factory))


@pytest.mark.slow
@pytest.mark.parametrize("language", [language for language in BUILD if language != QUICK])
def test_every_example_passes_all_that_it_claims(language: str, tmp_path: Path) -> None:
    for case in CASES:
        if case not in FIRST:
            passes(case, build(language, tmp_path))


@pytest.mark.parametrize(
    "mutation", MUTATIONS, ids=lambda mutation: f"{mutation.file.partition('/')[0]}-{mutation.clause}"
)
def test_an_example_with_one_damaged_line_fails_by_its_clause(mutation: Mutation, tmp_path: Path) -> None:
    language, _, name = mutation.file.partition("/")
    source = tmp_path / language
    shutil.copytree(EXAMPLES / language, source)
    text = (source / name).read_text()
    assert text.count(mutation.old) == 1, "the line is in the example, once"
    assert "\n" not in mutation.old + mutation.new
    (source / name).write_text(text.replace(mutation.old, mutation.new))
    iut = StdioIut("damaged", build(language, tmp_path, source), limits=Limits(answer_s=5, stop_s=0.5))

    results = (run_case(case, iut, CLAIMED) for case in CASES if case.clause == mutation.clause)
    assert any(mutation.clause in failed(found) for found in results)


def test_every_language_has_the_same_damages() -> None:
    clauses = {language: [m.clause for m in MUTATIONS if m.file.startswith(f"{language}/")] for language in BUILD}
    assert len(clauses["python"]) >= 12
    assert clauses["python"] == clauses["c"] == clauses["javascript"]


def test_the_example_in_python_imports_the_standard_library_alone() -> None:
    tree = ast.parse((EXAMPLES / "python/node.py").read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names


@pytest.mark.parametrize(
    ("file", "pattern", "own"),
    [
        ("c/node.c", r'#include ["<]([\w/.]+)', {"json.h"}),
        ("c/json.h", r'#include ["<]([\w/.]+)', set()),
        ("javascript/node.mjs", r"(?:from|require\(|import\() ?'([^']+)'", set()),
    ],
)
def test_the_other_examples_include_what_their_language_brings_along(file: str, pattern: str, own: set[str]) -> None:
    included = set(re.findall(pattern, (EXAMPLES / file).read_text())) - own
    standard = {f"{name}.h" for name in ("inttypes", "stdarg", "stdbool", "stdint", "stdio", "stdlib", "string")}

    assert included
    assert all(name in standard or name.startswith("node:") for name in included)


@pytest.mark.slow
def test_the_tutorials_commands_print_what_it_shows(tmp_path: Path) -> None:
    """`python -m scatterproof.conformance.examples.tests.tutorial` writes it anew."""
    assert played(PAGE.read_text(), tmp_path) == PAGE.read_text()
