"""A conformance run as a folder, results/latest/ by custom:

    index.html      the page
    junit.xml       for a CI
    results.json    verdicts, violations and pictures, without the traces (conformance/report/stored.py)
    CASE/trace.ndjson and CASE/schedule.json, a folder a case: what happened, and what to replay
    CASE/small.json and CASE/small.ndjson where a failing case was made small

Cases are written as they end, and the rest after the last. `conform` keeps cases.jsonl beside them, from which an
interrupted run goes on.

Each file is written atomically: a reader sees the old one or the new one, never a part.
"""

from __future__ import annotations

from pathlib import Path

from scatterproof.conformance.case import CaseResult
from scatterproof.conformance.report import html, junit, stored
from scatterproof.conformance.report.run import ConformanceRun, folder_name
from scatterproof.conformance.report.stored import plain as plain
from scatterproof.spec import schedule as schedules
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.files import write_atomically

PAGE, JUNIT = "index.html", "junit.xml"


def write(folder: Path, run: ConformanceRun) -> None:
    """Write the run. What other runs left for the same cases is replaced; other cases' folders stay."""
    for result in run.results:
        write_case(folder, result)
    finish(folder, run)


def finish(folder: Path, run: ConformanceRun) -> None:
    """Write what is known only when the last case has ended; the cases are written already."""
    for result in run.results:
        place = folder / folder_name(result.case.id)
        small = run.small.get(result.case.id)
        if small is not None:
            schedules.write(place / "small.json", small.schedule)
            trace_ndjson.write(place / "small.ndjson", small.trace)
        else:
            (place / "small.json").unlink(missing_ok=True)
            (place / "small.ndjson").unlink(missing_ok=True)
    junit.write(folder / JUNIT, run)
    kept, page = stored.store(run), folder / PAGE
    write_atomically(folder / stored.FILE_NAME, stored.encode(kept))
    html.write_columns(page, [html.column_of(kept, run.iut, folder, page)])


def remove_reports(folder: Path) -> None:
    """Remove what `finish` writes, before another run begins there. Raises CannotRun where that is refused."""
    for name in (PAGE, JUNIT, stored.FILE_NAME):
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise CannotRun(f"{folder / name}: cannot be replaced: {error.strerror}; check the folder") from None


def write_case(folder: Path, result: CaseResult) -> Path:
    """Write the schedule and the trace into the case's own folder, and return that folder."""
    place = folder / folder_name(result.case.id)
    schedules.write(place / "schedule.json", result.case.schedule)
    if result.trace is not None:
        trace_ndjson.write(place / "trace.ndjson", result.trace)
    else:
        (place / "trace.ndjson").unlink(missing_ok=True)
    return place
