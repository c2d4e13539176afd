"""Ports on the loopback address that nobody uses."""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Iterator, Set
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from random import SystemRandom

from scatterproof.spec.errors import CannotRun

Address = tuple[str, int]

LOOPBACK = "127.0.0.1"
# Below the range from which systems give ports to sockets that did not ask for one.
_FIRST, _LAST = 10_000, 32_000

_INODE = 9  # in a line of the system's table of sockets

_OWN = 256  # descriptors for everything else that this process does
_ENDLESS = 1 << 20


@contextmanager
def free_addresses(count: int) -> Iterator[list[Address]]:
    """Addresses for programs that will bind them. Programs take a while to start: the TCP ports of the same numbers are
    held until the end, so that no other run takes these ports meanwhile. Raises CannotRun when too few are free."""
    with ExitStack() as held:
        ports = (port for port in SystemRandom().sample(range(_FIRST, _LAST), _LAST - _FIRST) if _is_free(port, held))
        found = [(LOOPBACK, port) for port in islice(ports, count)]
        if len(found) < count:
            raise CannotRun(f"only {len(found)} of {count} UDP ports are free on this machine; stop what uses them")
        yield found


def _is_free(port: int, held: ExitStack) -> bool:
    """Whether no process has bound the port, or holds it for programs of its own; a free port is held from now on."""
    with ExitStack() as opened:
        try:
            opened.enter_context(socket.socket()).bind((LOOPBACK, port))
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as attempt:
                attempt.bind(("", port))  # programs may bind all interfaces
        except OSError:
            return False
        held.push(opened.pop_all())
    return True


def room_for(needed: int, wanted: int) -> int:
    """Let this process open `needed` descriptors beside those it has, and as many of the `wanted` ones as the system
    allows; returns how many of these. Raises CannotRun when not even the needed ones are allowed."""
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
    """How many datagrams the system dropped at these UDP ports, as they came faster than they were taken; None where it
    does not say (only Linux does)."""
    opened = _opened()
    return None if opened is None else sum(int(words[-1]) for port, words in opened if port in ports)


def opened(ports: Set[int]) -> Set[int] | None:
    """Which of these UDP ports some process has opened; None where the system does not say (only Linux does)."""
    opened = _opened()
    return None if opened is None else ports & {port for port, _ in opened}


def sends_from(port: int, process: int, mark: bytes) -> bool | None:
    """Whether the UDP socket with this port belongs to the process with this id, to one that it has started, or to one
    with the mark in its environment; None where the system does not tell: the socket is closed by now, or this is not
    Linux."""
    sockets = {f"socket:[{words[_INODE]}]" for other, words in _opened() or () if other == port}
    if not sockets:
        return None
    if _holds(Path(f"/proc/{process}"), sockets):
        return True
    holders = [each for each in Path("/proc").iterdir() if each.name.isdigit() and _holds(each, sockets)]
    return any(_bears(each, mark) or process in _ancestors(each) for each in holders)


def _opened() -> list[tuple[int, list[str]]] | None:
    """All UDP sockets: the port, and the words of its line in /proc/net; None where there is no such file."""
    found = []
    for table in ("udp", "udp6"):  # one that is bound to all addresses is often in the latter
        try:
            lines = Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        found += [(int(words[1].rpartition(":")[2], 16), words) for words in map(str.split, lines)]
    return found or None


def _holds(process: Path, sockets: Set[str]) -> bool:
    # A process that ends meanwhile, or belongs to somebody else, is none of ours.
    with suppress(OSError):
        return any(os.readlink(each) in sockets for each in (process / "fd").iterdir())
    return False


def _bears(process: Path, mark: bytes) -> bool:
    with suppress(OSError):
        return mark in (process / "environ").read_bytes()
    return False


def _ancestors(process: Path) -> Iterator[int]:
    with suppress(OSError):
        while process.name != "0":
            # The process's name, in parentheses, may contain anything.
            parent = (process / "stat").read_text(errors="replace").rpartition(")")[2].split()[1]
            yield int(parent)
            process = process.with_name(parent)
