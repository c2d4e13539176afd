"""Senders and workers of a real store, as processes that journal their calls; what `faults` kills, and cuts off.

A row `called` is written before the call is sent, and a row `returned` after its answer came, each with its time by the
one clock that all processes of a machine have (CLOCK_MONOTONIC): a box is never too small. A row that is written
outlives its process. What was called and has no end when its process is killed is of unknown outcome.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import psycopg

from scatterproof.conformance.workqueue.recording import Recorder
from scatterproof.impl.workqueue.stores.access import Access, OutcomeUnknown, Refused, Unavailable
from scatterproof.impl.workqueue.stores.opening import factory
from scatterproof.impl.workqueue.stores.postgresql import PostgresqlDatabase, postgresql_store
from scatterproof.impl.workqueue.stores.sql import SqlStore
from scatterproof.impl.workqueue.stores.sqlite import SqliteDatabase, sqlite_store
from scatterproof.spec.core import Outcome, Return
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Call
from scatterproof.spec.trace import ABSENT, Kind
from scatterproof.spec.workqueue.messages import CallName

T = TypeVar("T")
LIMIT_S = 60.0
CORRELATIONS, MOST_MESSAGES, MOST_WAITING = 4, 3, 12
BODY = 1_000  # bytes
CUT = signal.SIGUSR1


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A store, and what is odd about it.

    ahead: a file with how far its clock is ahead of the machine's, in ns; None for a clock that does not jump.
    pages: of how many SQLite's file may be, as on a disk that is full; 0 for any number.
    damage: what is done to each access, with a number of its client's; for stores that have to be found out.
    """

    address: str
    ahead: Path | None = None
    pages: int = 0
    damage: Callable[[SqlStore, int], None] | None = None

    def open(self, number: int = 0) -> SqlStore:
        access = self._access()
        assert isinstance(access, SqlStore)
        if self.pages and isinstance(access.database, SqliteDatabase):
            access.database._connection.execute(f"PRAGMA max_page_count = {self.pages}")
        if self.damage is not None:
            self.damage(access, number)
        return access

    def _access(self) -> Access:
        if self.ahead is None:
            return factory(self.address)()
        path = self.ahead
        if self.address.startswith("sqlite:"):
            return sqlite_store(Path(self.address.partition(":")[2]), lambda: _shifted(path))
        return postgresql_store(self.address, lambda: _shifted(path))


def _shifted(ahead: Path) -> int:
    return time.time_ns() + int(ahead.read_text())


class Lost(Exception):
    """Whether the call took effect is not known."""


class Journal:
    """Rows of one process: whole lines."""

    def __init__(self, path: Path, node: int) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._node, self._last_ns = node, 0

    def __call__(self, kind: Kind, row: tuple[int, ...]) -> None:
        # One moment is not another: rows of one process are in the order of their times, which merging keeps.
        while (now := time.monotonic_ns()) <= self._last_ns:
            pass
        self._last_ns = now
        told = (now, ABSENT, self._node, int(kind), ABSENT, ABSENT, *row)
        os.write(self._file, (" ".join(map(str, told)) + "\n").encode())


