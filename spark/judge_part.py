"""Judges one pair of files in one pass over its rows: by the compiled checks, or by the same checks in plain Python
where compiling them would take longer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from scatterproof.conformance.checks.compiled import CompiledRun, Kernel
from scatterproof.conformance.checks.interpreted import Interpreted, InterpretedRun, Limits, Shown
from scatterproof.conformance.checks.rows import RowRules, refuse_header, refuse_rows_after_end, row_rules
from scatterproof.conformance.checks.spread import Spread
from scatterproof.conformance.checks.surroundings import Surroundings
from scatterproof.conformance.judge import conclude_told, kernel, limits, shown_at
from scatterproof.conformance.measures import with_hops
from scatterproof.conformance.protocol import gauge, load
from scatterproof.conformance.verdict import ClauseResult
from scatterproof.conformance.wording import CHECK, POSITION, Told
from scatterproof.spark.compiling import compile_at_once
from scatterproof.spark.measured import Measured
from scatterproof.spark.read import BATCH_ROWS, Part, RunSpan, SideBySide, read_batches, read_spans
from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Header, schema

AnyKernel: TypeAlias = Kernel | Interpreted
AnyRun: TypeAlias = CompiledRun | InterpretedRun
Columns: TypeAlias = dict[str, npt.NDArray[np.int64]]
NETWORKS_KEPT = 256
SPREAD_ROWS = 1 << 14
MOST_KEPT = 1000  # violations of a clause in a run; beyond, they are counted
_KNOWN: dict[tuple[object, ...], KnownNetwork] = {}
# In plain Python these take about as long as compiling all checks: 10 us a row, and a minute, of one core.
INTERPRETED_ROWS = 5_000_000


class KnownNetwork(NamedTuple):
    """What the runs of a network have in common, and all that verdicts rest on beside what a run shows.

    around, with_more: what checks, and what measures, read of it.
    rules: for its rows.
    limits, shown: as of `Kernel.run`, with `MOST_KEPT` violations of a check kept.
    reasons: by check, why its clause does not apply; None where it does.
    prepared: by kernel, what makes the state of a run.
    """

    around: Surroundings
    with_more: Surroundings
    rules: RowRules
    limits: Limits
    shown: Shown | None
    reasons: tuple[str | None, ...]
    prepared: dict[AnyKernel, Callable[[], AnyRun]]

    def run(self, checks: AnyKernel, prepare: Callable[[KnownNetwork], Callable[[], AnyRun]]) -> AnyRun:
        """The state of one run. prepare: called for the first run of these checks."""
        if checks not in self.prepared:
            self.prepared[checks] = prepare(self)
        return self.prepared[checks]()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """A run after its last row.

    held, counts: of shape (checks,), how often each check held, and was broken.
    told: by check, its violations that are kept.
    """

    part: Part
    span: RunSpan
    network: KnownNetwork
    held: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    told: Mapping[int, Told]

    def results(self, *, listed: bool = True) -> list[ClauseResult]:
        """listed: whether they have the violations in them."""
        plugin, header, place = load(self.part.protocol), self.span.header, _place(self.part, self.span)
        held, counts = self.held.tolist(), self.counts.tolist()
        return conclude_told(plugin, header, held, counts, self.told, place=place, listed=listed)


def judge_part(
    part: Part,
    batch_rows: int = BATCH_ROWS,
    measured: Measured | None = None,
    *,
    interpret: bool = False,
    threads: int = 1,
) -> Iterator[JudgedRun]:
    """Every run of one file, judged. Of a check in a run, the first `MOST_KEPT` violations are kept, so that memory
    does not grow with them.

    measured: takes what else the same pass shows.
    interpret: in plain Python.
    threads: how many judge a long run at once, each with some of the checks, while the next rows are read.
    """
    compiled = kernel(part.protocol)
    checks = compiled.interpreted if interpret else compiled
    with ThreadPoolExecutor(threads) as pool, ThreadPoolExecutor(1) as reader:
        ahead, spread = reader if threads > 1 else None, pool.map if threads > 1 else map
        yield from _fed(part, checks, batch_rows, measured=measured, reader=ahead, spread=spread)


def count_part(part: Part, clauses: frozenset[str]) -> Counter[str]:
    """How many rows of one file break each of these clauses, and nothing else: what a query can answer, too."""
    plugin, counts = load(part.protocol), Counter[str]()
    compiled, numbers = _kernel_of(part.protocol, clauses)
    for run in _fed(part, compiled, BATCH_ROWS, numbers=numbers):
        reasons = plugin.reasons(run.span.header)
        for check, number, count in zip(compiled.checks, numbers, run.counts.tolist(), strict=True):
            if count and not check.doubt and reasons[number] is None:
                counts[check.clause] += count
    return counts


@cache
def _kernel_of(protocol: str, clauses: frozenset[str]) -> tuple[Kernel, list[int]]:
    """The checks of these clauses, compiled, and their numbers among all."""
    plugin = load(protocol)
    numbers = [number for number, check in enumerate(plugin.checks) if check.clause in clauses]
    return Kernel([plugin.checks[number] for number in numbers], plugin.columns), numbers


def _fed(
    part: Part,
    checks: AnyKernel,
    batch_rows: int,
    *,
    measured: Measured | None = None,
    numbers: list[int] | None = None,
    reader: Executor | None = None,
    spread: Spread = map,
) -> Iterator[JudgedRun]:
    """Each run of the file. Batches are cut where runs end.

    numbers: the places of these checks among all checks, where some are left out; then violations are counted alone.
    reader: reads the next batch while one is judged. spread: judges a long piece.
    """
    measures = gauge(part.protocol) if measured is not None else None
    gauges = None
    if measures is not None:
        gauges = measures.kernel if isinstance(checks, Kernel) else measures.kernel.interpreted

    def prepare(network: KnownNetwork) -> Callable[[], AnyRun]:
        if numbers is None:
            return checks.prepared(network.around, network.limits, network.shown)
        around = {**network.around, "applies": np.take(network.around["applies"], numbers)}
        return checks.prepared(around, np.zeros(len(numbers), np.int64))

    # Where no violation is kept, only what is judged is read.
    names = schema(part.protocol).columns if numbers is None else tuple({*checks.columns, "kind", "node", "link"})
    batches, side_by_side = _ahead(read_batches(part, ("run", *names), batch_rows), reader), SideBySide(batch_rows)
    batch, at, left = {}, 0, 0
    for span in read_spans(part):
        place = _place(part, span)
        try:
            network = _network(span.header)
        except BadInput as error:
            raise BadInput(f"{place}: {error}") from None
        run, done, ended = network.run(checks, prepare), 0, False
        beside: list[Any] = [] if gauges is None else [network.run(gauges, lambda own: gauges.prepared(own.with_more))]
        kept: list[npt.NDArray[np.int64]] = []
        while done < span.rows:
            if not left:
                batch, at = next(batches), 0
                left = len(batch["kind"])
            take = min(left, span.rows - done)
            if (batch["run"][at : at + take] != span.header.run).any():
                raise BadInput(f"{place} is mixed with others, or not in the order of {part.runs_file}; make it again")
            piece = side_by_side({name: batch[name][at : at + take] for name in names})
            network.rules.refuse(piece, base=done, place=place)
            ended = refuse_rows_after_end(piece, ended=ended, place=place)
            # A short piece is judged sooner than it is handed over.
            found = run.feed(piece, *beside, spread=spread if take >= SPREAD_ROWS else map)
            if len(found):
                places = found[:, POSITION] - done
                kept.append(np.vstack((found.T, *(piece[name][places] for name in names))))
            at, left, done = at + take, left - take, done + take
        if measured is not None and measures is not None:
            measured.add_run(span.header, beside[0], measures)
        told = _by_check(kept)
        yield JudgedRun(part=part, span=span, network=network, held=run.held, counts=run.counts, told=told)


def _place(part: Part, span: RunSpan) -> str:
    return f"{part.events}: run {span.header.run}"


def _by_check(kept: list[npt.NDArray[np.int64]]) -> dict[int, Told]:
    """The violations of each check, in the order of rows."""
    if not kept:
        return {}
    together = np.hstack(kept)
    together = together[:, np.lexsort((together[POSITION], together[CHECK]))]
    numbers, starts = np.unique(together[CHECK], return_index=True)
    return dict(zip(numbers.tolist(), np.split(together, starts[1:], axis=1), strict=True))


def _ahead(batches: Iterator[Columns], reader: Executor | None) -> Iterator[Columns]:
    """The batches, each read while the one before it is judged, where there is who reads it."""
    if reader is None:
        yield from batches
        return
    coming = reader.submit(next, batches, None)
    while (batch := coming.result()) is not None:
        coming = reader.submit(next, batches, None)
        yield batch


def _network(header: Header) -> KnownNetwork:
    """Networks that differ in names alone share it: steps only read it, and routing costs more than a short run."""
    complete = tuple(sorted(header.complete.items()))
    unnamed = header.topology.unnamed
    key = (header.protocol, unnamed, tuple(sorted(header.parameters.items())), header.order, complete)
    known = _KNOWN.get(key)
    if known is None:
        if len(_KNOWN) == NETWORKS_KEPT:
            _KNOWN.clear()
        try:
            known = _KNOWN[key] = _looked_at(replace(header, topology=unnamed))
        except BadInput:
            known = _looked_at(header)  # which says why in the names of its nodes
    return known


def _looked_at(header: Header) -> KnownNetwork:
    plugin = load(header.protocol)
    around = plugin.surroundings(header)
    refuse_header(header)
    rules = row_rules(header.protocol, header.topology)
    return KnownNetwork(
        around=around,
        with_more=with_hops(around, header),
        rules=rules,
        limits=limits(header, MOST_KEPT),
        shown=shown_at(header),
        reasons=tuple(plugin.reasons(header)),
        prepared={},
    )


def is_interpreted(parts: Sequence[Part]) -> bool:
    """Whether plain Python judges these sooner: they have few rows, and not all that they need is compiled."""
    # In this order, as `is_warm` reads the headers of all runs.
    return sum(part.rows for part in parts) <= INTERPRETED_ROWS and not (parts and is_warm(parts))


def is_warm(parts: Sequence[Part]) -> bool:
    """Whether all that these runs put at stake has been compiled on this machine."""
    wanted = _wanted(parts, map)
    return all(piece.is_compiled for part, around in wanted for piece in part.parts if piece.applies(around))


def warm(parts: Sequence[Part], spread: Spread = map) -> None:
    """Compile here, once, what these runs put at stake, so that the tasks find it in the cache and do not all compile
    it. What is there is not loaded. spread: reads headers of many files."""
    measures = gauge(parts[0].protocol)
    kernels = [kernel(parts[0].protocol), *([] if measures is None else [measures.kernel])]
    if all(piece.is_compiled for compiled in kernels for piece in compiled.parts):
        return
    pieces = ((piece, around) for compiled, around in _wanted(parts, spread) for piece in compiled.parts)
    cold = {piece: around for piece, around in pieces if piece.applies(around) and not piece.is_compiled}
    compile_at_once(cold)
    for piece, around in cold.items():
        piece.compile(around)  # where no other process has


def at_stake(part: Part) -> list[Header]:
    """Of one file, a run of each set of parameters: they decide which checks apply. None of a file with a run that
    cannot be judged: judging says why."""
    plugin, found = load(part.protocol), dict[tuple[tuple[str, Parameter], ...], Header]()
    with suppress(BadInput):
        for header in (span.header for span in read_spans(part)):
            key = tuple(sorted(header.parameters.items()))
            if key not in found:
                plugin.parameters(header.parameters)
                _network(header)
                found[key] = header
        return list(found.values())
    return []


def _wanted(parts: Sequence[Part], spread: Spread) -> Iterable[tuple[Kernel, Surroundings]]:
    """The kernels that these runs need, each with surroundings: the one of the measures, and for the checks one for
    each new set of parts that apply."""
    plugin, measures = load(parts[0].protocol), gauge(parts[0].protocol)
    every, known = {check.part for check in plugin.checks}, set[str]()
    for header in chain.from_iterable(spread(at_stake, parts)):
        needed = {check.part for check in plugin.applicable(header)}
        if needed <= known:
            continue
        network = _network(header)
        if measures is not None and not known:
            yield measures.kernel, network.with_more
        yield kernel(plugin.name), network.around
        known |= needed
        if known == every:
            break
