"""Mining what is new: the results that are kept for a corpus, in its folder `mined`, and what they do not cover yet.

A result counts as long as its pair of files and the checks stay the same. Each is a file of its own, written in one
move; so whenever mining is interrupted, the next one knows what it had judged.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from scatterproof.conformance.checks.spread import Spread
from scatterproof.spark.found import (
    Identity,
    PartFindings,
    identity_of,
    is_as_told,
    is_result,
    judge_and_keep,
    read_found,
)
from scatterproof.spark.judge_part import is_interpreted, warm
from scatterproof.spark.layout import MANIFEST, MINED, RunClass, classes_listed, writing
from scatterproof.spark.read import Pair, Part, sound_parts
from scatterproof.spark.violations import read_violations
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.storage import Remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from scatterproof.spark.jobs import OnProgress

SUMMARY = "summary.json"
VIOLATIONS_FOLDER = "violations"
MANY_RUNS = 2000  # whose headers take longer to read here than a Spark job takes
Say: TypeAlias = Callable[[str], None]


class Kept:
    """The results of a corpus, those on disk and those in memory. Made by `kept_results`.

    found: results of pairs that are unchanged since they were judged.
    """

    def __init__(self, corpus: Path, say: Say) -> None:
        self.corpus = corpus
        self.folder = corpus / MINED
        self.found: dict[Pair, PartFindings] = {}
        self._say = say
        self._pair_of: dict[int, Pair] = {}  # by run
        self._spoken_of: set[Path] = set()

    @property
    def protocol(self) -> str | None:
        return next((found.protocol for found in self.found.values()), None)

    def path(self, pair: Pair) -> Path:
        return self.folder / VIOLATIONS_FOLDER / pair.events.name

    def look(self, pairs: Collection[Pair], *, again: bool = False) -> dict[Pair, Identity]:
        """Forget pairs that are gone; returns the pairs that must be judged, with their identities as they are now.
        again: judge all of them."""
        for pair in [pair for pair in self.found if pair not in pairs]:
            self._forget(pair)
        missing: dict[Pair, Identity] = {}
        for pair in sorted(pairs):
            if not again and pair in self.found and is_as_told(pair, self.found[pair].identity):
                continue
            self._forget(pair)
            identity = identity_of(self.corpus, pair)
            if again or not self._recalled(pair, identity):
                missing[pair] = identity
        return missing

    def sound(self, missing: Mapping[Pair, Identity]) -> tuple[list[tuple[Part, Identity]], dict[Pair, BadInput]]:
        """The pairs that can be judged, all of one protocol; and why the others cannot."""
        wanted: list[tuple[Part, Identity]] = []
        flaws: dict[Pair, BadInput] = {}
        protocol = self.protocol
        for pair, told in missing.items():
            try:
                (part,) = sound_parts([pair], protocol)
            except BadInput as error:
                flaws[pair] = error
            else:
                wanted.append((part, told))
                protocol = part.protocol
        return wanted, flaws

    def judge(
        self,
        session: SparkSession | None,
        wanted: Sequence[tuple[Part, Identity]],
        on_progress: OnProgress | None = None,
    ) -> list[PartFindings | BadInput]:
        """Judge these in Spark tasks, or without a session in this process, and keep the results. Returns the result of
        each, or why it cannot be judged."""
        results, parts = self.folder / VIOLATIONS_FOLDER, [part for part, _ in wanted]
        interpret = is_interpreted(parts)
        if not interpret:
            warm(parts, spread_over(session, parts))

        cores = session.sparkContext.defaultParallelism if session else len(os.sched_getaffinity(0))
        # Cores without a file of their own: a long run is judged by several at once.
        threads = max(1, cores // len(parts)) if session and parts else cores

        def work(item: tuple[Part, Identity]) -> PartFindings | BadInput:
            part, identity = item
            try:
                return judge_and_keep(part, identity, results / part.events.name, interpret=interpret, threads=threads)
            except BadInput as error:
                return error

        weights = [part.rows for part in parts]
        if session is not None:
            from scatterproof.spark.jobs import run_tasks  # loads Spark

            return run_tasks(session, wanted, work, weights=weights, on_progress=on_progress)
        outcomes: list[PartFindings | BadInput] = []
        for item, done in zip(wanted, accumulate(weights), strict=True):
            outcomes.append(work(item))
            if on_progress is not None:
                on_progress(done, sum(weights))
        return outcomes

    def take_all(
        self, wanted: Sequence[tuple[Part, Identity]], outcomes: Sequence[PartFindings | BadInput]
    ) -> dict[Pair, BadInput]:
        """Take the outcomes of `judge`; returns why some do not count, though their files seemed sound."""
        flaws: dict[Pair, BadInput] = {}
        for (part, _), outcome in zip(wanted, outcomes, strict=True):
            pair = Pair(part.events, part.runs_file)
            try:
                if isinstance(outcome, BadInput):
                    raise outcome
                self.take(pair, outcome)
            except BadInput as error:
                flaws[pair] = error
        return flaws

    def take(self, pair: Pair, found: PartFindings) -> None:
        """Take one result. BadInput when its files have changed meanwhile, and when a run in it has the number of a run
        elsewhere."""
        if not is_as_told(pair, found.identity):
            raise BadInput(f"{pair.events}: has changed while it was judged; mine again")
        numbers = list(chain.from_iterable(found.runs.values()))
        for run in numbers:
            other = self._pair_of.get(run, pair)
            if other != pair:
                raise BadInput(
                    f"{pair.runs_file}: run {run} is in {other.runs_file}, too; give each run a number of its own"
                )
        self.found[pair] = found
        self._pair_of.update(dict.fromkeys(numbers, pair))

    def in_order(self) -> list[PartFindings]:
        return [self.found[pair] for pair in sorted(self.found)]

    def classes(self) -> dict[int, RunClass]:
        """By run, what the manifest says of it; where it lacks one, its header."""
        listed = classes_listed(self.corpus) if (self.corpus / MANIFEST).exists() else {}
        every: dict[int, RunClass] = {}
        for found in self.in_order():
            for parameters, runs in found.runs.items():
                unlisted = RunClass("", "unknown", False, False, True, parameters.encode())
                every.update((run, listed.get(run, unlisted)) for run in runs)
        return every

    def tables(self) -> Iterator[pa.Table]:
        """The violations, pair by pair, of the pairs that have some."""
        for pair in sorted(self.found):
            if self.found[pair].violations:
                yield read_violations([self.path(pair)])

    def drop_others(self) -> None:
        """Remove results from the folder that belong to no pair in `found`."""
        ours = {self.path(pair) for pair in self.found}
        for path in sorted((self.folder / VIOLATIONS_FOLDER).glob("*.parquet")):
            if path in ours:
                continue
            if is_result(path):
                with writing(path):
                    path.unlink()
            else:
                self._say_once(path, "is no result of mining, and is left alone")

    def _recalled(self, pair: Pair, identity: Identity) -> bool:
        path = self.path(pair)
        if not path.exists():
            return False
        found = read_found(path)
        if found is None:
            self._say_once(path, "is damaged, or of another version; its files are judged again")
        elif found.identity == identity:
            with suppress(BadInput):  # whoever judges it comes upon it again
                self.take(pair, found)
                return True
        return False

    def _forget(self, pair: Pair) -> None:
        found = self.found.pop(pair, None)
        for run in chain.from_iterable(found.runs.values() if found else ()):
            del self._pair_of[run]

    def _say_once(self, path: Path, what: str) -> None:
        if path not in self._spoken_of:
            self._spoken_of.add(path)
            self._say(f"{path}: {what}")


def spread_over(session: SparkSession | None, parts: Sequence[Part]) -> Spread:
    """Where the headers of these runs are read: in tasks, where there is a session and they are many."""
    runs = [part.runs for part in parts]
    if session is None or sum(runs) < MANY_RUNS:
        return map
    from scatterproof.spark.jobs import run_tasks  # loads Spark

    return lambda work, items: run_tasks(session, items, work, weights=runs)


@contextmanager
def kept_results(corpus: Path, say: Say) -> Iterator[Kept]:
    """Hold the folder `mined` of this corpus, made where there is none; nobody else can until the end. That of an
    address is not held: two who mine it judge the same twice.

    Raises BadInput for a `mined` that mining has not made, CannotRun when another process holds it or it cannot be
    written.
    """
    folder = corpus / MINED
    results = folder / VIOLATIONS_FOLDER
    if folder.exists() and not (folder.is_dir() and (results.is_dir() or not any(folder.iterdir()))):
        raise BadInput(f"{folder}: exists, and is not what `mine` makes (it has no folder violations); move it away")
    if isinstance(folder, Remote):
        yield Kept(corpus, say)
        return
    with writing(folder):
        results.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotRun(f"{folder}: another `mine` is at work there; wait for it, or end it") from None
        with writing(folder):
            for unfinished in (*folder.glob(".*.json.*"), *folder.glob(".*.html.*"), *results.glob(".*.parquet.*")):
                unfinished.unlink()
        yield Kept(corpus, say)
    finally:
        os.close(handle)
        with suppress(OSError):  # they are not empty, as a rule
            results.rmdir()
            folder.rmdir()
