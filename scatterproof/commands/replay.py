"""`scatterproof replay`: one schedule, or one run of a corpus, again, judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from conformance.judge import judge
from conformance.verdict import ClauseResult, Verdict
from fuzz.fuzzer import violations_of
from fuzz.shrink import shrink
from scatterproof import iuts
from scatterproof.console import OK, VIOLATIONS, Progress, out, print_json, print_table
from scatterproof.options import RESULTS, IutName, Json, Protocol, Results, resolve
from spark.replay import entry_of, schedule_of, trace_of
from spec import clauses, trace_ndjson
from spec import schedule as schedules
from spec.errors import BadInput
from spec.iut import Iut
from spec.trace import Trace

SHRINK_RUNS = 2000


def command(
    schedule: Annotated[
        Path | None, typer.Argument(help="A schedule file, such as fuzzing saves for each failure.")
    ] = None,
    corpus: Annotated[Path | None, typer.Option("--corpus", help="A corpus instead of a schedule.")] = None,
    run: Annotated[int | None, typer.Option("--run", help="Which run of the corpus.")] = None,
    small: Annotated[bool, typer.Option("--shrink", help="Make a schedule that fails small, and save it.")] = False,
    iut: IutName = "reference",
    protocol: Protocol = None,
    results: Results = RESULTS,
    as_json: Json = False,
) -> None:
    """Replay a schedule, or a run of a corpus, against an implementation, and judge the trace that it leaves.

    A run of a planted mutant is replayed by it; one that was imported, or has an altered row, is judged again as it was
    recorded.
    """
    if corpus is not None and run is not None and schedule is None:
        told = _of_corpus(corpus, run, iut, results)
    elif schedule is not None and corpus is None and run is None:
        told = _of_schedule(schedules.read(schedule), str(schedule), schedule.stem, iut, results)
    else:
        raise BadInput("give either a schedule file, or --corpus DIR --run N")
    found = told.trace.header.protocol
    if protocol is not None and resolve(protocol) != found:
        raise BadInput(f"{told.place}: is of {found}, not of {protocol}; leave --protocol out")
    if small and told.schedule is None:
        raise BadInput(f"{told.place}: was imported or altered, and no schedule leaves it; leave --shrink out")
    kept = results / "replay" / f"{told.stem}.ndjson"
    trace_ndjson.write(kept, told.trace)
    judged = judge(told.trace)
    failed = [result for result in judged if result.verdict is Verdict.FAIL]
    made = None
    if small and failed:
        made = results / "replay" / f"{told.stem}-small.json"
        _shrink(told, failed[0].clause, made)
    _show(told, kept, judged, made, as_json=as_json)
    raise typer.Exit(VIOLATIONS if failed else OK)


class _Told(NamedTuple):
    """place: for people. stem: of the files that are kept. iut: whom the trace is of, by name. implementation,
    schedule: None of both for a run that was imported or altered."""

    place: str
    stem: str
    iut: str
    trace: Trace
    implementation: Iut | None = None
    schedule: schedules.Schedule | None = None


def _of_corpus(corpus: Path, run: int, iut: str, results: Path) -> _Told:
    _, _, entry = entry_of(corpus, run)
    place, stem = f"{corpus}: run {run}", f"{corpus.resolve().name}-run-{run}"
    if entry.source or entry.altered:
        return _Told(place, stem, entry.source or entry.planted, trace_of(corpus, run))
    if entry.planted and iut == "reference":
        iut = f"mutant:{entry.planted}"
    return _of_schedule(schedule_of(corpus, run), place, stem, iut, results)


def _of_schedule(chosen: schedules.Schedule, place: str, stem: str, iut: str, results: Path) -> _Told:
    implementation = iuts.find(iut, _protocol_of(chosen, place), results)
    try:
        trace = implementation.run(chosen)
    except BadInput as error:
        raise BadInput(f"{place}: {error}") from None
    return _Told(place, stem, iut, trace, implementation, chosen)


def _shrink(told: _Told, clause: str, path: Path) -> None:
    """Write the smallest schedule that is found to break the clause still."""
    implementation, schedule = told.implementation, told.schedule
    assert implementation is not None
    assert schedule is not None

    def fails(candidate: schedules.Schedule) -> bool:
        return clause in violations_of(implementation.run(candidate))

    with Progress(f"Shrinking (up to {SHRINK_RUNS} runs)"):
        schedules.write(path, shrink(schedule, fails, max_runs=SHRINK_RUNS).schedule)


def _show(told: _Told, kept: Path, judged: Sequence[ClauseResult], made: Path | None, *, as_json: bool) -> None:
    trace, notes = str(kept), told.trace.header.notes
    if as_json:
        more = {} if made is None else {"small": str(made)}
        said = {"schedule": told.place, "iut": told.iut, "trace": trace, "notes": notes, "clauses": judged}
        print_json(said | more)
        return
    rows = [(r.clause, r.name, r.verdict, r.held, r.broken, r.reason) for r in judged]
    print_table(f"{told.stem}: {told.iut}", ("clause", "name", "verdict", "held", "broken", "why"), rows)
    for result in judged:
        for violation in result.violations:
            out.print(violation.sentence, markup=False, highlight=False)
    for note in notes:
        out.print(f"note: {note}", markup=False, highlight=False)
    out.print(f"trace: {trace}", markup=False, highlight=False)
    if made is not None:
        small = schedules.read(made)
        size = f"{len(small.topology.nodes)} nodes, {len(small.submissions)} submissions, {len(small.faults)} faults"
        out.print(f"small schedule ({size}): {made}", markup=False, highlight=False)


def _protocol_of(found: schedules.Schedule, place: str) -> str:
    try:
        return resolve(found.protocol)
    except BadInput:
        known = ", ".join(clauses.protocols())
        raise BadInput(f"{place}: protocol {found.protocol!r} is unknown; it may be one of: {known}") from None
