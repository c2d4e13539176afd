"""The queue's tables on PostgreSQL (12 and later; tried on 15), for processes on many machines.

Read committed is enough: each statement states in its own conditions which rows it may change, and PostgreSQL checks
them again after waiting for a row lock. What concerns a whole correlation needs its advisory lock (`statements`).

NOTIFY wakes receivers. It goes after the commit, in an unsynced transaction of its own: a transaction that notifies
locks the whole database until it is synced, and commits would wait for each other. If the process ends between the two,
nobody is woken, and the poll finds the group.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from select import select
from typing import Any, TypeAlias

import psycopg

from scatterproof.impl.workqueue.stores import joined, schema
from scatterproof.impl.workqueue.stores.access import (
    GroupMessage,
    LockedGroup,
    OutcomeUnknown,
    Taken,
    Unavailable,
    check_bodies,
    check_group,
    check_name,
    refused,
)
from scatterproof.impl.workqueue.stores.sql import Execute, Row, SqlStore, Statement, prepare
from scatterproof.spec.errors import BadInput, CannotRun

# psycopg logs warnings about lost connections; our errors report them.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

CHANNEL = "scatterproof_queue"
LISTEN_S = 0.2  # how long ending a listener takes at most, in s
RECONNECT_S = 1.0
# clock_timestamp() is the time now, and not that of the transaction's beginning.
_NOW = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT * 1000"
_LOCK = "SELECT pg_advisory_xact_lock(:key)"
Cursor: TypeAlias = psycopg.Cursor[Any]
_WORDS = {
    "identity": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "bytes": "BYTEA",
    "now": _NOW,
    "for_update": "FOR UPDATE",
}


class PostgresqlDatabase:
    """`Database` on a server. The next call replaces a lost connection.

    address: a connection string or URI of libpq.
    clock: the time in ns, only for tests; the store uses the server's.
    """

    def __init__(self, address: str, clock: Callable[[], int] | None = None) -> None:
        self._address, self._clock = address, clock
        self.words: Mapping[str, str] = _WORDS if clock is None else {**_WORDS, "now": ":now::BIGINT"}
        self._connection = _connect(address)

    def run(
        self, *statements: Statement, correlation: str | None = None, durable: bool = True
    ) -> Sequence[Sequence[Row]]:
        # Send all at once. A pipeline is one transaction, and so is a single statement, with the commit in it: where
        # the connection is lost, the commit may have happened.
        self._connect_again()
        locking = [] if correlation is None else [(_LOCK, {"key": _key(correlation)})]
        try:
            if len(asked := (*locking, *statements)) == 1:
                return [_rows(self._cursor(*asked[0]))]
            with _pipeline(self._connection):
                cursors = [self._cursor(*statement) for statement in asked]
            return [_rows(cursor) for cursor in cursors[len(locking) :]]
        except psycopg.Error as error:
            if self._connection.closed:
                raise OutcomeUnknown(f"PostgreSQL: lost during the call ({_sentence(error)})") from None
            # Close it: psycopg takes statements for prepared that the server skipped after the failed one.
            self._connection.close()
            if not isinstance(error, psycopg.errors.DeadlockDetected):
                raise Unavailable(f"PostgreSQL: {_sentence(error)}; nothing was changed") from None
        # One that takes the next group as it ends another may meet one that releases several. The other one goes on.
        return self.run(*statements, correlation=correlation, durable=durable)

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[Execute]:
        begun = False
        try:
            self._connect_again()
            # Synced even where `durable` is False (the session never has synchronous_commit off): an unsynced commit is
            # lost when the server's processes crash, too, not only when the machine does.
            self._connection.execute("BEGIN")
            begun = True
            yield self._execute
        except psycopg.Error as error:
            self._roll_back()
            raise Unavailable(f"PostgreSQL: {_sentence(error)}; nothing was changed") from None
        else:
            begun = False
            self._commit()
        finally:
            if begun:
                self._roll_back()

    def lock(self, execute: Execute, correlation: str) -> None:
        execute(_LOCK, key=_key(correlation))

    def wake(self) -> None:
        with suppress(psycopg.Error):
            self._connection.execute(f"BEGIN; SET LOCAL synchronous_commit TO off; NOTIFY {CHANNEL}; COMMIT")
            return
        self._roll_back()

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        ended = threading.Event()
        thread = threading.Thread(target=_listen, args=(self._address, wake, ended), name="queue-listener", daemon=True)
        thread.start()

        def end() -> None:
            ended.set()
            thread.join()

        return end

    def close(self) -> None:
        self._connection.close()

    def _connect_again(self) -> None:
        """Connect again where the connection is lost. Reads first what the server sent since the last call: it may have
        ended it."""
        with suppress(psycopg.Error):
            while not self._connection.closed and select([self._connection], [], [], 0)[0]:
                self._connection.pgconn.consume_input()
        if self._connection.closed:
            self._connection = _connect(self._address)

    def _execute(self, statement: str, **parameters: Any) -> list[Row]:
        return _rows(self._cursor(statement, parameters))

    def _cursor(self, statement: str, parameters: Mapping[str, Any]) -> Cursor:
        if ":now" in statement and self._clock is not None:
            parameters = {**parameters, "now": self._clock()}
        return self._connection.execute(_placed(statement), parameters)

    def _commit(self) -> None:
        try:
            self._connection.execute("COMMIT")
        except psycopg.Error as error:
            if self._connection.closed:
                raise OutcomeUnknown(f"PostgreSQL: lost while committing ({_sentence(error)})") from None
            self._roll_back()
            raise Unavailable(f"PostgreSQL: {_sentence(error)}; nothing was changed") from None

    def _roll_back(self) -> None:
        with suppress(psycopg.Error):
            if not self._connection.closed:
                self._connection.execute("ROLLBACK")
        if (
            not self._connection.closed
            and self._connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE
        ):
            self._connection.close()


@contextmanager
def _pipeline(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """A pipeline. Closes the connection where the server answers the commit itself with an error: psycopg has no place
    for that answer, and how it fails then says nothing of the commit."""
    try:
        with connection.pipeline():
            yield
    except (psycopg.OperationalError, IndexError) as error:
        if isinstance(error, psycopg.OperationalError) and (connection.closed or error.sqlstate is not None):
            raise
        connection.close()
        raise psycopg.OperationalError(f"no answer to the commit: {error}") from None


def _rows(cursor: Cursor) -> list[Row]:
    return cursor.fetchall() if cursor.description is not None else []


def _key(correlation: str) -> int:
    """The key of a correlation's lock, 64 bits. Correlations that share one lose parallelism, and nothing else."""
    digest = blake2b(b"scatterproof queue " + correlation.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


@cache
def _placed(statement: str) -> str:
    """The statement with psycopg's placeholders."""
    # Arrays go as binary: as text, psycopg takes as long for one as for the rest of the call.
    binary = re.sub(r"(?<!:):([a-z_]+)(?=::BYTEA\[\])", r"%(\1)b", statement.replace("%", "%%"))
    return re.sub(r"(?<!:):([a-z_]+)\b", r"%(\1)s", binary)


def _connect(address: str) -> psycopg.Connection[Any]:
    try:
        connection = psycopg.connect(address, autocommit=True, application_name="scatterproof queue")
        # A server that commits without syncing would lose what has returned.
        connection.execute(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
        )
    except psycopg.OperationalError as error:
        raise Unavailable(f"PostgreSQL: {_sentence(error)}") from None
    except psycopg.ProgrammingError as error:
        raise BadInput(f"the address of PostgreSQL cannot be used: {_sentence(error)}") from None
    return connection


def _sentence(error: psycopg.Error) -> str:
    """The first line of the error; without the address, which may hold a password."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _listen(address: str, wake: Callable[[], None], ended: threading.Event) -> None:
    while not ended.is_set():
        with suppress(psycopg.Error, Unavailable), _connect(address) as connection:
            connection.execute(f"LISTEN {CHANNEL}")
            wake()  # something may have come before we listened
            while not ended.is_set():
                for _ in connection.notifies(timeout=LISTEN_S, stop_after=1):
                    wake()
            return
        ended.wait(RECONNECT_S)


class PostgresqlStore(SqlStore):
    """The store, with its frequent calls in one statement each (`joined`)."""

    def send_message(self, group: int, token: int, body: bytes) -> int:
        (added,) = self._run("SEND", given={"group": group, "token": token, "body": bytes(body)})
        if not added:
            raise refused("send_message", group, token)
        message: int = added[0][0]
        return message

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
        if last is not None:
            return super().send_group(
                type=type, priority=priority, correlation=correlation, server=server, bodies=bodies, last=last
            )
        check_group(type, priority, correlation, server)
        check_bodies(bodies)
        given = {"type": type, "priority": priority, "correlation": correlation, "server": server}
        whole = {"messages": len(bodies), "bodies": [bytes(body) for body in bodies]}
        (((group, state),),) = self._run("SEND_WHOLE", given=given | whole, locked=correlation)
        self._wake_if(state)
        return int(group)

    def close_group(self, group: int, token: int) -> None:
        given = self._given("close_group", group, token)
        (closed,) = self._run("CLOSE_WHOLE", given=given, locked=given["correlation"])
        if not closed:  # it is empty or marked, or not held with this token
            super().close_group(group, token)
            return
        self._wake_if(closed[0][0])

    def _wake_if(self, state: int) -> None:
        if state == schema.READY:
            self.database.wake()

    def read_message(self, group: int, token: int) -> GroupMessage | None:
        (used,) = self._run("USE_AND_READ", given={"group": group, "token": token})
        return _message("read_message", group, token, used)

    def pop_and_read(self, group: int, token: int, message: int) -> GroupMessage | None:
        (popped,) = self._run("POP_AND_READ", given={"group": group, "token": token, "message": message})
        return _message("pop_and_read", group, token, popped)

    def pop_group(self, group: int, token: int) -> None:
        given = self._given("pop_group", group, token)
        (gone,) = self._run("FINISH", given=given, locked=given["correlation"])
        if not gone:
            raise refused("pop_group", group, token)
        if gone[0][0]:
            self.database.wake()

    def next_group(self, server: str) -> LockedGroup | None:
        check_name("server", server)
        taken = None
        while taken is None or _is_late(taken):
            (taken,) = self._run("NEXT", given={"server": server})
        return self._locked(taken[0][:-1]) if taken else None

    def take(self, server: str, finished: tuple[int, int] | None = None) -> Taken:
        check_name("server", server)
        given = {"server": server}
        ending = self._finished(finished)
        names = ("FINISH", "TAKE") if ending else ("TAKE",)
        *gone, taken = self._run(*names, given=given | ending, locked=ending.get("correlation"))
        group, message, finishes = None, None, [row for rows in gone for row in rows]
        while _is_late(taken):
            try:
                (taken,) = self._run("TAKE", given=given)
            except Unavailable as error:
                if finishes:
                    raise OutcomeUnknown(f"group {ending['group']} is finished, and then {error}") from None
                raise
        if taken:
            ((*row, tries, first, body),) = taken
            group = self._locked(row)
            message = None if first is None else GroupMessage(first, bytes(body), tries)
        # Wake others for the group that became ready, unless this call took it.
        if finishes and finishes[0][0] not in (None, group and group.group):
            self.database.wake()
        return Taken(bool(finishes), group, message)


def _is_late(taken: Sequence[Row]) -> bool:
    """Whether another took the group that was found to be ready."""
    return bool(taken) and taken[0][0] is None


def _message(call: str, group: int, token: int, rows: Sequence[Row]) -> GroupMessage | None:
    """The message in these rows, None where the group has none. Raises Refused where it is not held with this token."""
    if not rows:
        raise refused(call, group, token)
    ((message, body, tries),) = rows
    return None if message is None else GroupMessage(message, bytes(body), tries)


def postgresql_store(address: str, clock: Callable[[], int] | None = None) -> SqlStore:
    """A connection to the queue in this database, in the first schema of its search path. Makes or migrates the tables.
    Raises Unavailable where the server cannot be reached, BadInput for an invalid address or tables of a later version,
    CannotRun where the tables cannot be made or read."""
    database = PostgresqlDatabase(address, clock)
    try:
        prepare(database)
    except (Unavailable, BadInput, OutcomeUnknown) as error:
        database.close()
        if isinstance(error, BadInput):
            raise
        raise CannotRun(f"the queue's tables cannot be made or read: {error}") from None
    return PostgresqlStore(database, vars(joined))
