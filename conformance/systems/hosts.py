"""The hosts of a real system: a node program each, started and stopped here; and the logs that they write."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from scatterproof.conformance.supervisor import Child, ChildFailure, Limits, stop
from scatterproof.conformance.systems.history import read_events
from scatterproof.conformance.systems.setup import Setup
from scatterproof.conformance.systems.telling import SystemHistory
from scatterproof.spec.errors import CannotRun

START_S = 30.0
LONGEST_S = 120.0
LIMITS = Limits(answer_s=START_S, stop_s=5.0)
_LOOK_S = 0.02


class Hosts:
    """still_s: after this time without any log line, nothing more is expected."""

    def __init__(self, setup: Setup, folder: Path, still_s: float) -> None:
        self._setup, self._folder, self._still_s = setup, folder, still_s
        self._nodes: list[Child] = []
        self._gone: set[int] = set()
        self._notes: list[str] = []
        self.logs = [folder / f"host-{host}.ndjson" for host in range(setup.hosts)]

    @property
    def everything(self) -> int:
        """How many deliveries there are when every host delivers every message."""
        return self._setup.hosts**2 * self._setup.messages

    def start(self, commands: Sequence[Sequence[str]]) -> None:
        """Start a node program a host, and have all begin when all are ready. Raises CannotRun when one does not."""
        for host, command in enumerate(commands):
            self.logs[host].write_bytes(b"")
            self._nodes.append(Child(f"host-{host}", command, self._folder, LIMITS))
        for node in self._nodes:
            said = node.line()
            if said != b"ready":
                raise CannotRun(f"{node.name} {_words(said)}")
        for node in self._nodes:
            node.tell(b"go")

    def befall(self, befalls: Callable[[str], str]) -> bool:
        """Carry out the set-up's events, spread over the deliveries; then wait for the last delivery. befalls: carries
        out one event, and describes it in a sentence. Returns whether the run settled, or was cut."""
        events = self._setup.befalls
        for number, event in enumerate(events, 1):
            self._wait(self.everything * number // (len(events) + 1))
            self._notes.append(befalls(event))
        settled = self._wait(self.everything)
        if not settled:
            self._notes.append(f"the run was cut after {LONGEST_S:.0f} s, while messages still came")
        return settled

    def lose(self, host: int) -> None:
        """The host is expected to end."""
        self._gone.add(host)

    def kill(self, host: int) -> None:
        """End the host for good (SIGKILL)."""
        self.lose(host)
        self._nodes[host].reap()

    def history(self, settled: bool) -> SystemHistory:
        """What the logs tell; once the hosts have ended."""
        events = tuple(map(read_events, self.logs))
        if not self._setup.uniform:
            handed = [tuple(event for event in told if event.what == "handed") for told in events]
            events = tuple(handed[host] if host in self._gone else told for host, told in enumerate(events))
        return SystemHistory(events, self._setup.messages, settled, tuple(self._notes), tuple(sorted(self._gone)))

    def end(self) -> None:
        stop(self._nodes)

    def _wait(self, wanted: int) -> bool:
        """Wait for `wanted` deliveries, or until nothing more is expected; returns False after `LONGEST_S` seconds."""
        deadline = time.monotonic() + LONGEST_S
        size, since = -1, time.monotonic()
        while time.monotonic() < deadline:
            contents = [log.read_bytes() for log in self.logs]
            if sum(content.count(b'"delivered"') for content in contents) >= wanted:
                return True
            if (grown := sum(map(len, contents))) != size:
                size, since = grown, time.monotonic()
            if time.monotonic() - since > self._still_s:
                return True
            for host, node in enumerate(self._nodes):
                node.drain()
                if host not in self._gone and not node.is_running():
                    raise CannotRun(f"{node.name} {_words(node.line())}")
            time.sleep(_LOOK_S)
        return False


def _words(said: bytes | ChildFailure) -> str:
    return said.reason if isinstance(said, ChildFailure) else f"said {said!r}"
