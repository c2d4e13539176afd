"""Databases that crash, are full, busy, lost while committing, or of another version; and transactions that meet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

import psycopg
import pytest

from scatterproof.impl.workqueue.sender import Sender
from scatterproof.impl.workqueue.stores.access import Access, LockedGroup, Opened, OutcomeUnknown, Taken, Unavailable
from scatterproof.impl.workqueue.stores.postgresql import PostgresqlDatabase, postgresql_store
from scatterproof.impl.workqueue.stores.sql import Row, SqlStore
from scatterproof.impl.workqueue.stores.sqlite import SqliteDatabase, sqlite_store
from scatterproof.impl.workqueue.stores.statements import OF_SERVER
from scatterproof.impl.workqueue.stores.tests.cluster import Cluster, cluster
from scatterproof.spec.errors import BadInput, CannotRun

LIMIT_S = 60.0


def open_group(access: Access, correlation: str = "c") -> Opened:
    return access.open_group(type=0, priority=1, correlation=correlation, server="s")


def send(access: Access, correlation: str = "c") -> int:
    opened = open_group(access, correlation)
    access.send_message(opened.group, opened.token, b"x")
    access.close_group(opened.group, opened.token)
    return opened.group


def take(access: Access) -> LockedGroup:
    group = access.next_group("r")
    assert group is not None
    return group


def bodies(access: Access, group: LockedGroup) -> list[bytes]:
    found = []
    while (message := access.read_message(group.group, group.token)) is not None:
        found.append(message.body)
        access.pop_message(group.group, group.token, message.message)
    return found


@pytest.fixture
def postgres_server_of_its_own(postgres_server: Cluster) -> Iterator[Cluster]:
    """One that a test may crash. (It asks for the shared one, too, so that both are left out together.)"""
    with cluster() as started:
        yield started


def test_q_durable_what_returned_is_there_after_the_server_crashed(postgres_server_of_its_own: Cluster) -> None:
    server = postgres_server_of_its_own
    access = postgresql_store(server.queue())
    opened = open_group(access, "half")
    access.send_message(opened.group, opened.token, b"1")
    group = send(access)
    taken = take(access)
    server.crash()
    with pytest.raises(Unavailable):
        access.send_message(opened.group, opened.token, b"not there")
    with pytest.raises(Unavailable):
        access.next_group("r")
    server.start()
    # The same access goes on, and locks are as they were.
    assert access.send_message(opened.group, opened.token, b"2") == 2
    access.close_group(opened.group, opened.token)
    assert taken.group == group
    assert bodies(access, taken) == [b"x"]
    assert bodies(access, take(access)) == [b"1", b"2"]
    access.close()


def test_q_store_calls_go_on_after_some_have_failed_in_the_middle(postgres_server: Cluster) -> None:
    access = postgresql_store(postgres_server.queue())
    fails = "SELECT 1 / :zero::INT", {"zero": 0}
    for _ in range(12):  # psycopg prepares what comes again and again
        with pytest.raises(Unavailable, match="division by zero; nothing was changed"):
            access.database.run(fails, ("SELECT :one::INT", {"one": 1}))
        assert access.database.run(("SELECT :one::INT", {"one": 1})) == [[(1,)]]
        send(access)
        group = take(access)
        assert bodies(access, group) == [b"x"]
        access.pop_group(group.group, group.token)
    access.close()


@pytest.mark.parametrize(("more", "said"), [(0, Unavailable), (2, OutcomeUnknown)])
def test_q_store_a_commit_that_the_server_refuses_is_never_said_to_be_made(
    postgres_server: Cluster, more: int, said: type[CannotRun]
) -> None:
    access = postgresql_store(postgres_server.queue())
    access.database.run(("CREATE TABLE once (n INT UNIQUE DEFERRABLE INITIALLY DEFERRED)", {}))
    for _ in range(8):
        with pytest.raises(said):
            access.database.run(
                ("INSERT INTO once VALUES (:n::INT), (:n::INT)", {"n": 1}), *[("SELECT :n::INT", {"n": 1})] * more
            )
        assert access.database.run(("SELECT COUNT(*) FROM once", {})) == [[(0,)]]
    access.close()


def test_q_retry_a_count_of_tries_is_there_after_the_server_crashed(postgres_server: Cluster) -> None:
    # The log is written by who commits: its writer would come too late to save what was committed without it.
    with cluster(wal_writer_delay="10s") as server:
        access = postgresql_store(server.queue())
        send(access)
        group = take(access)
        first = access.read_message(group.group, group.token)
        server.crash()
        server.start()
        again = access.read_message(group.group, group.token)
        assert [message and message.retries for message in (first, again)] == [1, 2]
        access.close()


def test_a_connection_that_is_lost_between_calls_is_made_again_by_the_next(postgres_server: Cluster) -> None:
    address = postgres_server.queue()
    access, other = postgresql_store(address), postgresql_store(address)
    opened = open_group(access)
    with access.database.transaction() as execute:
        ((process,),) = execute("SELECT pg_backend_pid()")
    with other.database.transaction() as execute:
        # The server waits until it has ended, for as many ms.
        assert execute("SELECT pg_terminate_backend(:process, 60000)", process=process) == [(True,)]
    assert access.send_message(opened.group, opened.token, b"1") == 1
    access.close()
    other.close()


@pytest.mark.slow
def test_q_call_once_a_call_that_is_lost_while_committing_is_unknown(postgres_server: Cluster) -> None:
    # A commit that waits for a standby that does not exist: its effect is there, and its answer never comes.
    with cluster(synchronous_standby_names="nobody") as server:
        server.session = {"synchronous_commit": "local"}
        address = server.queue()
        looking = postgresql_store(address)
        sending = Sender(partial(postgresql_store, address.replace("local", "on")), "s")
        access = sending._access
        assert isinstance(access, SqlStore)
        opened = open_group(looking)
        sending._open = opened
        caught: list[BaseException] = []

        def call() -> None:
            try:
                sending.send(b"1")
            except OutcomeUnknown as error:
                caught.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        with psycopg.connect(server.address(), autocommit=True) as watching:
            waiting = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            while thread.is_alive() and not watching.execute(waiting).fetchall():
                pass
        thread.join(LIMIT_S)
        assert len(caught) == 1
        assert looking.contents().messages == 1
        with pytest.raises(BadInput, match="not known whether the last message was stored"):
            sending.send(b"2")
        looking.close()
        access.close()


def test_a_full_disk_is_a_sentence_and_takes_nothing_back(tmp_path: Path) -> None:
    access = sqlite_store(tmp_path / "queue.db")
    database = access.database
    assert isinstance(database, SqliteDatabase)
    opened = open_group(access)
    database._connection.execute("PRAGMA max_page_count = 40")
    sent: list[bytes] = []
    with pytest.raises(Unavailable, match="full; nothing was changed"):  # noqa: PT012
        while True:
            body = b"%d" % len(sent) * 5_000
            assert access.send_message(opened.group, opened.token, body) == len(sent) + 1
            sent.append(body)
    assert sent
    database._connection.execute("PRAGMA max_page_count = 4000")
    assert access.send_message(opened.group, opened.token, b"last") == len(sent) + 1
    access.close_group(opened.group, opened.token)
    assert bodies(access, take(access)) == [*sent, b"last"]
    access.close()


def test_a_store_that_others_write_to_for_too_long_is_unavailable(tmp_path: Path) -> None:
    one, other = sqlite_store(tmp_path / "queue.db"), sqlite_store(tmp_path / "queue.db", busy_ms=20)
    with one.database.transaction() as execute:
        execute("SELECT 1")
        with pytest.raises(Unavailable, match="locked; nothing was changed"):
            open_group(other)
        with pytest.raises(Unavailable):
            sqlite_store(tmp_path / "queue.db", busy_ms=20)
    assert open_group(other).group == 1
    one.close()
    other.close()


def later_version(address: str, make: Callable[[], SqlStore]) -> None:
    store = make()
    with store.database.transaction() as execute:
        execute("UPDATE scatterproof_schema SET version = 99")
    store.close()
    with pytest.raises(BadInput, match="of version 99"):
        make()


def test_tables_of_a_later_version_are_refused_on_sqlite(tmp_path: Path) -> None:
    later_version("", partial(sqlite_store, tmp_path / "queue.db"))


def test_tables_of_a_later_version_are_refused_on_postgresql(postgres_server: Cluster) -> None:
    address = postgres_server.queue()
    later_version(address, partial(postgresql_store, address))


def test_a_server_where_no_table_may_be_made_is_a_sentence(postgres_server: Cluster) -> None:
    with pytest.raises(CannotRun, match="the queue's tables cannot be made or read"):
        postgresql_store(postgres_server.address(search_path="no_such_schema"))


# Who meets a transaction that holds the lock of the correlation gives up at once, instead of waiting.
def _impatient(server: Cluster) -> tuple[SqlStore, SqlStore]:
    address = server.queue()
    return postgresql_store(address), postgresql_store(address + "%20-clock_timeout%3D50")


@pytest.mark.parametrize("call", ["open_group", "close_group", "flush_group", "pop_group", "clean"])
def test_q_order_corr_what_decides_the_first_of_a_correlation_waits_for_another_that_does(
    postgres_server: Cluster, call: str
) -> None:
    one, other = _impatient(postgres_server)
    send(one)
    group = take(one)
    bodies(one, group)
    opened = open_group(one)
    calls: dict[str, Callable[[], object]] = {
        "open_group": lambda: open_group(other),
        "close_group": lambda: other.close_group(opened.group, opened.token),
        "flush_group": lambda: other.flush_group(opened.group, opened.token),
        "pop_group": lambda: other.pop_group(group.group, group.token),
        "clean": lambda: other.clean(1 << 62, 0),
    }
    with one.database.transaction() as execute:
        one.database.lock(execute, "c")
        with pytest.raises(Unavailable, match="lock timeout"):
            calls[call]()
        # Another correlation does not wait.
        open_group(other, "d")
    calls[call]()
    one.close()
    other.close()


def test_q_next_who_asks_while_a_group_is_being_taken_gets_the_next_one(postgres_server: Cluster) -> None:
    one, other = _impatient(postgres_server)
    first, second = send(one, "a"), send(one, "b")
    with one.database.transaction() as execute:
        ((taken, *_),) = execute(one.sql["NEXT"], server="r")
        assert taken == first
        assert take(other).group == second
        assert other.next_group("r") is None
    one.close()
    other.close()


@contextmanager
def _meanwhile(server: Cluster, waiting: SqlStore, call: Callable[[], object]) -> Iterator[list[object]]:
    """Make the call in a thread. The block begins when it waits for a lock; at the block's end it has returned."""
    assert isinstance(waiting.database, PostgresqlDatabase)
    pid, returned = waiting.database._connection.info.backend_pid, list[object]()
    thread = threading.Thread(target=lambda: returned.append(call()))
    thread.start()
    with psycopg.connect(server.address(), autocommit=True) as watching:
        while thread.is_alive() and watching.execute("SELECT pg_blocking_pids(%s)", (pid,)).fetchone() == ([],):
            pass
    try:
        yield returned
    finally:
        thread.join(LIMIT_S)


