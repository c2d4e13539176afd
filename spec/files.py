"""Reading and writing files so that a user never meets a half-written one."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.storage import Remote

# The folder that holds the package `scatterproof`: what an interpreter that is started anew has to look into. Not
# resolved: in a checkout this file is behind a link, and its own folder holds `spec`, which is no name to import.
IMPORTED_FROM = Path(__file__).absolute().parents[2]


def read_bytes(path: Path, what: str) -> bytes:
    """The file's contents; `what` names it in the error ("schedule", "trace")."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise BadInput(f"{path}: no such {what} file; give the path of an existing one") from None
    except IsADirectoryError:
        raise BadInput(f"{path}: is a folder, not a {what} file") from None
    except OSError as error:
        raise BadInput(f"{path}: the {what} file cannot be read: {error.strerror}") from None


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path`: readers see the old file or the whole new one, never a part."""
    if isinstance(path, Remote):
        path.write_whole(content)
        return
    import tempfile  # a fifth of what a node of a run would import, and it rarely writes

    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as handle:
            temporary = Path(handle.name)
            handle.write(content)
        # NamedTemporaryFile makes private files; give the mode that an ordinary new file would have.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise CannotRun(f"{path}: cannot be written: {error.strerror}; check the folder and the disk") from None


def cache_folder() -> Path:
    """The folder for compiled code that is loaded again: SCATTERPROOF_CACHE, else the user's cache folder. Where others
    could have put code there, a private folder takes its place, and that is said once. Raises CannotRun where there is
    no such folder."""
    chosen = os.environ.get("SCATTERPROOF_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return _private(Path(chosen) if chosen else Path(base) / "scatterproof")


@cache
def _private(folder: Path) -> Path:
    flaw = _open_to_others(folder)
    if flaw is None:
        return folder
    import tempfile

    own = Path(tempfile.gettempdir()) / f"scatterproof-{os.getuid()}"
    again = _open_to_others(own)
    if again is not None:
        raise CannotRun(f"{flaw}, and {again}; give SCATTERPROOF_CACHE a folder that is yours alone")
    sys.stderr.write(f"{flaw}: what is compiled is kept in {own} instead; give SCATTERPROOF_CACHE another folder\n")
    return own


def _open_to_others(folder: Path) -> str | None:
    """Who else could have put code into the folder, made here where there is none; None for nobody."""
    with suppress(OSError):  # whoever writes there says why
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        for place in (folder, *folder.glob("*/"), *folder.glob("*/__pycache__")):
            found = place.stat()
            if found.st_uid != os.getuid():
                return f"{place} belongs to another user (number {found.st_uid})"
            if found.st_mode & 0o022:
                return f"{place} is open to others to write to (mode {found.st_mode & 0o777:o})"
    return None
