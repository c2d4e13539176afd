"""What mining finds in a corpus: the result that reports, commands and callers read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow as pa

from scatterproof.conformance.verdict import Verdict
from scatterproof.spark.coverage import Coverage
from scatterproof.spark.found import is_result
from scatterproof.spark.incremental import VIOLATIONS_FOLDER
from scatterproof.spark.layout import MINED
from scatterproof.spark.measured import Histogram
from scatterproof.spark.violations import read_violations
from scatterproof.spec.storage import place_of


class ClauseSummary(msgspec.Struct, frozen=True):
    """One clause over all runs.

    verdict: fail when a run fails, else pass when a run passes, else what the runs say.
    runs: how many runs gave which verdict.
    held and broken: at how many rows the clause was at stake and held, or was broken.
    reason: that of the first run without a say, when there is no run with one.
    """

    clause: str
    name: str
    verdict: Verdict
    runs: dict[Verdict, int]
    held: int
    broken: int
    reason: str = ""


class MineResult(msgspec.Struct, frozen=True):
    """What was found in the corpus at `path`; the violations themselves are in its folder `mined/violations`.

    violations: all that are counted; of a clause in a run, the table has the first MOST_KEPT.
    quarantined: rows that import could not read; the runs that they belong to are inconclusive where they matter.
    left_out: why files that are there do not count, a sentence each.
    histograms, coverage: what else the runs show; of a protocol that measures nothing, no histograms and no actions.
    """

    path: str
    protocol: str
    files: int
    runs: int
    events: int
    violations: int
    clauses: tuple[ClauseSummary, ...]
    quarantined: int = 0
    left_out: tuple[str, ...] = ()
    histograms: tuple[Histogram, ...] = ()
    coverage: Coverage | None = None

    @property
    def holds(self) -> bool:
        return self.violations == 0

    def table(self) -> pa.Table:
        """The violations: clause, run, position, expected, found, witness, sentence, and the command that replays the
        run alone; by run, position and clause."""
        return read_violations(self.results())

    def results(self) -> Iterator[Path]:
        """The files that hold this table; all of a run is in one."""
        files = sorted((place_of(self.path) / MINED / VIOLATIONS_FOLDER).glob("*.parquet"))
        return (path for path in files if is_result(path))
