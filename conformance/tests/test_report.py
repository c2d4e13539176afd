"""Reports say what was found, no more, whatever an implementation puts into its words."""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from scatterproof.conformance.case import CaseResult, cases, run_case
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.report import folder, html, junit, terminal
from scatterproof.conformance.report.run import ConformanceRun
from scatterproof.conformance.report.stored import store
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.totalorder import RULES, make_core
from scatterproof.spec import schedule, trace_ndjson

CASES = {case.id: case for case in cases("totalorder")}
PASSING, FAILING = CASES["TO-MONO/one-instant"], CASES["TO-DELIVER/at-the-barrier"]
NASTY = "<script>alert('x')</script> & [bold]loud[/bold] \x00\x1b[31m"


def without_tie_to_the_barrier() -> SimulatedIut:
    rules = replace(RULES, deliverable=lambda timestamp, barrier: timestamp <= barrier)
    return SimulatedIut(NASTY, lambda config: make_core(config, rules))


@pytest.fixture(scope="module")
def run() -> ConformanceRun:
    broken = without_tie_to_the_barrier()
    results = (
        run_case(PASSING, SimulatedIut("reference", make_core)),
        run_case(FAILING, broken),
        CaseResult(case=CASES["TO-ORDER/ties"], verdict=Verdict.INCONCLUSIVE, reason=NASTY, results=(), trace=None),
        CaseResult(case=CASES["TO-ENV-A/data-only"], verdict=Verdict.NOT_RUN, reason="no such", results=(), trace=None),
    )
    return ConformanceRun(protocol="totalorder", iut=NASTY, catalogue="1", results=results)


def test_run_comes_to_the_gravest_verdict_of_its_cases(run: ConformanceRun) -> None:
    assert run.verdict is Verdict.FAIL
    assert replace(run, results=run.results[2:]).verdict is Verdict.INCONCLUSIVE
    assert replace(run, results=(run.results[0], run.results[3])).verdict is Verdict.NOT_RUN
    assert replace(run, results=run.results[:1]).verdict is Verdict.PASS
    assert replace(run, results=()).verdict is Verdict.NOT_RUN


def test_junit_counts_failures_errors_and_skipped_and_is_xml_whatever_is_said(run: ConformanceRun) -> None:
    suite = ET.fromstring(junit.encode(run)).find("testsuite")
    assert suite is not None
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"]
    found = {case.get("name"): [child.tag for child in case] for case in suite.findall("testcase")}
    assert found == {
        PASSING.id: [],
        FAILING.id: ["failure"],
        "TO-ORDER/ties": ["error"],
        "TO-ENV-A/data-only": ["skipped"],
    }
    failure = suite.find(".//failure")
    assert failure is not None
    assert "TO-DELIVER" in (failure.get("message") or "")
    assert "keeps a message at the barrier" in (failure.text or "")


def page_of(run: ConformanceRun, links: str | None = None) -> str:
    return html.encode([html.Column(run=store(run), name=run.iut, folder="results/latest", links=links)])


def test_page_escapes_what_implementations_say_and_asks_for_nothing_else(run: ConformanceRun) -> None:
    page = page_of(run, links=".")
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page
    assert "\x00" not in page
    assert "\x1b" not in page
    assert not re.search(r"(src|href)=\"(https?:)?//|@import|url\((?!#)", page)
    assert 'href="./TO-DELIVER.at-the-barrier/trace.ndjson"' in page
    assert "prefers-color-scheme: dark" in page


def test_page_shows_every_case_and_every_violation_in_words(run: ConformanceRun) -> None:
    page = page_of(run)
    for result in run.results:
        assert result.case.id in page
        for clause in result.results:
            for violation in clause.violations:
                assert violation.sentence.replace(">", "&gt;") in page


def test_terminal_prints_markup_as_text_and_says_how_many_rows_break_what(run: ConformanceRun) -> None:
    said = io.StringIO()
    terminal.show(run, Console(file=said, width=200))
    assert "[bold]loud[/bold]" in said.getvalue()
    broken = next(clause for clause in run.results[1].results if clause.clause == "TO-DELIVER")
    assert broken.broken > 1
    assert f"breaks TO-DELIVER in {broken.broken} rows" in said.getvalue()
    assert "1 fail, 1 inconclusive, 1 not run, 1 pass" in said.getvalue()
    assert "\x1b" not in said.getvalue()


def test_folder_holds_traces_and_schedules_that_can_be_read_again(run: ConformanceRun, tmp_path: Path) -> None:
    folder.write(tmp_path, run)
    trace = trace_ndjson.read(tmp_path / "TO-DELIVER.at-the-barrier" / "trace.ndjson")
    assert run.results[1].trace is not None
    assert trace.rows == run.results[1].trace.rows
    assert schedule.read(tmp_path / "TO-MONO.one-instant" / "schedule.json") == PASSING.schedule
    assert not (tmp_path / "TO-ORDER.ties" / "trace.ndjson").exists()
    document = json.loads((tmp_path / "results.json").read_text())
    assert document["counts"] == {"fail": 1, "inconclusive": 1, "not run": 1, "pass": 1}
    assert [case["verdict"] for case in document["cases"]] == ["pass", "fail", "inconclusive", "not run"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
        "index.html",
        "junit.xml",
        "results.json",
    ]


def test_folder_of_an_older_run_keeps_no_trace_of_a_case_that_was_not_run_now(
    run: ConformanceRun, tmp_path: Path
) -> None:
    folder.write(tmp_path, run)
    not_run = replace(run.results[1], verdict=Verdict.NOT_RUN, trace=None, results=())
    folder.write(tmp_path, replace(run, results=(not_run,)))
    assert not (tmp_path / "TO-DELIVER.at-the-barrier" / "trace.ndjson").exists()


def test_header_notes_are_shown(run: ConformanceRun) -> None:
    trace = run.results[0].trace
    assert trace is not None
    noted = msgspec.structs.replace(trace, header=msgspec.structs.replace(trace.header, notes=("stretched by 7",)))
    page = page_of(replace(run, results=(replace(run.results[0], trace=noted),)))
    assert "stretched by 7" in page
