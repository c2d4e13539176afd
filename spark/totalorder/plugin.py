"""Total order, as `spark` sees it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from scatterproof.spark.protocol import Benchmark, SparkPlugin
from scatterproof.spark.totalorder.parameters import KINDS


def _benchmark() -> Benchmark:
    from scatterproof.spark.totalorder.benchmark import CLAUSES, DAMAGED, by_duckdb

    return Benchmark(clauses=CLAUSES, damaged=DAMAGED, by_duckdb=by_duckdb, by_polars=_by_polars)


def _by_polars(events: Sequence[Path], runs: Path, nodes: Path) -> Counter[str]:
    from scatterproof.spark.totalorder.benchmark.frames import by_polars  # Polars need not be installed

    return by_polars(events, runs, nodes)


# The benchmark compares the same run over links without and with loss.
PLUGIN = SparkPlugin(kinds=KINDS, compared=("C", "D9"), benchmark=_benchmark)
