"""A disk of a few MB that can be full: a file system in memory, in name spaces of its own, for which nobody has to be
root."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scatterproof.spec.errors import CannotRun

# Root within, whoever it is outside: who may mount.
_MOUNTS = ("unshare", "--user", "--map-root-user", "--mount")
# And nobody's root again, as PostgreSQL asks for.
_NOT_ROOT = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
_BALLAST = "ballast"


class SmallDisk:
    """A folder's contents, for processes that are started with the words `inside` ahead of theirs. `keeper` is the
    process that keeps the name spaces; options: of it, and of all."""

    def __init__(self, folder: Path, keeper: int, options: Mapping[str, Any]) -> None:
        self._folder, self._options = folder, options
        self._entering = ("nsenter", "--user", "--mount", "--preserve-credentials", f"--target={keeper}")
        self.inside = (*self._entering, *_NOT_ROOT)

    def fill(self) -> None:
        """Leave no room, but for what is in files already."""
        self._run("cat /dev/zero > $0; test -s $0")

    def free(self) -> None:
        self._run("rm $0")

    def _run(self, script: str) -> None:
        words = [*self._entering, "sh", "-c", script, str(self._folder / _BALLAST)]
        subprocess.run(words, check=True, capture_output=True, **self._options)


def why_no_disk() -> str | None:
    """Why there can be none here; None where there can."""
    for program in ("unshare", "nsenter"):
        if shutil.which(program) is None:
            return f"there is no {program} (of util-linux)"
    tried = subprocess.run([*_MOUNTS, "true"], capture_output=True, text=True)
    return f"name spaces cannot be made: {tried.stderr.strip()}" if tried.returncode else None


@contextmanager
def small_disk(folder: Path, megabytes: int, **options: Any) -> Iterator[SmallDisk]:
    """At the folder, which is there, empty and its user's. options: of `Popen`, for who uses it. CannotRun where there
    can be none."""
    reason = why_no_disk()
    if reason is not None:
        raise CannotRun(reason)
    script = f"mount -t tmpfs -o size={megabytes}m,mode=700 tmpfs $0 && echo mounted && exec cat"
    words = [*_MOUNTS, "sh", "-c", script, str(folder)]
    # It ends when nobody holds the other end of what it reads, however we end.
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options) as keeper:
        try:
            if keeper.stdout is None or keeper.stdout.readline() != "mounted\n":
                raise CannotRun(f"no file system in memory can be mounted at {folder}")
            yield SmallDisk(folder, keeper.pid, options)
        finally:
            keeper.kill()
