"""Drives jobs of PgQueuer whose entrypoint has a concurrency limit of one, in PostgreSQL, in drawn runs. A put enqueues
a job; its group is the entrypoint. Consumers are queue managers, which send heartbeats (`extend`) or are silent."""

from __future__ import annotations

import asyncio
import importlib
import importlib.metadata
import importlib.util
import uuid
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.workqueue.products.embedded import Library, Move, Step, drawn, playing
from scatterproof.conformance.workqueue.products.history import vocabulary
from scatterproof.conformance.workqueue.products.polled import CONSUMERS, GROUPS
from scatterproof.conformance.workqueue.products.postgres import NEEDS as POSTGRESQL
from scatterproof.conformance.workqueue.products.postgres import postgres, programs
from scatterproof.spec.topology import NodeId


class Jobs(Library):
    """PgQueuer's queue. address: of an empty database."""

    module, has_leases, is_serial = "pgqueuer.queries", True, True

    def __init__(self, address: str, lease_s: float) -> None:
        self._address, self._loop = address, asyncio.new_event_loop()
        self._managers = {node: uuid.uuid4() for node in CONSUMERS}
        super().__init__(Path(), lease_s)
        self._do(self.queues[1].install())

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(work)

    def open_all(self) -> dict[int, Any]:
        connect = importlib.import_module("psycopg").AsyncConnection.connect
        session = self._do(connect(self._address, autocommit=True))
        self.opened.append(session)
        return dict.fromkeys(GROUPS, self.imported.Queries.from_psycopg_connection(session))

    def open(self, group: int) -> Any:
        raise NotImplementedError

    def put(self, group: int, body: str) -> None:
        self._do(self.queues[group].enqueue(f"group-{group}", body.encode()))

    def take(self, group: int, node: NodeId) -> tuple[str, Any] | None:
        one_at_a_time = self.imported.EntrypointExecutionParameter(concurrency_limit=1)
        found = self._do(
            self.queues[group].dequeue(
                batch_size=1,
                entrypoints={f"group-{group}": one_at_a_time},
                queue_manager_id=self._managers[node],
                global_concurrency_limit=None,
                heartbeat_timeout=timedelta(seconds=self.lease_s),
            )
        )
        return (found[0].payload.decode(), found[0]) if found else None

    def delete(self, group: int, handle: Any) -> bool:
        self._do(self.queues[group].log_jobs([(handle, "successful", None)]))
        return True

    def give_back(self, group: int, handle: Any) -> bool:
        self._do(self.queues[group].retry_job(handle, timedelta(0), None))
        return True

    def extend(self, group: int, handle: Any) -> bool:
        self._do(self.queues[group].update_heartbeat([handle.id]))
        return True

    def close(self) -> None:
        for session in self.opened:
            self._do(session.close())
        self._loop.close()


NEEDS = POSTGRESQL + Needs(pypi=("pgqueuer==1.6.0", "psycopg"))


def why_not() -> str | None:
    lacking = [] if programs() else ["PostgreSQL"]
    lacking += [name for name in ("pgqueuer", "psycopg") if importlib.util.find_spec(name) is None]
    return NEEDS.why_not(lacking)


@contextmanager
def _serve(folder: Path) -> Iterator[Play]:
    with postgres(folder) as server:
        version = f"PgQueuer {importlib.metadata.version('pgqueuer')}"
        yield playing(lambda name, seconds: Jobs(server.database(name), seconds), version)


PRODUCT = Product(
    name="pgqueuer",
    text="jobs of PgQueuer with a concurrency limit of one, in PostgreSQL",
    profile=Path(__file__).with_name("pgqueuer.toml"),
    why_not=why_not,
    needs=NEEDS,
    serve=_serve,
    # A late consumer ends a job that another one holds.
    steps=lambda seed, quiet: drawn(seed, Jobs.has_leases, is_fenced=not quiet),
    errors=("pgqueuer.errors.PgqException", "psycopg.Error"),
    vocabulary=vocabulary(Move, Step),
)
