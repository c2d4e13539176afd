"""What a protocol gives to `spark`: what its corpora draw, and what the benchmark compares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scatterproof.spec import plugins
from scatterproof.spec.errors import CannotRun

if TYPE_CHECKING:
    from scatterproof.spark.kinds import RunKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """Clauses as one would check them without this project. Both judges count violations by clause; they are given the
    files of events, and what the headers of the runs say as Parquet (`ci.mining`).

    clauses: those that all tools judge.
    damaged: the columns that are changed in some runs, so that there is something to find.
    by_duckdb: takes a connection first.
    """

    clauses: tuple[str, ...]
    damaged: tuple[str, ...]
    by_duckdb: Callable[[Any, Sequence[Path], Path, Path], Counter[str]]
    by_polars: Callable[[Sequence[Path], Path, Path], Counter[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkPlugin:
    """kinds: of runs; a corpus takes them in turn.
    compared: the names of those that the benchmark compares.
    benchmark: None where mining is compared with nothing.
    """

    kinds: tuple[RunKind, ...]
    compared: tuple[str, ...] = ()
    benchmark: Callable[[], Benchmark] | None = None


def load(protocol: str) -> SparkPlugin:
    """BadInput for an unknown protocol, CannotRun for one without corpora."""
    return plugins.load("spark", SparkPlugin, protocol, f"has no corpora yet; give it spark/{protocol}/plugin.py")


def benchmark_of(protocol: str) -> Benchmark:
    """The protocol's benchmark; CannotRun where it has none."""
    benchmark = load(protocol).benchmark
    if benchmark is None:
        raise CannotRun(f"protocol {protocol!r} has nothing that mining is compared with yet; choose another")
    return benchmark()


def kinds_of(protocol: str) -> tuple[RunKind, ...]:
    """BadInput for an unknown protocol, CannotRun for one without corpora."""
    return load(protocol).kinds


def compared(protocol: str) -> tuple[RunKind, ...]:
    """The kinds that the benchmark compares."""
    plugin = load(protocol)
    return tuple(kind for kind in plugin.kinds if kind.name in plugin.compared)
