"""Import: users' traces, captures and logs into the layout of corpora, in Spark tasks, a few sources a task.

Sources are read as streams: memory holds some thousand rows a task, and the gaps in the numbers of packets on links.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from scatterproof.conformance.protocol import load
from scatterproof.spark.importing.node_files import wire_of
from scatterproof.spark.importing.quarantine import Quarantine
from scatterproof.spark.importing.runs import Importing
from scatterproof.spark.importing.sources import Source, SourceKind, find_sources
from scatterproof.spark.jobs import OnProgress, run_tasks
from scatterproof.spark.layout import (
    MANIFEST,
    Manifest,
    RunEntry,
    events_path,
    folder_of,
    quarantine_path,
    runs_path,
    write_manifest,
)
from scatterproof.spark.mapping import Mapping, no_mapping, read_mapping
from scatterproof.spark.session import MASTER, session_on
from scatterproof.spark.unfinished import Unfinished, unfinished_folder
from scatterproof.spec.errors import BadInput
from scatterproof.spec.storage import reached
from scatterproof.spec.trace_writer import RunsWriter

# What one pair of files is made of: enough to be worth opening, little enough that tasks even out.
SOURCES_A_FILE = 64
BYTES_A_FILE = 256 << 20


class ImportResult(msgspec.Struct, frozen=True, kw_only=True):
    """What was read into the corpus at `path`.

    quarantined: how many rows could not be read; they are in the corpus's folder `quarantine`.
    reasons: how often each reason was given.
    without_run: sources that gave no run.
    skipped: how many lines and frames are of no event, by reason.
    passed_over: files that were not read.
    """

    path: str
    protocol: str
    sources: int
    files: int
    runs: int
    events: int
    quarantined: int
    reasons: dict[str, int]
    without_run: tuple[str, ...]
    skipped: dict[str, int]
    passed_over: tuple[str, ...]


class _Share(msgspec.Struct, frozen=True):
    """The sources of one pair of files; `file` is its number."""

    file: int
    sources: tuple[Source, ...]

    @property
    def bytes(self) -> int:
        return sum(source.bytes for source in self.sources)


class _Made(msgspec.Struct, frozen=True):
    entries: list[RunEntry]
    reasons: Counter[str]
    skipped: Counter[str]


def import_traces(
    protocol: str,
    given: Sequence[Path],
    out: Path,
    mapping_file: Path | None = None,
    master: str = MASTER,
    on_progress: OnProgress | None = None,
) -> ImportResult:
    """Read all sources into the folder `out`, as a corpus that `mine` takes.

    on_progress counts bytes. Raises BadInput for a mapping or source that cannot be used as a whole, and where two
    sources number a run alike; CannotRun without Java. Single rows are never a reason to stop: see `quarantine`.
    """
    load(protocol)
    given = [folder_of(path, "what is imported") for path in given]
    out = reached(out)
    mapping = no_mapping(protocol) if mapping_file is None else read_mapping(mapping_file, protocol)
    found = find_sources(given, mapping)
    if any(source.kind is SourceKind.CAPTURE for source in found.sources):
        wire_of(protocol)
    shares = _shared_out(found.sources)
    anew = uuid.uuid4().bytes  # there is nothing of such settings to go on with
    with (
        unfinished_folder(out.absolute(), MANIFEST, anew) as unfinished,
        session_on(master, unfinished.folder) as session,
    ):
        made = run_tasks(
            session,
            shares,
            partial(_make_part, unfinished, mapping),
            weights=[share.bytes for share in shares],
            on_progress=on_progress,
        )
        entries = [entry for part in made for entry in part.entries]
        _refuse_same_numbers(entries)
        reasons = sum((part.reasons for part in made), Counter[str]())
        if not entries:
            raise BadInput(f"{given[0]}: no run could be read; {_most(reasons)}")
        manifest = Manifest(
            protocol=protocol,
            seed=0,
            files=len({entry.file for entry in entries}),
            events=sum(entry.events for entry in entries),
            runs=tuple(entries),
        )
        write_manifest(unfinished.folder, manifest)
    read = {entry.source for entry in entries}
    return ImportResult(
        path=str(out),
        protocol=protocol,
        sources=len(found.sources),
        files=manifest.files,
        runs=len(entries),
        events=manifest.events,
        quarantined=reasons.total(),
        reasons=dict(reasons.most_common()),
        without_run=tuple(str(source.path) for source in found.sources if str(source.path) not in read),
        skipped=dict(sum((part.skipped for part in made), Counter[str]())),
        passed_over=tuple(map(str, found.passed_over)),
    )


def _shared_out(sources: Sequence[Source]) -> list[_Share]:
    parts: list[list[Source]] = [[]]
    size = 0
    for source in sources:
        if parts[-1] and (len(parts[-1]) == SOURCES_A_FILE or size + source.bytes > BYTES_A_FILE):
            parts.append([])
            size = 0
        parts[-1].append(source)
        size += source.bytes
    return [_Share(number, tuple(part)) for number, part in enumerate(parts)]


def _make_part(unfinished: Unfinished, mapping: Mapping, share: _Share) -> _Made:
    with unfinished.part() as folder:
        return _make_file(folder, mapping, share)


def _make_file(folder: Path, mapping: Mapping, share: _Share) -> _Made:
    """In a task: read the share's sources one after the other."""
    with (
        Quarantine(quarantine_path(folder, share.file)) as quarantine,
        RunsWriter(events_path(folder, share.file), runs_path(folder, share.file), mapping.protocol) as writer,
    ):
        importing = Importing(mapping, writer, quarantine, share.file)
        for source in share.sources:
            importing.take(source)
    return _Made(importing.entries, quarantine.reasons, importing.skipped)


def _refuse_same_numbers(entries: Sequence[RunEntry]) -> None:
    """Runs take their numbers from the sources' order, or from a column of theirs."""
    known: dict[int, RunEntry] = {}
    for entry in entries:
        other = known.setdefault(entry.run, entry)
        if other is not entry:
            raise BadInput(f"{entry.source}: run {entry.run} is in {other.source}, too; import them by themselves")


def _most(reasons: Counter[str]) -> str:
    return "; ".join(f"{count} times: {reason}" for reason, count in reasons.most_common(3))
