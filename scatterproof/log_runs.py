"""Judges the logs that somebody else's run has left, clause by clause, and shows the verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from scatterproof.conformance.adapters.log_folder import read_logs
from scatterproof.conformance.case import CaseResult, Claims
from scatterproof.conformance.judge import judge
from scatterproof.conformance.profile import Profile
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.report.run import ConformanceRun
from scatterproof.conformance.verdict import ClauseResult, Verdict, foremost
from scatterproof.console import CANNOT_RUN, INCONCLUSIVE, OK, VIOLATIONS, out, print_json, print_table
from scatterproof.mapped_logs import MAPPING_FILE, read_mapped
from scatterproof.options import resolve
from scatterproof.spec import clauses, trace_ndjson
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import Delay, Schedule
from scatterproof.spec.trace import Trace
from scatterproof.suite import Files

UNREAD = "logs.quarantine.parquet"


def judge_logs(folder: Path, protocol: str | None, claims: Claims, kept: Path, files: Files, *, as_json: bool) -> int:
    """Judge the folder's logs, keep the merged trace in the file `kept`, write the files, and show the verdicts.
    Returns the exit code."""
    mapped = (folder / MAPPING_FILE).is_file()
    trace = read_mapped(folder, resolve(protocol), kept.with_name(UNREAD)) if mapped else read_logs(folder, str(folder))
    if protocol not in (None, trace.header.protocol):
        raise BadInput(f"{folder}: has logs of {trace.header.protocol}, not of {protocol}; leave --protocol out")
    results = claims.of_claimed(judge(trace, place=str(folder)))
    trace_ndjson.write(kept, trace)
    files.write(_as_run(folder, trace, results, claims))
    if as_json:
        print_json(_plain(folder, trace, results, kept))
    else:
        _show(folder, trace, results, kept)
    verdicts = {result.verdict for result in results}
    if Verdict.FAIL in verdicts:
        return VIOLATIONS
    if Verdict.INCONCLUSIVE in verdicts:
        return INCONCLUSIVE
    return OK if Verdict.PASS in verdicts else CANNOT_RUN


def _as_run(folder: Path, trace: Trace, results: tuple[ClauseResult, ...], claims: Claims) -> ConformanceRun:
    """The logs as a run that reports can show: a case a clause, named CLAUSE/logs, without a stimulus of ours."""
    header = trace.header
    catalogue = clauses.load(header.protocol)
    nobody_did_anything = Schedule(
        protocol=header.protocol,
        topology=header.topology,
        delays=tuple(Delay(0) for _ in header.topology.links),
        submissions=(),
        parameters=header.parameters,
        seed=header.seed,
    )
    found = []
    for result in results:
        case = Case(
            id=f"{result.clause}/logs",
            clause=result.clause,
            stimulus=f"its logs in {folder} are read",
            duty=f"has kept {catalogue.clause(result.clause).name}: {catalogue.clause(result.clause).must}".rstrip("."),
            schedule=nobody_did_anything,
            at_stake=(result.clause,),
        )
        reason = result.violations[0].sentence if result.violations else result.reason
        found.append(CaseResult(case=case, verdict=result.verdict, reason=reason, results=(result,), trace=trace))
    return ConformanceRun(
        protocol=header.protocol,
        iut=header.iut or str(folder),
        catalogue=catalogue.version,
        results=tuple(found),
        profile=claims.name if isinstance(claims, Profile) else "",
    )


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
    for result in foremost(trace.header.protocol, results):
        for violation in result.violations:
            out.print(violation.sentence, markup=False, highlight=False)
    for note in trace.notes:
        out.print(f"note: {note}", markup=False, highlight=False)
    out.print(f"merged trace of {len(trace.rows)} rows: {kept}", markup=False, highlight=False)
