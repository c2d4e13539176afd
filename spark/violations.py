"""The table of violations that a file's runs have."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from scatterproof.conformance.checks.online import Broken
from scatterproof.conformance.protocol import load
from scatterproof.conformance.verdict import ClauseResult
from scatterproof.conformance.wording import Told, sentences
from scatterproof.spark.judge_part import JudgedRun
from scatterproof.spec.storage import opened

VIOLATIONS = pa.schema(
    [
        ("clause", pa.string()),
        ("run", pa.int64()),
        ("position", pa.int64()),
        ("expected", pa.int64()),
        ("found", pa.int64()),
        ("witness", pa.int64()),
        ("sentence", pa.string()),
        ("replay", pa.string()),
    ]
)
_IN_ORDER = [("run", "ascending"), ("position", "ascending"), ("clause", "ascending")]


class Violations:
    """The table of violations, which grows by columns: an object for each would take as long as its sentence."""

    def __init__(self, protocol: str, corpus: str) -> None:
        self._protocol, self._checks = protocol, load(protocol).checks
        self._replay = f"scatterproof replay --corpus {shlex.quote(corpus)} --run"
        self._told: list[Told] = []
        self._clauses: list[str] = []
        self._runs: list[int] = []
        self._sentences: list[str] = []
        self._replays: list[str] = []

    def add(self, judged: JudgedRun, failed: Sequence[ClauseResult]) -> None:
        """failed: the results of the clauses that the run breaks."""
        names, header = {result.name for result in failed}, judged.span.header
        for number, told in judged.told.items():
            if number < len(self._checks) and (check := self._checks[number]).name in names:
                count = told.shape[1]
                self._told.append(told[: len(Broken._fields)])
                self._clauses += [check.clause] * count
                self._runs += [header.run] * count
                self._sentences += sentences(self._protocol, header, check, told)
                self._replays += [f"{self._replay} {header.run}"] * count

    def table(self) -> pa.Table:
        if not self._told:
            return pa.Table.from_batches([], VIOLATIONS)  # Arrow loads pandas to make columns from lists
        columns = dict(zip(Broken._fields, np.hstack(self._told).tolist(), strict=True))
        columns |= {"clause": self._clauses, "run": self._runs, "sentence": self._sentences, "replay": self._replays}
        return pa.table({name: columns[name] for name in VIOLATIONS.names}, schema=VIOLATIONS)


def read_violations(paths: Iterable[Path], most: int | None = None) -> pa.Table:
    """The violations that these results keep, by run, position and clause. most: only the first ones are read; then one
    result at a time is in memory."""
    tables = (pq.read_table(opened(path), schema=VIOLATIONS) for path in paths)
    if most is None:
        return pa.concat_tables([VIOLATIONS.empty_table(), *tables]).sort_by(_IN_ORDER)
    first = VIOLATIONS.empty_table()
    for table in tables:
        both = pa.concat_tables([first, table])
        first = both.take(pc.sort_indices(both, sort_keys=_IN_ORDER)[:most])
    return first
