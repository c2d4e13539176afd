"""Stores for tests. Those on PostgreSQL are not run where it is not installed, and that is said."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from scatterproof.impl.workqueue.stores.access import Access
from scatterproof.impl.workqueue.stores.memory import MemoryStore
from scatterproof.impl.workqueue.stores.postgresql import postgresql_store
from scatterproof.impl.workqueue.stores.sqlite import sqlite_store
from scatterproof.impl.workqueue.stores.tests.cluster import Cluster, cluster, why_not

KINDS = ("memory", "sqlite", "postgresql")
SERVER = "postgres_server"


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1_000

    def __call__(self) -> int:
        return self.now


class Stores:
    """Accesses to one queue. address: of the queue, empty for one in memory."""

    def __init__(self, kind: str, clock: Clock, address: str, make: Callable[[], Access]) -> None:
        self.kind, self.clock, self.address, self._make = kind, clock, address, make
        self._made: list[Access] = []

    def __call__(self) -> Access:
        self._made.append(self._make())
        return self._made[-1]

    def close(self) -> None:
        for access in self._made:
            access.close()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Cluster]:
    # Without syncing: what these tests end are processes, and not the machine.
    with cluster(fsync="off") as started:
        yield started


def make_stores(kind: str, folder: Path, server: Cluster | None) -> Stores:
    clock = Clock()
    if kind == "memory":
        store = MemoryStore(clock)
        return Stores(kind, clock, "", lambda: store)
    if kind == "sqlite":
        path = folder / "queue.db"
        return Stores(kind, clock, f"sqlite:{path}", partial(sqlite_store, path, clock, synced=False))
    assert server is not None
    address = server.queue()
    return Stores(kind, clock, address, partial(postgresql_store, address, clock))


@pytest.fixture(params=KINDS)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    """A queue of each kind."""
    server = request.getfixturevalue(SERVER) if request.param == "postgresql" else None
    with ExitStack() as opened:
        made = make_stores(request.param, tmp_path, server)
        opened.callback(made.close)
        yield made


def _needs_server(item: pytest.Item) -> bool:
    drawn = getattr(item, "callspec", None)
    return SERVER in getattr(item, "fixturenames", ()) or (drawn is not None and "postgresql" in drawn.params.values())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    real = [item for item in items if _needs_server(item)]
    reason = why_not() if real else None
    if reason is not None:
        items[:] = [item for item in items if item not in real]
        config.hook.pytest_deselected(items=real)
        warnings.warn(pytest.PytestWarning(f"not run: {len(real)} tests on PostgreSQL: {reason}"), stacklevel=1)
