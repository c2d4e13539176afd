"""The page of the main job: what it shows beside clauses and layers, and that it asks for nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from scatterproof import iuts, verify_page_parts
from scatterproof.conformance.case import cases
from scatterproof.conformance.report.equivalence import EquivalenceRow
from scatterproof.conformance.report.tests.browser import Open, Tab
from scatterproof.conformance.report.tests.runs import NASTY
from scatterproof.layer_report import LayerReport, Status, StatusCell, detail
from scatterproof.matrix import MatrixRow
from scatterproof.models.finding import findings_of
from scatterproof.spec import clauses
from scatterproof.spec.trace import Trace, schema
from scatterproof.verify_page import write_page
from scatterproof.verify_page_parts import FIGURES, EquivalenceTable, Parts, TraceCoverage, collect

PROTOCOL = "totalorder"
CATALOGUE = clauses.load(PROTOCOL)
NOTHING = Parts(equivalence=None, coverage=None, figures="", figures_by="", findings=(), findings_text="")


def page_with(parts: Parts, folder: Path) -> str:
    write_page(folder / "index.html", CATALOGUE, [], [], parts, 1)
    return (folder / "index.html").read_text()


def compared(difference: str) -> Parts:
    rows = (EquivalenceRow(name="B", deliveries=3, difference=difference),)
    return Parts(
        equivalence=EquivalenceTable(reference="C", rows=rows),
        coverage=None,
        figures="",
        figures_by="",
        findings=(),
        findings_text="",
    )


def covered(coverage: TraceCoverage) -> Parts:
    return Parts(equivalence=None, coverage=coverage, figures="", figures_by="", findings=(), findings_text="")


def test_a_run_that_delivers_something_else_is_red_and_a_fault(tmp_path: Path) -> None:
    same, other = compared(""), compared("host 0, delivery 1: <none>")
    assert (same.faults, len(other.faults)) == ((), 1)
    assert 'class="fail"' not in page_with(same, tmp_path)
    text = page_with(other, tmp_path)
    assert '<td class="fail">fail</td><td>host 0, delivery 1: &lt;none&gt;</td>' in text


def test_what_the_records_leave_out_is_said(tmp_path: Path) -> None:
    left_out = {protocol: collect(protocol, tmp_path, None, None).left_out for protocol in clauses.protocols()}
    assert left_out["totalorder"] == ()
    assert left_out["broadcast"] == ("variants that must deliver the same (comparison, in conformance)",)
    text = page_with(replace(NOTHING, left_out=left_out["broadcast"]), tmp_path)
    assert "leave it out: variants that must deliver the same (comparison, in conformance)." in text
    assert "leave it out" not in page_with(NOTHING, tmp_path)


def test_actions_that_no_trace_takes_are_named(tmp_path: Path) -> None:
    text = page_with(covered(TraceCoverage(traces=2, rows=9, taken=("Send",), missing=("Stop", "Lose"))), tmp_path)
    assert "No accepted trace takes\n<code>Stop</code>, <code>Lose</code>:\ntraces say nothing of them." in text
    assert "Every action is taken" in page_with(covered(TraceCoverage(traces=2, rows=9, taken=("Send",))), tmp_path)


def test_a_rejected_trace_is_a_fault_and_a_missing_tool_is_not(tmp_path: Path) -> None:
    assert covered(TraceCoverage(rejected=("row 3 is no step Send",))).faults
    missing = covered(TraceCoverage(reason="no Java here"))
    assert missing.faults == ()
    assert missing.coverage is not None
    assert missing.coverage.status is Status.NOT_RUN
    assert "no Java here" in page_with(missing, tmp_path)


def test_figures_are_linked_to_where_they_are_and_else_one_reads_how_to_make_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "report" / "index.html"
    without = collect(PROTOCOL, page, None, None)
    assert (without.figures, without.figures_by) == ("", "ci/bench figures")
    assert "<code>ci/bench figures</code> draws them" in page_with(without, tmp_path)
    FIGURES.parent.mkdir(parents=True)
    FIGURES.write_text("x")
    made = collect(PROTOCOL, page, None, None)
    assert (page.parent / made.figures).resolve() == FIGURES.resolve()
    assert f'href="{made.figures}"' in page_with(made, page.parent)


def test_the_bench_draws_the_page_that_is_linked() -> None:
    from ci.figures.make import FOLDER

    assert FIGURES == FOLDER / "index.html"


def test_every_finding_is_shown_with_its_diagram_and_the_page_asks_for_nothing(tmp_path: Path) -> None:
    parts = collect(PROTOCOL, tmp_path / "index.html", None, None)
    findings = findings_of(PROTOCOL)
    assert [shown.finding for shown in parts.findings] == list(findings)
    assert {bool(shown.image) for shown in parts.findings if shown.finding.mutant} == {True}
    assert (tmp_path / parts.findings_text).is_file()
    text = page_with(parts, tmp_path)
    sources = re.findall(r'(?:src|srcset|data)="([^"]*)"', text)
    assert len(sources) == sum(bool(shown.image) for shown in parts.findings) > 0
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert re.findall(r"<link[^>]*>", text) == ['<link rel="icon" href="data:,">']
    assert "default-src 'none'; style-src 'sha256-" in text
    assert text.count("<script") == 1
    assert not re.search(r"@import|url\(", text)


def reports() -> list[LayerReport]:
    cells = {"TO-MONO": StatusCell(Status.PASS, "1 case"), "TO-ONCE": StatusCell(Status.FAIL, NASTY)}
    cases = detail(
        "Cases",
        ("case", "verdict"),
        [("TO-MONO/one", "pass"), ("TO-ONCE/two", "fail")],
        ["", f"scatterproof explore x.ndjson --row 7 {NASTY}"],
    )
    sound = LayerReport(layer="z3", title="Z3", status=Status.PASS, sentence="all", seconds=1.0, cells={})
    broken = LayerReport(
        layer="conform", title=NASTY, status=Status.FAIL, sentence=NASTY, seconds=2.0, cells=cells, details=(cases,)
    )
    return [sound, broken]


@pytest.fixture
def failing(browse: Open, tmp_path: Path) -> Tab:
    """The page of a run in which a clause fails in one layer."""
    rows = [
        MatrixRow("TO-MONO", "A", NASTY, (StatusCell(Status.PASS), StatusCell(Status.PASS, "1 case"))),
        MatrixRow("TO-ONCE", "B", NASTY, (StatusCell(Status.NOT_YET, "why"), StatusCell(Status.FAIL, NASTY))),
    ]
    path = tmp_path / "index.html"
    assert write_page(path, CATALOGUE, reports(), rows, compared(NASTY), 1) is Status.FAIL
    return browse(path.as_uri())


def test_the_page_has_one_verdict_on_top_and_what_is_red_first(failing: Tab) -> None:
    assert failing.page.locator("#verdict").inner_text().endswith("fail")
    assert failing.page.locator("#told").inner_text() == "2 clauses: 1 fail, 1 pass; 1 other faults"
    about = failing.page.locator("#about").inner_text()
    assert re.match(
        rf"clause catalogue {CATALOGUE.version}; seed 1; made on .* UTC by scatterproof .* cores, Py", about
    )
    assert failing.page.locator("tr[id]").evaluate_all("rows => rows.map(row => row.id)") == ["TO-ONCE", "TO-MONO"]
    layers = failing.page.locator("#layers + .scroll tbody a").all_inner_texts()
    assert layers == ["conform", "z3"]
    assert failing.page.locator("details tbody tr").first.inner_text().startswith("TO-ONCE/two")


def test_a_failing_row_says_how_to_step_through_it(failing: Tab) -> None:
    command = failing.page.locator("tr.again code")
    assert command.inner_text().startswith("scatterproof explore x.ndjson --row 7")
    assert command.is_visible()


def test_rows_are_filtered_by_verdict_and_by_text(failing: Tab) -> None:
    assert failing.visible("tr[id]") == ["TO-ONCE", "TO-MONO"]
    failing.page.get_by_label("fail", exact=True).check()
    assert failing.visible("tr[id]") == ["TO-ONCE"]
    failing.page.get_by_role("button", name="Clear").click()
    failing.page.get_by_label("Text").fill("to-mono")
    assert failing.visible("tr[id]") == ["TO-MONO"]
    failing.page.get_by_label("Text").fill("nobody says this")
    assert failing.page.get_by_text("Nothing is left by these filters.").is_visible()


def test_nothing_that_is_said_on_the_page_is_obeyed(failing: Tab) -> None:
    assert failing.count("main img") == 0
    assert failing.said == []
    assert {address.split("#")[0] for address in failing.asked} == {failing.page.url}


def test_parts_of_layers_that_did_not_run_are_left_out(tmp_path: Path) -> None:
    parts = collect(PROTOCOL, tmp_path / "index.html", None, None)
    assert (parts.equivalence, parts.coverage, parts.faults) == (None, None, ())
    text = page_with(NOTHING, tmp_path)
    assert not re.search(r'id="(equivalence|coverage|figures|findings)"', text)


def test_tlc_gets_traces_that_differ_before_short_ones() -> None:
    columns = schema(PROTOCOL).columns
    case = next(case for case in cases(PROTOCOL))
    header = iuts.find("reference", PROTOCOL, Path()).run(case.schedule).header

    def trace(kind: int, rows: int) -> Trace:
        return Trace(header, [tuple({"kind": kind}.get(name, 0) for name in columns)] * rows)

    alike, longer, other = trace(2, 10), trace(2, 20), trace(3, 60)
    assert verify_page_parts._varied([longer, other, alike], 80) == [alike, other]
