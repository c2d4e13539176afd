"""Ports on the loopback address that nobody uses."""

from __future__ import annotations

import resource
import socket
from collections.abc import Set
from contextlib import ExitStack
from pathlib import Path
from random import SystemRandom

from spec.errors import CannotRun

Address = tuple[str, int]

LOOPBACK = "127.0.0.1"
# Below the range from which systems give ports to sockets that did not ask for one.
_FIRST, _LAST = 10_000, 32_000

_OWN = 256  # descriptors for everything else that this process does
_ENDLESS = 1 << 20


def free_addresses(count: int) -> list[Address]:
    """Addresses for programs that will bind them; looked for at random, so that runs side by side seldom meet."""
    found: list[Address] = []
    with ExitStack() as held:
        for port in SystemRandom().sample(range(_FIRST, _LAST), _LAST - _FIRST):
            if len(found) == count:
                return found
            attempt = held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            try:
                attempt.bind(("", port))  # programs may bind all interfaces
            except OSError:
                continue
            found.append((LOOPBACK, port))
    raise CannotRun(f"only {len(found)} of {count} UDP ports are free on this machine; stop what uses them")


def room_for(needed: int, wanted: int) -> int:
    """Let this process open `needed` descriptors beside those it has, and as many of the `wanted` ones as the system
    allows: how many of these. Raises CannotRun when not even the needed ones are allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _ENDLESS if hard == resource.RLIM_INFINITY else hard
    if needed + _OWN > most:
        raise CannotRun(
            f"{needed + _OWN} open files are needed and {most} are allowed; use fewer processes or raise `ulimit -n`"
        )
    granted = min(wanted, most - needed - _OWN)
    if soft != resource.RLIM_INFINITY and soft < needed + granted + _OWN:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed + granted + _OWN, hard))
    return granted


def dropped_by_system(ports: Set[int]) -> int | None:
    """Datagrams that came to these UDP ports faster than they were taken, where the system tells (Linux)."""
    try:
        lines = Path("/proc/net/udp").read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return None
    words = [line.split() for line in lines]
    return sum(int(word[-1]) for word in words if int(word[1].rpartition(":")[2], 16) in ports)
