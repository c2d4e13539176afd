"""Plays the track record again: each mistake's bad side and good side, many times, with a verdict on each."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from scatterproof.conformance.adapters.needs import NO_NEEDS, Needs
from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.protocol import load
from scatterproof.conformance.systems.track_record import Mistake
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import BadInput, ScatterproofError

SECONDS, JOBS = 900.0, 3
# Only at or below this probability is the absence of a mistake that comes by chance held against the record.
UNLIKELY = 0.001


@dataclass(slots=True)
class Side:
    """Runs of a mistake's bad side, or of its good one, and what came of them.

    runs: how many there were.
    named: in how many the mistake was.
    held: in how many its clause was at stake, and kept.
    strange: what else was broken, by clause.
    said: the first unexpected sentence.
    iut: what ran.
    not_run: why it was not.
    """

    of: Mistake
    product: Product
    steps: Sequence[Any]
    is_bad: bool
    runs: int = 0
    named: int = 0
    held: int = 0
    strange: Counter[str] = field(default_factory=Counter)
    said: str = ""
    iut: str = ""
    not_run: str | None = None

    @property
    def name(self) -> str:
        return "bad" if self.is_bad else "good"

    def note(self, results: Sequence[ClauseResult], iut: str) -> None:
        """Count one more run."""
        self.runs, self.iut = self.runs + 1, iut
        for result in results:
            is_it = result.clause == self.of.clause
            if result.verdict is Verdict.PASS:
                self.held += is_it
            elif result.verdict is Verdict.FAIL:
                sentence = result.violations[0].sentence
                if is_it and self.of.says in sentence:
                    self.named += 1
                    self.said = self.said or ("" if self.is_bad else sentence)
                elif result.clause not in self.of.besides or not self.is_bad:
                    self.strange[result.clause] += 1
                    self.said = self.said or sentence


def sides(of: Mistake) -> tuple[Side, Side]:
    """The bad side and the good side. Raises BadInput where the record names something unknown."""
    base = product_of(of.protocol, of.product)
    steps = _read(of, base, of.steps)
    bad = Side(of, base.at(of.version), steps, is_bad=True)
    good, product = of.good, bad.product
    if not (good.version or good.product or good.without or good.steps):
        raise BadInput(f"{of.name}: its good side is not said: give version, product, without or steps")
    if good.version:
        product = base.at(good.version)
    elif good.product:
        product = product_of(of.protocol, good.product)
    rest = [step for number, step in enumerate(steps, 1) if number not in good.without]
    played = _read(of, base, good.steps) if good.steps else rest
    return bad, Side(of, product, [*played, *_read(of, base, good.more)], is_bad=False)


def _read(of: Mistake, product: Product, lines: Iterable[str]) -> list[Any]:
    try:
        return product.vocabulary.read(lines)
    except BadInput as error:
        raise BadInput(f"{of.name}: {error}") from None


def product_of(protocol: str, name: str) -> Product:
    known = {product.name: product for product in load(protocol).products()}
    if name not in known:
        raise BadInput(f"product {name!r} is unknown; choose of {', '.join(known)}")
    return known[name]


class Standing(StrEnum):
    AS_RECORDED = "as recorded"
    NOT_AS_RECORDED = "not as recorded"
    INCONCLUSIVE = "inconclusive"
    NOT_RUN = "not run"


def verdict(side: Side) -> tuple[Standing, str]:
    """The standing of a side, and why."""
    if side.not_run is not None:
        return Standing.NOT_RUN, side.not_run
    if side.strange or (side.named and not side.is_bad):
        return Standing.NOT_AS_RECORDED, f"the {side.name} side broke another rule: {side.said}"
    if not side.is_bad:
        if side.held < side.runs:
            return Standing.NOT_AS_RECORDED, f"{side.of.clause} was at stake in {side.held} of {side.runs} good runs"
        return Standing.AS_RECORDED, ""
    if side.of.seen is None:
        is_it = side.named == side.runs
        return (
            (Standing.AS_RECORDED, "")
            if is_it
            else (Standing.NOT_AS_RECORDED, _few(side, "it is in each, by the record"))
        )
    seen, of = side.of.seen
    by_chance = (1 - seen / of) ** side.runs
    if side.named:
        return Standing.AS_RECORDED, ""
    if by_chance > UNLIKELY:
        return Standing.INCONCLUSIVE, _few(
            side, f"at {seen} of {of}, as recorded, that comes once in {1 / by_chance:.0f}"
        )
    return Standing.NOT_AS_RECORDED, _few(side, f"it was in {seen} of {of}, by the record")


def _few(side: Side, why: str) -> str:
    return f"the mistake was in {side.named} of {side.runs} bad runs; {why}"


@dataclass(slots=True)
class Played:
    """Both sides of a mistake; its state is the worse of theirs."""

    of: Mistake
    bad: Side
    good: Side

    @property
    def state(self) -> Standing:
        states = [verdict(side)[0] for side in (self.bad, self.good)]
        worst = (Standing.NOT_AS_RECORDED, Standing.NOT_RUN, Standing.INCONCLUSIVE)
        return next((state for state in worst if state in states), Standing.AS_RECORDED)

    @property
    def why(self) -> str:
        return "; ".join(dict.fromkeys(why for side in (self.bad, self.good) if (why := verdict(side)[1])))


def lacking(mistakes: Sequence[Mistake]) -> Needs:
    """What installs the products of both sides that cannot be played here."""
    products = [side.product for one in mistakes for side in sides(one)]
    return sum((product.needs for product in products if product.why_not() is not None), NO_NEEDS)


def played(
    mistakes: Sequence[Mistake],
    folder: Path,
    tell: Callable[[str], None],
    *,
    runs: int | None = None,
    seconds: float = SECONDS,
    jobs: int = JOBS,
) -> list[Played]:
    """Play both sides of each mistake. runs: of each side; as the record has it, when left out. A side begins runs
    during its part of the time, and one at least. Runs mostly wait, so several products are played side by side; a
    server is started once for all that it plays. Traces are kept in the folder."""
    outcomes = [Played(one, *sides(one)) for one in mistakes]
    groups: dict[str, list[Side]] = {}
    for side in [side for outcome in outcomes for side in (outcome.bad, outcome.good)]:
        groups.setdefault(side.product.name, []).append(side)
    budget = Budget(time.monotonic() + seconds, len(outcomes) * 2, jobs)

    def play(name: str) -> None:
        if budget.stopped:
            return
        together = groups[name]
        reason = together[0].product.why_not()
        try:
            if reason is None:
                with together[0].product.served(folder / "servers" / name) as play:
                    for side in together:
                        play_side(side, play, folder, runs or side.of.runs, budget, tell)
        except ScatterproofError as error:
            reason = str(error)
        for side in together:
            if not side.runs and side.not_run is None:
                budget.next()
                side.not_run = f"{name}: {reason}"

    with ThreadPoolExecutor(jobs) as pool:
        try:
            list(pool.map(play, groups))
        finally:
            # After an interrupt, the runs under way are the last.
            budget.stop()
    return outcomes


@dataclass(slots=True)
class Budget:
    """until: when all is to be over. left: sides that have not begun. jobs: how many are played at a time."""

    until: float
    left: int
    jobs: int
    stopped: bool = False

    def next(self) -> float:
        """The deadline of the next side: twice its equal part of the time left, as many sides need little."""
        now = time.monotonic()
        part = max(0.0, self.until - now) * self.jobs / max(self.left, self.jobs)
        self.left -= 1
        return min(self.until, now + 2 * part)

    def stop(self) -> None:
        """Begin nothing more."""
        self.stopped = True


def play_side(side: Side, play: Play, folder: Path, runs: int, budget: Budget, tell: Callable[[str], None]) -> None:
    """Play the side until it has `runs` runs."""
    until, kept = budget.next(), folder / side.of.name
    kept.mkdir(parents=True, exist_ok=True)
    for number in range(side.runs + 1, runs + 1):
        if budget.stopped or (number > 1 and time.monotonic() > until):
            return
        tell(f"{side.of.name}: {side.name} run {number} of {runs}")
        trace = play(f"{side.of.name}-{side.name}-{number}", side.steps, number)
        trace_ndjson.write(kept / f"{side.name}-{number}.ndjson", trace)
        version = trace.header.iut.rpartition(" ")[2]
        if side.is_bad and version != side.of.version:
            side.not_run = f"{side.product.name} {version} is here, and the record is of {side.of.version}"
            return
        side.note(side.product.judged(trace), trace.header.iut)
