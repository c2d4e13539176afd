"""Starts commands so that all they start ends with them. A process of its own: whoever judges need not change for it.

Run as a script, on the standard library alone; `scatterproof.conformance.guarded` speaks to it. For each command the
keeper forks a guardian. Whatever has lost its parent falls to the guardian (a child subreaper of Linux), so that
forking twice, setsid and another environment are no way out. When the command has ended, or whoever asked for it, the
guardian kills what is left, and ends when nothing is.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
FILES = 3  # a command's stdin, stdout and stderr
_GIVES_UP_S = 60.0  # with what it may not kill


def confine(parent: int, file_bytes: int) -> Callable[[], None]:
    """What a child does before it becomes the command: it limits its files, and asks to die with its parent."""
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

    def confine_itself() -> None:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        most = file_bytes if hard == resource.RLIM_INFINITY else min(file_bytes, hard)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if prctl is not None:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os.kill(os.getpid(), signal.SIGKILL)  # the parent died in between

    return confine_itself


def _keep(control: socket.socket) -> None:
    """Fork a guardian for each byte that comes with a socket to it and the command's files; end when no more can."""
    _adopt_orphans()
    while True:
        byte, descriptors, _, _ = socket.recv_fds(control, 1, 1 + FILES)
        if not byte:
            break
        if os.fork() == 0:
            control.close()
            _guard(socket.socket(fileno=descriptors[0]), descriptors[1:])
            os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)
        with suppress(ChildProcessError):  # those that have ended
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    _end_all()


def _guard(lead: socket.socket, files: list[int]) -> None:
    """Start the command that comes as a line; then take signals for it, a byte each. Says when it has started, and how
    it has ended; ends when nothing is left of it."""
    with lead.makefile("rb") as lines:
        asked = json.loads(lines.readline() or "null")
    if asked is None:
        return  # whoever asked is gone
    woken, waker = socket.socketpair()
    waker.setblocking(False)
    signal.set_wakeup_fd(waker.fileno())
    signal.signal(signal.SIGCHLD, _ignore)
    _adopt_orphans()
    try:
        process = subprocess.Popen(
            asked["command"],
            stdin=files[0],
            stdout=files[1],
            stderr=files[2],
            cwd=asked["folder"],
            env=asked["environment"],
            start_new_session=True,
            preexec_fn=confine(os.getpid(), asked["file_bytes"]),
        )
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        _say(lead, "failed", error.strerror if isinstance(error, OSError) else str(error))
        return
    finally:
        for descriptor in files:
            os.close(descriptor)
    main = process.pid  # collected by `_end_all`
    _say(lead, "started", main)
    asked_to_end = False
    while (ended := _collect_others(main)) is None and not asked_to_end:
        ready, _, _ = select.select([lead, woken], [], [])
        if woken in ready:
            woken.recv(1 << 12)
        if lead in ready:
            numbers = lead.recv(1 << 12)
            asked_to_end = not numbers
            for number in numbers:
                os.killpg(main, number)
    if ended is not None:
        _say(lead, "ended", ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status)
        if asked["lingers"]:  # what it has started stays until whoever asked has looked
            while lead.recv(1 << 12):
                pass
    os.killpg(main, signal.SIGKILL)  # its id is its own, as it is not collected yet
    _end_all()


def _collect_others(main: int) -> os.waitid_result | None:
    """How `main` ended, or None. It is not collected, so that its id stays its own; what else has ended here is."""
    while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
        if ended.si_pid == main:
            return ended
        os.waitpid(ended.si_pid, 0)
    return None


def _end_all() -> None:
    """Kill all descendants, again and again, as they may fork meanwhile; and collect them."""
    deadline = time.monotonic() + _GIVES_UP_S
    pause = 0.0005
    while time.monotonic() < deadline:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for pid in _descendants():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(pause)
        pause = min(2 * pause, 0.02)


def _descendants() -> list[int]:
    """None where the system does not tell (it does on Linux)."""
    children = defaultdict(list)
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                    # The command's name, in parentheses, may hold anything.
                    children[int(file.read().rpartition(b")")[2].split()[1])].append(int(name))
    found = children[os.getpid()]
    for pid in found:
        found += children[pid]
    return found


def _say(lead: socket.socket, *words: object) -> None:
    with suppress(OSError):  # nobody listens any more
        lead.sendall(json.dumps(words).encode() + b"\n")


def _adopt_orphans() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _ignore(_number: int, _frame: object) -> None:
    """A handler, as commands would inherit SIG_IGN."""


if __name__ == "__main__":
    for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(_number, _ignore)  # it ends when whoever started it does
    _keep(socket.socket(fileno=0))
