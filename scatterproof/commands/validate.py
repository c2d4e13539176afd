"""`scatterproof validate`: recorded traces, read step by step by TLC."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from scatterproof.conformance.judge import refuse
from scatterproof.console import CANNOT_RUN, OK, VIOLATIONS, Progress, out, print_json, print_table
from scatterproof.models.trace_validation import Judgement, Validation, uncovered, validate_all
from scatterproof.options import Json
from scatterproof.spec import trace_ndjson


def command(
    traces: Annotated[list[Path], typer.Argument(help="Trace files (NDJSON), of any implementation.")],
    as_json: Json = False,
) -> None:
    """Let TLC accept recorded traces step by step, or say at which row each is no behaviour of the specification."""
    read = [trace_ndjson.read(path) for path in traces]
    for path, trace in zip(traces, read, strict=True):
        refuse(trace, str(path))
    with Progress(f"TLC, {sum(len(trace.rows) for trace in read)} rows"):
        found = validate_all(read)
    accepted = [one for one in found if one.judgement is Judgement.ACCEPTED]
    protocols = sorted({trace.header.protocol for trace in read})
    missing = {protocol: uncovered(protocol, accepted) for protocol in protocols}
    if as_json:
        told = [{"trace": str(path), **_plain(one)} for path, one in zip(traces, found, strict=True)]
        print_json({"traces": told, "actions_not_taken": missing})
    else:
        rows = [
            (path, one.judgement, len(one.actions), len(one.pairs), ", ".join(one.clauses), one.reason)
            for path, one in zip(traces, found, strict=True)
        ]
        print_table("Traces read by TLC", ("trace", "verdict", "actions", "pairs", "clauses", "why"), rows)
        for protocol, actions in missing.items():
            if accepted and actions:
                out.print(f"{protocol}: no accepted trace takes {', '.join(actions)}", markup=False, highlight=False)
    raise typer.Exit(_exit_code(found))


def _plain(one: Validation) -> dict[str, object]:
    return {
        "verdict": one.judgement,
        "row": one.position,
        "action": one.action,
        "clauses": one.clauses,
        "broken": one.broken,
        "reason": one.reason,
        "actions": sorted(one.actions),
        "pairs": sorted(one.pairs),
    }


def _exit_code(found: Sequence[Validation]) -> int:
    """Rejections win over what could not be read: they are certain."""
    if any(one.judgement is Judgement.REJECTED for one in found):
        return VIOLATIONS
    return CANNOT_RUN if any(one.judgement is Judgement.CANNOT_RUN for one in found) else OK
