"""The layer that measures the others: mutants of the rules and of the nodes, each of which something must tell, and a
sample of those of whole cores and of judges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from scatterproof.fuzz.kill_matrix import (
    KillMatrix,
    MutantRow,
    MutantStanding,
    broken,
    matrix_of,
    subjects_of,
    tried,
    with_models,
)
from scatterproof.fuzz.layers import KillOutcome, Subject
from scatterproof.fuzz.protocol import load
from scatterproof.layer_report import LayerReport, Status, StatusCell, detail, gravest
from scatterproof.layers import core_mutants
from scatterproof.layers.job import Found, MainJob, Unit, report_of, shares

# The cheapest first; the last ones read the same runs once more: TLC one of a mutant in 2 s, oracles up to nine in 14.
# What TLC's models say is known from another layer.
CHEAPEST_FIRST = ("case", "z3", "fuzz", "machine", "check", "trace", "oracle")
EVERY = 6  # of how many mutants an everyday run tries one
MUTANTS_A_UNIT = 24
MUTANT_S = 0.3


def units(job: MainJob) -> list[Unit]:
    """First what breaks each clause, and the samples; then mutants of one group of rules together, as they meet the
    same schedules."""
    names: dict[int, list[str]] = {}
    for subject in chosen(job):
        names.setdefault(subject.group, []).append(subject.name)
    clauses = Unit(text="what breaks each clause", weight=4.0, work=partial(broken, job.protocol))
    return [
        clauses,
        *core_mutants.units(job),
        *(
            Unit(
                text=f"{some[0]} and {len(some) - 1} more",
                weight=MUTANT_S * len(some),
                work=partial(_try, job, some),
            )
            for group in names.values()
            for some in shares(group, MUTANTS_A_UNIT)
        ),
    ]


def chosen(job: MainJob) -> Sequence[Subject]:
    """All mutants in a full run; else every sixth, others with another seed."""
    everything = subjects_of(load(job.protocol))
    return everything if job.full else everything[job.seed % EVERY :: EVERY]


def _try(job: MainJob, names: Sequence[str]) -> list[MutantRow]:
    return tried(
        job.protocol,
        names,
        CHEAPEST_FIRST,
        seed=job.seed,
        folder=job.results / "mutants",
        until_killed=True,
        shrinking=False,
    )


def report(job: MainJob, found: Found) -> LayerReport:
    """A clause that nothing breaks any more fails: its checks may be empty."""
    clauses, *others = found["mutants"]
    subjects = core_mutants.subjects(job.protocol)
    samples, tries = others[: len(subjects)], others[len(subjects) :]
    rows = [row for some in tries for row in some]
    layers: tuple[str, ...] = CHEAPEST_FIRST
    if "tlc" in found:
        rows, layers = with_models(job.protocol, rows, found["tlc"]), ("tlc", *layers)
    report = summarise_matrix(matrix_of(job.protocol, job.seed, layers, rows, 0.0))
    cells = {
        clause: StatusCell(Status.PASS if cell.outcome is KillOutcome.KILLED else Status.FAIL, cell.instance)
        for clause, cell in clauses.items()
    }
    of = f" (every sixth of {len(subjects_of(load(job.protocol)))}, by the seed)" if not job.full else ""
    broken_by = f"each of {len(cells)} clauses is broken by one" if cells else "none is named that breaks a clause"
    report = msgspec.structs.replace(
        report,
        status=gravest([report.status, *(cell.status for cell in cells.values())]),
        sentence=f"{report.sentence}{of}; {broken_by}",
        cells=report.cells | cells,
    )
    for subject, result in zip(subjects, samples, strict=True):
        report = core_mutants.with_sample(report, job, subject, result)
    if core_mutants.CORES not in subjects:
        told = f"{report.sentence}; no core mutants: the protocol's record in fuzz names no areas"
        report = msgspec.structs.replace(report, sentence=told)
    return report


def summarise_matrix(matrix: KillMatrix) -> LayerReport:
    score = {standing: matrix.score.get(standing, 0) for standing in MutantStanding}
    rows = [
        (
            row.mutant,
            row.standing,
            row.proof or ", ".join(row.clauses),
            *(_cell_text(row.cells[layer].outcome, row.cells[layer].instance) for layer in matrix.layers),
        )
        for row in matrix.rows
    ]
    return report_of(
        Status.FAIL if score[MutantStanding.OPEN] or not score[MutantStanding.KILLED] else Status.PASS,
        f"{score[MutantStanding.KILLED]} mutants killed, {score[MutantStanding.EQUIVALENT]} proved equivalent,"
        f" {score[MutantStanding.OPEN]} open",
        {clause: StatusCell(Status.PASS, f"{len(names)} killed") for clause, names in matrix.by_clause.items()},
        detail("Kill matrix", ("mutant", "standing", "clauses, or proof", *matrix.layers), rows),
    )


def _cell_text(outcome: str, instance: str) -> str:
    return f"{outcome} ({instance})" if instance else str(outcome)
