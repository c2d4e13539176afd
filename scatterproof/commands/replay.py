"""`scatterproof replay`: one schedule again, judged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.judge import judge
from conformance.verdict import Verdict
from scatterproof import iuts
from scatterproof.console import OK, VIOLATIONS, out, print_json, print_table
from scatterproof.options import RESULTS, IutName, Json, Protocol, Results, resolve
from spec import clauses, trace_ndjson
from spec import schedule as schedules
from spec.errors import BadInput


def command(
    schedule: Annotated[Path, typer.Argument(help="A schedule file, such as fuzzing saves for each failure.")],
    iut: IutName = "reference",
    protocol: Protocol = None,
    results: Results = RESULTS,
    as_json: Json = False,
) -> None:
    """Replay a saved schedule against an implementation, and judge the trace that it leaves."""
    found = schedules.read(schedule)
    if protocol is not None and resolve(protocol) != found.protocol:
        raise BadInput(f"{schedule}: is a schedule of {found.protocol}, not of {protocol}; leave --protocol out")
    implementation = iuts.find(iut, _protocol_of(found, schedule), results)
    try:
        trace = implementation.run(found)
    except BadInput as error:
        raise BadInput(f"{schedule}: {error}") from None
    kept = results / "replay" / f"{schedule.stem}.ndjson"
    trace_ndjson.write(kept, trace)
    judged = judge(trace)
    failed = [result for result in judged if result.verdict is Verdict.FAIL]
    if as_json:
        print_json(
            {"schedule": str(schedule), "iut": iut, "trace": str(kept), "notes": trace.header.notes, "clauses": judged}
        )
    else:
        rows = [(r.clause, r.name, r.verdict, r.held, r.broken, r.reason) for r in judged]
        print_table(f"{schedule.name} against {iut}", ("clause", "name", "verdict", "held", "broken", "why"), rows)
        for result in failed:
            for violation in result.violations:
                out.print(violation.sentence, markup=False, highlight=False)
        for note in trace.header.notes:
            out.print(f"note: {note}", markup=False, highlight=False)
        out.print(f"trace: {kept}", markup=False, highlight=False)
    raise typer.Exit(VIOLATIONS if failed else OK)


def _protocol_of(found: schedules.Schedule, path: Path) -> str:
    try:
        return resolve(found.protocol)
    except BadInput:
        known = ", ".join(clauses.protocols())
        raise BadInput(f"{path}: protocol {found.protocol!r} is unknown; it may be one of: {known}") from None
