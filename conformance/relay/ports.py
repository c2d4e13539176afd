"""Ports on the loopback address that nobody uses."""

from __future__ import annotations

import resource
import socket
from contextlib import ExitStack, suppress
from random import SystemRandom

from spec.errors import CannotRun

Address = tuple[str, int]

LOOPBACK = "127.0.0.1"
# Below the range from which systems give ports to sockets that did not ask for one.
_FIRST, _LAST = 10_000, 32_000


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


def room_for(descriptors: int) -> None:
    """Let this process open that many descriptors beside those it has; CannotRun when the system forbids it."""
    wanted = descriptors + 256
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise CannotRun(
            f"{wanted} open files are needed and {hard} are allowed; use fewer processes or raise `ulimit -n`"
        )
    with suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
