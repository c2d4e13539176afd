"""`scatterproof fuzz`: random schedules against an implementation, or the kill matrix of the harness itself."""

from __future__ import annotations

import os
import shlex
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from fuzz.fuzzer import FuzzResult, fuzz
from fuzz.kill_matrix import kill_matrix
from fuzz.spread import PER_CLAUSE, Distinct, SpreadResult, fuzz_spread
from scatterproof import iuts, layers
from scatterproof.console import OK, VIOLATIONS, Progress, out, print_json, print_table
from scatterproof.options import MASTERS, RESULTS, IutName, Json, Protocol, Results, Seed, resolve
from spark.jobs import run_tasks
from spark.session import session_on
from spec.errors import BadInput
from spec.iut import Iut


def command(
    iut: IutName = "reference",
    examples: Annotated[int, typer.Option("--examples", min=1, help="How many schedules to run.")] = 300,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Try every mutant of the rules in every layer: the kill matrix.")
    ] = False,
    only: Annotated[str, typer.Option("--only", help="With --mutants: those whose name begins with this.")] = "",
    master: Annotated[
        str | None,
        typer.Option("--master", help=f"Share the schedules out to Spark tasks, and tell failures apart. {MASTERS}."),
    ] = None,
    per_clause: Annotated[
        int,
        typer.Option("--per-clause", min=1, help="With --master: how many failing schedules of a clause are shrunk."),
    ] = PER_CLAUSE,
    seed: Seed = 1,
    protocol: Protocol = None,
    results: Results = RESULTS,
    as_json: Json = False,
) -> None:
    """Run random schedules; each failure is shrunk, and saved as a schedule that `replay` plays again.

    Without --master one failure of each clause is kept. With it the first ones of each clause are shrunk and told
    apart: two are the same failure when their schedules are equal but for names.
    """
    chosen = resolve(protocol)
    if mutants and master is not None:
        raise BadInput("--mutants is tried on this machine alone; leave --master out")
    if mutants:
        raise typer.Exit(_try_mutants(chosen, seed, only, results, as_json=as_json))
    implementation = iuts.find(iut, chosen, results)
    with Progress(f"Fuzzing {iut} (seed {seed})") as progress:
        result = (
            fuzz(
                chosen,
                implementation,
                examples=examples,
                seed=seed,
                on_progress=lambda done, failed: progress(f"{done} of {examples} schedules, {failed} clauses broken"),
                folder=results / "failures",
            )
            if master is None
            else _fuzz_on(master, chosen, iut, examples, seed, results, per_clause, progress)
        )
    if as_json:
        print_json(result)
    else:
        _print(result)
    raise typer.Exit(VIOLATIONS if result.failures else OK)


def _try_mutants(protocol: str, seed: int, only: str, results: Path, *, as_json: bool) -> int:
    with Progress("Kill matrix") as progress:
        found = kill_matrix(
            protocol,
            seed=seed,
            on_progress=lambda done, of, name: progress(f"{done} of {of}: {name}"),
            folder=results / "mutants",
            only=only,
        )
    if as_json:
        print_json(found)
    else:
        report = layers.summarise_matrix(found)
        for table in report.details:
            print_table(f"{table.title}: {report.sentence}", table.columns, table.rows)
    return VIOLATIONS if found.open else OK


def _fuzz_on(
    master: str,
    protocol: str,
    iut: str,
    examples: int,
    seed: int,
    results: Path,
    per_clause: int,
    progress: Progress,
) -> SpreadResult:
    with session_on(master) as session:
        return fuzz_spread(
            protocol,
            partial(_find_in_task, iut, protocol, results),
            partial(run_tasks, session),
            examples=examples,
            seed=seed,
            on_progress=lambda what, done, of: progress(f"{done} of {of} {what}"),
            folder=results / "failures",
            per_clause=per_clause,
        )


def _find_in_task(iut: str, protocol: str, results: Path) -> Iut:
    """The implementation, with a folder for what its nodes write that no other process uses."""
    return iuts.find(iut, protocol, results / "tasks" / str(os.getpid()))


def _print(result: FuzzResult) -> None:
    broken = {failure.clause: failure for failure in result.failures}
    print_table(
        f"{result.examples} schedules, {result.rows} events, {result.schedules_per_second:.0f} schedules/s,"
        f" seed {result.seed}",
        ("clause", "verdict", "times at stake"),
        [
            (clause, "fail" if clause in broken else "pass" if count else "inconclusive", count)
            for clause, count in result.at_stake.items()
        ],
    )
    for failure in result.failures:
        if failure.violation is not None:
            out.print(failure.violation.sentence, markup=False, highlight=False)
        replay = f"  scatterproof replay {shlex.quote(failure.file)} --iut {shlex.quote(result.iut)}"
        out.print(replay, markup=False, highlight=False, soft_wrap=True)
        if isinstance(failure, Distinct):
            alike = f", and {failure.further} more like it" if failure.further else ""
            out.print(f"  found by schedule {failure.found_at}{alike}", markup=False, highlight=False)
    if isinstance(result, SpreadResult):
        for clause, count in result.failing.items():
            shrunk = min(count, result.per_clause)
            kinds = sum(failure.clause == clause for failure in result.failures)
            said = f"{clause}: broken by {count} of {result.examples} schedules; {shrunk} shrunk, {kinds} distinct"
            out.print(said, markup=False, highlight=False)
