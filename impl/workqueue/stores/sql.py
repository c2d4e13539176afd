"""The store in SQL tables: the access interface over a database.

Plain DB-API, not SQLAlchemy Core: the statements are few and fixed, and written to be reasoned about line by line.
They rely on row locks, advisory locks, partial indexes and `RETURNING`; a layer that composes SQL would hide these.
And the store in one file needs only the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

from scatterproof.impl.workqueue.stores import schema, statements
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
    check_name,
    refused,
)
from scatterproof.spec.errors import BadInput

Row: TypeAlias = Sequence[Any]
Statement: TypeAlias = tuple[str, Mapping[str, Any]]
# Runs a statement with its parameters, given by keyword; returns its rows.
Execute: TypeAlias = Callable[..., list[Row]]


class Database(Protocol):
    """A connection to a database, for one thread at a time. words: what the names in a statement's braces stand for."""

    words: Mapping[str, str]

    def run(
        self, *statements: Statement, correlation: str | None = None, durable: bool = True
    ) -> Sequence[Sequence[Row]]:
        """Run these statements in one transaction and one exchange with the database; return the rows of each. Raises
        Unavailable and OutcomeUnknown as a call of `Access` does.

        correlation: hold its lock meanwhile.
        durable: False where a power failure may undo it; a crash of any process, the database's included, never may.
        """
        ...

    def transaction(self, *, durable: bool = True) -> AbstractContextManager[Execute]:
        """As `run`, for statements that depend on what others return: commits at the end of the block, rolls back where
        it raises."""
        ...

    def lock(self, execute: Execute, correlation: str) -> None:
        """Hold the lock of a correlation until the end of the transaction."""
        ...

    def wake(self) -> None:
        """Notify listeners that a group may be ready; never raises."""
        ...

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]: ...

    def close(self) -> None: ...


