"""How the cost of a message grows with the messages that a host holds: in a receiver's buffer, or outstanding.

Each row is one kind of work on the reference core, at rising numbers of held messages. The numbers take turns, so that
a noisy machine is noisy for all of them, and the median counts: trust the ratios. Times contain the processor's
caches, in which a million messages do not fit; comparisons of keys are counted, too: they are the same everywhere.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import log2, pow
from statistics import correlation, linear_regression, median
from typing import Protocol

from ci.bench_hosts import AT_ONCE, BEST_EFFORT, RELIABLE, STEPS, UNDER_LOSS, HostWork, Recalling, Receiving, Sending
from scatterproof.impl.totalorder import RULES, Rules

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
# When a receiver fails, all that it did not acknowledge is recalled at once: a million recalls are not measured.
RECALL_SIZES = SIZES[:4]
TURNS = 7
# Work that happens once in a core's life is measured on several cores where few messages are held: MESSAGES in all.
MOST_CORES = 20
MESSAGES = 50_000
# The factor of a square root. A cost of a + b log n grows by a factor of 1.13 at most (between 100 and 1,000, for
# a = 0), and caches add to that; the cost of a scan doubles.
MOST_A_DOUBLING = 2**0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthRow:
    """costs: seconds a message, one for each number of held messages in `sizes`."""

    what: str
    sizes: tuple[int, ...]
    costs: tuple[float, ...]

    @property
    def most_a_doubling(self) -> float:
        """The largest factor by which the cost grows when the number of held messages doubles."""
        measured = pairwise(zip(self.sizes, self.costs, strict=True))
        return max(pow(d / c, 1 / log2(n / m)) for (m, c), (n, d) in measured)

    @property
    def below_root(self) -> bool:
        """Whether the cost grows more slowly than the square root of the number of held messages: then it is no
        scan."""
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
            f"{'below the square root' if self.below_root else 'A SCAN: NOT BELOW THE SQUARE ROOT'}"
        )


class _Counted(tuple[int, ...]):
    """A key that counts how often keys are ordered."""

    ordered = 0

    def __lt__(self, other: object) -> bool:
        _Counted.ordered += 1
        return tuple.__lt__(self, other)  # type: ignore[operator]


def comparisons(sizes: Sequence[int] = SIZES) -> list[float]:
    """Comparisons of keys for each delivered message, with another one buffered for it; the same on every machine."""
    counting = replace(RULES, precedence=lambda timestamp, sender: _Counted((timestamp, sender)))
    found: list[float] = []
    for size in sizes:
        fill, keep, *_ = Receiving(UNDER_LOSS, counting, size).work()
        fill.seconds()
        _Counted.ordered = 0
        keep.seconds()
        found.append(_Counted.ordered / (STEPS * AT_ONCE))
    return found


class HeldCore(Protocol):
    """A core that holds messages, and the kinds of work to measure on it, in order."""

    def work(self) -> Sequence[HostWork]: ...


def growth(
    sizes: Sequence[int] = SIZES,
    recall_sizes: Sequence[int] = RECALL_SIZES,
    turns: int = TURNS,
    cores: int = MOST_CORES,
    rules: Rules = RULES,
) -> Iterator[GrowthRow]:
    """All rows, one after another. Garbage collection is off meanwhile, as in the simulator."""
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


def rows(
    who: str, make: Callable[[int], HeldCore], sizes: Sequence[int], turns: int, cores: int
) -> Iterator[GrowthRow]:
    """One row for each kind of work of these cores; `sizes` rise."""
    costs: dict[str, list[list[float]]] = {}
    for core in range(cores):
        # After the first round only smaller sizes are left; as sizes rise, each keeps its place.
        held = [make(size).work() for size in sizes if core == 0 or (core + 1) * size <= MESSAGES]
        for kind in zip(*held, strict=True):
            tries = costs.setdefault(kind[0].what, [[] for _ in sizes])
            for _ in range(turns if kind[0].repeatable and core == 0 else 1):
                for place, work in enumerate(kind):
                    tries[place].append(work.seconds())
    gc.collect()
    for what, measured in costs.items():
        yield GrowthRow(what=f"{who}: {what}", sizes=tuple(sizes), costs=tuple(median(tries) for tries in measured))
