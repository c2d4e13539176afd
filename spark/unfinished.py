"""A folder that takes long to make, and outlives the process that makes it: after a kill, what was finished is used.

Until it is whole it lies beside its place, as `.NAME.unfinished`, under a digest of the settings that it is made by.
So work of other settings is never mixed in, not even by a task that goes on for a while after its driver was killed.

At an address nothing can be moved or locked. There the files are put in their place at once, with a folder `unfinished`
beside them that is removed last of all: as long as it is there, no reader takes the rest for whole.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scatterproof.spark.layout import UNFINISHED, refuse_foreign, writing
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.storage import Remote, written_to

_LOCK = "lock"
_BEGUN, _CLEARED = "begun", "cleared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """folder: what takes its place in the end.
    notes: a folder for what must be known to go on, and for nothing else; a file there says that a part is finished.
    goes_on: whether an earlier command with the same settings left something there.
    others: whether one with other settings did, which is gone now.
    """

    folder: Path
    notes: Path
    goes_on: bool
    others: bool

    @contextmanager
    def part(self) -> Iterator[Path]:
        """In a task: a folder here for the files of one part, which come into `folder` when all has gone well.
        CannotRun where another command has begun at the same address meanwhile: what a killed one left at work ends so.
        """
        with written_to(self.folder) as here:
            yield here
            if isinstance(self.notes, Remote) and not (self.notes / _BEGUN).exists():
                raise CannotRun(f"{self.folder}: another command has begun there; run one at a time")


@contextmanager
def unfinished_folder(target: Path, mark: str, settings: bytes) -> Iterator[Unfinished]:
    """The folder that takes the place of `target` when all has gone well, and waits for the next command otherwise.

    A folder that is there already is replaced when it holds a file `mark`, or nothing. Raises BadInput where it is
    somebody's own, and CannotRun while another process makes the same folder.
    """
    if isinstance(target, Remote):
        yield from _unfinished_address(target, mark, settings)
        return
    refuse_foreign(target, mark)
    beside = target.parent / f".{target.name}.unfinished"
    with _locked(beside, target):
        with writing(target):
            work = beside / hashlib.blake2b(settings, digest_size=8).hexdigest()
            others = [path for path in beside.iterdir() if path not in (work, beside / _LOCK)]
            for path in others:
                shutil.rmtree(path)
            notes, folder = work / "notes", work / "folder"
            notes.mkdir(parents=True, exist_ok=True)
            folder.mkdir(exist_ok=True)
            goes_on = any(notes.iterdir())
            _remove_halves(work)
        whole = False
        try:
            yield Unfinished(folder=folder, notes=notes, goes_on=goes_on, others=bool(others))
            whole = True
        finally:
            if not whole and not any(notes.iterdir()):
                shutil.rmtree(beside, ignore_errors=True)  # nothing to go on with
        with writing(target):
            _remove_halves(work)
            if target.exists():
                shutil.rmtree(work / "replaced", ignore_errors=True)
                target.replace(work / "replaced")
            folder.replace(target)
            shutil.rmtree(beside)


def _unfinished_address(target: Remote, mark: str, settings: bytes) -> Iterator[Unfinished]:
    """As `unfinished_folder`, without a lock: of two commands at once, the one that began first ends with CannotRun."""
    beside = target / UNFINISHED
    if not beside.is_dir():
        refuse_foreign(target, mark)
    notes = beside / hashlib.blake2b(settings, digest_size=8).hexdigest()
    others = [path for path in beside.iterdir() if path != notes]
    begun, cleared = notes / _BEGUN, notes / _CLEARED
    if others or not cleared.exists():
        # In this order: whoever is killed within it, no command ever goes on with files that it has not made.
        for path in others:
            (path / _CLEARED).unlink(missing_ok=True)
        cleared.unlink(missing_ok=True)
        begun.write_whole(settings)
        for path in (*others, *notes.iterdir(), *target.iterdir()):
            if path not in (begun, beside):
                path.remove()
        cleared.write_whole(b"")

    def has_notes() -> bool:
        return any(path not in (begun, cleared) for path in notes.iterdir())

    whole = False
    try:
        yield Unfinished(folder=target, notes=notes, goes_on=has_notes(), others=bool(others))
        whole = True
    finally:
        if not whole and begun.exists() and not has_notes():
            beside.remove()  # nothing to go on with
    if not begun.exists():
        raise CannotRun(f"{target}: another command has begun there; run one at a time")
    beside.remove()


def _remove_halves(work: Path) -> None:
    """Files that are being written have names that begin with a dot; so have those that a killed process left."""
    for path in sorted(work.rglob(".*"), reverse=True):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)  # what an orphaned task still writes to stays: nobody reads it
        else:
            path.unlink(missing_ok=True)


@contextmanager
def _locked(beside: Path, target: Path) -> Iterator[None]:
    """Hold the lock, which ends with the process that holds it, however that ends. CannotRun while another one holds
    it."""
    while True:
        with writing(target):
            beside.mkdir(parents=True, exist_ok=True)
            lock = os.open(beside / _LOCK, os.O_CREAT | os.O_RDWR, 0o666)
        try:
            with writing(target):
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise CannotRun(
                        f"{target}: another command is making it; wait until that has ended, or give another folder"
                    ) from None
            if not _is_there(lock, beside / _LOCK):
                continue  # its holder has just finished, and removed it
            yield
            return
        finally:
            os.close(lock)


def _is_there(opened: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(opened), path.stat())
    except FileNotFoundError:
        return False
