"""The store in SQL tables: the access interface over a database.

Plain DB-API, and not SQLAlchemy Core: some twenty fixed statements, written to be argued about line by line, where
`FOR UPDATE SKIP LOCKED`, partial indexes and `RETURNING` are meant literally; a layer that composes SQL would hide just
these, and the store in one file needs no package beside the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

from scatterproof.impl.workqueue.stores import schema, statements
from scatterproof.impl.workqueue.stores.access import (
    Cleaned,
    Contents,
    Group,
    Message,
    Opened,
    SetAside,
    check_group,
    check_name,
    refused,
)
from scatterproof.spec.errors import BadInput

Row: TypeAlias = Sequence[Any]
# A statement with its parameters; the rows that it returns.
Execute: TypeAlias = Callable[..., list[Row]]


class Database(Protocol):
    """A connection to a database, for one thread at a time. words: what the braces in statements stand for."""

    words: Mapping[str, str]

    def transaction(self, *, durable: bool = True) -> AbstractContextManager[Execute]:
        """One transaction: committed at the end, rolled back where the block raises. Raises Unavailable and
        OutcomeUnknown as a call of `Access` does. durable: False where a power failure may take it back; no crash of a
        process may, the database's own among them."""
        ...

    def lock(self, execute: Execute, correlation: str) -> None:
        """Hold the lock of a correlation until the end of the transaction."""
        ...

    def wake(self) -> None:
        """Tell listeners that a group may be ready; never raises."""
        ...

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]: ...

    def close(self) -> None: ...


