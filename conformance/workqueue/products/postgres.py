"""A PostgreSQL server for products with queues in PostgreSQL, on a Unix socket in a temporary folder."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.supervisor import Child, Limits, stop
from scatterproof.spec.errors import CannotRun

PLACES, ROLE, START_S = "/usr/lib/postgresql", "queue", 60.0
NEEDS = Needs(debian=("postgresql",))


def programs() -> Path | None:
    """The folder with the programs of PostgreSQL; None where it is not installed."""
    installed = sorted(Path(PLACES).glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    found = installed[-1] if installed else shutil.which("initdb")
    return Path(found).resolve().parent if found else None


class Postgres:
    """A server with a database for each run. Only its own user may read its folder."""

    def __init__(self, bin_folder: Path, folder: Path, kept: Path) -> None:
        """kept: the folder of the server's output."""
        self.folder, self._bin = folder, bin_folder
        user = _user()
        # PostgreSQL does not run as root.
        ahead = ["setpriv", f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups"]
        ahead = ahead if os.geteuid() == 0 else []
        shutil.chown(folder, user)
        words = ["--auth=trust", f"--username={ROLE}", "--no-sync", "--no-locale", "--encoding=UTF8"]
        self._run([*ahead, str(bin_folder / "initdb"), *words, f"--pgdata={folder / 'data'}"])
        given = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}", "-c", "fsync=off"]
        command = [*ahead, str(bin_folder / "postgres"), "-D", str(folder / "data"), *given]
        self._child = Child("postgres", command, kept, Limits(stop_s=10.0))
        self._wait(kept)

    def _wait(self, kept: Path) -> None:
        deadline = time.monotonic() + START_S
        ready = [str(self._bin / "pg_isready"), f"--host={self.folder}", "--quiet"]
        while subprocess.run(ready, check=False).returncode:
            if time.monotonic() > deadline or not self._child.is_running():
                self.end()
                raise CannotRun(f"PostgreSQL took no connection; see {kept / 'postgres.stderr'}")
            time.sleep(0.02)

    def database(self, name: str) -> str:
        """Create a database; returns the words to connect to it. Raises CannotRun where it cannot be created."""
        self._run([str(self._bin / "createdb"), f"--host={self.folder}", f"--username={ROLE}", name])
        return f"host={self.folder} user={ROLE} dbname={name}"

    def _run(self, words: Sequence[str]) -> None:
        done = subprocess.run(words, capture_output=True, text=True, cwd=self.folder, check=False)
        if done.returncode:
            raise CannotRun(f"{Path(words[0]).name}: {done.stderr.strip()}")

    def end(self) -> None:
        self._child.terminate()
        stop([self._child])


@contextmanager
def postgres(kept: Path) -> Iterator[Postgres]:
    """A server that runs until the context ends. Raises CannotRun where none can be started."""
    bin_folder = programs()
    if bin_folder is None:
        raise CannotRun(f"there is no PostgreSQL; {NEEDS.sentence()}")
    # The path of a socket must be short, and a folder of results may be deep.
    folder = Path(tempfile.mkdtemp(prefix="queue-"))
    try:
        made = Postgres(bin_folder, folder, kept)
        try:
            yield made
        finally:
            made.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _user() -> str:
    if os.geteuid() != 0:
        return getpass.getuser()
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"
