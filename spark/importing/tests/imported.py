"""Importing without Spark, for tests: what one task does."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from scatterproof.conformance.judge import judge_compiled
from scatterproof.conformance.verdict import Verdict
from scatterproof.spark.importing.import_traces import _Made, _make_file, _Share
from scatterproof.spark.importing.sources import find_sources
from scatterproof.spark.layout import RunEntry, events_path, quarantine_path, runs_path
from scatterproof.spark.mapping import no_mapping, read_mapping
from scatterproof.spec.trace import Trace
from scatterproof.spec.trace_parquet import read_runs


class Imported(NamedTuple):
    """traces: by run. quarantined: the table's rows."""

    traces: dict[int, Trace]
    quarantined: list[dict[str, Any]]
    entries: list[RunEntry]
    made: _Made


def imported(folder: Path, protocol: str, *given: Path, mapping: str | None = None) -> Imported:
    """What one task makes of the sources, in the folder `folder / "out"`. mapping: its text."""
    folder.mkdir(exist_ok=True)
    chosen = no_mapping(protocol)
    if mapping is not None:
        (folder / "mapping.toml").write_text(mapping)
        chosen = read_mapping(folder / "mapping.toml", protocol)
    out = folder / "out"
    (out / "events").mkdir(parents=True)
    made = _make_file(out, chosen, _Share(0, find_sources(given, chosen).sources))
    traces = {}
    if made.entries:
        traces = {trace.header.run: trace for trace in read_runs(events_path(out, 0), runs_path(out, 0))}
    table = quarantine_path(out, 0)
    quarantined = pq.read_table(table).to_pylist() if table.exists() else []
    return Imported(traces, quarantined, made.entries, made)


def inconclusive(trace: Trace) -> dict[str, str]:
    """The reasons for clauses that apply and are neither passed nor failed."""
    return {one.clause: one.reason for one in judge_compiled(trace) if one.verdict is Verdict.INCONCLUSIVE}


def failed(trace: Trace) -> set[str]:
    return {one.clause for one in judge_compiled(trace) if one.verdict is Verdict.FAIL}
