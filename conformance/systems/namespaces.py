"""A network namespace for each host, all on one bridge. It needs root and iproute2. Namespaces have this process's
number in their names; those made here are removed here, and nothing else is touched."""

from __future__ import annotations

import os
import shutil
import subprocess

from scatterproof.spec.errors import CannotRun

_NET = "10.99.7"
_SYSTEM_PATH = "/usr/sbin:/sbin"  # where these programs are, though not on everybody's PATH


def program(name: str, install: str) -> str:
    """The program's path. install: what to install for it. Raises CannotRun when it is not there."""
    found = shutil.which(name) or shutil.which(name, path=_SYSTEM_PATH)
    if found is None:
        raise CannotRun(f"there is no {name} on PATH; install {install}")
    return found


def refuse_without_root() -> None:
    """Raises CannotRun."""
    _program()
    if os.geteuid() != 0:
        raise CannotRun("network namespaces need root; run it as root")


class Namespaces:
    """Namespaces of hosts and their links."""

    def __init__(self, hosts: int) -> None:
        self._hosts = hosts
        self._made: list[str] = []
        self._bridge = f"sp{os.getpid()}-bridge"

    def address(self, host: int) -> str:
        return f"{_NET}.{host + 1}"

    def inside(self, host: int) -> list[str]:
        """How a command is started in the host's namespace."""
        return [_program(), "netns", "exec", f"sp{os.getpid()}-host{host}"]

    def start(self) -> None:
        self._make(self._bridge)
        _ip("-n", self._bridge, "link", "add", "bridge", "type", "bridge")
        _ip("-n", self._bridge, "link", "set", "bridge", "up")
        for host in range(self._hosts):
            name = self.inside(host)[-1]
            self._make(name)
            _ip("-n", self._bridge, *f"link add port{host} type veth peer name eth0 netns {name}".split())
            _ip("-n", self._bridge, *f"link set port{host} master bridge up".split())
            _ip("-n", name, "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
            for device in ("eth0", "lo"):
                _ip("-n", name, "link", "set", device, "up")
            _ip("-n", name, "route", "add", "224.0.0.0/4", "dev", "eth0")

    def turn(self, host: int, way: str) -> str:
        """Turn the host's link up or down, and say so."""
        _ip("-n", self._bridge, "link", "set", f"port{host}", way)
        return f"the link of host {host} went {way}"

    def end(self) -> None:
        for name in self._made:
            _ip("netns", "del", name)

    def _make(self, name: str) -> None:
        _ip("netns", "add", name)
        self._made.append(name)


def _program() -> str:
    return program("ip", "iproute2")


def _ip(*words: str) -> None:
    done = subprocess.run([_program(), *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotRun(f"`ip {' '.join(words)}` says: {done.stderr.strip()}; network namespaces need root and veth")
