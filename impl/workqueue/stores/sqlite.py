"""The queue's tables on SQLite: one file, for processes of one machine.

Writers take turns (BEGIN IMMEDIATE), so that each transaction is the only one and no further lock is needed. In WAL
mode readers do not wait for them. A commit is synced to the disk (synchronous FULL) before a call returns, except for
what need not survive a power failure.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scatterproof.impl.workqueue.stores.access import OutcomeUnknown, Unavailable
from scatterproof.impl.workqueue.stores.sql import Execute, Row, SqlStore, Statement, prepare
from scatterproof.spec.errors import BadInput, CannotRun

BUSY_MS = 30_000
_WORDS = {
    "identity": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "bytes": "BLOB",
    "now": ":now",
    "for_update": "",
}
# A commit that fails so left nothing behind: the file is as it was.
_NOTHING_DONE = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL})


class SqliteDatabase:
    """`Database` on a file.

    clock: of the store in ns; all processes are on the machine of the file.
    busy_ms: how long a call waits for other writers.
    synced: False only for tests, where nothing need survive a power failure.
    """

    words: Mapping[str, str] = _WORDS

    def __init__(
        self, path: Path, clock: Callable[[], int] = time.time_ns, busy_ms: int = BUSY_MS, synced: bool = True
    ) -> None:
        self._path, self._clock, self._synced = path, clock, synced
        if not path.parent.is_dir():
            raise BadInput(f"{path}: there is no folder {path.parent}; make it first, or name a file elsewhere")
        try:
            self._connection = sqlite3.connect(
                path, timeout=busy_ms / 1000, isolation_level=None, check_same_thread=False
            )
            mode = self._write_ahead(busy_ms)
            self._connection.execute("PRAGMA foreign_keys = ON")
        except sqlite3.OperationalError as error:
            raise CannotRun(f"{path}: SQLite cannot open it: {error}") from None
        except sqlite3.DatabaseError as error:
            raise BadInput(f"{path}: is no SQLite database ({error})") from None
        if mode != "wal":
            raise CannotRun(f"{path}: SQLite cannot use WAL mode here (it says {mode}); put it on a local disk")
        self._durable: bool | None = None

    def _write_ahead(self, busy_ms: int) -> str:
        """The journal mode, after asking for WAL. Where processes ask for it on a new file at the same time, SQLite
        does not wait for the others, so that we do."""
        until = time.monotonic() + busy_ms / 1000
        while True:
            try:
                ((mode,),) = self._connection.execute("PRAGMA journal_mode = WAL").fetchall()
                return str(mode)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def run(
        self, *statements: Statement, correlation: str | None = None, durable: bool = True
    ) -> Sequence[Sequence[Row]]:
        with self.transaction(durable=durable) as execute:
            return [execute(statement, **parameters) for statement, parameters in statements]

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[Execute]:
        try:
            if durable is not self._durable:
                # FULL also syncs earlier commits.
                self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable and self._synced else 'NORMAL'}")
                self._durable = durable
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise self._unavailable(error) from None
        try:
            try:
                yield self._execute
            except sqlite3.Error as error:
                raise self._unavailable(error) from None
            self._commit()
        finally:
            if self._connection.in_transaction:
                self._connection.rollback()

    def lock(self, execute: Execute, correlation: str) -> None:
        """Nothing: the transaction is the only one that writes."""

    def wake(self) -> None:
        """Nothing: SQLite has no way to tell another process."""

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        return lambda: None

    def close(self) -> None:
        self._connection.close()

    def _execute(self, statement: str, **parameters: Any) -> list[Row]:
        if ":now" in statement:
            parameters["now"] = self._clock()
        # All rows are fetched: a statement that is not at its end would hold the commit back.
        return self._connection.execute(statement, parameters).fetchall()

    def _commit(self) -> None:
        try:
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NOTHING_DONE:
                raise self._unavailable(error) from None
            raise OutcomeUnknown(f"{self._path}: the commit failed ({error}); it may have been kept") from None

    def _unavailable(self, error: sqlite3.Error) -> Unavailable:
        return Unavailable(f"{self._path}: {error}; nothing was changed")


def sqlite_store(
    path: Path, clock: Callable[[], int] = time.time_ns, busy_ms: int = BUSY_MS, synced: bool = True
) -> SqlStore:
    """A connection of its own to the queue in this file, which is made where there is none. BadInput for a file that
    is no database, or of a later version; CannotRun where it cannot be opened; Unavailable while others write for too
    long."""
    database = SqliteDatabase(path, clock, busy_ms, synced)
    prepare(database)
    return SqlStore(database)
