"""`compare` as users meet it, and failing cases made small in the time that there is."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from scatterproof import iuts
from scatterproof.conformance.case import EVERYTHING, select
from scatterproof.conformance.report import folder
from scatterproof.conformance.report.run import ConformanceRun
from scatterproof.conformance.report.tests.runs import FAILING, failing, passing
from scatterproof.conformance.verdict import Verdict
from scatterproof.fuzz.fuzzer import violations_of
from scatterproof.fuzz.shrink import simpler
from scatterproof.small_runs import with_small
from scatterproof.spec.iut import Iut
from scatterproof.tests.test_console import Console
from scatterproof.tests.test_console import console as console  # a fixture

HASTY = "mutant:deliverable/lt-to-le"


@pytest.fixture
def hasty(tmp_path: Path) -> Iut:
    return iuts.find(HASTY, "totalorder", tmp_path)


@pytest.fixture
def one_case() -> ConformanceRun:
    """Of an implementation that delivers at the barrier."""
    return replace(failing(), results=tuple(one for one in failing().results if one.case.id == FAILING))


@pytest.fixture
def results(tmp_path: Path) -> tuple[str, str]:
    for name, run in (("A", passing()), ("B", failing())):
        folder.write(tmp_path / name / "latest", run)
    return str(tmp_path / "A"), str(tmp_path / "B")


def test_compares_and_exits_with_1_where_one_fails(console: Console, results: tuple[str, str], tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    code, said, _ = console("compare", *results, "--html", str(page))
    assert code == 1
    assert "TO-DELIVER" in said
    assert 'href="B/latest/TO-DELIVER.at-the-barrier/trace.ndjson"' in page.read_text()
    code, found = console.json("compare", *results)
    assert code == 1
    (clause,) = [clause for clause in found["clauses"] if clause["id"] == "TO-DELIVER"]
    assert clause["verdicts"] == ["pass", "fail"]
    assert clause["cases"] == [{"id": FAILING, "verdicts": ["pass", "fail"]}]
    assert [run["name"] for run in found["runs"]] == ["reference", "hasty"]
    assert console("compare", results[0], results[0])[0] == 0


def test_exits_with_4_where_the_worst_is_inconclusive(console: Console, results: tuple[str, str]) -> None:
    idle = [replace(one, verdict=Verdict.INCONCLUSIVE, reason="nothing came", results=()) for one in passing().results]
    folder.write(Path(results[0]).with_name("C") / "latest", replace(passing(), results=tuple(idle)))
    assert console("compare", results[0], str(Path(results[0]).with_name("C")))[0] == 4
    assert console("compare", results[1], str(Path(results[0]).with_name("C")))[0] == 1


def test_runs_of_one_name_are_told_apart(console: Console, results: tuple[str, str]) -> None:
    _, found = console.json("compare", results[0], results[0] + "/latest")
    assert [run["name"] for run in found["runs"]] == [f"reference ({results[0]})", f"reference ({results[0]}/latest)"]


def test_what_cannot_be_compared_is_one_sentence(console: Console, results: tuple[str, str], tmp_path: Path) -> None:
    code, _, said = console("compare", results[0], str(tmp_path / "nothing"))
    assert code == 2
    assert "conform --results" in said
    code, _, said = console("compare", *results, "--protocol", "broadcast")
    assert code == 2
    assert "has results of totalorder" in said
    assert "Traceback" not in said


def test_failing_case_is_made_as_small_as_it_can_be(one_case: ConformanceRun, hasty: Iut) -> None:
    found = with_small(one_case, hasty, EVERYTHING, seconds=1e9)
    small = found.small[FAILING]
    assert small.minimal
    assert "TO-DELIVER" in violations_of(hasty.run(small.schedule))
    for candidate in simpler(small.schedule):
        assert "TO-DELIVER" not in violations_of(hasty.run(candidate))


def test_time_that_is_used_up_ends_it_with_what_was_found(one_case: ConformanceRun, hasty: Iut) -> None:
    seconds = count()
    found = with_small(one_case, hasty, EVERYTHING, seconds=12, clock=lambda: float(next(seconds)))
    small = found.small[FAILING]
    assert not small.minimal
    assert 0 < small.runs < 12
    assert "TO-DELIVER" in violations_of(hasty.run(small.schedule))


def test_passing_cases_are_left_alone(hasty: Iut) -> None:
    assert not with_small(passing(), hasty, EVERYTHING, seconds=1e9).small


def test_case_that_does_not_fail_again_is_not_made_small(one_case: ConformanceRun, tmp_path: Path) -> None:
    sound = iuts.find("reference", "totalorder", tmp_path)
    assert not with_small(one_case, sound, EVERYTHING, seconds=1e9).small


def test_page_of_conform_has_its_failures_made_small(console: Console, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    (case,) = select("totalorder", [FAILING])
    words = ("conform", "--iut", HASTY, "--case", case.id, "--results", str(tmp_path))
    code, found = console.json(*words, "--html", str(page))
    assert code == 1
    assert found["cases"][0]["verdict"] == Verdict.FAIL
    assert found["cases"][0]["failure"]["runs"] > 0
    assert "The smallest run that fails still" in page.read_text()
    _, found = console.json(*words)
    assert "runs" not in found["cases"][0]["failure"]