class Client:
    """Calls a store, and journals it. operation: how many calls the client made before this process."""

    def __init__(self, place: Place, path: Path, node: int, operation: int) -> None:
        self.node, self._operation = node, operation
        self._journal, self._recorder = Journal(path, node), Recorder()
        until = time.monotonic() + LIMIT_S
        while True:
            try:
                self.access = place.open(node)
                return
            except CannotRun:
                if time.monotonic() > until:
                    raise
                _wait()

    def call(self, name: CallName, body: bytes = b"", /, **given: int) -> Mapping[str, int]:
        """What came back beside what was given. Raises Refused, and Lost."""
        self._operation += 1
        asked = Call(0, self.node, name, {**given}, body)
        self._journal(Kind.CALLED, self._recorder.called(self.node, self._operation, asked))
        results, payload = dict(given), b""
        try:
            found, payload = made(self.access, name, given, body)
            results |= found
            outcome = Outcome.OK
        except Refused:
            outcome = Outcome.REFUSED
        except (Unavailable, OutcomeUnknown):
            outcome = Outcome.UNKNOWN
        returned = Return(self._operation, outcome, results, payload)
        self._journal(Kind.RETURNED, self._recorder.returned(self.node, asked, returned))
        if outcome is Outcome.OK:
            return results
        raise Refused(f"{name}") if outcome is Outcome.REFUSED else Lost(f"{name}")

    def wait(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Until the store answers."""
        self.answer(self.access.now_ns, meanwhile)

    def answer(self, ask: Callable[[], T], meanwhile: Callable[[], None] = lambda: None) -> T:
        """What the store answers as soon as it does. Nothing is journaled: what fails meanwhile need not weaken what is
        judged."""
        until = time.monotonic() + LIMIT_S
        while True:
            meanwhile()
            try:
                return ask()
            except CannotRun:
                if time.monotonic() > until:
                    raise
                _wait()

    def insist(self, name: CallName, /, **given: int) -> Mapping[str, int]:
        """Call until it has returned ok."""
        while True:
            try:
                return self.call(name, **given)
            except Lost:
                self.wait()


def made(access: Access, name: CallName, given: Mapping[str, int], body: bytes) -> tuple[dict[str, int], bytes]:
    """The call on the store: columns of what came back, and the body of a message that was read."""
    match name:
        case CallName.OPEN_GROUP:
            names: dict[str, Any] = {each: str(given[each]) for each in ("correlation", "server")}
            opened = access.open_group(type=given["type"], priority=given["priority"], **names)
            return {"group": opened.group, "token": opened.token}, b""
        case CallName.SEND_MESSAGE:
            return {"message": access.send_message(given["group"], given["token"], body)}, b""
        case CallName.NEXT_GROUP:
            group = access.next_group(str(given["server"]))
            if group is None:
                return {"group": 0}, b""
            told = {each: getattr(group, each) for each in ("group", "token", "type", "priority")}
            return told | {"correlation": int(group.correlation), "retries": group.group_retries}, b""
        case CallName.READ_MESSAGE:
            message = access.read_message(given["group"], given["token"])
            if message is None:
                return {"message": 0}, b""
            return {"message": message.message, "retries": message.retries}, message.body
        case CallName.UNLOCK_SERVER_GROUPS:
            return {"released": access.unlock_server_groups(str(given["server"]))}, b""
        case CallName.CLEAN:
            cleaned = access.clean(given["senders_before"], given["receivers_before"])
            return {"removed": cleaned.removed, "released": cleaned.released}, b""
    getattr(access, name)(*given.values())
    return {}, b""


def send(place: Place, path: Path, node: int, operation: int, server: int) -> None:
    """Send groups without end."""
    client, draw = _begin(place, path, node, operation)
    while True:
        hand: dict[str, int] = {}
        try:
            found = client.access.contents()
            if found.ready + found.waiting > MOST_WAITING:
                _wait()
                continue
            opened = client.call(
                CallName.OPEN_GROUP,
                type=draw.randrange(3),
                priority=draw.randint(1, 3),
                correlation=draw.randint(1, CORRELATIONS),
                server=server,
            )
            hand = {"group": opened["group"], "token": opened["token"]}
            for number in range(draw.randint(1, MOST_MESSAGES)):
                body = b"%d %d %d" % (node, hand["group"], number)
                client.call(CallName.SEND_MESSAGE, body.ljust(BODY), **hand)
            client.call(CallName.FLUSH_GROUP if draw.random() < 0.1 else CallName.CLOSE_GROUP, **hand)
        except Refused:
            continue
        except (Lost, CannotRun):
            client.wait()
            if hand:
                with suppress(Refused, Lost):
                    client.call(CallName.FLUSH_GROUP, **hand)


def work(place: Place, path: Path, node: int, operation: int, server: int) -> None:
    """Take groups without end."""
    client, draw = _begin(place, path, node, operation)
    client.insist(CallName.UNLOCK_SERVER_GROUPS, server=server)
    while True:
        try:
            taken = client.call(CallName.NEXT_GROUP, server=server)
            if not taken["group"]:
                _wait()
            elif not finish(client, taken, draw):
                client.insist(CallName.UNLOCK_SERVER_GROUPS, server=server)
        except Refused:
            continue
        except Lost:
            client.wait()
            client.insist(CallName.UNLOCK_SERVER_GROUPS, server=server)


def finish(client: Client, taken: Mapping[str, int], draw: Random | None = None) -> bool:
    """Process the group; now and then a message fails, or the worker goes away from it, which is False."""
    hand = {"group": taken["group"], "token": taken["token"]}
    while message := client.call(CallName.READ_MESSAGE, **hand)["message"]:
        if draw is not None and draw.random() < 0.03:
            return False
        if draw is None or draw.random() < 0.9:
            client.call(CallName.POP_MESSAGE, **hand, message=message)
    client.call(CallName.POP_GROUP, **hand)
    return True


def _begin(place: Place, path: Path, node: int, operation: int) -> tuple[Client, Random]:
    # All threads to come inherit it: the signal is for the one that waits for it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {CUT})
    client = Client(place, path, node, operation)
    threading.Thread(target=_cut, args=(client.access.database,), daemon=True).start()
    return client, Random(node * 100_003 + operation)


def _cut(database: Any) -> None:
    """At each signal, shut the connection to the server down, whatever goes on over it."""
    while True:
        signal.sigwait({CUT})
        if isinstance(database, PostgresqlDatabase):
            with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(database._connection.fileno())) as end:
                end.shutdown(socket.SHUT_RDWR)


def _wait() -> None:
    threading.Event().wait(0.002)
