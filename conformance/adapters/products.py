"""Systems that others wrote, driven by their own clients, at random, and judged by what their documentation promises. A
protocol's record lists those that it can drive."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scatterproof.conformance.adapters.needs import NO_NEEDS, Needs
from scatterproof.conformance.adapters.steps import NOTHING, Vocabulary
from scatterproof.conformance.adapters.versions import Package
from scatterproof.conformance.judge import judge
from scatterproof.conformance.network.topologies import served
from scatterproof.conformance.profile import read_profile
from scatterproof.conformance.protocol import Case, load
from scatterproof.conformance.verdict import ClauseResult
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.schedule import Delay, Schedule
from scatterproof.spec.trace import Trace

CLIENTS, RUNS = 3, 10

# Carries steps out at a queue of this name, that is new. The number is the seed of the run.
Play = Callable[[str, Sequence[Any], int], Trace]


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A system under test.

    name: as the command line has it.
    text: what it is, for people.
    profile: the file of what it promises, by its documentation.
    why_not: why it cannot be driven here, with what installs it; None where it can.
    needs: what installs it, and its client.
    serve: its server, in a folder, until the context ends.
    steps: of the run of a seed. Where the second argument is true, the run keeps clear of the mistakes that are known,
        and breaks nothing.
    vocabulary: what its steps are made of.
    errors: the exceptions of its client, or of the client's library, by which that says that it cannot go on: each with
        its module, which is there where the product is.
    package, of_version: what a registry has of it, and the product of another of its versions; None where there is but
        what is installed.
    """

    name: str
    text: str
    profile: Path
    why_not: Callable[[], str | None]
    serve: Callable[[Path], AbstractContextManager[Play]]
    steps: Callable[[int, bool], Sequence[Any]]
    needs: Needs = NO_NEEDS
    vocabulary: Vocabulary = NOTHING
    errors: tuple[str, ...] = ()
    package: Package | None = None
    of_version: Callable[[str], Product] | None = None

    def at(self, version: str) -> Product:
        """The product in this version, where the registry has others than the one that is installed."""
        if self.package is None or self.of_version is None or self.package.installed() == version:
            return self
        return self.of_version(version)

    @contextmanager
    def served(self, folder: Path) -> Iterator[Play]:
        """As `serve`. Raises CannotRun where its client cannot go on, also for what is called meanwhile."""
        names = [name.rpartition(".") for name in self.errors]
        errors = tuple(getattr(importlib.import_module(module), name) for module, _, name in names)
        try:
            with self.serve(folder) as play:
                yield play
        except errors as error:
            what = " ".join(f"{type(error).__module__}.{type(error).__qualname__}: {error}".split()).rstrip(":")
            raise CannotRun(f"its client could not go on, and says {what}; see {folder}") from error

    def judged(self, trace: Trace) -> list[ClauseResult]:
        """The results of the clauses that the profile claims."""
        profile = read_profile(self.profile)
        return [result for result in judge(trace) if profile.claims(result.clause)]


class ProductIut:
    """A product as an implementation under test, which plays its own drawn runs alone. folder: of what it writes."""

    def __init__(self, product: Product, folder: Path) -> None:
        self.name, self._product, self._folder = product.name, product, folder

    def run(self, schedule: Schedule) -> Trace:
        if schedule != _drawn(schedule.protocol, schedule.seed):
            raise BadInput(f"{self.name}: plays the runs that are drawn for it, and no other schedule; use `conform`")
        reason = self._product.why_not()
        if reason is not None:
            raise CannotRun(reason)
        with self._product.served(self._folder) as play:
            return play(f"drawn-{schedule.seed}", self._product.steps(schedule.seed, False), schedule.seed)


def cases(product: Product) -> tuple[Case, ...]:
    """Its first drawn runs."""
    profile = read_profile(product.profile)
    claimed = next(check.clause for check in load(profile.protocol).checks if profile.claims(check.clause))
    return tuple(
        Case(
            id=f"{claimed}/drawn-{seed}",
            clause=claimed,
            stimulus=f"clients of {product.name} do what is drawn by seed {seed}",
            duty="keeps what its documentation promises",
            schedule=_drawn(profile.protocol, seed),
            at_stake=(claimed,),
        )
        for seed in range(RUNS)
    )


def _drawn(protocol: str, seed: int) -> Schedule:
    """What stands for a drawn run, whose steps are the product's own."""
    network = served(CLIENTS)
    delays = (Delay(1),) * len(network.links)
    return Schedule(protocol=protocol, topology=network, delays=delays, submissions=(), seed=seed)
