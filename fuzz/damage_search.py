"""Looks for damaged traces that tell judge mutants which nothing else tells, and adds them to those that are kept in
`fuzz/<protocol>/damages.toml`: `ci/damage_search.py` runs it.

The search is directed: it takes a function with mutants that survive, draws damages of the labelled and kept traces
that reach one of their blocks, and tries the mutants on them, asking only the judges that run the function. What
tells one is looked at whole: checks and oracles must say the same of it; where they part, that is told, and is a
defect of one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random

from scatterproof.fuzz.core_mutants import CoreMutant
from scatterproof.fuzz.damages import damaged, draw_edit, kept_damages, labelled
from scatterproof.fuzz.judging import JudgeBench, Known, by_checks, by_oracles
from scatterproof.fuzz.trying import FAILURES

_DRAWN = 400  # traces for a function, a round
_EDITS = (1, 1, 1, 2, 2, 3)
_LONGEST = 60  # rows
_LOOKED_AT = 20  # traces that premises refuse, or judges differ on, before a mutant is left for this round


class DamageSearch:
    """kept: by labelled trace, what is done to it.
    alive: the mutants that nothing tells.
    known: the traces that may be damaged; what is kept joins them.
    """

    def __init__(self, bench: JudgeBench, seed: int, on_parted: Callable[[str], None]) -> None:
        """on_parted: takes the title of a damaged trace of which checks and oracles say different things, or that one
        of them cannot judge."""
        self._bench, self._name, self._draw, self._on_parted = bench, bench.plugin.name, Random(seed), on_parted
        self.kept = {base: list(hows) for base, hows in kept_damages(self._name).items()}
        self.alive: list[CoreMutant] = []
        self.known = list(bench.known)
        self._parted: set[str] = set()

    def try_first(self, mutants: Iterable[CoreMutant]) -> None:
        """Try mutants on what the bench has, and keep those alive that survive."""
        self.alive += [mutant for mutant in mutants if not self._bench.try_mutant(mutant).killed]

    def search(self, until: float) -> Iterator[str]:
        """Once for each function, in a new order, up to this time of the monotonic clock; what was kept, in words."""
        places = sorted({mutant.place for mutant in self.alive})
        self._draw.shuffle(places)
        for place in places:
            if time.monotonic() >= until:
                return
            of = [mutant for mutant in self.alive if mutant.place == place]
            drawn = list(self._drawn(of))
            while of:
                found = self._told(of.pop(0), drawn)
                if found is None:
                    continue
                base, _, how = found.name.partition(": ")
                self.kept.setdefault(base, []).append(how)
                self.known.append(found)
                self._bench.known = [found]
                gone = {one.name for one in self.alive if one.place == place and self._bench.try_mutant(one).killed}
                self.alive = [one for one in self.alive if one.name not in gone]
                of = [one for one in of if one.name not in gone]
                yield f"{found.name}: tells {', '.join(sorted(gone))}; {len(self.alive)} are alive"

    def _told(self, mutant: CoreMutant, drawn: list[Known]) -> Known | None:
        """A drawn trace that tells the mutant, and of which checks and oracles say the same."""
        for _ in range(_LOOKED_AT):
            self._bench.known = drawn
            found = self._bench.try_mutant(mutant)
            if not found.killed:
                return None
            at = next((n for n, known in enumerate(drawn) if known.name == found.instance), None)
            if at is None:
                return None
            one = drawn.pop(at)
            with self._bench.reached:
                again = self._bench.agreed(one.name, one.trace)
            if again is None:
                if one.name not in self._parted:
                    self._parted.add(one.name)
                    self._on_parted(one.name)
                continue
            self._bench.known = [again]
            if self._bench.try_mutant(mutant).killed:
                return again
        return None

    def _drawn(self, mutants: Sequence[CoreMutant]) -> Iterator[Known]:
        """Damaged traces, with what the judges of the mutants' function say of them."""
        bench, draw = self._bench, self._draw
        bits = 0
        for mutant in mutants:
            bits |= bench.reached.bit(mutant.place, mutant.block)
        titles = labelled(self._name)
        able = [known for known in self.known if known.name.partition(": ")[0] in titles and known.blocks]
        short = [known for known in able if len(known.trace.rows) <= _LONGEST and (known.labelled or known.damaged)]
        bases = [known for known in short if known.blocks & bits] or short
        only = bench.judges_of.get(mutants[0].place)
        for _ in range(_DRAWN):
            base = draw.choice(bases)
            trace, name = base.trace, base.name
            for _ in range(draw.choice(_EDITS)):
                edit = draw_edit(trace, draw)
                trace, name = damaged(trace, edit), f"{name}; {edit}" if ": " in name else f"{name}: {edit}"
            try:
                checks, oracles = by_checks(trace, (), only), by_oracles(bench.plugin, trace, only)
            except FAILURES:
                continue
            if not checks.refused:
                yield Known(
                    name=name, trace=trace, at_stake=(), checks=checks, oracles=oracles, blocks=-1, damaged=True
                )
