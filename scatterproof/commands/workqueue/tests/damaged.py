"""What makes a store one that has to be found out. Each is handed an access, and the number of its client."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import Any

from scatterproof.impl.workqueue.stores.access import OutcomeUnknown, Unavailable
from scatterproof.impl.workqueue.stores.sql import Row, SqlStore, Statement


def unsynced(store: SqlStore, number: int) -> None:
    """PostgreSQL says that a commit is done before it is written (Q-DURABLE, Q-RETRY)."""
    with store.database.transaction() as execute:
        execute("SET SESSION synchronous_commit TO off")


def unlocked(store: SqlStore, number: int) -> None:
    """A group that is handed out stays ready: two workers hold it (Q-ONCE)."""
    store.sql["NEXT"] = store.sql["NEXT"].replace("state = 4", "state = 3")
    for name in ("USE", "USE_AT", "POP", "POP_GROUP"):
        store.sql[name] = store.sql[name].replace(" AND state = 4", "")


def dated(store: SqlStore, number: int) -> None:
    """The time of its begin is a group's place: one begun after the clock went back overtakes (Q-ORDER-CORR)."""
    store.sql["COUNT_MESSAGE"] = store.sql["COUNT_MESSAGE"].replace(f", used_ns = {store.database.words['now']}", "")
    taken = "SELECT 1 FROM scatterproof_groups WHERE correlation = :correlation AND state IN (3, 4)"
    by_time = store.sql["PROMOTE"].replace("ORDER BY group_id", "ORDER BY used_ns")
    store.sql["PROMOTE"] = by_time.replace("WHERE state = 2", f"WHERE NOT EXISTS ({taken}) AND state = 2")


def again(store: SqlStore, number: int) -> None:
    """What was lost with its connection is asked for again, and may be done twice (Q-CALL-ONCE)."""
    run = store.database.run

    def twice(*asked: Statement, **settings: Any) -> Sequence[Sequence[Row]]:
        try:
            return run(*asked, **settings)
        except (OutcomeUnknown, Unavailable):
            return run(*asked, **settings)

    store.database.run = twice  # type: ignore[method-assign]


def unheard(store: SqlStore, number: int) -> None:
    """A message is said to be stored, for which there was no room (Q-ATOMIC)."""
    run = store.database.run

    def regardless(*asked: Statement, **settings: Any) -> Sequence[Sequence[Row]]:
        try:
            return run(*asked, **settings)
        except Unavailable:
            if asked[0][0] != store.sql["COUNT_MESSAGE"]:
                raise
            return [[(1,)], [(1,)]]

    store.database.run = regardless  # type: ignore[method-assign]


def halfway(store: SqlStore, number: int) -> None:
    """A group is removed, and what waits behind it is made ready in a transaction of its own: a client that is killed
    in between holds its correlation up for ever (Q-NEXT)."""
    run, times = store.database.run, 0

    def in_two(*asked: Statement, **settings: Any) -> Sequence[Sequence[Row]]:
        nonlocal times
        if asked[0][0] != store.sql["POP_GROUP"]:
            return run(*asked, **settings)
        removed = run(asked[0], **settings)
        times += 1
        if times == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return [*removed, *run(*asked[1:], **settings)]

    store.database.run = in_two  # type: ignore[method-assign]
