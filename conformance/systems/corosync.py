"""Corosync under test: a daemon in a network namespace for each host, all on one bridge, and a node program beside it.

It needs root, `corosync` with its library libcpg (the Debian package `corosync`), and iproute2. Namespaces have this
process's number in their names; those made here are removed here, and nothing else is touched.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

from scatterproof.conformance.supervisor import Child, stop
from scatterproof.conformance.systems.hosts import LIMITS, Hosts
from scatterproof.conformance.systems.setup import Setup
from scatterproof.conformance.systems.telling import SystemHistory
from scatterproof.spec.errors import CannotRun

LIBRARY = "libcpg.so.4"
TOKEN_MS = 1_000  # how long a daemon may be silent before the others go on without it
STILL_S = 12.0  # far above what the others then take
_NET = "10.99.7"
_NODE = Path(__file__).with_name("corosync_node.py")
# Every daemon would keep its state and its lock in the same places.
_OWN_FILES = (
    'mount -t tmpfs none /run && mkdir /run/corosync && mount -t tmpfs none /var/lib/corosync && exec "$0" -f -c "$1"'
)
_SYSTEM_PATH = "/usr/sbin:/sbin"  # where these programs are, though not on everybody's PATH


def versions() -> str:
    """What is under test. Raises CannotRun when it cannot be here."""
    for name in ("corosync", "ip", "unshare"):
        _program(name)
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        raise CannotRun(f"there is no {LIBRARY}; install Debian's corosync") from None
    if os.geteuid() != 0:
        raise CannotRun("network namespaces need root; run it as root")
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
            [[*cluster.inside(host), sys.executable, str(_NODE), *map(str, own)] for host, own in enumerate(words)]
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
        self._made: list[str] = []
        self._bridge = f"sp{os.getpid()}-bridge"

    def inside(self, host: int) -> list[str]:
        """How a command is started in the host's namespace."""
        return [_program("ip"), "netns", "exec", f"sp{os.getpid()}-host{host}"]

    def start(self) -> None:
        self._make(self._bridge)
        _ip("-n", self._bridge, "link", "add", "bridge", "type", "bridge")
        _ip("-n", self._bridge, "link", "set", "bridge", "up")
        for host in range(self._hosts):
            name = self.inside(host)[-1]
            self._make(name)
            _ip("-n", self._bridge, *f"link add port{host} type veth peer name eth0 netns {name}".split())
            _ip("-n", self._bridge, *f"link set port{host} master bridge up".split())
            _ip("-n", name, "addr", "add", f"{_NET}.{host + 1}/24", "dev", "eth0")
            for device in ("eth0", "lo"):
                _ip("-n", name, "link", "set", device, "up")
        config = self._folder.absolute() / "corosync.conf"
        config.write_text(_config(self._hosts))
        for host in range(self._hosts):
            own = [_program("unshare"), "-m", "sh", "-c", _OWN_FILES, _program("corosync"), str(config)]
            self._daemons.append(Child(f"daemon-{host}", [*self.inside(host), *own], self._folder, LIMITS))

    def befalls(self, event: str) -> str:
        """kill: a daemon ends for good; part, join: its link goes down, and up again."""
        last = self._hosts - 1
        if event == "kill":
            self._daemons[last].reap()
            return f"the daemon of host {last} was killed"
        way = "down" if event == "part" else "up"
        _ip("-n", self._bridge, "link", "set", f"port{last}", way)
        return f"the link of host {last} went {way}"

    def end(self) -> None:
        stop(self._daemons, patience_s=1.0)
        for name in self._made:
            _ip("netns", "del", name)

    def _make(self, name: str) -> None:
        _ip("netns", "add", name)
        self._made.append(name)


def _program(name: str) -> str:
    """The program's path. Raises CannotRun when it is not installed."""
    found = shutil.which(name) or shutil.which(name, path=_SYSTEM_PATH)
    if found is None:
        raise CannotRun(f"there is no {name} on PATH; install Debian's corosync and iproute2")
    return found


def _config(hosts: int) -> str:
    nodes = "".join(f" node {{\n  ring0_addr: {_NET}.{host + 1}\n  nodeid: {host + 1}\n }}\n" for host in range(hosts))
    return (
        f"totem {{\n version: 2\n cluster_name: scatterproof\n transport: udpu\n token: {TOKEN_MS}\n}}\n"
        f"nodelist {{\n{nodes}}}\n"
        "logging {\n to_stderr: yes\n to_syslog: no\n}\n"
        "system {\n sched_rr: no\n move_to_root_cgroup: no\n}\n"
    )


def _ip(*words: str) -> None:
    done = subprocess.run([_program("ip"), *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotRun(f"`ip {' '.join(words)}` says: {done.stderr.strip()}; network namespaces need root and veth")
