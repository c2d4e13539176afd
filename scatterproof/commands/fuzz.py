"""`scatterproof fuzz`: random schedules against an implementation, or the kill matrix of the harness itself."""

from __future__ import annotations

from typing import Annotated

import typer

from fuzz.fuzzer import FuzzResult, fuzz
from fuzz.kill_matrix import kill_matrix
from scatterproof import iuts, layers
from scatterproof.console import OK, VIOLATIONS, Progress, out, print_json, print_table
from scatterproof.options import RESULTS, IutName, Json, Protocol, Results, Seed, resolve


def command(
    iut: IutName = "reference",
    examples: Annotated[int, typer.Option("--examples", min=1, help="How many schedules to run.")] = 300,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Try every mutant of the rules in every layer: the kill matrix.")
    ] = False,
    only: Annotated[str, typer.Option("--only", help="With --mutants: those whose name begins with this.")] = "",
    seed: Seed = 1,
    protocol: Protocol = None,
    results: Results = RESULTS,
    as_json: Json = False,
) -> None:
    """Run random schedules; each failure is shrunk, and saved as a schedule that `replay` plays again."""
    chosen = resolve(protocol)
    if mutants:
        with Progress("Kill matrix") as progress:
            found = kill_matrix(
                chosen,
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
        raise typer.Exit(VIOLATIONS if found.open else OK)
    with Progress(f"Fuzzing {iut} (seed {seed})") as progress:
        result = fuzz(
            chosen,
            iuts.find(iut, chosen, results),
            examples=examples,
            seed=seed,
            on_progress=lambda done, failed: progress(f"{done} of {examples} schedules, {failed} clauses broken"),
            folder=results / "failures",
        )
    if as_json:
        print_json(result)
    else:
        _print(result)
    raise typer.Exit(VIOLATIONS if result.failures else OK)


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
        out.print(f"  scatterproof replay {failure.file} --iut {result.iut}", markup=False, highlight=False)
