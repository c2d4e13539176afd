"""Samples of core mutants, and of judge mutants, for the layer of mutants: other ones each day, by a seed that is
printed, and the rate of all of them, between bounds.

A part of the main job and no test: what it says is a figure, which belongs on the page, and another one each day. What
`survivors.toml` says of a mutant is taken as it is; all others are tried, always on the same stimuli. So it fails by
what has changed in a core, a judge, a case, a trace or a strategy, and not by the luck of the seed: by a survivor that
is news in an area where all were known, or by a rate that is, with 95 % certainty, below the one that is kept there.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import msgspec

from scatterproof.core_mutant_report import (
    BRANCH_COLUMNS,
    SURVIVOR_COLUMNS,
    area_columns,
    area_rows,
    branch_rows,
    branch_sentence,
    survivor_rows,
)
from scatterproof.fuzz.judging import JudgeBench
from scatterproof.fuzz.mutant_rates import Rate, rates
from scatterproof.fuzz.protocol import load
from scatterproof.fuzz.survivors import SurvivorStanding, Triage, triage
from scatterproof.fuzz.trying import CoreBench, Tried, TriedOutcome, sampled
from scatterproof.layer_report import LayerReport, Status, detail, gravest
from scatterproof.layers.job import MainJob, Unit

_SEEDS_A_DAY = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedCode:
    """What is changed.

    sample: how many mutants of each protocol in a full run, a third of them in an everyday one; all take an hour, and
        have a command of their own, with these options.
    bench: of a protocol.
    weight: of the unit.
    """

    name: str
    sample: int
    options: str
    judges: bool = False
    bench: Callable[[str], CoreBench | JudgeBench]
    weight: float

    def size(self, job: MainJob) -> int:
        """Of the job's sample."""
        return self.sample if job.full else self.sample // 3


_SCHEDULES = 20  # of each group of rules; the command draws more
_ENOUGH = 30  # mutants: where one in seven is killed, as in a protocol of few cases, 1 sample in 100 has none killed
# Rows of a run that judges are shown. The command shows all of them, damaged ones, and those of other protocols.
_LONGEST = 60
CORES = ChangedCode(
    name="core",
    sample=120,
    options=f"--schedules {_SCHEDULES}",
    bench=partial(CoreBench, schedules=_SCHEDULES),
    weight=30.0,
)
JUDGES = ChangedCode(
    name="judge",
    sample=40,
    options="--judges",
    judges=True,
    bench=partial(JudgeBench, times=0, longest=_LONGEST, others=False),
    weight=15.0,
)
SUBJECTS = (CORES, JUDGES)


class Sampled(msgspec.Struct, frozen=True, kw_only=True):
    """seed: of the sample.
    of: how many mutants there are.
    survived: rows about those that something should tell.
    branches: of cores, a sentence about them all, and unreached: rows about those that no drawn schedule reaches.
    """

    seed: int
    of: int
    rates: tuple[Rate, ...]
    survived: tuple[tuple[str, ...], ...]
    branches: str = ""
    unreached: tuple[tuple[str, ...], ...] = ()


def seed_of_today(seed: int) -> int:
    """Another one each day, and for each seed of the job."""
    return seed * _SEEDS_A_DAY + datetime.now(UTC).toordinal() % _SEEDS_A_DAY


def subjects(protocol: str) -> list[ChangedCode]:
    """Those that the protocol says where to change."""
    return [one for one in SUBJECTS if one.judges or load(protocol).areas]


def units(job: MainJob) -> list[Unit]:
    """One piece a subject: what is left where nothing is changed is made once."""
    return [
        Unit(
            text=f"{one.size(job)} {one.name} mutants",
            weight=one.weight * one.size(job) / one.sample,
            work=partial(sample, job, one),
        )
        for one in subjects(job.protocol)
    ]


def sample(job: MainJob, subject: ChangedCode) -> Sampled:
    bench, known = subject.bench(job.protocol), triage(job.protocol, judges=subject.judges).by_mutant
    seed = seed_of_today(job.seed)
    chosen = sampled(list(bench.mutants.values()), subject.size(job), seed)
    gc.freeze()
    found = [
        Tried(mutant=mutant.name, outcome=TriedOutcome.SURVIVED) if mutant.name in known else bench.try_mutant(mutant)
        for mutant in chosen
    ]
    gc.unfreeze()
    result = Sampled(
        seed=seed,
        of=len(bench.mutants),
        rates=tuple(rates(found, {mutant.name: mutant.area for mutant in chosen}, known)),
        survived=_texts(survivor_rows(found, bench.mutants, known)),
    )
    if isinstance(bench, JudgeBench):
        return result
    branches = bench.branches
    return msgspec.structs.replace(result, branches=branch_sentence(branches), unreached=_texts(branch_rows(branches)))


def _texts(rows: Sequence[Sequence[object]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(str, row)) for row in rows)


def with_sample(report: LayerReport, job: MainJob, subject: ChangedCode, result: Sampled) -> LayerReport:
    """The report with what the sample shows."""
    everything = result.rates[-1]
    wrong = faults(triage(job.protocol, judges=subject.judges), result.rates)
    low, high = everything.bounds
    mutants = f"{subject.name} mutants"
    told = (
        f"{mutants}, {everything.mutants} of {result.of} by seed {result.seed}: {everything.rate:.0%} of those that"
        f" can be told are killed (95 %: {low:.0%} to {high:.0%}), {everything.standings[SurvivorStanding.OPEN]} open"
    )
    again = f"scatterproof core-mutants --protocol {job.protocol} {subject.options}"
    details = [
        detail(f"{mutants.capitalize()} by area", area_columns(result.rates), area_rows(result.rates)),
        detail(
            f"{mutants.capitalize()} that nothing tells",
            SURVIVOR_COLUMNS,
            result.survived,
            [f"{again} --only {row[0]}" for row in result.survived],
        ),
    ]
    if not subject.judges:
        title = f"Branches that no drawn schedule reaches: {result.branches}"
        details.insert(1, detail(title, BRANCH_COLUMNS, result.unreached))
    return msgspec.structs.replace(
        report,
        status=gravest([report.status, Status.FAIL if wrong else Status.PASS]),
        sentence="; ".join((report.sentence, told, *wrong)),
        details=(*report.details, *details),
    )


def faults(known: Triage, by_area: Sequence[Rate]) -> list[str]:
    """What makes the layer fail, in sentences."""
    everything = by_area[-1]
    found = [
        f"{rate.fresh[0]} survives in {rate.area}, where all survivors were known"
        for rate in by_area
        if rate.area in known.done and rate.fresh
    ]
    if everything.bounds[1] < known.at_least:
        found.append(f"the rate has fallen below {known.at_least:.0%} of those that can be told")
    if not everything.killed and everything.telling >= _ENOUGH:
        found.append("none was killed")
    return found
