"""The explorer's server answers this machine's own page alone; its page steps, jumps and exports by keys."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from scatterproof.conformance.explorer.server import Explorer, ExplorerServer, serve
from scatterproof.conformance.explorer.sources import NdjsonSource
from scatterproof.conformance.explorer.tests.runs import HASTY, ORDER, hasty
from scatterproof.conformance.explorer.timeline import Timeline
from scatterproof.conformance.judge import judge
from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.report.tests.browser import Tab
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.totalorder import make_core
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.trace import Kind, Trace, schema

TIME = schema("totalorder").index("time_ns")
NASTY = "</script><img src=x onerror=alert(1)>\u202e\x1b"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ExplorerServer]:
    trace = hasty()
    header = msgspec.structs.replace(trace.header, iut=NASTY, notes=(NASTY,))
    trace_ndjson.write(tmp_path / "trace.ndjson", msgspec.structs.replace(trace, header=header))
    line = Timeline(NdjsonSource(tmp_path / "trace.ndjson"))
    line.scan()
    with serve(Explorer(line, ORDER[HASTY].schedule)) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def get(server: ExplorerServer, path: str, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def found(server: ExplorerServer, path: str) -> Any:
    status, content = get(server, f"/{server.token}/{path}")
    assert status == 200, content
    return json.loads(content)


def test_only_the_address_that_was_printed_is_answered(server: ExplorerServer) -> None:
    path = urlsplit(server.address).path
    assert get(server, path)[0] == 200
    assert get(server, path, Host=f"localhost:{server.server_port}")[0] == 200
    for host in ("evil.example", f"evil.example:{server.server_port}", "127.0.0.1"):
        assert get(server, path, Host=host)[0] == 403
    for other in (
        "/",
        "/run",
        f"/{server.token[:-1]}/run",
        f"/{server.token}x/run",
        "//run",
        "/%C3%A9/run",
    ):
        assert get(server, other)[0] == 403
    assert get(server, f"/{server.token}/../run")[0] == 404
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "path", ["at", "at?row=-1", "at?row=x", "at?row=99999", "excerpt?first=5&last=2", "excerpt?first=0&last=999999"]
)
def test_bad_questions_are_answered_by_a_sentence(path: str, server: ExplorerServer) -> None:
    status, content = get(server, f"/{server.token}/{path}")
    assert status == 400
    assert json.loads(content)["error"]


@pytest.mark.parametrize("row", [3, 70])
@pytest.mark.parametrize(("column", "value"), [("node", 99), ("link", -(1 << 63)), ("sender", 99), ("receiver", -2)])
def test_bad_row_ends_the_judging_with_a_sentence(row: int, column: str, value: int, tmp_path: Path) -> None:
    """Both in the first window and far behind it."""
    trace = hasty()
    rows = [list(one) for one in trace.rows]
    rows[row][schema("totalorder").index(column)] = value
    trace_ndjson.write(tmp_path / "trace.ndjson", Trace(trace.header, [tuple(one) for one in rows]))
    line = Timeline(NdjsonSource(tmp_path / "trace.ndjson"))
    explorer = Explorer(line)

    def judge_when_asked() -> None:
        if explorer.asked.wait(20):
            line.scan()

    judging = threading.Thread(target=judge_when_asked)
    judging.start()
    with serve(explorer) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        first = get(running, f"/{running.token}/at?row=0")
        judging.join()
        told = [get(running, f"/{running.token}/{path}") for path in (f"at?row={row}", "violation?row=90&step=1")]
        problem = found(running, "run")
        running.shutdown()
        thread.join()
    assert (problem["ended"], problem["read"]) == (True, 0)
    assert f"trace.ndjson: row {row} has {column} {value}" in problem["problem"]
    for status, content in [*told, *([first] if row < 20 else [])]:
        assert (status, json.loads(content)["error"]) == (400, problem["problem"])


def test_row_is_shown_with_its_neighbours_and_every_node(server: ExplorerServer) -> None:
    answer = found(server, "at?row=50")
    assert [row["row"] for row in answer["rows"]] == [*range(answer["first"], answer["first"] + len(answer["rows"]))]
    assert answer["rows"][50 - answer["first"]]["time"] == str(hasty().rows[50][TIME])
    assert len(answer["states"]) == len(hasty().header.topology.nodes)
    first = min(one.position for result in judge(hasty()) for one in result.violations)
    assert found(server, "violation?row=0&step=1")["row"] == first
    broken = found(server, f"at?row={first}")["rows"][first - max(0, first - 40)]["broken"]
    assert [clause for clause, _ in broken] == ["TO-DELIVER"]


def test_numbers_of_the_trace_are_words_as_a_page_would_round_them(server: ExplorerServer) -> None:
    """A digest has 63 bits; JSON.parse keeps 53."""
    _, content = get(server, f"/{server.token}/at?row=50")
    assert max(hasty().column("digest")) > 1 << 53
    assert json.loads(content, parse_int=lambda text: int(float(text))) == json.loads(content)
    shown = {row["row"]: row["columns"] for row in json.loads(content)["rows"]}
    told = dict(zip(schema("totalorder").columns, hasty().rows[50], strict=True))
    assert shown[50] == {name: str(value) for name, value in told.items() if value != -1}


def test_time_leads_to_its_first_row(server: ExplorerServer) -> None:
    times = [row[TIME] for row in hasty().rows]
    for wanted in (0, 1, 5_000, times[-1]):
        assert found(server, f"time?ns={wanted}")["row"] == next(n for n, t in enumerate(times) if t >= wanted)


def test_exported_schedule_runs_as_the_whole_one_until_there(server: ExplorerServer) -> None:
    row = 60
    _, content = get(server, f"/{server.token}/schedule?last={row}")
    schedule = msgspec.json.decode(content, type=Schedule)
    end = hasty().rows[row][TIME]
    whole, part = (simulate(one, make_core).rows for one in (ORDER[HASTY].schedule, schedule))
    kind = schema("totalorder").index("kind")
    until = [one for one in whole if one[TIME] < end]
    assert part[: len(until)] == until
    assert max(one[TIME] for one in part if one[kind] != Kind.ENDED) <= end
    assert len(schedule.submissions) < len(ORDER[HASTY].schedule.submissions)


def test_excerpt_has_the_rows_and_shows_nothing(server: ExplorerServer, tmp_path: Path) -> None:
    _, content = get(server, f"/{server.token}/excerpt?first=10&last=60")
    trace = trace_ndjson.decode(content, "excerpt")
    assert trace.rows == hasty().rows[10:61]
    assert {result.verdict for result in judge(trace)} <= {Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE}


def test_port_that_is_taken_is_one_sentence(server: ExplorerServer) -> None:
    with pytest.raises(CannotRun, match="another --port"):
        serve(server.explorer, server.server_port)


def current(tab: Tab, row: int) -> None:
    """Wait until this row is the one that is looked at."""
    tab.page.locator(f"#rows tr[aria-current][data-row='{row}']").wait_for()


def test_keys_step_jump_and_tell_of_themselves(chromium: Any, server: ExplorerServer) -> None:
    tab = Tab(chromium)
    tab.page.goto(server.address)
    keyboard, violations = tab.page.keyboard, sorted({v.position for r in judge(hasty()) for v in r.violations})
    current(tab, 0)
    keyboard.press("ArrowRight")
    keyboard.press("ArrowRight")
    current(tab, 2)
    keyboard.press("ArrowLeft")
    current(tab, 1)
    keyboard.press("n")
    current(tab, violations[0])
    assert "TO-DELIVER" in tab.page.locator("#broken").inner_text()
    keyboard.press("n")
    current(tab, violations[1])
    keyboard.press("N")
    current(tab, violations[0])
    keyboard.press("End")
    current(tab, len(hasty().rows) - 1)
    keyboard.press("g")
    keyboard.type("30")
    keyboard.press("Enter")
    current(tab, 30)
    keyboard.press("?")
    assert tab.page.get_by_role("heading", name="Keys", exact=True).is_visible()
    keyboard.press("ArrowRight")
    keyboard.press("Escape")
    current(tab, 30)
    assert tab.count(".node") == len(hasty().header.topology.nodes)
    assert tab.count("#picture svg .loud") > 0
    with tab.page.expect_download() as download:
        keyboard.press("e")
        tab.page.get_by_role("link", name="A schedule that leads to this row").click()
    assert msgspec.json.decode(Path(download.value.path()).read_bytes(), type=Schedule).protocol == "totalorder"
    assert tab.said == []
    assert all(address.startswith(server.address) for address in tab.asked)
    tab.page.context.close()


def test_lanes_keep_their_names_in_sight_at_a_violation(chromium: Any, server: ExplorerServer) -> None:
    tab = Tab(chromium, viewport={"width": 1200, "height": 640})
    tab.page.goto(server.address)
    current(tab, 0)
    tab.page.keyboard.press("n")
    tab.page.locator("#broken p").first.wait_for()
    tab.settle()
    on_top = """names => names.filter(name => {
        const box = name.getBoundingClientRect(), around = document.getElementById("picture").getBoundingClientRect();
        const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
        return x > around.left && x < around.right && document.elementsFromPoint(x, y)[0] === name;
    }).map(name => name.textContent)"""
    scrolled = tab.page.evaluate("document.getElementById('picture').scrollTop")
    assert scrolled > 28, "the violation is not far enough down to show anything"
    assert "receiver0 (2)" in tab.page.eval_on_selector_all("#picture text[y='20']", on_top)
    assert tab.page.locator("#verdict").inner_text().endswith("fail")
    tab.page.context.close()


def test_a_link_to_a_row_opens_it_and_nothing_said_is_obeyed(chromium: Any, server: ExplorerServer) -> None:
    tab = Tab(chromium, color_scheme="dark")
    tab.page.goto(f"{server.address}#77")
    current(tab, 77)
    assert "</script>" in tab.page.locator("#about").inner_text()
    assert tab.count("img") == 0
    assert tab.said == []
    tab.page.context.close()
