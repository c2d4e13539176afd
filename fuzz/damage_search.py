"""Looks for damaged traces that tell judge mutants which nothing else tells, and adds them to those that are kept in
`fuzz/<protocol>/damages.toml`: `ci/damage_search.py` runs it.

Labelled traces are damaged at random, again and again. One that reaches a new set of blocks of judges, or breaks a new
set of clauses, is new: it is damaged further, and mutants that survived are tried on it. What tells one is kept.
Checks and oracles must say the same of it; where they part, that is told, and is a defect of one of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TypeAlias

from scatterproof.fuzz.core_mutants import CoreMutant
from scatterproof.fuzz.damages import damaged, draw_edit, kept_damages, labelled
from scatterproof.fuzz.judging import JudgeBench, Known
from scatterproof.fuzz.trying import Tried

_MOST_NEW = 3_000  # traces of a round
_MOST_EDITS = 4
_LONGEST = 40  # rows
_SHORT = 20  # shorter ones are drawn more often
_FURTHER = 0.6  # how often what is new is damaged further
_REFUSED = 0.3  # how many new ones are looked at that checks refuse


TryAll: TypeAlias = Callable[[Sequence[CoreMutant]], Sequence[Tried]]


class DamageSearch:
    """kept: by labelled trace, what is done to it.
    alive: the mutants that nothing tells.
    parted: damaged traces of which checks and oracles say different things, or that one of them cannot judge.
    """

    def __init__(self, bench: JudgeBench, seed: int, try_all: TryAll) -> None:
        """try_all: tries each of the mutants on what the bench has."""
        self._try_all = try_all
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
        told = {one.mutant for one in self._try_all(mutants) if one.killed}
        self.alive += [mutant for mutant in mutants if mutant.name not in told]

    def search(self, seconds: float) -> str:
        """Draw for so long, and try what is alive; says in words what came of it."""
        self._bench.known = list(self._drawn(time.monotonic() + seconds))
        found = [one for one in self._try_all(self.alive) if one.killed]
        told, useful = {one.mutant for one in found}, sorted({one.instance for one in found})
        self.alive = [mutant for mutant in self.alive if mutant.name not in told]
        for title in useful:
            base, _, how = title.partition(": ")
            self.kept.setdefault(base, []).append(how)
        count = len(self._bench.known)
        return f"{count} new, {len(useful)} kept: they tell {len(told)} mutants; {len(self.alive)} are alive"

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