_LOCKED = "SELECT FROM scatterproof_groups WHERE group_id = :group FOR UPDATE"


def test_q_next_a_call_that_is_refused_hides_no_group(postgres_server: Cluster) -> None:
    """It waits for the row of a group that is released meanwhile, and holds the row's lock until its own commit."""
    holder, one = _impatient(postgres_server)
    group, held, has_read, may_commit = send(holder), take(holder), threading.Event(), threading.Event()

    def read() -> list[Row]:
        with holder.database.transaction() as execute:
            found = execute(holder.sql["USE_AND_READ"], group=held.group, token=held.token)
            has_read.set()
            may_commit.wait(LIMIT_S)
            return found

    with ExitStack() as opened:
        with one.database.transaction() as execute:
            execute(one.sql["UNLOCK"].format(whose=OF_SERVER), server="r")
            found = opened.enter_context(_meanwhile(postgres_server, holder, read))
        assert has_read.wait(LIMIT_S)
        with pytest.raises(Unavailable, match="lock timeout"):
            one.next_group("r")
        may_commit.set()
    assert found == [[]]
    assert take(one).group == group
    holder.close()
    one.close()


@pytest.mark.parametrize("ends_another", [False, True])
def test_q_next_who_finds_a_group_taken_since_the_call_began_gets_the_next_one(
    postgres_server: Cluster, ends_another: bool
) -> None:
    one = postgresql_store(address := postgres_server.queue())
    other = postgresql_store(address)
    send(other, "done")
    held = take(other)
    bodies(other, held)
    first, second = send(one, "a"), send(one, "b")

    def asked() -> LockedGroup | None:
        return other.take("r", (held.group, held.token)).group if ends_another else other.next_group("r")

    with ExitStack() as opened, one.database.transaction() as execute:
        execute(_LOCKED, group=first)
        found = opened.enter_context(_meanwhile(postgres_server, other, asked))
        execute("UPDATE scatterproof_groups SET state = 4 WHERE group_id = :group", group=first)
    (taken,) = found
    assert isinstance(taken, LockedGroup)
    assert taken.group == second
    one.close()
    other.close()


