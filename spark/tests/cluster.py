"""A standalone cluster of its own processes on loopback: a master, and workers with one core each.

The workers know nothing of this project: they start in folders of their own, with an environment that leads nowhere
near it. Everything is ended by its process id.
"""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pyspark

from scatterproof.spark.java_home import java_home_for_spark

SPARK_HOME = Path(pyspark.__file__).parent
WITHIN_S = 180  # only a machine that hangs takes so long
_QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_KEPT = ("PATH", "HOME", "LANG", "XDG_CACHE_HOME", "SCATTERPROOF_CACHE")  # HOME: the compiled checks are kept there


class Daemon:
    """One process of the cluster; `says` is the part that a pattern finds in what it writes, once it has."""

    def __init__(self, name: str, folder: Path, arguments: Sequence[str], says: str) -> None:
        self.folder = folder / name
        self.folder.mkdir()
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        environment |= {
            "JAVA_HOME": str(java_home_for_spark()),
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_CONF_DIR": str(self.folder),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": f"{_QUICK_START} -Dspark.master.rest.enabled=false",
        }
        self._process = subprocess.Popen(
            [SPARK_HOME / "bin" / "spark-class", *arguments],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._log: list[str] = []
        self._found: queue.Queue[str] = queue.Queue()
        self._says = re.compile(says)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._log.append(line)
            if (match := self._says.search(line)) is not None:
                self._found.put(match.group())
        self._found.put("")

    def says(self) -> str:
        found = self._found.get(timeout=WITHIN_S)
        assert found, f"{self.folder.name} ended: {''.join(self._log[-20:])}"
        return found

    def children(self) -> list[int]:
        return [pid for pid, parent in _processes() if parent == self.pid]

    def kill(self) -> None:
        """Kill it and all processes that it has started, with SIGKILL."""
        for pid in (self.pid, *self.children()):
            os.kill(pid, signal.SIGKILL)

    def kill_children(self) -> None:
        for pid in self.children():
            os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        try:
            self._process.terminate()
            self._process.wait(WITHIN_S)
        finally:
            self._process.kill()
            self._process.wait()
            self._reader.join()


class Cluster:
    """master: its address. workers: two of them, each of which starts an executor for a job."""

    def __init__(self, master: str, daemons: Sequence[Daemon]) -> None:
        self.master = master
        self._daemons = daemons

    def worker_of(self, folder: Path) -> Daemon:
        """The worker whose executor works in this folder."""
        (found,) = (daemon for daemon in self._daemons if folder.is_relative_to(daemon.folder))
        return found

    def listening(self) -> set[str]:
        """The addresses at which the processes of the cluster, executors too, take connections."""
        pids = {daemon.pid for daemon in self._daemons}
        pids |= {pid for pid, parent in _processes() if parent in pids}
        return {address for pid in pids for address in _listening(pid)}


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    with ExitStack() as stack:
        at = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        main = "org.apache.spark.deploy"
        master = Daemon("master", folder, [f"{main}.master.Master", *at], r"spark://127\.0\.0\.1:\d+")
        stack.callback(master.stop)
        address = master.says()
        workers = []
        for name in ("one", "two"):
            mine = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / name / "work"), address)
            workers.append(
                Daemon(name, folder, [f"{main}.worker.Worker", *at, *mine], "Successfully registered with master")
            )
            stack.callback(workers[-1].stop)
        for worker in workers:
            worker.says()
        yield Cluster(address, [master, *workers])


def _processes() -> Iterator[tuple[int, int]]:
    """Of every process, its id and that of its parent."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text(errors="replace")
        except OSError:  # it has ended
            continue
        yield int(path.parent.name), int(text.rpartition(")")[2].split()[1])


def _listening(pid: int) -> Iterator[str]:
    """The addresses of a process's listening TCP sockets, in the kernel's hexadecimal spelling; none of one that has
    ended."""
    sockets = set()
    try:
        links = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return
    for link in links:
        with suppress(OSError):  # it has been closed
            sockets.add(os.readlink(link))
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == "0A" and f"socket:[{rest[5]}]" in sockets:
                yield local.partition(":")[0]
