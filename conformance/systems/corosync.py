"""Corosync under test: a daemon in a network namespace for each host, all on one bridge, and a node program beside it.

It needs root, `corosync` with its library libcpg (the Debian package `corosync`), and iproute2.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from scatterproof.conformance.supervisor import Child, stop
from scatterproof.conformance.systems.hosts import LIMITS, Hosts
from scatterproof.conformance.systems.namespaces import Namespaces, program, refuse_without_root
from scatterproof.conformance.systems.setup import Setup
from scatterproof.conformance.systems.telling import SystemHistory
from scatterproof.spec.errors import CannotRun

LIBRARY = "libcpg.so.4"
TOKEN_MS = 1_000  # how long a daemon may be silent before the others go on without it
STILL_S = 12.0  # far above what the others then take
_NODE = Path(__file__).with_name("corosync_node.py")
# Every daemon would keep its state and its lock in the same places.
_OWN_FILES = (
    'mount -t tmpfs none /run && mkdir /run/corosync && mount -t tmpfs none /var/lib/corosync && exec "$0" -f -c "$1"'
)


def versions() -> str:
    """What is under test. Raises CannotRun when it cannot be here."""
    for name in ("corosync", "unshare"):
        _program(name)
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        raise CannotRun(f"there is no {LIBRARY}; install Debian's corosync") from None
    refuse_without_root()
    said = subprocess.run([_program("corosync"), "-v"], capture_output=True, text=True, check=False).stdout
    words = said.partition("'")[2].partition("'")[0]
    return f"corosync {words or 'of an unknown version'}"


def play(setup: Setup, folder: Path) -> SystemHistory:
    """Run the set-up to its end. Raises CannotRun when it cannot be started, or a host of it breaks."""
    versions()
    hosts, cluster = Hosts(setup, folder, STILL_S), _Cluster(setup.hosts, folder)

    def befalls(event: str) -> str:
        if event == "kill":
            hosts.lose(setup.hosts - 1)
        return cluster.befalls(event)

    try:
        cluster.start()
        words = [("group", host, setup.hosts, setup.messages, setup.pace_s, log) for host, log in enumerate(hosts.logs)]
        hosts.start(
            [
                [*cluster.network.inside(host), sys.executable, str(_NODE), *map(str, own)]
                for host, own in enumerate(words)
            ]
        )
        settled = hosts.befall(befalls)
    finally:
        hosts.end()
        cluster.end()
    return hosts.history(settled)


class _Cluster:
    """Daemons and their network. All events hit the last host."""

    def __init__(self, hosts: int, folder: Path) -> None:
        self._folder, self._hosts = folder, hosts
        self._daemons: list[Child] = []
        self.network = Namespaces(hosts)

    def start(self) -> None:
        self.network.start()
        config = self._folder.absolute() / "corosync.conf"
        config.write_text(_config([self.network.address(host) for host in range(self._hosts)]))
        for host in range(self._hosts):
            own = [_program("unshare"), "-m", "sh", "-c", _OWN_FILES, _program("corosync"), str(config)]
            self._daemons.append(Child(f"daemon-{host}", [*self.network.inside(host), *own], self._folder, LIMITS))

    def befalls(self, event: str) -> str:
        """kill: a daemon ends for good; part, join: its link goes down, and up again."""
        last = self._hosts - 1
        if event == "kill":
            self._daemons[last].reap()
            return f"the daemon of host {last} was killed"
        return self.network.turn(last, "down" if event == "part" else "up")

    def end(self) -> None:
        stop(self._daemons, patience_s=1.0)
        self.network.end()


def _program(name: str) -> str:
    return program(name, "Debian's corosync and iproute2")


def _config(addresses: Sequence[str]) -> str:
    nodes = "".join(
        f" node {{\n  ring0_addr: {address}\n  nodeid: {number}\n }}\n" for number, address in enumerate(addresses, 1)
    )
    return (
        f"totem {{\n version: 2\n cluster_name: scatterproof\n transport: udpu\n token: {TOKEN_MS}\n}}\n"
        f"nodelist {{\n{nodes}}}\n"
        "logging {\n to_stderr: yes\n to_syslog: no\n}\n"
        "system {\n sched_rr: no\n move_to_root_cgroup: no\n}\n"
    )
