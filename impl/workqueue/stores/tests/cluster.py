"""A PostgreSQL server of its own, in a temporary folder and on a Unix socket there, for tests and benchmarks."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import psycopg

from scatterproof.impl.workqueue.stores.access import Unavailable
from scatterproof.impl.workqueue.stores.tests.small_disk import SmallDisk, small_disk
from scatterproof.spec.errors import CannotRun

# Where Debian and its kin put what is not meant for every PATH.
PLACES = "/usr/lib/postgresql"
# What a store raises where its database refuses what no statement of ours would do.
SERVER_ERRORS = (Unavailable,)
READY = "database system is ready to accept connections"
ROLE = "queue"


def programs() -> Path | None:
    """The folder with the programs of PostgreSQL; None where it is not installed."""
    installed = sorted(Path(PLACES).glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    found = installed[-1] if installed else shutil.which("initdb")
    return Path(found).resolve().parent if found else None


def why_not() -> str | None:
    """Why no server can be started here; None where one can."""
    return None if programs() is not None else "PostgreSQL is not installed (there is no initdb)"


class Cluster:
    """One server with one database, and a schema for each queue. disk: where its data are; None for the machine's."""

    def __init__(
        self, folder: Path, bin_folder: Path, user: str, settings: Mapping[str, str], disk: SmallDisk | None
    ) -> None:
        self._folder, self._bin, self._user, self.disk = folder, bin_folder, user, disk
        self._settings = {"listen_addresses": "", "unix_socket_directories": str(folder), **settings}
        self._process: subprocess.Popen[str] | None = None
        self.session: dict[str, str] = {}  # settings of the sessions of queues
        self._schemas = count(1)
        self.log = folder / "log"

    def address(self, **options: str) -> str:
        """The address of the database; options are those of a session."""
        told = quote(" ".join(f"-c{name}={value}" for name, value in options.items()))
        return f"postgresql:///postgres?host={quote(str(self._folder), '')}&user={ROLE}&options={told}"

    def queue(self) -> str:
        """The address of a queue that nobody else has."""
        name = f"queue_{os.getpid()}_{next(self._schemas)}"
        with psycopg.connect(self.address(**self.session), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return self.address(search_path=name, **self.session)

    def make(self) -> None:
        # Where room is short its log is in small pieces, none of them kept, so that it needs another one soon.
        pieces = ["--wal-segsize=1"] if self.disk else []
        self._run("initdb", *pieces, "--auth=trust", f"--username={ROLE}", "--no-sync", "--no-instructions",
                  "--no-locale", "--encoding=UTF8", f"--pgdata={self._folder / 'data'}")  # fmt: skip

    def start(self) -> None:
        """Start the server; returns when it takes connections."""
        words = [str(self._bin / "postgres"), "-D", str(self._folder / "data")]
        for name, value in self._settings.items():
            words += ["-c", f"{name}={value}"]
        # The server ends with this process, however that ends.
        ending = [shutil.which("setpriv") or "", "--pdeathsig", "QUIT"] if shutil.which("setpriv") else []
        inside = self.disk.inside if self.disk else ()
        self._process = subprocess.Popen(
            [*inside, *ending, *words], stderr=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL, **_as(self._user)
        )
        stream = self._process.stderr
        assert stream is not None
        with self.log.open("a") as log:
            for line in stream:
                log.write(line)
                if READY in line:
                    break
            else:
                raise CannotRun(f"PostgreSQL did not start: {self.log.read_text()[-2000:]}")
        threading.Thread(target=_keep, args=(stream, self.log), daemon=True).start()

    @property
    def has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def crash(self) -> None:
        """End the server at once, without a checkpoint: it recovers from its log at the next start."""
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait()

    def end(self) -> None:
        """`crash` where it has not ended by itself."""
        if not self.has_ended:
            self.crash()

    def kill(self) -> None:
        """Kill all processes of the server with SIGKILL, whatever they are doing. `start` finds the memory that they
        shared free."""
        assert self._process is not None
        main = self._process.pid
        others = [int(word) for word in Path(f"/proc/{main}/task/{main}/children").read_text().split()]
        self._process.kill()
        self._process.wait()
        for process in others:  # one that is not among them ends by itself, as the main one is gone
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        while any(map(_is_running, others)):
            threading.Event().wait(0.001)

    def _run(self, program: str, *words: str) -> None:
        inside = self.disk.inside if self.disk else ()
        done = subprocess.run(
            [*inside, str(self._bin / program), *words],
            capture_output=True,
            text=True,
            cwd=self._folder,
            **_as(self._user),
        )
        if done.returncode:
            raise CannotRun(f"{program}: {done.stderr.strip()}")


@contextmanager
def cluster(disk_mb: int = 0, **settings: str) -> Iterator[Cluster]:
    """A server that runs while the context is entered. disk_mb: of a disk of its own, which can be full; 0 for none.
    settings: of its configuration. CannotRun where none can be."""
    found = programs()
    if found is None:
        raise CannotRun(why_not() or "")
    user = _user()
    # Not in pytest's folder, which is too deep for the name of a socket, and for nobody's eyes but one user's.
    folder = Path(tempfile.mkdtemp(prefix="queue-"))
    with ExitStack() as opened:
        opened.callback(shutil.rmtree, folder, ignore_errors=True)
        (folder / "data").mkdir(mode=0o700)
        for each in (folder, folder / "data"):
            shutil.chown(each, user)
        disk = opened.enter_context(small_disk(folder / "data", disk_mb, **_as(user))) if disk_mb else None
        short = {"wal_recycle": "off", "min_wal_size": "2MB", "max_wal_size": "4MB"} if disk else {}
        made = Cluster(folder, found, user, short | settings, disk)
        made.make()
        opened.callback(made.end)
        made.start()
        yield made


def _is_running(process: int) -> bool:
    try:
        told = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return told.rpartition(")")[2].split()[0] != "Z"


def _user() -> str:
    """PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return getpass.getuser()
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _as(user: str) -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}


def _keep(stream: IO[str], path: Path) -> None:
    with path.open("a") as log:
        for line in stream:
            log.write(line)
            log.flush()
