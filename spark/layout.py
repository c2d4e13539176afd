"""The layout of a corpus: a folder of its own, in which every file is whole."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.files import read_bytes, write_atomically
from scatterproof.spec.storage import Remote, place_of
from scatterproof.spec.trace import Header

MANIFEST = "manifest.json"
MINED = "mined"
UNFINISHED = "unfinished"
FORMAT = 1
ROW = "row/"  # begins the name of a planting that is one altered row, and no mutant


class Expected(msgspec.Struct, frozen=True):
    """What mining must find in a planted run: a clause, how many rows break it, and the position of the first."""

    clause: str
    rows: int
    first: int


class Planting(msgspec.Struct, frozen=True):
    """What was planted, and how the runs for it were found.

    runs: how many have it.
    tried: how many were made in the search.
    unchanged, harmless: how many of these it left as they were, and in how many it broke nothing.
    unfit: how many of these were too long for the oracles, or cut short.
    """

    name: str
    runs: int
    tried: int
    unchanged: int
    harmless: int
    unfit: int


class RunEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One run of the corpus, as the manifest lists it.

    seed: the schedule's.
    file: the number of the pair of files that hold it.
    planted: the mutant that takes the place of the run's cores, by name, or nothing; with a name that begins with ROW,
        the cores are right, and one row is altered.
    expected: what breaks in a planted run, by the oracles; nothing where they were not asked.
    kind: of run; empty in corpora older than kinds.
    faults, failures: how many the schedule has.
    source: the file or folder that the run was imported from, or nothing.
    quarantined: how many of its rows could not be read.
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
    expected: tuple[Expected, ...] = ()

    @property
    def altered(self) -> bool:
        """Whether a row was altered, so that no cores gave these rows."""
        return self.planted.startswith(ROW)


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a corpus is made of; `seed` and `runs` make it again, unless they have sources: those were imported.

    With 35,000 runs it is 15 MB, and read in a third of a second.
    """

    protocol: str
    seed: int
    files: int
    events: int
    runs: tuple[RunEntry, ...]
    format: int = FORMAT
    plantings: tuple[Planting, ...] = ()


_Kind = TypeVar("_Kind", "Manifest", "_Listing")


class RunClass(NamedTuple):
    """What a report tells runs apart by: parts of their entries.

    faults, failures: whether the schedule has some.
    imported: whether the run has a source.
    parameters: a JSON object.
    """

    kind: str
    family: str
    faults: bool
    failures: bool
    imported: bool
    parameters: bytes


class _Listed(msgspec.Struct):
    run: int
    family: str
    parameters: msgspec.Raw
    kind: str = ""
    faults: int = 0
    failures: int = 0
    source: str = ""


class _Listing(msgspec.Struct):
    runs: tuple[_Listed, ...]
    format: int


def entry_of_header(
    header: Header,
    *,
    events: int,
    source: Path,
    file: int = 0,
    family: str = "imported",
    kind: str = "",
    submissions: int = 0,
    quarantined: int = 0,
) -> RunEntry:
    """The entry of a run that no manifest of ours lists, from its header."""
    topology = header.topology
    return RunEntry(
        run=header.run,
        seed=header.seed,
        family=family,
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


def is_corpus(path: Path) -> bool:
    """Whether the folder has the layout that `mine` reads as it is."""
    return (path / "events").is_dir() and (path / "runs").is_dir()


def events_path(corpus: Path, file: int) -> Path:
    return corpus / "events" / f"part-{file:05}.parquet"


def runs_path(corpus: Path, file: int) -> Path:
    return corpus / "runs" / f"part-{file:05}.parquet"


def quarantine_path(corpus: Path, file: int) -> Path:
    """Of an imported corpus: what could not be read of the sources of this file."""
    return corpus / "quarantine" / f"part-{file:05}.parquet"


def write_manifest(corpus: Path, manifest: Manifest) -> None:
    write_atomically(corpus / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")


def read_manifest(corpus: Path) -> Manifest:
    return _read(corpus, Manifest)


def classes_listed(corpus: Path) -> dict[int, RunClass]:
    """By run, what its manifest says. Runs that are alike share an object: a corpus may have 100,000 of them."""
    known: dict[RunClass, RunClass] = {}
    found: dict[int, RunClass] = {}
    for one in _read(corpus, _Listing).runs:
        own = RunClass(one.kind, one.family, one.faults > 0, one.failures > 0, bool(one.source), bytes(one.parameters))
        found[one.run] = known.setdefault(own, own)
    with _told_of_manifest(corpus / MANIFEST):
        for parameters in {own.parameters for own in known}:
            msgspec.json.decode(parameters, type=dict[str, Parameter])
    return found


def _read(corpus: Path, kind: type[_Kind]) -> _Kind:
    path = corpus / MANIFEST
    with _told_of_manifest(path):
        manifest = msgspec.json.decode(read_bytes(path, "manifest"), type=kind)
    if manifest.format != FORMAT:
        raise BadInput(f"{path}: format is {manifest.format}, this version reads {FORMAT}; make the corpus again")
    return manifest


@contextmanager
def _told_of_manifest(path: Path) -> Iterator[None]:
    try:
        yield
    except msgspec.DecodeError as error:
        raise BadInput(f"{path}: not a corpus manifest: {error}") from None


def folder_of(path: Path, what: str) -> Path:
    """The path of a folder here, as `place_of` reads it; BadInput for another address. what: for what it is asked."""
    place = place_of(path)
    if isinstance(place, Remote):
        raise BadInput(f"{place}: {what} takes no address; give the path of a folder that is mounted here")
    return place


def refuse_foreign(target: Path, mark: str) -> None:
    """BadInput when `target` exists and is neither an empty folder nor one with a file `mark`: it is somebody's own."""
    if target.exists() and not (target.is_dir() and ((target / mark).is_file() or not any(target.iterdir()))):
        raise BadInput(f"{target}: exists, and is no folder with a {mark}; give a new folder, or remove it first")


@contextmanager
def replaced_folder(target: Path, mark: str) -> Iterator[Path]:
    """A new folder that takes the place of `target` when all has gone well, and vanishes otherwise.

    A folder that is there already is replaced when it holds a file `mark`, or nothing; else it is somebody's own.
    """
    refuse_foreign(target, mark)
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        fresh = scratch / "fresh"
        with writing(target):
            fresh.mkdir()
        yield fresh
        with writing(target):
            if target.exists():
                target.replace(scratch / "old")
            fresh.replace(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def writing(target: Path) -> Iterator[None]:
    """Turns an OSError within into a CannotRun that names `target`."""
    try:
        yield
    except OSError as error:
        raise CannotRun(f"{target}: cannot be written: {error.strerror}; check the folder and the disk") from None
