"""The releases of a system between which the verdict on a known mistake changes, by bisection. Each release that is
asked is installed into a folder of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from scatterproof.conformance.systems.track_record import Mistake, known
from scatterproof.conformance.systems.track_runs import UNLIKELY, Budget, Side, play_side, product_of, sides
from scatterproof.spec.errors import BadInput, CannotRun, ScatterproofError

RUNS = 3
# Whether a release breaks the clause; None where it could not be run.
Ask = Callable[[str], bool | None]


@dataclass(frozen=True, slots=True)
class Change:
    """A change between one release and the next that could be run. begins: whether the later one breaks what was
    kept."""

    before: str
    after: str
    begins: bool


def changes(versions: Sequence[str], bad: str, ask: Ask) -> list[Change]:
    """Where the mistake of a release began, and where it ended; nothing where it is in the oldest and in the newest.
    versions: oldest first. Where it came and went more than once, these are two places of several."""
    if bad not in versions:
        raise BadInput(f"{bad} is none of {', '.join(versions)}")
    if not ask(bad):
        raise CannotRun(f"{bad} does not break the clause, or could not be run; see `scatterproof track-record`")
    at = versions.index(bad)
    found = []
    for others, begins in ((versions[:at][::-1], True), (versions[at + 1 :], False)):
        edge = _edge([bad, *others], ask)
        if edge is not None:
            found.append(Change(*(edge[::-1] if begins else edge), begins))
    return found


def _edge(versions: Sequence[str], ask: Ask) -> tuple[str, str] | None:
    """The last release that breaks the clause, and the next one, which keeps it; None where there is none. The first of
    `versions` breaks it."""
    left = list(versions)
    while len(left) > 1 and (last := ask(left[-1])) is None:
        left.pop()
    if len(left) == 1 or last:
        return None
    low, high = 0, len(left) - 1
    while high - low > 1:
        middle = (low + high) // 2
        told = ask(left[middle])
        if told is None:
            del left[middle]
            high -= 1
        elif told:
            low = middle
        else:
            high = middle
    return left[low], left[high]


def mistake_of(system: str, clause: str, entry: str | None) -> Mistake:
    listed = [one for one in known() if one.system == system and one.clause == clause]
    if not listed:
        systems = ", ".join(sorted({f"{one.system} {one.clause}" for one in known()}))
        raise BadInput(f"no mistake of {system} under {clause} is known; there are: {systems}")
    named = [one for one in listed if entry in (None, one.name)]
    if len(named) != 1:
        raise BadInput(f"give --entry: one of {', '.join(one.name for one in listed)}")
    return named[0]


class Releases:
    """The releases of a mistake's product. runs: in how many runs a release must keep the clause to count as correct;
    there are more where the mistake comes by chance."""

    def __init__(self, of: Mistake, folder: Path, runs: int, tell: Callable[[str], None]) -> None:
        self._of, self._folder, self._tell = of, folder, tell
        self._product = product_of(of.protocol, of.product)
        if self._product.package is None:
            raise BadInput(
                f"{of.product}: no other release of it can be installed by pip or npm beside the one that is here"
            )
        self.package = self._product.package
        seen, all_runs = of.seen or (1, 1)
        self._runs = runs if seen == all_runs else max(runs, math.ceil(math.log(UNLIKELY, 1 - seen / all_runs)))
        self._told: dict[str, bool | None] = {}

    def ask(self, version: str) -> bool | None:
        if version not in self._told:
            self._told[version] = self._ask(version)
            what = {True: "breaks it", False: "keeps it", None: "could not be run"}[self._told[version]]
            self._tell(f"{version} {what}")
        return self._told[version]

    def _ask(self, version: str) -> bool | None:
        product = self._product.at(version)
        side = Side(replace(self._of, version=version), product, sides(self._of)[0].steps, is_bad=True)
        budget, place = Budget(math.inf, 1, 1), self._folder / version
        try:
            if product is not self._product:
                self.package.install(version)
            with product.served(place) as play:
                while side.runs < self._runs and not side.named:
                    play_side(side, play, place, side.runs + 1, budget, lambda _: None)
        except ScatterproofError as error:
            self._tell(f"{version}: {error}")
            return None
        return side.named > 0
