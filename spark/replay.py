"""One run of a corpus by itself: the schedule that it was simulated from, or the rows that were imported."""

from __future__ import annotations

from pathlib import Path

from scatterproof.spark.configurations import draw_run
from scatterproof.spark.layout import RunEntry, events_path, read_manifest, runs_path
from scatterproof.spark.read import Part, read_batches, read_spans
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.trace import Trace, schema


def entry_of(corpus: Path, run: int) -> tuple[str, int, RunEntry]:
    """The corpus's protocol and seed, and what its manifest says of the run. BadInput when it says nothing."""
    manifest = read_manifest(corpus)
    for entry in manifest.runs:
        if entry.run == run:
            return manifest.protocol, manifest.seed, entry
    known = sorted(entry.run for entry in manifest.runs)
    raise BadInput(f"{corpus}: there is no run {run}; the runs are {known[0]} to {known[-1]}")


def schedule_of(corpus: Path, run: int) -> Schedule:
    """The schedule of a simulated run, drawn again; for a run with an altered row, that of the run without the change.
    BadInput where it is not what the manifest names: then another version has made the corpus."""
    protocol, seed, entry = entry_of(corpus, run)
    if entry.source:
        raise BadInput(f"{corpus}: run {run} was imported from {entry.source}; it has no schedule")
    drawn = draw_run(protocol, seed, run)
    schedule = drawn.schedule
    made = (schedule.seed, drawn.family, len(schedule.submissions), schedule.parameters)
    if made != (entry.seed, entry.family, entry.submissions, entry.parameters):
        raise BadInput(f"{corpus}: run {run} was drawn by another version; make the corpus again")
    return schedule


def trace_of(corpus: Path, run: int) -> Trace:
    """The rows of the run as the corpus has them; only these are kept in memory."""
    protocol, _, entry = entry_of(corpus, run)
    part = Part(
        events=events_path(corpus, entry.file),
        runs_file=runs_path(corpus, entry.file),
        protocol=protocol,
        rows=0,
        runs=0,
    )
    names = schema(protocol).columns
    (span,) = (span for span in read_spans(part) if span.header.run == run)
    trace, first = Trace(span.header, []), 0
    for columns in read_batches(part, names):
        count = len(columns["kind"])
        own = slice(max(0, span.first - first), max(0, span.first + span.rows - first))
        trace.rows += zip(*(columns[name][own].tolist() for name in names), strict=True)
        first += count
        if first >= span.first + span.rows:
            break
    return trace
