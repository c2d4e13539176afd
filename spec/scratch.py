"""Scratch folders that go with their process: a later process removes what a killed one has left.

Each is locked (flock) by the process that made it, and by those that it forks. The system lets go of the lock when the
last of them ends, however it does: so a folder with a lock on it is in use, whatever its process is called, and one
without is nobody's.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from scatterproof.spec.errors import CannotRun

PREFIX = "scatterproof-scratch-"


@contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """A new folder among the system's temporary ones, with `purpose` in its name; it is removed in the end. Raises
    CannotRun when it cannot be made."""
    parent = Path(tempfile.gettempdir())
    _sweep(parent)
    try:
        folder, lock = _make(parent, purpose)
    except OSError as error:
        raise CannotRun(f"{parent}: no scratch folder can be made: {error.strerror}; check the disk") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _make(parent: Path, purpose: str) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{purpose}-", dir=parent))
        # A sweep that comes between making it and locking it removes it.
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            with suppress(OSError):  # a file system without locks; nobody sweeps there
                fcntl.flock(lock, fcntl.LOCK_EX)
            if _is(folder, lock):
                return folder, lock
            os.close(lock)


@cache  # once in a process
def _sweep(parent: Path) -> None:
    """Remove the folders of ours, and of our user, that nobody uses any more."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):  # another user's, or another process sweeps, too
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(lock).st_uid == os.geteuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _is(folder: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(folder.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
