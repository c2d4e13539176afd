"""The pictures that README.md shows, of runs of the reference and of a damaged one: report.png, compare.png and
explorer.png in docs/."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from scatterproof import iuts
from scatterproof.conformance.case import EVERYTHING, run_case, select
from scatterproof.conformance.explorer.server import Explorer, serve
from scatterproof.conformance.explorer.sources import NdjsonSource
from scatterproof.conformance.explorer.timeline import Timeline
from scatterproof.conformance.report import folder, html, stored
from scatterproof.conformance.report.run import ConformanceRun
from scatterproof.conformance.report.tests.browser import launched, why_not
from scatterproof.small_runs import with_small
from scatterproof.spec import clauses

DOCS = Path(__file__).resolve().parent.parent / "docs"
PROTOCOL = "totalorder"
DAMAGED = "mutant:deliverable/lt-to-le"
CASE = "TO-DELIVER/at-the-barrier"
SIZE = {"width": 1200, "height": 620}
LARGEST = 200_000  # bytes: a page of text shows them
SHRINK_SECONDS = 20


def main() -> int:
    reason = why_not()
    if reason is not None:
        print(f"ci/screenshots: not run: {reason}", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as place, launched() as browser:
        os.chdir(place)  # so that pages show no path of this machine
        runs = Path("results")
        for name, iut in (("sound", "reference"), ("hasty", DAMAGED)):
            folder.write(runs / name / "latest", _run(iut, runs / name))
        columns = [stored.read(runs / name) for name in ("sound", "hasty")]
        page = Path("index.html")
        html.write_columns(page, [html.column_of(run, run.iut, at, page) for run, at in columns])
        _shot(browser, f"{(runs / 'hasty/latest/index.html').resolve().as_uri()}#{CASE}", "report.png")
        _shot(browser, page.resolve().as_uri(), "compare.png")
        _explorer(browser, runs / "hasty/latest" / CASE.replace("/", ".") / "trace.ndjson")
        os.chdir(DOCS)
    return 0


def _run(iut: str, place: Path) -> ConformanceRun:
    implementation = iuts.find(iut, PROTOCOL, place)
    run = ConformanceRun(
        protocol=PROTOCOL,
        iut=iut,
        catalogue=clauses.load(PROTOCOL).version,
        results=tuple(
            run_case(case, implementation) for case in select(PROTOCOL, ["TO-DELIVER*", "TO-ORDER*", "TO-S*"])
        ),
        folder=str(place / "latest"),
    )
    return with_small(run, implementation, EVERYTHING, SHRINK_SECONDS)


def _explorer(browser: Any, trace: Path) -> None:
    line = Timeline(NdjsonSource(trace))
    line.scan()
    with serve(Explorer(line)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        first = line.next_violation(-1, 1)
        _shot(browser, f"{server.address}#{first}", "explorer.png", "#rows tr[aria-current]")
        server.shutdown()
        thread.join()


def _shot(browser: Any, address: str, name: str, ready: str = "#matrix") -> None:
    page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
    page.goto(address)
    page.locator(ready).wait_for()
    DOCS.mkdir(exist_ok=True)
    page.screenshot(path=DOCS / name)
    page.context.close()
    size = (DOCS / name).stat().st_size
    print(f"docs/{name}: {size:,} bytes")
    if size > LARGEST:
        raise SystemExit(f"ci/screenshots: docs/{name} is larger than {LARGEST:,} bytes; show less")


if __name__ == "__main__":
    raise SystemExit(main())