class SqlStore:
    """`Access` over a database, whose tables are there (`prepare`)."""

    def __init__(self, database: Database) -> None:
        self.database = database
        named = {name: text for name, text in vars(statements).items() if name.isupper()}
        words = database.words
        self.sql = {name: text.format(**{"whose": "{whose}", **words}) for name, text in named.items()}

    def open_group(self, *, type: int, priority: int, correlation: str, server: str) -> Opened:
        check_group(type, priority, correlation, server)
        with self.database.transaction() as execute:
            self.database.lock(execute, correlation)
            given = {"type": type, "priority": priority, "correlation": correlation, "server": server}
            ((group,),) = execute(self.sql["OPEN"], **given)
        return Opened(group, 1)

    def send_message(self, group: int, token: int, body: bytes) -> int:
        with self.database.transaction() as execute:
            counted = execute(self.sql["COUNT_MESSAGE"], group=group, token=token)
            if not counted:
                raise refused("send_message", group, token)
            message: int = counted[0][0]
            execute(self.sql["ADD_MESSAGE"], group=group, message=message, body=bytes(body))
        return message

    def close_group(self, group: int, token: int) -> None:
        with self.database.transaction() as execute:
            correlation = self._lock_of("close_group", execute, group, token, schema.SENDING)
            given = {"group": group, "token": token}
            if not execute(self.sql["CLOSE"], **given) and not execute(self.sql["FLUSH"], **given):
                raise refused("close_group", group, token)
            promoted = execute(self.sql["PROMOTE"], correlation=correlation)
        self._wake(promoted)

    def flush_group(self, group: int, token: int) -> None:
        self._remove("flush_group", "FLUSH", group, token, schema.SENDING)

    def next_group(self, server: str) -> Group | None:
        check_name("server", server)
        with self.database.transaction() as execute:
            taken = execute(self.sql["NEXT"], server=server)
        if not taken:
            return None
        names = ("group", "token", "type", "priority", "correlation", "last_message", "group_retries")
        return Group(**dict(zip(names, taken[0], strict=True)))

    def read_message(self, group: int, token: int) -> Message | None:
        with self.database.transaction(durable=False) as execute:
            self._hold("read_message", execute, group, token)
            first = execute(self.sql["READ"], group=group)
        return Message(first[0][0], bytes(first[0][1]), first[0][2]) if first else None

    def pop_message(self, group: int, token: int, message: int) -> None:
        with self.database.transaction() as execute:
            self._hold("pop_message", execute, group, token)
            if not execute(self.sql["POP"], group=group, message=message):
                raise refused("pop_message", group, token)

    def pop_group(self, group: int, token: int) -> None:
        self._remove("pop_group", "POP_GROUP", group, token, schema.RECEIVING)

    def release_group(self, group: int, token: int) -> None:
        with self.database.transaction() as execute:
            released = execute(self.sql["RELEASE"], group=group, token=token)
            if not released:
                raise refused("release_group", group, token)
        self._wake(released)

    def set_aside_message(self, group: int, token: int, message: int, reason: str) -> None:
        with self.database.transaction() as execute:
            ((correlation, type_, priority),) = self._hold("set_aside_message", execute, group, token)
            popped = execute(self.sql["POP"], group=group, message=message)
            if not popped:
                raise refused("set_aside_message", group, token)
            body, tries = popped[0]
            execute(
                self.sql["SET_ASIDE"],
                group=group,
                message=message,
                correlation=correlation,
                type=type_,
                priority=priority,
                tries=tries,
                # PostgreSQL keeps no NUL in a text.
                reason=reason.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode(),
                body=bytes(body),
            )

    def unlock_server_groups(self, server: str) -> int:
        check_name("server", server)
        with self.database.transaction() as execute:
            released = execute(self.sql["UNLOCK"].format(whose=statements.OF_SERVER), server=server)
        self._wake(released)
        return len(released)

    def clean(self, senders_before_ns: int, receivers_before_ns: int) -> Cleaned:
        with self.database.transaction() as execute:
            released = execute(self.sql["UNLOCK"].format(whose=statements.UNUSED), before=receivers_before_ns)
            dead = execute(self.sql["DEAD"], before=senders_before_ns)
        removed = 0
        promoted: list[Row] = []
        for group, correlation in dead:
            # Each for itself: who holds the locks of several correlations at once waits in circles.
            with self.database.transaction() as execute:
                self.database.lock(execute, correlation)
                removed += len(execute(self.sql["REMOVE"], group=group, before=senders_before_ns))
                promoted += execute(self.sql["PROMOTE"], correlation=correlation)
        self._wake([*released, *promoted])
        return Cleaned(removed, len(released))

    def now_ns(self) -> int:
        with self.database.transaction(durable=False) as execute:
            ((now,),) = execute(self.sql["NOW"])
        return int(now)

    def contents(self) -> Contents:
        with self.database.transaction(durable=False) as execute:
            states = execute(self.sql["STATES"])
            count = {int(row[0]): int(row[1]) for row in states}
            ((messages,),) = execute(self.sql["MESSAGES"])
            ((aside,),) = execute(self.sql["ASIDES"])
            ((oldest,),) = execute(self.sql["OLDEST"])
        return Contents(
            sending=count.get(schema.SENDING, 0),
            waiting=count.get(schema.WAITING, 0),
            ready=count.get(schema.READY, 0),
            receiving=count.get(schema.RECEIVING, 0),
            messages=messages,
            set_aside=aside,
            oldest_ns=oldest,
        )

    def set_aside(self, most: int = 100) -> Sequence[SetAside]:
        names = ("group", "message", "correlation", "type", "priority", "retries", "reason", "body")
        with self.database.transaction(durable=False) as execute:
            rows = execute(self.sql["LIST_ASIDE"], most=most)
        return [SetAside(**dict(zip(names, (*row[:-1], bytes(row[-1])), strict=True))) for row in rows]

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        return self.database.listen(wake)

    def close(self) -> None:
        self.database.close()

    def _hold(self, call: str, execute: Execute, group: int, token: int) -> list[Row]:
        """Lock the row of a group that is held with this token until the end of the transaction: nobody releases it or
        hands it out meanwhile."""
        held = execute(self.sql["HOLD"], group=group, token=token)
        if not held:
            raise refused(call, group, token)
        return held

    def _lock_of(self, call: str, execute: Execute, group: int, token: int, state: int) -> str:
        """Hold the lock of the group's correlation; that the group is as is asked has to be looked at again then."""
        found = execute(self.sql["CORRELATION"], group=group, token=token, state=state)
        if not found:
            raise refused(call, group, token)
        correlation: str = found[0][0]
        self.database.lock(execute, correlation)
        return correlation

    def _remove(self, call: str, statement: str, group: int, token: int, state: int) -> None:
        with self.database.transaction() as execute:
            correlation = self._lock_of(call, execute, group, token, state)
            if not execute(self.sql[statement], group=group, token=token):
                raise refused(call, group, token)
            promoted = execute(self.sql["PROMOTE"], correlation=correlation)
        self._wake(promoted)

    def _wake(self, ready: Sequence[Row]) -> None:
        if ready:
            self.database.wake()


def prepare(database: Database) -> None:
    """Make the tables, or bring them to this version. BadInput where they are of a later one. Whoever comes at the same
    time waits: the database's transaction is taken for writing, or its lock is held."""
    with database.transaction() as execute:
        database.lock(execute, "\0schema")
        execute(schema.VERSION_TABLE)
        found = execute("SELECT version FROM scatterproof_schema")
        version = found[0][0] if found else 0
        if version > schema.VERSION:
            raise BadInput(
                f"the queue's tables are of version {version}, and this program knows version {schema.VERSION}: use a"
                " later program, or another database"
            )
        if version == schema.VERSION:
            return
        for migration in schema.MIGRATIONS[version:]:
            for statement in migration:
                execute(statement.format(**database.words))
        execute("DELETE FROM scatterproof_schema")
        execute("INSERT INTO scatterproof_schema (version) VALUES (:version)", version=schema.VERSION)
