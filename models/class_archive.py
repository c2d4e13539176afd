"""An archive of Java's and TLC's classes (class data sharing), so that a start of TLC takes a third less.

It is made once for each Java and jar, and kept in the user's cache folder. Java maps its contents unchecked: so the
folder must be our own, and nobody else may write there. TLC runs as well without one.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from scatterproof.spec.errors import CannotRun
from scatterproof.spec.files import cache_folder

_TIMEOUT_S = 120
# What the models use of TLC: the standard modules, a refinement, an invariant, fairness.
_MODULE = r"""---- MODULE Archive ----
EXTENDS Integers, Sequences, FiniteSets, TLC
VARIABLES steps, taken
Init == steps = <<>> /\ taken = [way \in {"up"} |-> {}]
Next == Len(steps) < 3 /\ steps' = Append(steps, 1) /\ taken' = [taken EXCEPT !["up"] = @ \cup {Len(steps)}]
Spec == Init /\ [][Next]_<<steps, taken>> /\ WF_<<steps, taken>>(Next)
Counted == Cardinality(taken["up"]) = Len(steps)
Rises == [][Len(steps') > Len(steps)]_steps
Ends == <>(Len(steps) = 3)
====
"""
_CONFIGURATION = "SPECIFICATION Spec\nINVARIANT Counted\nPROPERTIES Rises Ends\n"


def archive_flags(java: Path, jar: Path) -> tuple[str, ...]:
    """Java's options to use the archive; none where there is no archive. Java itself refuses one that does not fit."""
    path = _path(java, jar)
    try:
        own = path is not None and _ours(path.parent) and _ours(path)
    except OSError:
        own = False
    return (f"-XX:SharedArchiveFile={path}", "-Xlog:disable") if own else ()


def make_archive(java: Path, jar: Path) -> bool:
    """Make the archive where it is missing; returns whether there is one now. A failure costs only the time that it
    saves."""
    path = _path(java, jar)
    if path is None or archive_flags(java, jar):
        return path is not None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _ours(path.parent):
            return False
        with tempfile.TemporaryDirectory(prefix=".making-", dir=path.parent) as scratch:
            made = _make(java, jar, Path(scratch))
            if made is not None:
                made.replace(path)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return made is not None


def _make(java: Path, jar: Path, scratch: Path) -> Path | None:
    """List the classes that a small run loads, and archive them."""
    (scratch / "Archive.tla").write_text(_MODULE, encoding="ascii")
    (scratch / "Archive.cfg").write_text(_CONFIGURATION, encoding="ascii")
    classes, archive = scratch / "classes", scratch / "archive.jsa"
    tlc = [f"-Djava.io.tmpdir={scratch}", "-cp", str(jar), "tlc2.TLC", "-tool", "-deadlock", "-metadir", str(scratch)]
    for arguments in (
        [f"-XX:DumpLoadedClassList={classes}", *tlc, "Archive.tla"],
        ["-Xshare:dump", f"-XX:SharedClassListFile={classes}", f"-XX:SharedArchiveFile={archive}", "-cp", str(jar)],
    ):
        subprocess.run(
            [java, "-XX:+UseSerialGC", *arguments], cwd=scratch, capture_output=True, timeout=_TIMEOUT_S, check=False
        )
    return archive if archive.is_file() else None


def _ours(path: Path) -> bool:
    found = path.lstat()
    return found.st_uid == os.geteuid() and not stat.S_ISLNK(found.st_mode) and not found.st_mode & 0o022


@cache
def _path(java: Path, jar: Path) -> Path | None:
    """The path of the archive of this Java and jar, named by a digest of both; None where Java does not say its
    version."""
    try:
        version = subprocess.run([java, "-version"], capture_output=True, timeout=_TIMEOUT_S, check=True).stderr
        content = jar.read_bytes()
        folder = cache_folder() / "tlc"
    except (OSError, subprocess.SubprocessError, CannotRun):
        return None
    seen = jar.stat()
    digest = hashlib.sha256(version + content + f"{java.resolve()} {jar.absolute()} {seen.st_mtime_ns}".encode())
    return folder / f"{digest.hexdigest()[:24]}.jsa"
