"""`scatterproof track-record`: the known mistakes of systems that others made, shown again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scatterproof import track_record_page
from scatterproof.conformance.systems.track_record import chosen, known, page
from scatterproof.conformance.systems.track_runs import JOBS, SECONDS, Played, Side, Standing, lacking, played
from scatterproof.console import Progress, err, out, print_json, print_table
from scatterproof.options import Json, Results
from scatterproof.spec.files import write_atomically

PAGE = Path("docs/track-record.md")
_CODES = {Standing.NOT_AS_RECORDED: 1, Standing.NOT_RUN: 3, Standing.INCONCLUSIVE: 4, Standing.AS_RECORDED: 0}


def command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="Mistakes by name; all when left out.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Of each side; 20, and fewer of slow ones, when left out.")
    ] = None,
    third: Annotated[int | None, typer.Option(min=1, max=3, help="Every third of them, from this one.")] = None,
    seconds: Annotated[float, typer.Option(min=0, help="For all; each side is played once at least.")] = SECONDS,
    jobs: Annotated[int, typer.Option(min=1, help="Products that are played at a time.")] = JOBS,
    results: Results = Path("results/track-record"),
    install: Annotated[
        bool, typer.Option("--install", help="First install into this environment what pip and npm have of them.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", help=f"Write {PAGE}, and play nothing.")] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write the outcome as a page, with the steps.")] = None,
    json: Json = False,
) -> None:
    """Play the known mistakes of systems that others made: the bad side of each breaks a clause, the good one keeps it.

    A mistake is of one version of a system. Its good side is another release, another server, or a run that leaves a
    step out. conformance/systems/track_record.toml has them, with their steps and their reports; docs/track-record.md
    is the list.

    What is not installed is not run, with what installs it; `--install` installs it, but for what Debian has. A
    mistake that comes by chance is recorded with how often it was seen: one run that has it is enough.

    Exit codes: 0 all is as recorded; 1 something is not; 2 wrong usage; 3 something was not run; 4 too few runs to say.
    """
    mistakes = chosen(names or (), third)
    if write:
        write_atomically(PAGE, page(known()).encode())
        return
    if install:
        with Progress("installing") as progress:
            flaws = lacking(mistakes).install(progress)
        for flaw in flaws:
            err.print(f"not installed: {flaw}", highlight=False, markup=False)
    with Progress("track record") as progress:
        outcomes = played(mistakes, results, progress, runs=runs, seconds=seconds, jobs=jobs)
    if html is not None:
        write_atomically(html, track_record_page.page(outcomes).encode())
    if json:
        print_json([_plain(outcome) for outcome in outcomes])
    else:
        _show(outcomes)
    states = {outcome.state for outcome in outcomes}
    debian = lacking(mistakes).debian if Standing.NOT_RUN in states else ()
    if debian:
        err.print(f"Debian has of them: apt-get install {' '.join(debian)}", highlight=False, markup=False)
    raise typer.Exit(next((code for state, code in _CODES.items() if state in states), 0))


def _plain(outcome: Played) -> dict[str, object]:
    of = outcome.of
    found: dict[str, object] = {"name": of.name, "system": of.system, "clause": of.clause}
    for side in (outcome.bad, outcome.good):
        found[side.name] = {"iut": side.iut, "runs": side.runs, "broke": side.named, "kept": side.held}
    return found | {"state": outcome.state, "why": outcome.why}


def _show(outcomes: list[Played]) -> None:
    ran = [outcome for outcome in outcomes if outcome.state is not Standing.NOT_RUN]
    rows = [
        (one.of.name, one.of.clause, one.bad.iut, _count(one.bad), one.good.iut, _count(one.good), one.state)
        for one in ran
    ]
    if rows:
        print_table(
            "Track record: runs that break the clause, and runs that keep it",
            ["mistake", "clause", "bad", "broke", "good", "kept", "verdict"],
            rows,
        )
    for one in outcomes:
        if one.why:
            to = err if one.state is Standing.NOT_RUN else out
            to.print(f"{one.of.name}: {one.state}: {one.why}", highlight=False, markup=False)
    out.print(track_record_page.sentence(outcomes))


def _count(side: Side) -> str:
    return f"{side.named if side.is_bad else side.held} of {side.runs}"
