"""Whether mining has found what was planted, and nothing else: recall and precision, for each mutant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
import pyarrow as pa

from scatterproof.spark.judge_part import MOST_KEPT
from scatterproof.spark.layout import MANIFEST, Expected, RunEntry, read_manifest

_NAMED = 5  # runs that a sentence names


class PlantRecall(msgspec.Struct, frozen=True, kw_only=True):
    """Recall and precision of mining for one mutant.

    found: runs in which every clause that must be broken is, at as many rows, the first at the same place.
    missed: the other runs.
    clauses_expected, clauses_found: (run, clause) pairs that had to be found, and those of them that were.
    clauses_wrong: pairs in its runs that were found and should not have been, or at other rows.
    """

    name: str
    runs: int
    found: int
    missed: tuple[int, ...]
    clauses_expected: int
    clauses_found: int
    clauses_wrong: int

    @property
    def recall(self) -> float:
        return self.clauses_found / self.clauses_expected

    @property
    def precision(self) -> float:
        found = self.clauses_found + self.clauses_wrong
        return self.clauses_found / found if found else 1.0


class Recall(msgspec.Struct, frozen=True, kw_only=True):
    """plants: by mutant.
    elsewhere: runs in which nothing is planted, and something was found all the same.
    """

    plants: tuple[PlantRecall, ...]
    elsewhere: tuple[int, ...]

    @property
    def exact(self) -> bool:
        """Everything that was planted was found, and nothing else."""
        return not self.elsewhere and all(not one.missed and not one.clauses_wrong for one in self.plants)

    def __str__(self) -> str:
        runs, found = sum(one.runs for one in self.plants), sum(one.found for one in self.plants)
        wrong = sum(one.clauses_wrong for one in self.plants)
        said = f"planted: {runs} runs, {found} found under the right clauses"
        missed = sorted(run for one in self.plants for run in one.missed)
        if missed:
            said += f"; {len(missed)} not, or not wholly: {_named(missed)}"
        if wrong:
            said += f"; {wrong} clauses in them that hold there"
        return f"{said}; {_named(self.elsewhere) if self.elsewhere else 'nothing'} elsewhere"


def recall(corpus: Path, found: Iterable[pa.Table]) -> Recall | None:
    """Compare tables of violations (clause, run, position; all of a run in one) with what the manifest expects; None
    for a corpus in which nothing is planted, or nothing that the oracles were asked about."""
    if not (corpus / MANIFEST).is_file():
        return None
    entries = read_manifest(corpus).runs
    planted = {entry.run: entry for entry in entries if entry.expected}
    if not planted:
        return None
    unjudged = {entry.run for entry in entries if entry.planted and not entry.expected}
    seen: dict[int, set[Expected]] = {}
    for table in found:
        seen |= _by_run(table)
    by_name: dict[str, list[RunEntry]] = defaultdict(list)
    for entry in planted.values():
        by_name[entry.planted].append(entry)
    return Recall(
        plants=tuple(_of_plant(name, by_name[name], seen) for name in sorted(by_name)),
        elsewhere=tuple(sorted(seen.keys() - planted.keys() - unjudged)),
    )


def _by_run(found: pa.Table) -> dict[int, set[Expected]]:
    """What was found, in the terms of what is expected. Counted by Arrow: there may be millions."""
    counted = found.group_by(["run", "clause"]).aggregate([("position", "count"), ("position", "min")])
    names = ("run", "clause", "position_count", "position_min")
    runs: dict[int, set[Expected]] = defaultdict(set)
    for run, clause, rows, first in zip(*(counted.column(name).to_pylist() for name in names), strict=True):
        runs[run].add(Expected(clause=clause, rows=rows, first=first))
    return runs


def _of_plant(name: str, entries: Sequence[RunEntry], seen: Mapping[int, set[Expected]]) -> PlantRecall:
    wanted = {entry.run: {_as_kept(expected) for expected in entry.expected} for entry in entries}
    there = {run: seen.get(run, set()) for run in wanted}
    missed = tuple(sorted(run for run in wanted if not wanted[run] <= there[run]))
    return PlantRecall(
        name=name,
        runs=len(entries),
        found=len(entries) - len(missed),
        missed=missed,
        clauses_expected=sum(len(clauses) for clauses in wanted.values()),
        clauses_found=sum(len(wanted[run] & there[run]) for run in wanted),
        clauses_wrong=sum(len(there[run] - wanted[run]) for run in wanted),
    )


def _as_kept(expected: Expected) -> Expected:
    """As the table of violations has it: the first MOST_KEPT of a clause in a run."""
    return msgspec.structs.replace(expected, rows=min(expected.rows, MOST_KEPT))


def _named(runs: Sequence[int]) -> str:
    more = f" and {len(runs) - _NAMED} more" if len(runs) > _NAMED else ""
    return f"run{'s' if len(runs) > 1 else ''} {', '.join(map(str, runs[:_NAMED]))}{more}"
