"""Benchmark of the report: how large the page of many results is, how long it takes to be made, and how long Chromium
takes to open it, to filter it and to open one failure. Wall time, best of three tries."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from scatterproof import iuts
from scatterproof.conformance.case import cases, run_case
from scatterproof.conformance.report import html, stored
from scatterproof.conformance.report.run import ConformanceRun
from scatterproof.conformance.report.stored import StoredCase, StoredRun
from scatterproof.conformance.report.tests.browser import Tab, launched, why_not
from scatterproof.conformance.verdict import Verdict

RESULTS = 10_000
FAILING = 0.02
TRIES = 3
PROTOCOL = "totalorder"
MUTANT = "mutant:aggregate/min-to-max"
# Opened means painted, and the script at rest.
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"


def many(count: int) -> StoredRun:
    """Results of a large suite: the existing cases repeated under other names; one in fifty fails, as with a damaged
    reference."""
    whole, damaged = _run("reference"), _run(MUTANT)
    broken = [case for case in damaged.cases if case.failure is not None]
    found: list[StoredCase] = []
    for number in range(count):
        every = round(1 / FAILING)
        case = broken[number // every % len(broken)] if number % every == 0 else whole.cases[number % len(whole.cases)]
        if number >= stored.MOST_DIAGRAMS * every and case.failure is not None:
            case = structs.replace(case, failure=structs.replace(case.failure, diagram=None))
        found.append(structs.replace(case, id=f"{case.id}-{number}"))
    counts = {verdict: sum(case.verdict is verdict for case in found) for verdict in (Verdict.FAIL, Verdict.PASS)}
    return structs.replace(whole, cases=tuple(found), counts=counts, verdict=Verdict.FAIL)


def report() -> Iterator[tuple[str, str]]:
    run = many(RESULTS)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "index.html"
        start = time.perf_counter()
        html.write_columns(page, [html.Column(run=run, name=run.iut, folder="results/latest")])
        made = time.perf_counter() - start
        kept = len(stored.encode(run))
        size = page.stat().st_size
        failing = run.counts[Verdict.FAIL]
        what = f"report, {RESULTS:,} results, {failing} of them failures"
        yield what, f"page {size / 1e6:.1f} MB ({kept / 1e6:.0f} MB of results.json), made in {made:.1f} s"
        reason = why_not()
        if reason is not None:
            yield f"{what}: in Chromium", f"not run: {reason}"
            return
        opened, filtered, shown = zip(*_tries(page), strict=True)
        yield f"{what}: opened in Chromium", f"{min(opened):.2f} s"
        yield f"{what}: filtered by verdict", f"{min(filtered) * 1000:.0f} ms"
        yield f"{what}: first failure opened, picture included", f"{min(shown) * 1000:.0f} ms"


def _tries(page: Path) -> Iterator[tuple[float, float, float]]:
    """Seconds until the page is painted, until it is filtered, and until a failure is open."""
    with launched() as browser:
        for _ in range(TRIES):
            tab = Tab(browser)
            tab.page.goto(page.as_uri())
            opened = tab.page.evaluate(PAINTED) / 1000
            filtered = _timed(tab, "document.querySelector('[name=verdict][value=fail]').click()")
            shown = _timed(tab, "document.querySelector('tr.case:not([hidden]) a').click()")
            if tab.said or tab.count("tr.detail svg") != 1:
                raise SystemExit(f"ci/bench: the page does not work: {tab.said}")
            tab.page.context.close()
            yield opened, filtered, shown


def _timed(tab: Tab, action: str) -> float:
    script = f"async () => {{ const start = performance.now(); {action}; return await ({PAINTED})() - start; }}"
    return float(tab.page.evaluate(script)) / 1000


def _run(name: str) -> StoredRun:
    with tempfile.TemporaryDirectory() as folder:
        iut = iuts.find(name, PROTOCOL, Path(folder))
        results = tuple(run_case(case, iut) for case in cases(PROTOCOL))
    return stored.store(ConformanceRun(protocol=PROTOCOL, iut=name, catalogue="", results=results))
