"""`scatterproof replay`: one schedule, or one run of a corpus, again, judged."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from scatterproof import fuzz_report, iuts, likelihood_page
from scatterproof.conform_options import ProfileFile
from scatterproof.conformance.case import EVERYTHING, Claims
from scatterproof.conformance.judge import judge
from scatterproof.conformance.profile import Profile, read_profile
from scatterproof.conformance.verdict import ClauseResult, Violation, foremost
from scatterproof.console import OK, VIOLATIONS, Progress, out, print_json, print_table
from scatterproof.fuzz.fuzzer import RUN_ENDS, FoundFailure, Shrinking, broken_by, failure_of, lasting
from scatterproof.fuzz.likelihood import Likelihood, likelihood
from scatterproof.fuzz.stopping import Signals, StopAsked
from scatterproof.options import RESULTS, IutName, Json, Protocol, Results, resolve
from scatterproof.spark.replay import entry_of, schedule_of, trace_of
from scatterproof.spec import clauses, trace_ndjson
from scatterproof.spec import schedule as schedules
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.files import write_atomically
from scatterproof.spec.iut import Iut
from scatterproof.spec.storage import place_of
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import Trace

SHRINK_RUNS, WHEN_S = 2000, 30.0


def command(
    schedule: Annotated[
        Path | None, typer.Argument(help="A schedule file, such as fuzzing saves for each failure.")
    ] = None,
    corpus: Annotated[Path | None, typer.Option("--corpus", help="A corpus (folder, address) instead.")] = None,
    run: Annotated[int | None, typer.Option("--run", help="Which run of the corpus.")] = None,
    small: Annotated[bool, typer.Option("--shrink", help="Make a schedule that fails small, and save it.")] = False,
    when: Annotated[
        bool,
        typer.Option("--when", help="Say when the failure became likely: run again from each moment, drawn anew."),
    ] = False,
    iut: IutName = "reference",
    profile_file: ProfileFile = None,
    protocol: Protocol = None,
    results: Results = RESULTS,
    as_json: Json = False,
) -> None:
    """Replay a schedule, or a run of a corpus, against an implementation, and judge the trace that it leaves.

    With --shrink what has no part in the failure is taken away, run by run. Ctrl-C and SIGTERM end that, and what is
    smallest then is saved.

        scatterproof replay results/failures/CLAUSE-....json --iut stdio:./my-node --profile my-profile.toml

    With --when the schedule is run again from moments of it, 100 times each: what the network did up to there stays,
    and what it does later is drawn anew. The moment at which the share of failing runs jumps is where to look; a page
    shows it. It takes 30 s at the most.

    With --profile clauses that are not claimed are not applicable, and nodes of roles that are not are the reference's.

    A run of a planted mutant is replayed by it; one that was imported, or has an altered row, is judged again as it was
    recorded.

    Exit codes: 0 nothing that is claimed is broken; 1 a clause is, or the run was cut short; 3 it could not be run,
    or the implementation does not claim what the schedule asks for.
    """
    profile = read_profile(profile_file) if profile_file is not None else None
    how = _How(iut, profile or EVERYTHING, profile.roles if profile is not None else frozenset(Role), results)
    if corpus is not None and run is not None and schedule is None:
        told = _of_corpus(place_of(corpus), run, how)
    elif schedule is not None and corpus is None and run is None:
        told = _of_schedule(schedules.read(schedule), str(schedule), schedule.stem, how)
    else:
        raise BadInput("give either a schedule file, or --corpus DIR --run N")
    found = told.trace.header.protocol
    _refuse(told, found, profile, protocol, [flag for flag, on in (("--shrink", small), ("--when", when)) if on])
    kept = results / "replay" / f"{told.stem}.ndjson"
    trace_ndjson.write(kept, told.trace)
    judged = how.claims.of_own(how.claims.of_claimed(judge(told.trace)))
    broken = broken_by(told.trace, judged)
    if told.schedule is None or told.schedule.end_ns is not None:
        broken.pop(RUN_ENDS, None)  # what others have recorded may be a part, and so may what ends at its own time
    made = None
    if small and broken:
        made = _shrunk(told, *next(iter(broken.items())), results / "replay" / f"{told.stem}-small.json")
    likely = None
    if when and broken:
        likely = _likely(told, next(iter(broken)), results / "replay" / f"{told.stem}-when.html")
    _show(told, kept, judged, made, likely, as_json=as_json)
    raise typer.Exit(VIOLATIONS if broken else OK)


class _How(NamedTuple):
    """iut: the implementation, by name.
    claims: what it claims.
    roles: of the nodes that are its own.
    """

    iut: str
    claims: Claims
    roles: Collection[Role]
    results: Path


class _Told(NamedTuple):
    """place: for people.
    stem: of the files that are kept.
    iut: whom the trace is of, by name.
    implementation, schedule: None of both for a run that was imported or altered.
    """

    place: str
    stem: str
    iut: str
    trace: Trace
    implementation: Iut | None = None
    schedule: schedules.Schedule | None = None


def _of_corpus(corpus: Path, run: int, how: _How) -> _Told:
    _, _, entry = entry_of(corpus, run)
    place, stem = f"{corpus}: run {run}", f"{corpus.resolve().name}-run-{run}"
    if entry.source or entry.altered:
        return _Told(place, stem, entry.source or entry.planted, trace_of(corpus, run))
    if entry.planted and how.iut == "reference":
        how = how._replace(iut=f"mutant:{entry.planted}")
    return _of_schedule(schedule_of(corpus, run), place, stem, how)


def _of_schedule(chosen: schedules.Schedule, place: str, stem: str, how: _How) -> _Told:
    implementation = iuts.find(how.iut, _protocol_of(chosen, place), how.results, how.roles)
    reason = how.claims.why_not_schedule(chosen)
    if reason is not None:
        raise CannotRun(f"{place}: is not applicable: {reason}; leave --profile out to play it all the same")
    try:
        trace = implementation.run(chosen)
    except BadInput as error:
        raise BadInput(f"{place}: {error}") from None
    return _Told(place, stem, how.iut, trace, implementation, chosen)


def _refuse(told: _Told, found: str, profile: Profile | None, protocol: str | None, needing: Sequence[str]) -> None:
    """Raise BadInput for what does not go together. needing: the options that need a schedule."""
    if profile is not None and profile.protocol != found:
        raise BadInput(f"{told.place}: is of {found}; {profile.name} is a profile of {profile.protocol}; leave it out")
    if protocol is not None and resolve(protocol) != found:
        raise BadInput(f"{told.place}: is of {found}, not of {protocol}; leave --protocol out")
    for option in needing:
        if told.schedule is None:
            raise BadInput(f"{told.place}: was imported or altered, and no schedule leaves it; leave {option} out")


class _Small(NamedTuple):
    """What shrinking came to.

    file: of the smallest schedule that fails.
    signal: that ended it too soon, or nothing.
    """

    failure: FoundFailure
    file: Path
    signal: str


class _Likely(NamedTuple):
    found: Likelihood
    page: Path


def _likely(told: _Told, clause: str, path: Path) -> _Likely:
    assert told.implementation is not None
    assert told.schedule is not None
    over = lasting(WHEN_S)
    with Progress(f"When did {clause} become likely? (up to {WHEN_S:g} s)") as progress:
        found = likelihood(
            told.schedule,
            clause,
            told.implementation,
            is_over=over,
            on_moment=lambda done, time_ns: progress(f"{done} moments tried, now from {max(0, time_ns)} ns on"),
        )
    write_atomically(path, likelihood_page.page(found, told.stem, told.iut).encode())
    return _Likely(found, path)


def _shrunk(told: _Told, clause: str, violation: Violation | None, path: Path) -> _Small:
    """Write the smallest schedule that is found and still breaks the clause."""
    assert told.implementation is not None
    assert told.schedule is not None
    failure = failure_of(clause, 0, told.schedule, told.trace.notes, violation)
    signal = ""
    with Progress(f"Shrinking (up to {SHRINK_RUNS} runs)") as progress, Signals() as signals:
        shrinking = Shrinking(failure, told.implementation, signals.guard)
        try:
            shrinking.run(SHRINK_RUNS, on_run=partial(fuzz_report.shrinking(progress), clause))
        except StopAsked as stop:
            signal = str(stop)
        schedules.write(path, shrinking.failure.schedule)
    return _Small(shrinking.failure, path, signal)


def _show(
    told: _Told,
    kept: Path,
    judged: Sequence[ClauseResult],
    made: _Small | None,
    likely: _Likely | None,
    *,
    as_json: bool,
) -> None:
    trace, notes = str(kept), told.trace.header.notes
    if as_json:
        more: dict[str, object] = {}
        if made is not None:
            more = {"small": str(made.file), "runs": made.failure.runs, "stopped": made.signal}
        if likely is not None:
            more |= {"moments": likely.found.moments, "page": str(likely.page)}
        said = {"schedule": told.place, "iut": told.iut, "trace": trace, "notes": notes, "clauses": judged}
        print_json(said | more)
        return
    rows = [(r.clause, r.name, r.verdict, r.held, r.broken, r.reason) for r in judged]
    print_table(f"{told.stem}: {told.iut}", ("clause", "name", "verdict", "held", "broken", "why"), rows)
    for result in foremost(told.trace.header.protocol, judged):
        for violation in result.violations:
            out.print(violation.sentence, markup=False, highlight=False)
    for note in notes:
        out.print(f"note: {note}", markup=False, highlight=False)
    out.print(f"trace: {trace}", markup=False, highlight=False)
    if made is not None:
        ended = f"; stopped by {made.signal}" if made.signal else ""
        words = f"small schedule, {fuzz_report.how_small(made.failure)}{ended}: {made.file}"
        out.print(words, markup=False, highlight=False, soft_wrap=True)
    if likely is not None:
        out.print(likelihood_page.sentence(likely.found), markup=False, highlight=False, soft_wrap=True)
        out.print(f"page: {likely.page}", markup=False, highlight=False)


def _protocol_of(found: schedules.Schedule, place: str) -> str:
    try:
        return resolve(found.protocol)
    except BadInput:
        known = ", ".join(clauses.protocols())
        raise BadInput(f"{place}: protocol {found.protocol!r} is unknown; it may be one of: {known}") from None
