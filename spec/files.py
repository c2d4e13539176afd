"""Reading and writing files so that a user never meets a half-written one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from spec.errors import BadInput, CannotRun


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
    """Where what is compiled once is kept: SCATTERPROOF_CACHE, else the user's cache folder."""
    chosen = os.environ.get("SCATTERPROOF_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(chosen) if chosen else Path(base) / "scatterproof"
