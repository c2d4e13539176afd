"""Where a corpus keeps what: its own folder, in which every file is whole."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from spec.core import Parameter
from spec.errors import BadInput, CannotRun
from spec.files import read_bytes
from spec.trace import Header

MANIFEST = "manifest.json"
MINED = "mined"
FORMAT = 1


class RunEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One run of the corpus, in small. seed: the schedule's. file: the number of the pair of files that hold it.

    planted: the name of the rules that the run's cores were given in place of the right ones, or nothing.
    kind: of run; empty in corpora that are older than kinds. faults, failures: how many the schedule has.
    source: the file or folder that the run was imported from, or nothing. quarantined: how many of its rows could not
    be read.
    """

    run: int
    seed: int
    family: str
    hosts: int
    switches: int
    links: int
    parameters: dict[str, Parameter]
    submissions: int
    events: int
    file: int
    planted: str = ""
    kind: str = ""
    faults: int = 0
    failures: int = 0
    source: str = ""
    quarantined: int = 0


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a corpus is made of; `seed` and `runs` make it again, unless they have sources: those were imported."""

    protocol: str
    seed: int
    files: int
    events: int
    runs: tuple[RunEntry, ...]
    format: int = FORMAT


def imported_entry(
    header: Header, *, events: int, file: int, kind: str, source: Path, submissions: int = 0, quarantined: int = 0
) -> RunEntry:
    """Of a run that was not made here: all that its header tells."""
    topology = header.topology
    return RunEntry(
        run=header.run,
        seed=header.seed,
        family="imported",
        hosts=len(topology.hosts()),
        switches=len(topology.switches()),
        links=len(topology.links),
        parameters=header.parameters,
        submissions=submissions,
        events=events,
        file=file,
        kind=kind,
        source=str(source),
        quarantined=quarantined,
    )


def events_path(corpus: Path, file: int) -> Path:
    return corpus / "events" / f"part-{file:05}.parquet"


def runs_path(corpus: Path, file: int) -> Path:
    return corpus / "runs" / f"part-{file:05}.parquet"


def quarantine_path(corpus: Path, file: int) -> Path:
    """Of an imported corpus: what could not be read of the sources of this file."""
    return corpus / "quarantine" / f"part-{file:05}.parquet"


def read_manifest(corpus: Path) -> Manifest:
    path = corpus / MANIFEST
    try:
        manifest = msgspec.json.decode(read_bytes(path, "manifest"), type=Manifest)
    except msgspec.DecodeError as error:
        raise BadInput(f"{path}: not a corpus manifest: {error}") from None
    if manifest.format != FORMAT:
        raise BadInput(f"{path}: format is {manifest.format}, this version reads {FORMAT}; make the corpus again")
    return manifest


@contextmanager
def replaced_folder(target: Path, mark: str) -> Iterator[Path]:
    """A new folder that takes the place of `target` when all has gone well, and vanishes otherwise.

    A folder that is there already is replaced when it holds a file `mark`, or nothing; else it is somebody's own.
    """
    if target.exists() and not (target.is_dir() and ((target / mark).is_file() or not any(target.iterdir()))):
        raise BadInput(f"{target}: exists, and is no folder with a {mark}; give a new folder, or remove it first")
    with _writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        fresh = scratch / "fresh"
        with _writing(target):
            fresh.mkdir()
        yield fresh
        with _writing(target):
            if target.exists():
                target.replace(scratch / "old")
            fresh.replace(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotRun(f"{target}: cannot be written: {error.strerror}; check the folder and the disk") from None
