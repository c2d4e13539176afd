"""Looks for damaged traces that tell judge mutants which nothing else tells, and adds them to those that are kept in
`fuzz/<protocol>/damages.toml`.

    python -m scatterproof.fuzz.damage_search PROTOCOL --seconds 600

Labelled traces are damaged at random, again and again. One that reaches a new set of blocks of judges, or breaks a new
set of clauses, is new: it is damaged further, and mutants that survived are tried on it. What tells one is kept.
Checks and oracles must say the same of it; where they part, that is told, and is a defect of one of them.
"""

from __future__ import annotations

import argparse
import gc
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from random import Random

from scatterproof.fuzz.core_mutants import CoreMutant
from scatterproof.fuzz.damages import damaged, draw_edit, kept_damages, labelled, write_kept
from scatterproof.fuzz.judging import JudgeBench, Known
from scatterproof.fuzz.trying import Tried, sampled
from scatterproof.jobs import JobQueue, as_done
from scatterproof.spec.clauses import protocols
from scatterproof.spec.errors import ScatterproofError

_MOST_NEW = 3_000  # traces of a round
_MOST_EDITS = 4
_LONGEST = 40  # rows
_LONGEST_CASE = 60  # longer runs of cases tell few mutants, and take long
_SHORT = 20  # shorter ones are drawn more often
_FURTHER = 0.6  # how often what is new is damaged further
_REFUSED = 0.3  # how many new ones are looked at that checks refuse


class DamageSearch:
    """kept: by labelled trace, what is done to it.
    alive: the mutants that nothing tells.
    parted: damaged traces of which checks and oracles say different things, or that one of them cannot judge.
    """

    def __init__(self, bench: JudgeBench, seed: int) -> None:
        self._bench, self._name, self._draw = bench, bench.plugin.name, Random(seed)
        self.kept = {base: list(hows) for base, hows in kept_damages(self._name).items()}
        self.alive: list[CoreMutant] = []
        self.parted: list[str] = []
        self._seen: set[tuple[frozenset[str], int]] = set()
        self._bases = [
            (base, "")
            for base, trace in labelled(self._name).items()
            for _ in range(1 + _SHORT // (1 + len(trace.rows)))
        ]
        self._new: list[tuple[str, str]] = []

    def try_first(self, mutants: Sequence[CoreMutant]) -> None:
        """Try mutants on what the bench has, and keep those alive that survive."""
        told = {one.mutant for one in self._try(mutants) if one.killed}
        self.alive += [mutant for mutant in mutants if mutant.name not in told]

    def search(self, seconds: float) -> str:
        """Draw for so long, and try what is alive; says in words what came of it."""
        self._bench.known = list(self._drawn(time.monotonic() + seconds))
        found = [one for one in self._try(self.alive) if one.killed]
        told, useful = {one.mutant for one in found}, sorted({one.instance for one in found})
        self.alive = [mutant for mutant in self.alive if mutant.name not in told]
        for title in useful:
            base, _, how = title.partition(": ")
            self.kept.setdefault(base, []).append(how)
        count = len(self._bench.known)
        return f"{count} new, {len(useful)} kept: they tell {len(told)} mutants; {len(self.alive)} are alive"

    def _try(self, mutants: Sequence[CoreMutant]) -> list[Tried]:
        gc.collect()
        gc.freeze()  # the forks would copy what the collector touches
        results: list[Tried] = []
        queue = JobQueue(range(len(mutants)), os.cpu_count() or 1)
        with closing(as_done(lambda number: self._bench.try_mutant(mutants[number]), [queue])) as found:
            for _, one in found:
                if isinstance(one, ScatterproofError):
                    raise one
                results.append(one)
        return results

    def _drawn(self, until: float) -> Iterator[Known]:
        """Damaged traces unlike those before, of which checks and oracles say the same."""
        count = 0
        with self._bench.reached:
            while count < _MOST_NEW and time.monotonic() < until:
                known = self._one()
                if known is not None:
                    count += 1
                    yield known

    def _one(self) -> Known | None:
        draw = self._draw
        base, how = draw.choice(self._new if self._new and draw.random() < _FURTHER else self._bases)
        trace = damaged(labelled(self._name)[base], how)
        for _ in range(draw.choice((1, 1, 2))):
            edit = draw_edit(trace, draw)
            trace, how = damaged(trace, edit), f"{how}; {edit}" if how else edit
        if not trace.rows or len(trace.rows) > _LONGEST:
            return None
        known = self._bench.agreed(f"{base}: {how}", trace)
        if known is None:
            self.parted.append(f"{base}: {how}")
            return None
        unlike = (frozenset(clause for clause, _ in known.checks.broken), known.blocks)
        if unlike in self._seen or (known.checks.refused and draw.random() > _REFUSED):
            return None
        self._seen.add(unlike)
        if how.count("; ") + 2 < _MOST_EDITS:
            self._new.append((base, how))
        return known


def main() -> None:
    parser = argparse.ArgumentParser(description="Look for damaged traces that tell judge mutants.")
    parser.add_argument("protocol", choices=sorted(protocols()))
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=None, help="how many mutants are tried; all when left out")
    given = parser.parse_args()
    until = time.monotonic() + given.seconds
    bench = JudgeBench(given.protocol, 0, longest=_LONGEST_CASE)
    search = DamageSearch(bench, given.seed)
    search.try_first(sampled(list(bench.mutants.values()), given.sample, given.seed))
    print(f"{len(search.alive)} are alive at first", flush=True)
    while time.monotonic() < until:
        print(search.search(min(20.0, max(1.0, until - time.monotonic()))), flush=True)
        write_kept(given.protocol, search.kept)
    for title in search.parted:
        print(f"checks and oracles part: {title}")


if __name__ == "__main__":
    main()
