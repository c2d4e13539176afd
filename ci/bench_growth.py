"""How the cost of a message grows with the messages that a host holds: in a receiver's buffer, or outstanding.

Each row is one kind of work on the reference core, at rising numbers of held messages. The numbers take turns, so that
a noisy machine is noisy for all of them, and the median counts: trust the ratios. Processors' caches are in the
figures: a million messages fit in none.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import log2, pow
from statistics import correlation, linear_regression, median
from typing import Protocol

from ci.bench_hosts import BEST_EFFORT, RELIABLE, UNDER_LOSS, Recalling, Receiving, Sending, Work
from impl.totalorder import RULES, Rules

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
# Where a receiver has failed every packet looks at all that was recalled: with a million it would take hours.
RECALL_SIZES = SIZES[:3]
TURNS = 7
# With few messages held, what happens once a core is measured with several: so many, or with so many messages in all.
MOST_CORES = 20
MESSAGES = 50_000
# Below it, the cost doubles less than every second time that the held messages double. Of a + b log n the greatest
# such ratio is that between 100 and 1,000 for a = 0, 1.13; caches add to it. A cost that a scan makes up doubles.
MOST_A_DOUBLING = 2**0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """costs: seconds a message, one for each number of held messages in `sizes`."""

    what: str
    sizes: tuple[int, ...]
    costs: tuple[float, ...]

    @property
    def most_a_doubling(self) -> float:
        """By what the cost is multiplied when the held messages double, where that is most."""
        measured = pairwise(zip(self.sizes, self.costs, strict=True))
        return max(pow(d / c, 1 / log2(n / m)) for (m, c), (n, d) in measured)

    @property
    def logarithmic(self) -> bool:
        """At the most."""
        return self.most_a_doubling < MOST_A_DOUBLING

    def statement(self) -> str:
        """The costs as ratios to the first, the line through them, and what they show."""
        ratios = ", ".join(f"{cost / self.costs[0]:.2f}" for cost in self.costs)
        doublings = [log2(size) for size in self.sizes]
        slope, base = linear_regression(doublings, self.costs)
        fit = correlation(doublings, self.costs) ** 2 if len(set(self.costs)) > 1 else 1.0
        return (
            f"{ratios} (1 is {self.costs[0] * 1e6:.1f} us); least squares {base * 1e6:.2f} {slope * 1e6:+.2f} log2 n us"
            f", R2 {fit:.2f}; at most times {self.most_a_doubling:.2f} a doubling: "
            f"{'logarithmic or less' if self.logarithmic else 'NOT LOGARITHMIC'}"
        )


class Held(Protocol):
    """A core with messages held, and the kinds of work to be measured on it, in their order."""

    def work(self) -> Sequence[Work]: ...


def growth(
    sizes: Sequence[int] = SIZES,
    recall_sizes: Sequence[int] = RECALL_SIZES,
    turns: int = TURNS,
    cores: int = MOST_CORES,
    rules: Rules = RULES,
) -> Iterator[Row]:
    """All rows, one after another. Collection of garbage is off meanwhile, as it is in the simulator."""
    times = turns, cores
    collecting = gc.isenabled()
    gc.disable()
    try:
        for flavour in (BEST_EFFORT, UNDER_LOSS, RELIABLE):
            yield from rows(f"receiver, {flavour}", partial(Receiving, flavour, rules), sizes, *times)
        for flavour in (UNDER_LOSS, RELIABLE):
            yield from rows(f"sender, {flavour}", partial(Sending, flavour, rules), sizes, *times)
        yield from rows(f"sender, {RELIABLE}", partial(Recalling, RELIABLE, rules), recall_sizes, *times)
    finally:
        if collecting:
            gc.enable()


def rows(who: str, make: Callable[[int], Held], sizes: Sequence[int], turns: int, cores: int) -> Iterator[Row]:
    """One row for each kind of work of these cores; `sizes` rise."""
    costs: dict[str, list[list[float]]] = {}
    for core in range(cores):
        # Only the smaller ones after the first round, so that their places stay.
        held = [make(size).work() for size in sizes if core == 0 or (core + 1) * size <= MESSAGES]
        for kind in zip(*held, strict=True):
            tries = costs.setdefault(kind[0].what, [[] for _ in sizes])
            for _ in range(turns if kind[0].repeatable and core == 0 else 1):
                for place, work in enumerate(kind):
                    tries[place].append(work.seconds())
    gc.collect()
    for what, measured in costs.items():
        yield Row(what=f"{who}: {what}", sizes=tuple(sizes), costs=tuple(median(tries) for tries in measured))
