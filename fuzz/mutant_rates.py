"""The kill rate of core mutants, by area, with its confidence interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt

import msgspec

from scatterproof.fuzz.survivors import SurvivorEntry, SurvivorStanding
from scatterproof.fuzz.trying import Tried, TriedOutcome

_Z = 1.959964  # of 95 % of a normal distribution
EVERYTHING = "all"


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """The rate of one area.

    mutants: tried.
    by: how many had each outcome.
    standings: how many survivors have each standing.
    fresh: survivors that nobody has looked at.
    telling: mutants that something can tell: neither equivalent, nor pace only, nor allowed.
    """

    area: str
    mutants: int
    by: dict[TriedOutcome, int]
    standings: dict[SurvivorStanding, int]
    fresh: tuple[str, ...]

    @property
    def killed(self) -> int:
        return sum(count for outcome, count in self.by.items() if outcome is not TriedOutcome.SURVIVED)

    @property
    def telling(self) -> int:
        return self.killed + self.standings[SurvivorStanding.OPEN] + len(self.fresh)

    @property
    def rate(self) -> float:
        return self.killed / self.telling if self.telling else 1.0

    @property
    def bounds(self) -> tuple[float, float]:
        return wilson(self.killed, self.telling)

    @property
    def not_killed(self) -> int:
        """How many something should kill, and nothing does."""
        return self.telling - self.killed


def wilson(count: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, seen `count` times in `of`; 0 to 1 for none."""
    if of == 0:
        return 0.0, 1.0
    share, more = count / of, _Z * _Z / of
    middle = (share + more / 2) / (1 + more)
    width = _Z * sqrt(share * (1 - share) / of + more / (4 * of)) / (1 + more)
    return max(0.0, middle - width), min(1.0, middle + width)


def rates(found: Iterable[Tried], area_of: Mapping[str, str], known: Mapping[str, SurvivorEntry]) -> list[Rate]:
    """A rate an area, in the order of the areas, and one of all at the end. area_of: by mutant."""
    tried = list(found)
    areas = dict.fromkeys(area for area in area_of.values())
    by_area = [_rate(area, [one for one in tried if area_of[one.mutant] == area], known) for area in areas]
    return [*(rate for rate in by_area if rate.mutants), _rate(EVERYTHING, tried, known)]


def _rate(area: str, tried: list[Tried], known: Mapping[str, SurvivorEntry]) -> Rate:
    survived = [one.mutant for one in tried if not one.killed]
    return Rate(
        area=area,
        mutants=len(tried),
        by={outcome: sum(one.outcome is outcome for one in tried) for outcome in TriedOutcome},
        standings={
            standing: sum(name in known and known[name].standing is standing for name in survived)
            for standing in SurvivorStanding
        },
        fresh=tuple(name for name in survived if name not in known),
    )
