"""A conformance run as a folder, results/latest/ by custom:

    index.html      the page
    junit.xml       for a CI
    results.json    verdicts and violations, without the traces
    CASE/trace.ndjson and CASE/schedule.json, a folder a case: what happened, and what to replay

Files are written one by one and each at once: a reader sees an old or a new one, never a part.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from conformance.report import html, junit
from conformance.report.run import ConformanceRun, folder_name
from spec import schedule as schedules
from spec import trace_ndjson
from spec.files import write_atomically


def write(folder: Path, run: ConformanceRun) -> None:
    """Write the run; what other runs left for the same cases is replaced, other cases' folders stay."""
    for result in run.results:
        place = folder / folder_name(result.case.id)
        schedules.write(place / "schedule.json", result.case.schedule)
        if result.trace is not None:
            trace_ndjson.write(place / "trace.ndjson", result.trace)
        else:
            (place / "trace.ndjson").unlink(missing_ok=True)
    junit.write(folder / "junit.xml", run)
    html.write(folder / "index.html", run, traces=True)
    content = msgspec.json.format(msgspec.json.encode(plain(run)), indent=1)
    write_atomically(folder / "results.json", content + b"\n")


def plain(run: ConformanceRun) -> dict[str, Any]:
    """The run as a JSON document: everything but the traces and schedules."""
    return {
        "protocol": run.protocol,
        "iut": run.iut,
        "catalogue": run.catalogue,
        "profile": run.profile,
        "verdict": run.verdict,
        "counts": {str(verdict): count for verdict, count in run.counts.items()},
        "cases": [
            {
                "id": result.case.id,
                "clause": result.case.clause,
                "stimulus": result.case.stimulus,
                "duty": result.case.duty,
                "verdict": result.verdict,
                "reason": result.reason,
                "rows": None if result.trace is None else len(result.trace.rows),
                "seconds": run.seconds.get(result.case.id),
                "clauses": msgspec.to_builtins(result.results),
            }
            for result in run.results
        ],
    }
