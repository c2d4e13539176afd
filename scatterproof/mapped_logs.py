"""Logs and captures in somebody else's layout as one trace: what `import` reads, without a corpus and without Spark.

The folder holds them, and `mapping.toml`, which says what a line or a datagram is.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from scatterproof.conformance.protocol import load
from scatterproof.spark.importing.quarantine import Quarantine
from scatterproof.spark.importing.runs import Importing
from scatterproof.spark.importing.sources import find_sources
from scatterproof.spark.mapping import read_mapping
from scatterproof.spec.errors import BadInput
from scatterproof.spec.scratch import scratch_folder
from scatterproof.spec.trace import Trace
from scatterproof.spec.trace_parquet import read_runs
from scatterproof.spec.trace_writer import RunsWriter

MAPPING_FILE = "mapping.toml"
_TOLD = 3  # reasons of each sort


def read_mapped(folder: Path, protocol: str, unread: Path) -> Trace:
    """The one run in the folder. What cannot be read is kept in the table `unread`, counted in the notes, and leaves
    open the verdicts that it may touch. Raises BadInput for a mapping or a file that cannot be used as a whole, and for
    more than one run."""
    load(protocol)
    mapping = read_mapping(folder / MAPPING_FILE, protocol)
    files = [path for path in sorted(folder.iterdir()) if path.name != MAPPING_FILE]
    sources = find_sources([folder] if mapping.node is not None else files, mapping).sources
    if len(sources) != 1:
        raise BadInput(
            f"{folder}: holds {len(sources)} runs; keep one in a folder, tell nodes apart by [files] node in the "
            "mapping, or use `scatterproof import` and `mine`"
        )
    unread.parent.mkdir(parents=True, exist_ok=True)
    unread.unlink(missing_ok=True)
    with scratch_folder("logs") as scratch:
        events, runs = scratch / "events.parquet", scratch / "runs.parquet"
        with Quarantine(unread) as quarantine, RunsWriter(events, runs, protocol) as writer:
            importing = Importing(mapping, writer, quarantine, 0)
            importing.take(sources[0])
        traces = list(read_runs(events, runs))
    if len(traces) != 1:
        raise BadInput(f"{sources[0].path}: {len(traces)} runs could be read of it; keep one in a folder")
    (trace,) = traces
    notes = [f"{count} rows in {unread.name}: {why}" for why, count in quarantine.reasons.most_common(_TOLD)]
    notes += [f"{count} lines or frames are of no event: {why}" for why, count in importing.skipped.most_common(_TOLD)]
    trace.header = msgspec.structs.replace(trace.header, notes=(*notes, *trace.header.notes))
    return trace
