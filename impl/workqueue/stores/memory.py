"""The store in memory, for tests and for one process: the access interface as plainly as it can be said.

Selection looks at every group, as figure 3 of the source has it; the SQL stores, which keep an index instead, are held
equal to this one by a property test.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from threading import Lock

from scatterproof.impl.workqueue.stores.access import (
    Cleaned,
    Contents,
    Group,
    Message,
    Opened,
    SetAside,
    check_group,
    refused,
)


class Locked(Enum):
    """Which lock is on a group."""

    NOT = auto()
    SENDING = auto()
    RECEIVING = auto()


@dataclass(slots=True)
class Entry:
    """A group in the store. messages: those that were not popped, by id. tries: of them, how often each was read.
    used_ns: when its lock was last used."""

    group: int
    type: int
    priority: int
    correlation: str
    server: str
    used_ns: int
    locked: Locked = Locked.SENDING
    token: int = 1
    last_message: int = 0
    group_retries: int = 0
    messages: dict[int, bytes] = field(default_factory=dict)
    tries: dict[int, int] = field(default_factory=dict)


def heads(entries: Iterable[Entry]) -> dict[str, Entry]:
    """The first group of each correlation; entries are in the order of their opens."""
    first: dict[str, Entry] = {}
    for entry in entries:
        first.setdefault(entry.correlation, entry)
    return first


def ready(entries: Iterable[Entry]) -> list[Entry]:
    """The groups that may be handed out, the first first (Q-NEXT). Only the first group of a correlation is ever locked
    for receiving, so that it alone says whether its correlation is."""
    free = [entry for entry in heads(entries).values() if entry.locked is Locked.NOT]
    return sorted(free, key=lambda entry: (entry.priority, entry.group))


class MemoryStore:
    """One queue in memory, for any number of threads. clock: the store's, in ns."""

    def __init__(self, clock: Callable[[], int] = time.time_ns) -> None:
        self.now_ns = clock
        self._lock = Lock()
        self._entries: dict[int, Entry] = {}
        self._opened = 0
        self._aside: list[SetAside] = []
        self._listening: list[Callable[[], None]] = []

    def open_group(self, *, type: int, priority: int, correlation: str, server: str) -> Opened:
        check_group(type, priority, correlation, server)
        with self._lock:
            self._opened += 1
            self._entries[self._opened] = Entry(self._opened, type, priority, correlation, server, self.now_ns())
            return Opened(self._opened, 1)

    def send_message(self, group: int, token: int, body: bytes) -> int:
        with self._lock:
            entry = self._locked("send_message", group, token, Locked.SENDING)
            entry.last_message += 1
            entry.messages[entry.last_message] = bytes(body)
            return entry.last_message

    def close_group(self, group: int, token: int) -> None:
        with self._lock:
            entry = self._locked("close_group", group, token, Locked.SENDING)
            if entry.messages:
                entry.locked = Locked.NOT
            else:
                del self._entries[group]
        self._wake()

    def flush_group(self, group: int, token: int) -> None:
        with self._lock:
            self._locked("flush_group", group, token, Locked.SENDING)
            del self._entries[group]
        self._wake()

    def next_group(self, server: str) -> Group | None:
        with self._lock:
            for entry in ready(self._entries.values()):
                entry.locked, entry.server, entry.used_ns = Locked.RECEIVING, server, self.now_ns()
                entry.token += 1
                entry.group_retries += 1
                return Group(
                    group=entry.group,
                    token=entry.token,
                    type=entry.type,
                    priority=entry.priority,
                    correlation=entry.correlation,
                    last_message=entry.last_message,
                    group_retries=entry.group_retries,
                )
            return None

    def read_message(self, group: int, token: int) -> Message | None:
        with self._lock:
            entry = self._locked("read_message", group, token, Locked.RECEIVING)
            if not entry.messages:
                return None
            first = min(entry.messages)
            entry.tries[first] = entry.tries.get(first, 0) + 1
            return Message(first, entry.messages[first], entry.tries[first])

    def pop_message(self, group: int, token: int, message: int) -> None:
        with self._lock:
            self._pop("pop_message", group, token, message)

    def pop_group(self, group: int, token: int) -> None:
        with self._lock:
            entry = self._locked("pop_group", group, token, Locked.RECEIVING, use=False)
            if entry.messages:
                raise refused("pop_group", group, token)
            del self._entries[group]
        self._wake()

    def release_group(self, group: int, token: int) -> None:
        with self._lock:
            self._locked("release_group", group, token, Locked.RECEIVING).locked = Locked.NOT
        self._wake()

    def set_aside_message(self, group: int, token: int, message: int, reason: str) -> None:
        with self._lock:
            entry, body = self._pop("set_aside_message", group, token, message)
            self._aside.append(
                SetAside(
                    group=group,
                    message=message,
                    correlation=entry.correlation,
                    type=entry.type,
                    priority=entry.priority,
                    retries=entry.tries.get(message, 0),
                    reason=reason,
                    body=body,
                )
            )

    def unlock_server_groups(self, server: str) -> int:
        with self._lock:
            held = [e for e in self._entries.values() if e.locked is Locked.RECEIVING and e.server == server]
            for entry in held:
                entry.locked = Locked.NOT
        self._wake()
        return len(held)

    def clean(self, senders_before_ns: int, receivers_before_ns: int) -> Cleaned:
        with self._lock:
            entries = list(self._entries.values())
            dead = [e for e in entries if e.locked is Locked.SENDING and e.used_ns < senders_before_ns]
            held = [e for e in entries if e.locked is Locked.RECEIVING and e.used_ns < receivers_before_ns]
            for entry in dead:
                del self._entries[entry.group]
            for entry in held:
                entry.locked = Locked.NOT
        self._wake()
        return Cleaned(len(dead), len(held))

    def contents(self) -> Contents:
        with self._lock:
            entries = list(self._entries.values())
            free = len(ready(entries))
            count = {locked: sum(e.locked is locked for e in entries) for locked in Locked}
            return Contents(
                sending=count[Locked.SENDING],
                waiting=count[Locked.NOT] - free,
                ready=free,
                receiving=count[Locked.RECEIVING],
                messages=sum(len(e.messages) for e in entries),
                set_aside=len(self._aside),
                oldest_ns=min((e.used_ns for e in entries if e.locked is not Locked.NOT), default=None),
            )

    def set_aside(self, most: int = 100) -> Sequence[SetAside]:
        with self._lock:
            return sorted(self._aside, key=lambda aside: (aside.group, aside.message))[:most]

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        with self._lock:
            self._listening.append(wake)

        def end() -> None:
            with self._lock:
                self._listening.remove(wake)

        return end

    def close(self) -> None:
        """Nothing: there is one store for all."""

    def _locked(self, call: str, group: int, token: int, lock: Locked, *, use: bool = True) -> Entry:
        """The group, whose lock this token is of, and which is used by the call."""
        entry = self._entries.get(group)
        if entry is None or entry.locked is not lock or entry.token != token:
            raise refused(call, group, token)
        if use:
            entry.used_ns = self.now_ns()
        return entry

    def _pop(self, call: str, group: int, token: int, message: int) -> tuple[Entry, bytes]:
        entry = self._locked(call, group, token, Locked.RECEIVING, use=False)
        if not entry.messages or message != min(entry.messages):
            raise refused(call, group, token)
        entry.used_ns = self.now_ns()
        return entry, entry.messages.pop(message)

    def _wake(self) -> None:
        with self._lock:
            listening = list(self._listening)
        for wake in listening:
            wake()
