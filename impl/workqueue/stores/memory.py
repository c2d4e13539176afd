"""The store in memory, for tests and for one process: the access interface as plainly as it can be said, by the rules
of the reference (`rules`, `selection`).

Selection looks at every group, as figure 3 of the source has it; the SQL stores, which keep an index instead, are held
equal to this one by a property test.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import RLock

from scatterproof.impl.workqueue.rules import RULES, Lock, Standing
from scatterproof.impl.workqueue.selection import ready, selected
from scatterproof.impl.workqueue.stores.access import (
    Cleaned,
    Contents,
    GroupMessage,
    LockedGroup,
    Opened,
    Refused,
    SetAside,
    Taken,
    check_bodies,
    check_group,
    refused,
)


@dataclass(slots=True)
class Entry:
    """A group in the store.

    correlation: its number among all that were ever used.
    name: the correlation's text.
    used_ns: when its lock was last used.
    last: whether it is the last of its correlation, or waits for that; None for neither.
    messages: those that were not popped, by id.
    tries: by message, how often it was read.
    """

    group: int
    type: int
    priority: int
    correlation: int
    name: str
    server: str
    used_ns: int
    last: bool | None
    lock: Lock = Lock.SEND
    token: int = RULES.next_token(0)
    last_message: int = 0
    group_retries: int = 0
    messages: dict[int, bytes] = field(default_factory=dict)
    tries: dict[int, int] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """The first message that was not popped, 0 for none."""
        return min(self.messages, default=0)

    @property
    def standing(self) -> Standing:
        """What selection looks at. Numbers rise in the order in which groups begin, so that a group's number is its
        place."""
        place = RULES.place_of(self.group, self.group)
        return Standing(
            group=self.group,
            correlation=self.correlation,
            priority=self.priority,
            place=place,
            lock=self.lock,
            waits=self.last is False,
            last=self.last is True,
        )


class MemoryStore:
    """One queue in memory, for any number of threads. clock: the store's, in ns."""

    def __init__(self, clock: Callable[[], int] = time.time_ns) -> None:
        self.now_ns = clock
        self._lock = RLock()
        self._entries: dict[int, Entry] = {}
        self._correlations: dict[str, int] = {}
        self._opened = 0
        self._aside: list[SetAside] = []
        self._listening: list[Callable[[], None]] = []

    def open_group(
        self, *, type: int, priority: int, correlation: str, server: str, last: bool | None = None
    ) -> Opened:
        check_group(type, priority, correlation, server)
        with self._lock:
            entry = self._open(type, priority, correlation, server, last)
            return Opened(entry.group, entry.token)

    def send_message(self, group: int, token: int, body: bytes) -> int:
        with self._lock:
            entry = self._locked("send_message", group, token, Lock.SEND)
            entry.last_message = RULES.next_message(entry.last_message)
            entry.messages[entry.last_message] = bytes(body)
            return entry.last_message

    def close_group(self, group: int, token: int) -> None:
        with self._lock:
            entry = self._locked("close_group", group, token, Lock.SEND)
            if entry.messages:
                entry.lock = Lock.NONE
            else:
                del self._entries[group]
        self._wake()

    def flush_group(self, group: int, token: int) -> None:
        with self._lock:
            self._locked("flush_group", group, token, Lock.SEND)
            del self._entries[group]
        self._wake()

    def send_group(
        self,
        *,
        type: int,
        priority: int,
        correlation: str,
        server: str,
        bodies: Sequence[bytes],
        last: bool | None = None,
    ) -> int:
        check_group(type, priority, correlation, server)
        check_bodies(bodies)
        with self._lock:
            entry = self._open(type, priority, correlation, server, last)
            entry.messages = {message: bytes(body) for message, body in enumerate(bodies, 1)}
            entry.last_message, entry.lock = len(bodies), Lock.NONE
        self._wake()
        return entry.group

    def next_group(self, server: str) -> LockedGroup | None:
        with self._lock:
            chosen = selected((entry.standing for entry in self._entries.values()), RULES)
            if chosen is None:
                return None
            entry = self._entries[chosen]
            entry.lock, entry.server, entry.used_ns = Lock.RECEIVE, server, self.now_ns()
            entry.token = RULES.next_token(entry.token)
            entry.group_retries = RULES.tries_with(entry.group_retries)
            return LockedGroup(
                group=entry.group,
                token=entry.token,
                type=entry.type,
                priority=entry.priority,
                correlation=entry.name,
                last_message=entry.last_message,
                group_retries=entry.group_retries,
            )

    def read_message(self, group: int, token: int) -> GroupMessage | None:
        with self._lock:
            return _first_of(self._locked("read_message", group, token, Lock.RECEIVE))

    def pop_message(self, group: int, token: int, message: int) -> None:
        with self._lock:
            self._pop("pop_message", group, token, message)

    def pop_and_read(self, group: int, token: int, message: int) -> GroupMessage | None:
        with self._lock:
            entry, _ = self._pop("pop_and_read", group, token, message)
            return _first_of(entry)

    def pop_group(self, group: int, token: int) -> None:
        with self._lock:
            entry = self._locked("pop_group", group, token, Lock.RECEIVE, use=False)
            if not RULES.is_finished(len(entry.messages)):
                raise refused("pop_group", group, token)
            del self._entries[group]
        self._wake()

    def take(self, server: str, finished: tuple[int, int] | None = None) -> Taken:
        is_finished = False
        if finished is not None:
            with suppress(Refused):
                self.pop_group(*finished)
                is_finished = True
        with self._lock:
            group = self.next_group(server)
            return Taken(is_finished, group, None if group is None else self.read_message(group.group, group.token))

    def release_group(self, group: int, token: int, *, unread: bool = False) -> None:
        with self._lock:
            entry = self._locked("release_group", group, token, Lock.RECEIVE)
            entry.lock = Lock.NONE
            if unread and entry.tries.get(entry.first):
                entry.tries[entry.first] -= 1
        self._wake()

    def set_aside_message(self, group: int, token: int, message: int, reason: str) -> None:
        with self._lock:
            entry, body = self._pop("set_aside_message", group, token, message)
            self._aside.append(
                SetAside(
                    group=group,
                    message=message,
                    correlation=entry.name,
                    type=entry.type,
                    priority=entry.priority,
                    retries=entry.tries.get(message, 0),
                    reason=reason,
                    body=body,
                )
            )

    def unlock_server_groups(self, server: str) -> int:
        with self._lock:
            entries = self._entries.values()
            held = [
                e
                for e in entries
                if RULES.is_freed(e.lock is Lock.RECEIVE, e.lock is not Lock.NONE and e.server == server)
            ]
            for entry in held:
                entry.lock = Lock.NONE
        self._wake()
        return len(held)

    def clean(self, senders_before_ns: int, receivers_before_ns: int) -> Cleaned:
        with self._lock:
            entries = list(self._entries.values())
            dead = [e for e in entries if e.lock is Lock.SEND and RULES.is_dead(e.used_ns, senders_before_ns)]
            held = [e for e in entries if e.lock is Lock.RECEIVE and RULES.is_dead(e.used_ns, receivers_before_ns)]
            for entry in dead:
                del self._entries[entry.group]
            for entry in held:
                entry.lock = Lock.NONE
        self._wake()
        return Cleaned(len(dead), len(held))

    def contents(self) -> Contents:
        with self._lock:
            entries = list(self._entries.values())
            count = {lock: sum(e.lock is lock for e in entries) for lock in Lock}
            free = len(ready((entry.standing for entry in entries), RULES))
            return Contents(
                sending=count[Lock.SEND],
                waiting=count[Lock.NONE] - free,
                ready=free,
                receiving=count[Lock.RECEIVE],
                messages=sum(len(e.messages) for e in entries),
                set_aside=len(self._aside),
                oldest_ns=min((e.used_ns for e in entries if e.lock is not Lock.NONE), default=None),
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

    def _open(self, type: int, priority: int, correlation: str, server: str, last: bool | None) -> Entry:
        self._opened += 1
        number = self._correlations.setdefault(correlation, len(self._correlations))
        entry = Entry(self._opened, type, priority, number, correlation, server, self.now_ns(), last)
        self._entries[self._opened] = entry
        return entry

    def _locked(self, call: str, group: int, token: int, lock: Lock, *, use: bool = True) -> Entry:
        """The group whose lock has this token. use: whether the lock counts as used now. Raises Refused for another
        token."""
        entry = self._entries.get(group)
        if entry is None or entry.lock is not lock or not RULES.is_current(token, entry.token):
            raise refused(call, group, token)
        if use:
            entry.used_ns = self.now_ns()
        return entry

    def _pop(self, call: str, group: int, token: int, message: int) -> tuple[Entry, bytes]:
        entry = self._locked(call, group, token, Lock.RECEIVE, use=False)
        if not message or not RULES.may_pop(message, entry.first):
            raise refused(call, group, token)
        entry.used_ns = self.now_ns()
        return entry, entry.messages.pop(message)

    def _wake(self) -> None:
        with self._lock:
            listening = list(self._listening)
        for wake in listening:
            wake()


def _first_of(entry: Entry) -> GroupMessage | None:
    """The first message that was not popped, with this try counted; None where all were."""
    first = entry.first
    if not first:
        return None
    entry.tries[first] = RULES.tries_with(entry.tries.get(first, 0))
    return GroupMessage(first, entry.messages[first], entry.tries[first])
