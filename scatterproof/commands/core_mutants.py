"""`scatterproof core-mutants`: one change somewhere in the reference cores, or in the judges, thousands of times, and
who tells it."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import Annotated, Any

import typer

from scatterproof.case_journal import alone_in
from scatterproof.console import OK, VIOLATIONS, Progress, out, print_json, print_table
from scatterproof.core_mutant_report import (
    BRANCH_COLUMNS,
    SURVIVOR_COLUMNS,
    area_columns,
    area_rows,
    branch_rows,
    branch_sentence,
    survivor_rows,
)
from scatterproof.fuzz.core_mutants import CoreMutant
from scatterproof.fuzz.damages import kept_file, trace_files
from scatterproof.fuzz.judging import DAMAGED, JudgeBench
from scatterproof.fuzz.mutant_journal import MutantJournal, measured
from scatterproof.fuzz.mutant_rates import Rate, rates
from scatterproof.fuzz.survivors import SurvivorEntry, file_of, triage
from scatterproof.fuzz.trying import SCHEDULES, AnyBench, CoreBench, Tried, sampled
from scatterproof.jobs import JobQueue, as_done
from scatterproof.options import RESULTS, Json, Protocol, Results, Seed, resolve
from scatterproof.spec.errors import BadInput, ScatterproofError

_DRAWN = (
    f"Drawn for each group of rules, after the cases ({SCHEDULES} when left out); with --judges, how often each trace"
    f" is damaged ({DAMAGED})."
)


def command(
    protocol: Protocol = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, help="How many mutants, chosen by --seed; all when left out.")
    ] = None,
    only: Annotated[str, typer.Option("--only", help="Mutants whose name, or area, begins so.")] = "",
    judges: Annotated[
        bool, typer.Option("--judges", help="Change checks, oracles and premises, and not the cores.")
    ] = False,
    schedules: Annotated[int | None, typer.Option("--schedules", min=1, max=10_000, help=_DRAWN)] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, max=256, help="How many processes; one a core if not given.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from where the last measure was broken off.")] = False,
    seed: Seed = 1,
    results: Results = RESULTS,
    as_json: Json = False,
) -> None:
    """Change the reference cores in one place, thousands of times, and count what tells: the rate, area by area.

    A mutant is given the conformance cases, then drawn schedules, until a clause is broken. Each runs in a process of
    its own, with a bound on events, time and memory; nothing on disk is touched. What survives is looked at by hand:
    fuzz/PROTOCOL/survivors.toml says of each whether it is equivalent, pace only, allowed, or open. Branches of the
    cores that no drawn schedule reaches are listed, too.

    With --judges it is checks, oracles and premises that are changed. They judge the labelled traces, the runs of all
    cases, and these damaged, until one is judged otherwise; judge_survivors.toml says of survivors.

    What was found is kept in core-mutants/PROTOCOL.ndjson of the results folder (judge-mutants with --judges), line by
    line: --resume goes on there.

    Exit codes: 0 every survivor is known, and none is open; 1 one is not, or a known one is killed now.
    """
    chosen = resolve(protocol)
    folder = results / ("judge-mutants" if judges else "core-mutants")
    with alone_in(folder):
        count = schedules or (DAMAGED if judges else SCHEDULES)
        with Progress(f"What is as it is, on all stimuli of {chosen}") as progress:
            bench: AnyBench[Any] = (JudgeBench if judges else CoreBench)(chosen, count, on_progress=progress)
        mutants = sampled(_named(bench, only), sample, seed)
        what = measured(chosen, bench.areas, count, (*trace_files(chosen), kept_file(chosen)) if judges else ())
        journal = MutantJournal(folder / f"{chosen}.ndjson", what, resume=resume)
        _try_all(bench, mutants, journal, jobs or os.cpu_count() or 1)
    found = [journal.known[mutant.name] for mutant in mutants]
    known = triage(chosen, judges=judges).by_mutant
    by_area = rates(found, {mutant.name: mutant.area for mutant in mutants}, known)
    killed_now = [one.mutant for one in found if one.killed and one.mutant in known]
    if as_json:
        told = {"protocol": chosen, "seed": seed, "areas": by_area, "mutants": found, "stale": killed_now}
        print_json({**told, **({"branches": asdict(bench.branches)} if isinstance(bench, CoreBench) else {})})
    else:
        _show(chosen, bench, found, known, by_area)
        lines = [f"{name} is killed now: take it out of {file_of(chosen, judges=judges).name}" for name in killed_now]
        spent = sum(one.cpu_s for one in found)
        lines.append(f"seed {seed}, {spent:.0f} s of CPU time; {folder / f'{chosen}.ndjson'}")
        out.print("\n".join(lines), markup=False, highlight=False)
    raise typer.Exit(VIOLATIONS if by_area[-1].not_killed or killed_now else OK)


def _named(bench: AnyBench[Any], only: str) -> list[CoreMutant]:
    mutants = [m for m in bench.mutants.values() if m.name.startswith(only) or m.area.startswith(only)]
    if not mutants:
        raise BadInput(f"--only {only!r}: no mutant's name, and no area, begins so")
    return mutants


def _show(
    protocol: str,
    bench: AnyBench[Any],
    found: Sequence[Tried],
    known: Mapping[str, SurvivorEntry],
    by_area: Sequence[Rate],
) -> None:
    print_table(f"Survivors: {protocol}", SURVIVOR_COLUMNS, survivor_rows(found, bench.mutants, known))
    if not isinstance(bench, CoreBench):
        print_table(f"Judge mutants: {protocol}", area_columns(by_area), area_rows(by_area))
        return
    title = f"Core mutants: {protocol}, {bench.schedules} schedules of each group of rules"
    print_table(title, area_columns(by_area), area_rows(by_area))
    print_table("Branches that no drawn schedule reaches", BRANCH_COLUMNS, branch_rows(bench.branches))
    out.print(branch_sentence(bench.branches), highlight=False)


def _try_all(bench: AnyBench[Any], mutants: Sequence[CoreMutant], journal: MutantJournal, jobs: int) -> None:
    """Try the mutants that the journal does not know, and add each result to it."""
    todo = [mutant for mutant in mutants if mutant.name not in journal.known]
    gc.collect()
    gc.freeze()  # the forks would copy what the collector touches
    begun, killed = time.monotonic(), 0

    def work(number: int) -> Tried:
        return bench.try_mutant(todo[number])

    queues = [JobQueue(range(len(todo)), jobs)]
    with Progress(f"{len(todo)} mutants") as progress, closing(as_done(work, queues)) as results:
        for done, (_, found) in enumerate(results, start=1):
            if isinstance(found, ScatterproofError):
                raise found
            journal.add(found)
            killed += found.killed
            left = (time.monotonic() - begun) / done * (len(todo) - done)
            progress(f"{done} of {len(todo)}: {killed} killed; {left / 60:.0f} minutes left ({found.mutant})")
