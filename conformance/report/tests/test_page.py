"""The page in a browser: it filters, opens and links, obeys nothing that implementations say, and loads nothing."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import pytest

from scatterproof.conformance.report import folder, html
from scatterproof.conformance.report.run import ConformanceRun
from scatterproof.conformance.report.stored import store
from scatterproof.conformance.report.tests.browser import Open, Tab
from scatterproof.conformance.report.tests.runs import FAILING, NAMES, failing, nasty, passing, small

ROWS = "tr.case"


@pytest.fixture
def one(browse: Open, tmp_path: Path) -> Tab:
    """The page of a failing run."""
    return browse(written(tmp_path, failing()))


@pytest.fixture
def two(browse: Open, tmp_path: Path) -> Tab:
    """A passing run and a failing one, side by side."""
    return browse(written(tmp_path, passing(), small()))


def written(place: Path, *runs: ConformanceRun) -> str:
    path = place / "page.html"
    columns = [html.Column(run=store(run), name=run.iut, folder=f"results/{run.iut}/latest") for run in runs]
    html.write_columns(path, columns)
    return path.as_uri()


def quiet(tab: Tab) -> bool:
    """No error or message was seen, and nothing but the page was requested."""
    return tab.said == [] and {address.split("#")[0] for address in tab.asked} == {tab.page.url.split("#")[0]}


def test_filters_leave_what_they_ask_for_and_say_how_much_it_is(one: Tab) -> None:
    assert one.visible(ROWS) == list(NAMES)
    one.page.get_by_label("pass", exact=True).check()
    passed = [result.case.id for result in failing().results if result.verdict == "pass"]
    assert one.visible(ROWS) == passed
    assert 0 < len(passed) < len(NAMES)
    assert one.page.locator("#shown").text_content().startswith(f"{len(passed)} of {len(NAMES)} cases")
    one.page.get_by_role("button", name="Clear").click()
    one.page.get_by_label("Clause").fill("to-ord")
    assert one.visible(ROWS) == ["TO-ORDER/ties"]
    one.page.get_by_role("button", name="Clear").click()
    one.page.get_by_label("Text").fill("until the barrier is strictly ABOVE")
    assert one.visible(ROWS) == [FAILING]
    one.page.get_by_label("Text").fill("nobody says this")
    assert one.visible(ROWS) == []
    assert one.page.get_by_text("Nothing is left by these filters.").is_visible()
    assert quiet(one)


def test_failure_opens_with_picture_schedule_violations_and_replay(one: Tab) -> None:
    assert one.count("svg") == 0
    one.page.get_by_role("link", name=FAILING).click()
    opened = one.page.locator("tr.detail")
    assert one.count("tr.detail svg[role=img] .loud") > 0
    assert "delivered timestamp" in opened.locator(".violations").first.inner_text()
    assert "sender0 submits" in opened.locator(".schedule").inner_text()
    assert f"replay results/hasty/latest/{FAILING.replace('/', '.')}/schedule.json --iut hasty" in (
        opened.locator(".replay").inner_text()
    )
    explore = opened.locator(".explore code")
    rows = [int(row) for row in opened.locator("button.row").all_inner_texts()]
    place = f"results/hasty/latest/{FAILING.replace('/', '.')}/trace.ndjson"
    assert explore.inner_text() == f"scatterproof explore {place} --row {rows[0]}"
    opened.locator("button.row").nth(1).click()
    assert explore.inner_text() == f"scatterproof explore {place} --row {rows[1]}"
    opened.get_by_text("Every clause in this run").click()
    assert one.count("tr.detail .clauses tbody tr") == len(failing().results[2].results)
    one.page.get_by_role("link", name=FAILING, exact=True).click()
    assert one.count("tr.detail") == 0
    assert quiet(one)


def test_the_head_has_one_verdict_the_version_the_date_and_the_machine(one: Tab, two: Tab) -> None:
    assert one.page.locator("#verdict").inner_text().endswith("fail")
    assert one.page.locator("#told").inner_text() == "3 fail, 1 pass"
    about = one.page.locator("#about").inner_text()
    assert re.fullmatch(
        r"totalorder, clauses 1; made on \d{4}-\d\d-\d\d at \d\d:\d\d UTC by scatterproof \S+ on .+ cores, Python .+",
        about,
    )
    assert two.page.locator("#verdict").inner_text().endswith("fail")


def test_the_same_run_makes_the_same_page_where_the_date_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    column = html.Column(run=store(failing()), name="hasty", folder=None)
    assert "made on 1970-01-01 at 00:00 UTC" in html.encode([column])
    assert html.encode([column]) == html.encode([column])


def test_link_to_a_case_opens_it_and_filters_as_it_says(browse: Open, tmp_path: Path) -> None:
    address = written(tmp_path, failing())
    tab = browse(f"{address}#{FAILING}?verdict=fail&text=barrier")
    assert tab.count("tr.detail") == 1
    assert tab.page.get_by_label("fail", exact=True).is_checked()
    assert tab.page.get_by_label("Text").input_value() == "barrier"
    assert FAILING in tab.visible(ROWS)
    assert "TO-SW-PATH/two-processors" not in tab.visible(ROWS)
    other = browse(f"{address}#{quote('TO-MONO/one-instant', safe='')}")
    assert other.page.locator("tr.detail").is_visible()
    assert quiet(tab)
    assert quiet(other)


def test_what_is_shown_is_in_the_address(one: Tab) -> None:
    one.page.get_by_role("link", name=FAILING).click()
    one.page.get_by_label("fail", exact=True).check()
    one.settle()
    address = one.page.evaluate("location.href")
    one.page.goto("about:blank")
    one.page.goto(address)
    assert one.count("tr.detail") == 1
    assert one.page.get_by_label("fail", exact=True).is_checked()


def test_link_to_what_the_filters_hide_shows_it_all_the_same(one: Tab) -> None:
    one.page.get_by_label("Clause").fill("TO-MONO")
    one.page.evaluate(f"location.hash = '#{FAILING}'")
    one.page.locator("tr.detail").wait_for()
    assert FAILING in one.visible(ROWS)


def test_keys_search_step_through_failures_and_close(one: Tab) -> None:
    one.page.keyboard.press("n")
    first = one.id_of("tr.case:has(+ tr.detail)")
    one.page.keyboard.press("n")
    second = one.id_of("tr.case:has(+ tr.detail)")
    one.page.keyboard.press("p")
    assert one.id_of("tr.case:has(+ tr.detail)") == first
    failed = [result.case.id for result in failing().results if result.verdict == "fail"]
    assert [first, second] == failed[:2]
    one.page.keyboard.press("Escape")
    assert one.count("tr.detail") == 0
    assert one.page.evaluate("document.activeElement.textContent") == first
    one.page.keyboard.press("/")
    one.page.keyboard.type("n")
    assert one.page.get_by_label("Text").input_value() == "n"
    assert one.count("tr.detail") == 0


def test_side_by_side_it_shows_clauses_then_cases_and_where_they_differ(two: Tab) -> None:
    assert two.visible(ROWS) == []
    assert len(two.visible("tr.clause")) > len(NAMES)
    two.page.get_by_label("only where they differ").check()
    differ = [a.case.id for a, b in zip(passing().results, failing().results, strict=True) if a.verdict != b.verdict]
    assert two.visible(ROWS) == differ
    two.page.get_by_role("link", name=FAILING).click()
    assert two.count("tr.detail section") == 2
    assert two.count("tr.detail section.broken") == 1
    assert "The smallest run that fails still" in two.page.locator("tr.detail").inner_text()
    assert f"{FAILING.replace('/', '.')}/small.json" in two.page.locator("tr.detail .replay").inner_text()
    assert quiet(two)


def test_nothing_that_an_implementation_says_is_obeyed(browse: Open, tmp_path: Path) -> None:
    tab = browse(written(tmp_path, nasty(), passing()))
    tab.page.get_by_role("button", name="Show the cases").click()
    for name in NAMES:
        tab.page.get_by_role("link", name=name, exact=True).first.click()
        tab.settle()
    for one in tab.page.locator("tr.detail summary").all():
        one.click()
    assert tab.count("img") == 0
    assert tab.count("script") == 2
    text = tab.page.evaluate("document.documentElement.outerHTML + document.body.innerText")
    assert "</script><img src=x onerror=alert(1)>" in tab.page.locator("tr.detail").inner_text()
    assert not set("\u202e\u202c\x00\x1b\x07") & set(text)
    assert quiet(tab)


def test_colours_are_the_system_s_until_somebody_chooses(browse: Open, tmp_path: Path) -> None:
    address, background = written(tmp_path, failing()), "getComputedStyle(document.body).backgroundColor"
    light, dark = browse(address, color_scheme="light"), browse(address, color_scheme="dark")
    shades = light.page.evaluate(background), dark.page.evaluate(background)
    assert shades[0] != shades[1]
    light.page.locator("#theme").click()
    assert light.page.evaluate(background) == shades[0]
    light.page.locator("#theme").click()
    assert light.page.evaluate(background) == shades[1]
    for _ in range(20):  # the browser may load the page again ahead of what it remembers
        light.page.reload()
        if light.page.evaluate(background) == shades[1]:
            return
    pytest.fail("the choice was not remembered")


def test_without_scripts_the_table_is_complete(browse: Open, tmp_path: Path) -> None:
    tab = browse(written(tmp_path, failing()), java_script_enabled=False)
    assert all(tab.page.locator(f"[id='{name}']").is_visible() for name in NAMES)


def test_page_of_a_folder_links_to_its_traces(browse: Open, tmp_path: Path) -> None:
    folder.write(tmp_path, failing())
    tab = browse((tmp_path / "index.html").as_uri())
    tab.page.get_by_role("link", name=FAILING).click()
    link = tab.page.get_by_role("link", name="trace")
    assert (tmp_path / str(link.get_attribute("href"))).is_file()
