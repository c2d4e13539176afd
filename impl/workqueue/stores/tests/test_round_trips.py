"""How often a call goes to the server and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scatterproof.impl.workqueue.stores.postgresql import PostgresqlDatabase, postgresql_store
from scatterproof.impl.workqueue.stores.tests.cluster import Cluster
from scatterproof.impl.workqueue.stores.tests.test_faults import open_group, take


def test_a_call_is_one_round_trip_and_one_more_where_it_wakes_receivers(
    postgres_server: Cluster, tmp_path: Path
) -> None:
    access = postgresql_store(postgres_server.queue())
    assert isinstance(access.database, PostgresqlDatabase)
    connection = access.database._connection.pgconn

    @contextmanager
    def trips(expected: int) -> Iterator[None]:
        # libpq writes down each message; what was asked for is answered when the server is ready for more.
        with (tmp_path / "trace").open("w") as trace:
            connection.trace(trace.fileno())
            yield
            connection.untrace()
        if is_prepared:
            assert (tmp_path / "trace").read_text().count("ReadyForQuery") == expected

    # psycopg prepares a statement that came five times, which is an exchange of its own.
    for count in range(8):
        is_prepared = count > 5
        with trips(2):
            opened, behind = open_group(access), open_group(access)
        with trips(3):
            for each in (opened, opened, behind):
                access.send_message(each.group, each.token, b"x")
        with trips(1):
            access.close_group(behind.group, behind.token)
        with trips(2):
            access.close_group(opened.group, opened.token)
        with trips(1):
            group = take(access)
        with trips(1):
            assert access.read_message(group.group, group.token) is not None
        with trips(2):
            access.pop_message(group.group, group.token, 1)
            access.set_aside_message(group.group, group.token, 2, "why")
        with trips(2):
            access.pop_group(group.group, group.token)
        with trips(3):
            last = take(access)
            access.pop_message(last.group, last.token, 1)
            access.pop_group(last.group, last.token)
        for _ in range(2):
            access.send_group(type=0, priority=1, correlation="c", server="s", bodies=[b"x"])
        with trips(5):
            # The group that is ready next is taken in the same step, so that nobody is woken.
            first = access.take("r")
            assert first.group is not None
            assert access.pop_and_read(first.group.group, first.group.token, 1) is None
            second = access.take("r", (first.group.group, first.group.token))
            assert second.group is not None
            access.pop_message(second.group.group, second.group.token, 1)
            access.take("r", (second.group.group, second.group.token))
    access.close()
