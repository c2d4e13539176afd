"""What makes a store one that has to be found out. Each is handed an access, and the number of its client."""

from __future__ import annotations

import os
import signal
from typing import Any

from scatterproof.impl.workqueue.stores.sql import SqlStore


def unsynced(store: SqlStore, number: int) -> None:
    """PostgreSQL says that a commit is done before it is written (Q-DURABLE, Q-RETRY)."""
    with store.database.transaction() as execute:
        execute("SET SESSION synchronous_commit TO off")


def unlocked(store: SqlStore, number: int) -> None:
    """A group that is handed out stays ready: two workers hold it (Q-ONCE)."""
    store.sql["NEXT"] = store.sql["NEXT"].replace("state = 4", "state = 3")
    for name in ("HOLD", "POP_GROUP"):
        store.sql[name] = store.sql[name].replace(" AND state = 4", "")


def halfway(store: SqlStore, number: int) -> None:
    """A group is removed, and what waits behind it is made ready in a transaction of its own: a client that is killed
    in between holds its correlation up for ever (Q-NEXT)."""
    removed = store.sql["POP_GROUP"]
    execute = store.database._execute  # type: ignore[attr-defined]
    times = 0

    def executed(statement: str, **parameters: Any) -> Any:
        nonlocal times
        rows = execute(statement, **parameters)
        if statement == removed and rows:
            times += 1
            store.database._commit()  # type: ignore[attr-defined]
            if times == 5:
                os.kill(os.getpid(), signal.SIGKILL)
            execute("BEGIN")
        return rows

    store.database._execute = executed  # type: ignore[attr-defined]
