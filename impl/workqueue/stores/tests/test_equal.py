"""The SQL stores do what the store in memory does, and where a statement is damaged, this is seen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scatterproof.impl.workqueue.conftest import Clock, Stores, make_stores
from scatterproof.impl.workqueue.stores.memory import MemoryStore
from scatterproof.impl.workqueue.stores.sql import SqlStore
from scatterproof.impl.workqueue.stores.sqlite import sqlite_store
from scatterproof.impl.workqueue.stores.tests.cluster import SERVER_ERRORS, Cluster
from scatterproof.impl.workqueue.stores.tests.differing import CALLS, Calling, Step, difference

STEPS = st.lists(
    st.tuples(st.sampled_from(CALLS), st.integers(0, 7), st.integers(0, 7), st.integers(0, 7)), max_size=60
)
TABLES = "scatterproof_groups, scatterproof_messages, scatterproof_aside"


class Emptied:
    """A SQL store that begins anew with each example, and its clock."""

    def __init__(self, stores: Stores) -> None:
        self.stores, self.store = stores, stores()
        assert isinstance(self.store, SqlStore)

    def calling(self) -> Calling:
        assert isinstance(self.store, SqlStore)
        with self.store.database.transaction() as execute:
            if self.stores.kind == "postgresql":
                execute(f"TRUNCATE {TABLES} RESTART IDENTITY")
            else:
                for table in TABLES.split(", "):
                    execute(f"DELETE FROM {table}")
                execute("DELETE FROM sqlite_sequence")
        self.stores.clock.now = 1_000
        self.store._correlations.clear()  # of groups whose numbers come again
        return Calling(self.store, self.stores.clock)


def in_memory() -> Calling:
    clock = Clock()
    return Calling(MemoryStore(clock), clock)


@pytest.fixture
def on_sqlite(tmp_path: Path) -> Iterator[Emptied]:
    stores = make_stores("sqlite", tmp_path, None)
    yield Emptied(stores)
    stores.close()


@pytest.fixture
def on_postgresql(tmp_path: Path, postgres_server: Cluster) -> Iterator[Emptied]:
    stores = make_stores("postgresql", tmp_path, postgres_server)
    yield Emptied(stores)
    stores.close()


HELD = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(steps=STEPS)
@settings(HELD, max_examples=150)
def test_sqlite_does_what_the_store_in_memory_does(on_sqlite: Emptied, steps: list[Step]) -> None:
    assert difference(in_memory(), on_sqlite.calling(), steps) is None


@given(steps=STEPS)
@settings(HELD, max_examples=80)
def test_postgresql_does_what_the_store_in_memory_does(on_postgresql: Emptied, steps: list[Step]) -> None:
    assert difference(in_memory(), on_postgresql.calling(), steps) is None


def walk(seed: int, steps: int = 120) -> list[Step]:
    draw = Random(seed)
    return [(draw.choice(CALLS), draw.randrange(8), draw.randrange(8), draw.randrange(8)) for _ in range(steps)]


# Each statement with what is taken out of it, or put in another's place.
DAMAGE = (
    *(("COUNT_MESSAGE", " AND token = :token", ""), ("COUNT_MESSAGE", "AND state = 1", "")),
    *(("COUNT_MESSAGE", ", used_ns = :now", ""), ("COUNT_MESSAGE", "last_message + 1", "last_message + 2")),
    *(("CLOSE", "state = 2", "state = 3"), ("CLOSE", "AND last_message > 0", "")),
    *(("PROMOTE", "state = 2 AND", ""), ("PROMOTE", "ORDER BY group_id", "ORDER BY group_id DESC")),
    *(("PROMOTE", "ORDER BY group_id", "AND state = 2 ORDER BY group_id"), ("PROMOTE", "state = 3", "state = 2")),
    *(("PROMOTE", "is_last IS NULL OR", ""), ("PROMOTE", "marked.is_last = 1 AND", "")),
    *(("PROMOTE", "AND marked.state <> 1", ""), ("PROMOTE", "marked.correlation = :correlation AND", "")),
    *(("NEXT", "priority, group_id", "group_id"), ("NEXT", "priority, group_id", "priority DESC, group_id")),
    *(("NEXT", "priority, group_id", "priority, group_id DESC"), ("NEXT", "token = token + 1, ", "")),
    *(("NEXT", "group_retries = group_retries + 1, ", ""), ("NEXT", "server = :server, ", "")),
    *(("NEXT", ", used_ns = :now", ""), ("NEXT", "WHERE state = 3", "WHERE state IN (2, 3)")),
    *(("USE", "AND token = :token", ""), ("USE", "AND state = 4", ""), ("USE", "used_ns = :now", "state = state")),
    *(("USE", "tries = tries + 1", "tries = 1"), ("USE_AT", "tries = :tries", "tries = tries")),
    *(("USE_AT", "AND token = :token", ""), ("USE_AT", "AND state = 4", ""), ("USE_AT", "AND :message =", "AND 0 <")),
    ("USE_AT", "used_ns = :now", "state = state"),
    *(("ADD_MESSAGE", "AND token = :token", ""), ("ADD_MESSAGE", "AND state = 1", "")),
    *(("READ", "ORDER BY message", "ORDER BY message DESC"), ("READ", "group_id = :group", "group_id <> :group")),
    *(("POP", "AND message = (", "AND 0 < ("), ("POP", "ORDER BY message", "ORDER BY message DESC")),
    *(("POP", "AND token = :token", ""), ("POP", "AND state = 4", "")),
    *(("SET_ASIDE", "AND token = :token", ""), ("SET_ASIDE", "AND state = 4", "")),
    *(("OPEN_WHOLE", "2, 1, :messages", "2, 1, 1"), ("OPEN_WHOLE", "2, 1, :messages", "3, 1, :messages")),
    ("ADD_TO_WHOLE", "MAX", "MIN"),
    ("POP_GROUP", "AND NOT EXISTS", "AND 1 OR NOT EXISTS"),
    *(("RELEASE", "AND state = 4", ""), ("RELEASE", "AND token = :token", ""), ("RELEASE", "state = 3", "state = 2")),
    *(("UNLOCK", "AND {whose}", ""), ("UNLOCK", "state = 3", "state = 2"), ("UNLOCK", "state = 4", "state IN (1, 4)")),
)
"""The source's own slips are among them: by priority alone a group overtakes, and a start releases send locks. What a
statement asks again because another transaction may have come between is not here: only races tell it."""
# The same where a call is one statement: each part of it goes where the call can be had without it.
JOINED = (
    *(("SEND_WHOLE", "2 ELSE 3", "3 ELSE 3"), ("SEND_WHOLE", "2 ELSE 3", "2 ELSE 2"), ("SEND_WHOLE", ":messages", "1")),
    ("SEND_WHOLE", "group_id, message, body FROM opened", "group_id, 9 - message, body FROM opened"),
    *(("SEND", "AND token = :token", ""), ("SEND", "AND state = 1", ""), ("SEND", ", used_ns = ", ", server = ")),
    *(("CLOSE_WHOLE", "AND token = :token", ""), ("CLOSE_WHOLE", "AND state = 1", "AND state IN (1, 4)")),
    *(("CLOSE_WHOLE", "2 ELSE 3", "2 ELSE 2"), ("CLOSE_WHOLE", "2 ELSE 3", "3 ELSE 3")),
    *(("CLOSE_WHOLE", "AND last_message > 0", ""), ("CLOSE_WHOLE", "AND is_last IS NULL", "")),
    *(("TAKE", "state = 3", "state IN (2, 3)"), ("TAKE", "BY priority, group_id", "BY group_id")),
    *(("TAKE", "token = token + 1, ", ""), ("TAKE", "group_retries = group_retries + 1, ", "")),
    *(("TAKE", "server = :server, ", ""), ("TAKE", "tries = tries + 1", "tries = 1")),
    *(("TAKE", "used_ns = ", "last_message = "), ("TAKE", "ORDER BY message", "ORDER BY message DESC")),
    *(("USE_AND_READ", "AND token = :token", ""), ("USE_AND_READ", "AND state = 4", "")),
    *(("USE_AND_READ", "tries + 1", "1"), ("USE_AND_READ", "used_ns = ", "last_message = ")),
    ("USE_AND_READ", "ORDER BY message", "ORDER BY message DESC"),
    *(("POP_AND_READ", "AND token = :token", ""), ("POP_AND_READ", "AND state = 4", "")),
    *(("POP_AND_READ", "AND :message =", "AND 0 <"), ("POP_AND_READ", "tries = 1", "tries = tries")),
    *(("POP_AND_READ", "message > :message", "message <> 0"), ("POP_AND_READ", "used_ns = ", "last_message = ")),
    *(
        ("FINISH", "AND token = :token", ""),
        ("FINISH", "AND state = 4", ""),
        ("FINISH", "AND NOT EXISTS", "AND EXISTS"),
    ),
    *(("FINISH", "state = 2 AND EXISTS (SELECT FROM gone)", "state = 2"), ("FINISH", "state = 2 AND", "state = 1 AND")),
    *(("FINISH", "ORDER BY group_id", "ORDER BY group_id DESC"), ("FINISH", "AND group_id <> :group", "")),
    *(("FINISH", "is_last IS NULL OR", ""), ("FINISH", "marked.is_last = 1 AND", "")),
    *(("FINISH", "AND marked.state <> 1", ""), ("FINISH", "AND marked.group_id <> :group", "")),
    ("FINISH", "marked.correlation = :correlation AND", ""),
)


# Lock 0 is the last one, and 7 the same with another token, while there are up to three; 4 is the third last.
SCRIPTS: tuple[tuple[Step, ...], ...] = (
    (
        *(("open", 2, 2, 0), ("send", 7, 0, 0), ("send", 0, 0, 0), ("close", 7, 0, 0), ("close", 0, 0, 0)),
        *(("send", 0, 0, 0), ("close", 0, 0, 0)),
        *(("whole", 0, 0, 2), ("whole", 0, 0, 0), ("whole", 0, 0, 1), ("whole", 1, 1, 0), ("next", 0, 0, 0)),
        *(("read", 7, 0, 0), ("read", 0, 0, 0), ("read", 0, 0, 0), ("finish", 0, 0, 0)),
        *(("advance", 7, 0, 0), ("advance", 0, 1, 0), ("advance", 0, 0, 0), ("read", 0, 0, 0), ("release", 0, 0, 0)),
        *(("read", 0, 0, 0), ("advance", 0, 1, 0), ("next", 0, 0, 0), ("advance", 0, 1, 0), ("advance", 0, 2, 0)),
        *(("finish", 7, 0, 0), ("release", 0, 0, 0), ("finish", 0, 0, 0), ("next", 1, 0, 0), ("finish", 0, 0, 0)),
    ),
    (
        *(("open", 0, 1, 0), ("send", 0, 0, 0), ("open", 0, 0, 0), ("close", 0, 0, 0)),
        *(("open", 0, 0, 0), ("send", 0, 0, 0), ("close", 0, 0, 0), ("close", 4, 0, 0)),
        *(("whole", 1, 0, 2), ("whole", 1, 2, 0), ("whole", 2, 2, 0), ("take", 1, 0, 0), ("close", 0, 0, 0)),
        *(("read", 0, 0, 0), ("release", 0, 0, 1), ("take", 1, 0, 0), ("unlock", 1, 0, 0), ("take", 0, 0, 0)),
        *(("advance", 0, 0, 0), ("advance", 0, 1, 0), ("advance", 0, 2, 0), ("take", 0, 0, 1), ("take", 1, 0, 1)),
    ),
    # 5: a group that waits for the last one; 6 and 7: that one.
    (
        *(("whole", 0, 5, 0), ("open", 0, 5, 0), ("send", 0, 0, 0), ("close", 0, 0, 0), ("open", 0, 6, 0)),
        *(("send", 0, 0, 0), ("close", 0, 0, 0), ("whole", 0, 5, 0), ("next", 0, 0, 0)),
        *(("advance", 0, 0, 0), ("take", 0, 0, 1), ("advance", 0, 0, 0), ("take", 0, 0, 1), ("advance", 0, 0, 0)),
        *(("open", 0, 6, 0), ("send", 0, 0, 0), ("whole", 1, 7, 0), ("take", 0, 3, 1), ("flush", 3, 0, 0)),
        *(("finish", 0, 0, 0), ("whole", 0, 6, 0), ("take", 0, 0, 0), ("advance", 0, 0, 0), ("take", 0, 0, 1)),
    ),
)


def followed(store: Emptied) -> tuple[object, ...] | None:
    """How the store differs from the one in memory when it follows the scripts, with a look at everything in it behind
    each step; None where it does not."""
    for script in SCRIPTS:
        steps = [step for asked in script for step in (asked, ("contents", 0, 0, 0))]
        if (found := difference(in_memory(), store.calling(), steps)) is not None:
            return found
    return None


@pytest.mark.parametrize(("statement", "part", "instead"), JOINED)
def test_a_damaged_statement_is_seen_on_postgresql(
    on_postgresql: Emptied, statement: str, part: str, instead: str
) -> None:
    store = on_postgresql.store
    assert isinstance(store, SqlStore)
    assert part in store.sql[statement]
    store.sql[statement] = store.sql[statement].replace(part, instead)
    with suppress(*SERVER_ERRORS):  # or the database itself refuses it
        assert followed(on_postgresql) is not None


def test_postgresql_follows_the_scripts_while_nothing_is_damaged(on_postgresql: Emptied) -> None:
    assert followed(on_postgresql) is None


@pytest.mark.parametrize(("statement", "part", "instead"), DAMAGE)
def test_a_damaged_statement_is_seen(tmp_path: Path, statement: str, part: str, instead: str) -> None:
    path = tmp_path / "queue.db"
    for seed in range(400):
        path.unlink(missing_ok=True)
        clock = Clock()
        store = sqlite_store(path, clock, synced=False)
        assert store.sql[statement].count(part) >= 1
        store.sql[statement] = store.sql[statement].replace(part, instead)
        try:
            found = difference(in_memory(), Calling(store, clock), walk(seed))
        except SERVER_ERRORS as error:
            found = (error,)  # the database itself refused it
        store.close()
        if found is not None:
            return
    raise AssertionError(f"{statement} without {part!r} is not told")