def test_q_next_who_ends_a_group_and_takes_one_while_both_are_released_tries_again(postgres_server: Cluster) -> None:
    one = postgresql_store(address := postgres_server.queue())
    other = postgresql_store(address + "%20-cdeadlock_timeout%3D200")
    is_over = False
    while not is_over:  # the server ends either of the two that wait for each other, by how fast they came
        send(one, "a")
        held = take(other)
        bodies(other, held)
        ready = send(one, "b")
        with ExitStack() as opened, suppress(Unavailable), one.database.transaction() as execute:
            execute(_LOCKED, group=ready)
            ending = partial(other.take, "r", (held.group, held.token))
            found = opened.enter_context(_meanwhile(postgres_server, other, ending))
            execute(_LOCKED, group=held.group)
            is_over = True
        (taken,) = found
        assert isinstance(taken, Taken)
        assert taken.group is not None
        assert (taken.finished, taken.group.group) == (True, ready)
        bodies(other, taken.group)
        other.pop_group(ready, taken.group.token)
    one.close()
    other.close()


def test_q_crash_send_a_sender_that_goes_on_while_it_is_cleaned_is_not_removed(postgres_server: Cluster) -> None:
    one, other = _impatient(postgres_server)
    opened = open_group(one)
    before = one.now_ns() + 1
    with one.database.transaction() as execute:
        # What `send_message` does first; it is seen only after cleaning has found the group.
        execute(one.sql["COUNT_MESSAGE"], group=opened.group, token=opened.token)
        with pytest.raises(Unavailable):
            other.clean(before, 0)
    assert other.clean(before, 0).removed == 0
    one.flush_group(opened.group, opened.token)
    one.close()
    other.close()


def test_q_crash_boot_the_last_call_of_a_killed_process_may_come_after_the_start_of_the_next(
    postgres_server: Cluster,
) -> None:
    one, other = _impatient(postgres_server)
    group = send(one)
    # The server carries out what a process asked for that is not there any more; its successor starts meanwhile.
    with one.database.transaction() as execute:
        execute(one.sql["NEXT"], server="r")
        assert other.unlock_server_groups("r") == 0
    assert other.next_group("r") is None
    assert other.contents().receiving == 1
    # Nobody works on the group: time tells.
    assert other.clean(0, other.now_ns() + 1).released == 1
    assert take(other).group == group
    one.close()
    other.close()