class SqlStore:
    """`Access` over a database that has the tables (`prepare`). more: statements of this kind of database alone."""

    def __init__(self, database: Database, more: Mapping[str, object] = MappingProxyType({})) -> None:
        self.database = database
        named = {name: str(text) for name, text in {**vars(statements), **more}.items() if name.isupper()}
        words = database.words
        self.sql = {name: text.format(**{"whose": "{whose}", **words}) for name, text in named.items()}
        # By group that this client holds: a transaction must know at its beginning which lock it needs.
        self._correlations: dict[int, str] = {}

    def open_group(
        self, *, type: int, priority: int, correlation: str, server: str, last: bool | None = None
    ) -> Opened:
        check_group(type, priority, correlation, server)
        given = {"type": type, "priority": priority, "correlation": correlation, "server": server, "last": _mark(last)}
        (((group,),),) = self._run("OPEN", given=given, locked=correlation)
        self._correlations[group] = correlation
        return Opened(group, 1)

    def send_message(self, group: int, token: int, body: bytes) -> int:
        given = {"group": group, "token": token, "body": bytes(body)}
        _, added = self._run("COUNT_MESSAGE", "ADD_MESSAGE", given=given)
        if not added:
            raise refused("send_message", group, token)
        message: int = added[0][0]
        return message

    def close_group(self, group: int, token: int) -> None:
        self._end("close_group", group, token, "CLOSE", "FLUSH")

    def flush_group(self, group: int, token: int) -> None:
        self._end("flush_group", group, token, "FLUSH")

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
        given = {"type": type, "priority": priority, "correlation": correlation, "server": server, "last": _mark(last)}
        adding = [
            (self.sql["ADD_TO_WHOLE"], {"correlation": correlation, "message": message, "body": bytes(body)})
            for message, body in enumerate(bodies, 1)
        ]
        opened, *_, promoted = self.database.run(
            (self.sql["OPEN_WHOLE"], {**given, "messages": len(bodies)}),
            *adding,
            (self.sql["PROMOTE"], given),
            correlation=correlation,
        )
        self._wake(promoted)
        group: int = opened[0][0]
        return group

    def next_group(self, server: str) -> LockedGroup | None:
        check_name("server", server)
        (taken,) = self._run("NEXT", given={"server": server})
        return self._locked(taken[0]) if taken else None

    def read_message(self, group: int, token: int) -> GroupMessage | None:
        used, first = self._run("USE", "READ", given={"group": group, "token": token}, durable=False)
        if not used:
            raise refused("read_message", group, token)
        return GroupMessage(first[0][0], bytes(first[0][1]), used[0][0]) if first else None

    def pop_message(self, group: int, token: int, message: int) -> None:
        _, popped = self._run("USE_AT", "POP", given={"group": group, "token": token, "message": message, "tries": 0})
        if not popped:
            raise refused("pop_message", group, token)

    def pop_and_read(self, group: int, token: int, message: int) -> GroupMessage | None:
        given = {"group": group, "token": token, "message": message, "tries": 1}
        _, popped, first = self._run("USE_AT", "POP", "READ", given=given)
        if not popped:
            raise refused("pop_and_read", group, token)
        return GroupMessage(first[0][0], bytes(first[0][1]), 1) if first else None

    def pop_group(self, group: int, token: int) -> None:
        self._end("pop_group", group, token, "POP_GROUP")

    def take(self, server: str, finished: tuple[int, int] | None = None) -> Taken:
        check_name("server", server)
        given = self._finished(finished)
        with self.database.transaction() as execute:
            gone = execute(self.sql["POP_GROUP"], **given) if given else []
            if gone:
                execute(self.sql["PROMOTE"], **given)
            taken = execute(self.sql["NEXT"], server=server)
            if not taken:
                return Taken(bool(gone), None, None)
            held = {"group": taken[0][0], "token": taken[0][1]}
            ((tries,),), first = execute(self.sql["USE"], **held), execute(self.sql["READ"], **held)
        message = GroupMessage(first[0][0], bytes(first[0][1]), tries) if first else None
        return Taken(bool(gone), self._locked(taken[0]), message)

    def release_group(self, group: int, token: int, *, unread: bool = False) -> None:
        (released,) = self._run("RELEASE", given={"group": group, "token": token, "unread": int(unread)})
        self._correlations.pop(group, None)
        if not released:
            raise refused("release_group", group, token)
        self._wake(released)

    def set_aside_message(self, group: int, token: int, message: int, reason: str) -> None:
        # PostgreSQL keeps no NUL in a text.
        text = reason.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
        given = {"group": group, "token": token, "message": message, "reason": text, "tries": 0}
        *_, popped = self._run("SET_ASIDE", "USE_AT", "POP", given=given)
        if not popped:
            raise refused("set_aside_message", group, token)

    def unlock_server_groups(self, server: str) -> int:
        check_name("server", server)
        (released,) = self.database.run((self.sql["UNLOCK"].format(whose=statements.OF_SERVER), {"server": server}))
        self._wake(released)
        return len(released)

    def clean(self, senders_before_ns: int, receivers_before_ns: int) -> Cleaned:
        released, dead = self.database.run(
            (self.sql["UNLOCK"].format(whose=statements.UNUSED), {"before": receivers_before_ns}),
            (self.sql["DEAD"], {"before": senders_before_ns}),
        )
        ready, removed = list(released), 0
        for group, correlation in dead:
            # One transaction each: clients that hold the locks of several correlations could deadlock.
            given = {"group": group, "correlation": correlation, "before": senders_before_ns}
            gone, promoted = self._run("REMOVE", "PROMOTE", given=given, locked=correlation)
            removed += len(gone)
            ready += promoted
        self._wake(ready)
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

    def _run(
        self, *names: str, given: Mapping[str, Any], locked: str | None = None, durable: bool = True
    ) -> Sequence[Sequence[Row]]:
        """Run the statements of these names in one transaction; return the rows of each. locked: the correlation whose
        lock it holds."""
        return self.database.run(*((self.sql[name], given) for name in names), correlation=locked, durable=durable)

    def _end(self, call: str, group: int, token: int, *ending: str) -> None:
        """Run these statements, of which at most one changes a row, and make the correlation's next group ready. Raises
        Refused where none changes any."""
        given = self._given(call, group, token)
        *done, promoted = self._run(*ending, "PROMOTE", given=given, locked=given["correlation"])
        if not any(done):
            raise refused(call, group, token)
        self._wake(promoted)

    def _given(self, call: str, group: int, token: int) -> dict[str, Any]:
        """The parameters of a call that ends a group. Raises Refused where there is no such group."""
        correlation = self._correlations.pop(group, None)
        if correlation is None:
            with self.database.transaction(durable=False) as execute:
                found = execute(self.sql["CORRELATION"], group=group)
            if not found:
                raise refused(call, group, token)
            correlation = found[0][0]
        return {"group": group, "token": token, "correlation": correlation}

    def _finished(self, finished: tuple[int, int] | None) -> dict[str, Any]:
        """The parameters for the end of this group; empty where there is none."""
        with suppress(Refused):
            return self._given("pop_group", *finished) if finished else {}
        return {}

    def _locked(self, row: Row) -> LockedGroup:
        """The group that was taken."""
        names = ("group", "token", "type", "priority", "correlation", "last_message", "group_retries")
        group = LockedGroup(**dict(zip(names, row, strict=True)))
        self._correlations[group.group] = group.correlation
        return group

    def _wake(self, ready: Sequence[Row]) -> None:
        if ready:
            self.database.wake()


def _mark(last: bool | None) -> int | None:
    return None if last is None else int(last)


def prepare(database: Database) -> None:
    """Make the tables, or migrate them to this version. Raises BadInput where they are of a later one. Processes that
    do so at once wait for each other: for the write transaction, or for the lock."""
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
