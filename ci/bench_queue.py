"""Benchmarks of the queue: messages a second end to end, compared with a plain queue that keeps no order, and the cost
of selection by number of waiting groups. Wall time; PostgreSQL runs as a server of its own, with syncing on.

Senders and workers are threads of one process, equally many. Groups are sent whole, or message by message: in the
second way each message is on disk when its call returns, as in the plain queue.

The plain queue is one table, from which each worker takes the first row, on PostgreSQL by FOR UPDATE SKIP LOCKED. It is
what a queue costs that has neither groups nor correlations. It is measured in two ways: a worker keeps the row locked
while it processes, and deletes it then, all in one transaction; or it deletes the row when it takes it, in one
statement, and what a worker had that dies is lost.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from ci import bench_procrastinate
from scatterproof.impl.workqueue.handling import Context
from scatterproof.impl.workqueue.receiver import Receiver
from scatterproof.impl.workqueue.sender import Sender
from scatterproof.impl.workqueue.stores.access import GroupMessage, LockedGroup
from scatterproof.impl.workqueue.stores.opening import factory
from scatterproof.impl.workqueue.stores.sql import Database, SqlStore
from scatterproof.impl.workqueue.stores.tests.cluster import cluster, why_not
from scatterproof.spec.errors import CannotRun

Figure = tuple[str, str]
Sending = Callable[[Sender, range, int], None]
MESSAGES, IN_GROUP, BODY = 500, 5, b"x" * 1024
# Workers and correlations.
RUNS = ((1, 1), (1, 100), (1, 10_000), (4, 1), (4, 100), (4, 10_000), (16, 1), (16, 100), (16, 10_000))
WAITING = (100, 1_000, 10_000, 100_000, 1_000_000)
SELECTIONS = 300
_LIMIT_S = 300.0
_FILL = """
INSERT INTO scatterproof_groups
  (type, priority, correlation, server, state, token, last_message, group_retries, used_ns)
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :groups)
SELECT 0, 1 + n % 3, 'c' || (n % :correlations), 'bench', 2, 1, 1, 0, 0 FROM numbers"""
_HEADS = """
UPDATE scatterproof_groups SET state = 3
WHERE group_id IN (SELECT MIN(group_id) FROM scatterproof_groups GROUP BY correlation)"""
_PLAIN = "CREATE TABLE plain (id {identity}, body {bytes} NOT NULL)"
_PUT = "INSERT INTO plain (body) VALUES (:body)"
_TAKE = "DELETE FROM plain WHERE id = (SELECT id FROM plain ORDER BY id LIMIT 1 {skip_locked}) RETURNING body"
_KEEP = "SELECT id, body FROM plain ORDER BY id LIMIT 1 {skip_locked}"
_DELETE = "DELETE FROM plain WHERE id = :id"


class _Count:
    """A handler that counts."""

    def __init__(self, done: Callable[[], None]) -> None:
        self._done = done

    def start_group(self, group: LockedGroup, context: Context) -> None: ...

    def process(self, message: GroupMessage, group: LockedGroup, context: Context) -> bool:
        self._done()
        return True

    def end_group(self, group: LockedGroup) -> None: ...


class _Until:
    """An event that is set after `wanted` calls."""

    def __init__(self, wanted: int) -> None:
        self._left, self._lock, self.reached = wanted, threading.Lock(), threading.Event()

    def __call__(self) -> None:
        with self._lock:
            self._left -= 1
            if self._left <= 0:
                self.reached.set()

    def wait(self) -> None:
        if not self.reached.wait(_LIMIT_S):
            raise CannotRun(f"after {_LIMIT_S:.0f} s there still are {self._left} messages")


def queue(messages: int = MESSAGES, waiting: tuple[int, ...] = WAITING) -> Iterator[Figure]:
    """What is measured, and the figure, on both stores."""
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        count = iter(range(1_000))
        stores: dict[str, Callable[[], str]] = {"SQLite": lambda: f"sqlite:{folder / f'{next(count)}.db'}"}
        if (reason := why_not()) is None:
            stores["PostgreSQL"] = opened.enter_context(cluster(max_connections="200")).queue
        else:
            yield "queue, PostgreSQL", f"not run: {reason}"
        for name, address in stores.items():
            for workers, correlations in RUNS:
                # Until all workers have begun, and when the last groups are left, some wait: several have more to do.
                total = messages if workers == 1 else 4 * messages
                kept, gone = (total / plain_seconds(address(), workers, total, keeps) for keeps in (True, False))
                whole, single = (
                    total / seconds(address(), workers, correlations, total, send) for send in (_send, _send_each)
                )
                said = ", ".join(
                    f"{plain:,.0f} by the plain queue {how}: {whole / plain:.2f} and {single / plain:.2f} of it"
                    for how, plain in (("that keeps what it processes", kept), ("that deletes what it takes", gone))
                )
                if name == "PostgreSQL":
                    said += f"; {_by_procrastinate(address(), workers, correlations, messages)}"
                yield (
                    f"queue, {name}, workers {workers}, correlations {correlations:,}, 1 KiB, {IN_GROUP} in a group",
                    f"{whole:,.0f} messages/s, {single:,.0f} sent one by one; {said}",
                )
            for shape, most in (("each of its own correlation", max(waiting)), ("of 1,000 correlations", 1_000)):
                costs = [selection_us(address(), groups, most) for groups in waiting]
                numbers = ", ".join(f"{groups:,}" for groups in waiting)
                yield (
                    f"queue, {name}, taking a group with {numbers} waiting, {shape}",
                    ", ".join(f"{cost:.0f}" for cost in costs) + " us (median), the statement alone",
                )


def seconds(address: str, workers: int, correlations: int, messages: int, send: Sending) -> float:
    """Wall seconds from the first group begun to the last message processed; connecting is not counted, nor is it for
    the plain queue."""
    make = factory(address)
    senders = [Sender(make, "bench") for _ in range(workers)]
    until: list[_Until] = []
    receiver = Receiver(make, lambda: _Count(lambda: until[-1]()), "bench", service_limit=workers, poll_interval_ms=10)
    receiver.start()
    spent = 0.0
    for count in (2 * workers * IN_GROUP, messages):
        until.append(_Until(count))
        given = [(sender, range(n, count // IN_GROUP, workers), correlations) for n, sender in enumerate(senders)]
        start = time.monotonic()
        _run([threading.Thread(target=send, args=one) for one in given], until[-1])
        spent = time.monotonic() - start
    receiver.stop()
    receiver.wait()
    for sender in senders:
        sender.close()
    return spent


def _by_procrastinate(address: str, workers: int, correlations: int, messages: int) -> str:
    reason = bench_procrastinate.why_not()
    if reason is not None:
        return f"procrastinate: not run: {reason}"
    spent = bench_procrastinate.seconds(address, workers, correlations, messages, IN_GROUP, BODY)
    return f"{messages / spent:,.0f} by procrastinate"


def _send(sender: Sender, groups: range, correlations: int) -> None:
    for group in groups:
        sender.send_group(0, 1, f"c{group % correlations}", [BODY] * IN_GROUP)


def _send_each(sender: Sender, groups: range, correlations: int) -> None:
    for group in groups:
        with sender.group(0, 1, f"c{group % correlations}") as put:
            for _ in range(IN_GROUP):
                put(BODY)


def plain_seconds(address: str, workers: int, messages: int, keeps: bool) -> float:
    """The same for the plain queue. keeps: whether a row stays, locked, until it is processed."""
    done = _Until(messages)
    databases = [_database(address) for _ in range(2 * workers)]
    with databases[0].transaction() as execute:
        execute(_plain(_PLAIN, databases[0]))

    def put(database: Database) -> None:
        for _ in range(messages // workers + 1):
            database.run((_PUT, {"body": BODY}))

    def taken(database: Database) -> bool:
        if not keeps:
            (rows,) = database.run((_plain(_TAKE, database), {}))
            return bool(rows)
        with database.transaction() as execute:
            rows = execute(_plain(_KEEP, database))
            for row in rows:
                execute(_DELETE, id=row[0])
        return bool(rows)

    def take(database: Database) -> None:
        while not done.reached.is_set():
            if taken(database):
                done()
            else:
                done.reached.wait(0.01)

    start = time.monotonic()
    _run([threading.Thread(target=put, args=(each,)) for each in databases[:workers]]
         + [threading.Thread(target=take, args=(each,)) for each in databases[workers:]], done)  # fmt: skip
    spent = time.monotonic() - start
    for database in databases:
        database.close()
    return spent


def selection_us(address: str, groups: int, correlations: int) -> float:
    """Median us of the statement that takes a group while `groups` wait. Its commit is not counted: the sync would cost
    more than all else."""
    store = factory(address)()
    assert isinstance(store, SqlStore)
    with store.database.transaction() as execute:
        execute(_FILL, groups=groups, correlations=min(correlations, groups))
        execute(_HEADS)
        execute("ANALYZE")
    spent = []
    for _ in range(SELECTIONS):
        with store.database.transaction(durable=False) as execute:
            start = time.perf_counter()
            taken = execute(store.sql["NEXT"], server="bench")
            spent.append((time.perf_counter() - start) * 1e6)
        ((group, token, *_more),) = taken
        store.release_group(group, token)
    store.close()
    return median(spent)


def _plain(statement: str, database: Database) -> str:
    locking = database.words["for_update"]
    return statement.format(**database.words, skip_locked=f"{locking} SKIP LOCKED" if locking else "")


def _database(address: str) -> Database:
    store = factory(address)()
    assert isinstance(store, SqlStore)
    return store.database


def _run(threads: list[threading.Thread], done: _Until) -> None:
    for thread in threads:
        thread.start()
    done.wait()
    for thread in threads:
        thread.join()
