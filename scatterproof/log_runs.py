"""Logs that somebody else's run has left, judged clause by clause and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from conformance.adapters.log_folder import read_logs
from conformance.case import Claims
from conformance.judge import judge
from conformance.verdict import ClauseResult, Verdict
from scatterproof.console import CANNOT_RUN, OK, VIOLATIONS, out, print_json, print_table
from spec import trace_ndjson
from spec.errors import BadInput
from spec.trace import Trace


def judge_logs(folder: Path, protocol: str | None, claims: Claims, kept: Path, as_json: bool) -> int:
    """Judge the folder's logs, keep the merged trace in the file `kept`, and show the verdicts; the exit code."""
    trace = read_logs(folder, str(folder))
    if protocol not in (None, trace.header.protocol):
        raise BadInput(f"{folder}: has logs of {trace.header.protocol}, not of {protocol}; leave --protocol out")
    results = claims.of_claimed(judge(trace, place=str(folder)))
    trace_ndjson.write(kept, trace)
    if as_json:
        print_json(_plain(folder, trace, results, kept))
    else:
        _show(folder, trace, results, kept)
    verdicts = {result.verdict for result in results}
    if Verdict.FAIL in verdicts:
        return VIOLATIONS
    return OK if Verdict.PASS in verdicts else CANNOT_RUN


def _plain(folder: Path, trace: Trace, results: tuple[ClauseResult, ...], kept: Path) -> dict[str, Any]:
    return {
        "logs": str(folder),
        "protocol": trace.header.protocol,
        "catalogue": trace.header.catalogue,
        "rows": len(trace.rows),
        "notes": trace.notes,
        "trace": str(kept),
        "clauses": msgspec.to_builtins(results),
    }


def _show(folder: Path, trace: Trace, results: tuple[ClauseResult, ...], kept: Path) -> None:
    rows = [(r.clause, r.name, r.verdict, r.held, r.broken, r.reason) for r in results]
    print_table(f"Logs in {folder}", ("clause", "name", "verdict", "held", "broken", "why"), rows)
    for result in results:
        for violation in result.violations:
            out.print(violation.sentence, markup=False, highlight=False)
    for note in trace.notes:
        out.print(f"note: {note}", markup=False, highlight=False)
    out.print(f"merged trace of {len(trace.rows)} rows: {kept}", markup=False, highlight=False)
