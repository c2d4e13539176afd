"""Checks in plain Python, over columns: they find what compiled ones find, without minutes of compiling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from scatterproof.conformance.checks.online import Broken, Monitor
from scatterproof.conformance.checks.source import state_place
from scatterproof.conformance.checks.spread import Spread
from scatterproof.conformance.checks.step import Check
from scatterproof.conformance.checks.surroundings import Surroundings

Limits = npt.NDArray[np.int64]
Shown = npt.NDArray[np.bool_]
Found = npt.NDArray[np.int64]


class Interpreted:
    """A list of checks. columns: all of the schema's; a run must be fed with each of them."""

    def __init__(self, checks: Sequence[Check], columns: Sequence[str]) -> None:
        self.checks, self.columns = tuple(checks), tuple(columns)

    def run(
        self,
        around: Surroundings,
        limits: Limits | None = None,
        shown: Shown | None = None,
    ) -> InterpretedRun:
        """As `Kernel.run`."""
        return self.prepared(around, limits, shown)()

    def prepared(
        self,
        around: Surroundings,
        limits: Limits | None = None,
        shown: Shown | None = None,
    ) -> Callable[[], InterpretedRun]:
        """As `Kernel.prepared`."""
        return partial(InterpretedRun, self, around, limits, shown)


class InterpretedRun:
    """As `scatterproof.conformance.checks.compiled.CompiledRun`. Checks that do not apply are left out."""

    def __init__(
        self,
        everything: Interpreted,
        around: Surroundings,
        limits: Limits | None,
        shown: Shown | None,
    ) -> None:
        applies, count = around.get("applies", 1), len(everything.checks)
        self._numbers = [at for at in range(count) if isinstance(applies, int) or applies[at]]
        self._checks = [everything.checks[at] for at in self._numbers]
        self._monitor = Monitor(self._checks, everything.columns, around)
        self._count, self._columns, self._limits, self._shown = count, everything.columns, limits, shown
        self._counts: Counter[int] = Counter()
        self._rows = 0
        self.broken: list[Broken] = []

    def feed(
        self, columns: Mapping[str, npt.NDArray[np.int64]], *beside: InterpretedRun, spread: Spread = map
    ) -> Found:
        """Judge the next rows, all in this thread, and return what `CompiledRun.feed` returns."""
        for run in beside:
            run.feed(columns)
        base, observe, before = self._rows, self._monitor.observe, len(self.broken)
        for row in zip(*(columns[name].tolist() for name in self._columns), strict=True):
            observe(self._rows, row)
            self._rows += 1
        for found in sorted(self._monitor.taken(), key=lambda found: (found.position, found.check)):
            number = self._numbers[found.check]
            if self._shown is None or self._shown[number, columns["node"][found.position - base]]:
                self._counts[number] += 1
                if self._limits is None or self._counts[number] <= self._limits[number]:
                    self.broken.append(found._replace(check=number))
        return np.array(self.broken[before:], dtype=np.int64).reshape(-1, len(Broken._fields))

    @property
    def held(self) -> npt.NDArray[np.int64]:
        """How often each check held, by its number; 0 for a check that does not apply."""
        held = np.zeros(self._count, dtype=np.int64)
        held[self._numbers] = self._monitor.held
        return held

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many violations each check found, kept or not, by its number."""
        return np.array([self._counts[number] for number in range(self._count)], dtype=np.int64)

    def state(self, check: str, name: str) -> npt.NDArray[np.int64]:
        """What a check keeps under this name."""
        return np.array(self._monitor.state[state_place(self._checks, check, name)], dtype=np.int64)
