"""Drives jobs of procrastinate with a lock, in drawn runs. A put defers a job; its group is the lock, its deduplication
id the queueing lock. The workers are of `procrastinate_worker`.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.metadata
import importlib.util
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.supervisor import Child
from scatterproof.conformance.workqueue.cases.building import deletes, extends, gives_back, puts
from scatterproof.conformance.workqueue.products import procrastinate_worker, workers
from scatterproof.conformance.workqueue.products.history import vocabulary
from scatterproof.conformance.workqueue.products.postgres import NEEDS as POSTGRESQL
from scatterproof.conformance.workqueue.products.postgres import Postgres, postgres, programs
from scatterproof.conformance.workqueue.products.procrastinate_worker import BEATS, POLL_S, READY, TASK
from scatterproof.conformance.workqueue.products.workers import GROUPS, SENDER, WORKERS, Job, Worker
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Trace

STALLED_S, START_S = 3.0, 60.0


class Move(StrEnum):
    """Steps that are no calls.

    START: a worker is started.
    KILL: a worker is killed.
    PAUSE, RESUME: a worker's process is stopped, and continued.
    STALLED: jobs of stalled workers are retried, as in procrastinate's guide.
    """

    START = "start"
    KILL = "kill"
    PAUSE = "pause"
    RESUME = "resume"
    STALLED = "stalled"


class Step(workers.Step[Move]):
    pass


class Driver(workers.Driver):
    """Carries out steps. address: of a database for this run. folder: of the workers' output."""

    glance_s = 4 * POLL_S

    def __init__(self, address: str, folder: Path) -> None:
        super().__init__()
        self._module = importlib.import_module("procrastinate")
        self._address, self._folder = address, folder
        self._app = self._new_app()
        self._app.open()
        self._app.schema_manager.apply_schema()

    def end(self) -> None:
        for worker in self._workers.values():
            if worker.process is not None:
                worker.process.reap()
        self._app.close()

    def _new_app(self) -> Any:
        return self._module.App(connector=self._module.PsycopgConnector(conninfo=self._address))

    def put(self, call: Call) -> None:
        group, queueing = int(call.arguments["group"]), call.arguments["dedup"]
        body, outcome = self.history.called(puts(0, SENDER, group)), Outcome.OK
        task = self._app.configure_task(TASK, lock=str(group), queueing_lock=str(queueing) if queueing else None)
        try:
            self._jobs[body] = Job(task.defer(body=body.decode()), group)
        except self._module.exceptions.AlreadyEnqueued:
            outcome = Outcome.REFUSED
        self.history.returned(call.node, outcome)

    def end_one(self, worker: Worker, job: Job, *, fails: bool) -> None:
        tries = self._tries(job)
        worker.process.tell(b"fail" if fails else b"done")
        until = time.monotonic() + self.patience_s
        while self._tries(job) == tries and time.monotonic() < until:
            time.sleep(0.01)

    def _tries(self, job: Job) -> int:
        (found,) = self._app.job_manager.list_jobs(id=job.name)
        tries: int = found.attempts
        return tries

    def move(self, step: Step) -> None:
        if step.move is Move.STALLED:
            self._retry_stalled()
            return
        worker = self._workers[step.node]
        if step.move is Move.START and worker.process is None:
            words = [sys.executable, "-m", procrastinate_worker.__name__, self._address, str(STALLED_S)]
            worker.process = Child(f"worker-{step.node}", words, self._folder)
            # Only a worker that is ready is asked for anything.
            said = worker.process.line(START_S)
            if said != READY.encode():
                raise CannotRun(f"a worker of procrastinate did not start: {said!r}; see {self._folder}")
        elif worker.process is None:
            return
        elif step.move is Move.KILL:
            worker.process.reap()
            worker.lost += [worker.job] if worker.job is not None and not worker.stale else []
            self._workers[step.node] = Worker(lost=worker.lost)
        elif step.move in (Move.PAUSE, Move.RESUME):
            worker.paused = step.move is Move.PAUSE
            os.kill(worker.process.process, signal.SIGSTOP if worker.paused else signal.SIGCONT)

    def _retry_stalled(self) -> None:
        """Retry the jobs of stalled workers, which have sent no heartbeat for STALLED_S. No worker counts as stalled
        only because of the load."""
        stalled = {one.payload for worker in self._workers.values() for one in worker.lost}
        stalled |= {worker.job.payload for worker in self._workers.values() if worker.paused and worker.job}
        if not stalled:
            return
        until = time.monotonic() + STALLED_S * (1 + 1 / BEATS)
        while time.monotonic() < until:
            time.sleep(0.1)
        retried = asyncio.run(self._guides_task(stalled))
        for node, worker in self._workers.items():
            for handed in [one for one in worker.lost if one.payload in retried]:
                worker.lost.remove(handed)
                self.note(gives_back(0, node), handed)
            if worker.paused and worker.job is not None and worker.job.payload in retried:
                # It may still work on the job, but its lease is over.
                worker.stale = True
                self.note(extends(0, node, 1, newest=1), worker.job)
        for body in retried:
            self._jobs[body].holder = None

    async def _guides_task(self, stalled: set[bytes]) -> set[bytes]:
        """The guide's task: retry stalled jobs; returns their bodies. Waits until no worker but the stalled ones counts
        as such."""
        app = self._new_app()
        async with app.open_async():
            while True:
                found = await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_S)
                bodies = {str(job.task_kwargs["body"]).encode() for job in found}
                if bodies <= stalled:
                    break
                await asyncio.sleep(0.1)
            for job in found:
                await app.job_manager.retry_job(job)
            return bodies

    def reported(self, node: NodeId, worker: Worker) -> Sequence[bytes]:
        line = b"" if worker.process is None or worker.paused else worker.process.line(0)
        if isinstance(line, bytes) and line in self._jobs:
            return [line]
        if worker.process is not None and not worker.process.is_running():
            self.move(Step(Move.KILL, node))
        return []

    def all_told(self) -> bool:
        doing = {str(job.task_kwargs["body"]).encode() for job in self._app.job_manager.list_jobs(status="doing")}
        return doing <= {body for body, job in self._jobs.items() if job.holder is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What runs may contain. The default is everything; less avoids known mistakes.

    pauses: processes of workers are stopped for some time.
    queueing: some jobs have a queueing lock.
    """

    pauses: bool = True
    queueing: bool = True


Steps = list[Call | Step]


def drawn(seed: int, shape: Shape = Shape(), steps: int = 16) -> Steps:
    """The steps of a drawn run: either workers stop, or jobs have queueing locks."""
    draw = Random(seed)
    queueing = draw.random() < 0.5
    found: Steps = [*(Step(Move.START, node) for node in WORKERS), puts(0, SENDER, 1), puts(0, SENDER, 1)]
    for _ in range(steps):
        node, kind = draw.choice(WORKERS), draw.randrange(10)
        if kind < 3:
            dedup = draw.randint(1, 2) if queueing and draw.random() < 0.4 else 0
            found.append(puts(0, SENDER, draw.choice(GROUPS), dedup if shape.queueing else 0))
        elif kind < 6:
            found.append(deletes(0, node))
        elif kind < 8 or queueing:
            found.append(gives_back(0, node))
        elif kind == 8 or not shape.pauses:
            found += [Step(Move.KILL, node), Step(Move.STALLED), Step(Move.START, node)][:: draw.choice((1, 2))]
        else:
            found += [Step(Move.PAUSE, node), Step(Move.STALLED), Step(Move.RESUME, node), deletes(0, node)]
    return [*found, Step(Move.STALLED)]


NEEDS = POSTGRESQL + Needs(pypi=("procrastinate==3.10.0",))


def why_not() -> str | None:
    lacking = [] if programs() else ["PostgreSQL"]
    lacking += [] if importlib.util.find_spec("procrastinate") else ["procrastinate"]
    return NEEDS.why_not(lacking)


def play(server: Postgres, folder: Path, name: str, steps: Sequence[Call | Step], seed: int = 0) -> Trace:
    history = Driver(server.database(name), folder / name).play(steps)
    return history.trace(seed, f"procrastinate {importlib.metadata.version('procrastinate')}")


@contextmanager
def _serve(folder: Path) -> Iterator[Play]:
    with postgres(folder) as server:
        yield lambda name, steps, seed: play(server, folder, name, steps, seed)


PRODUCT = Product(
    name="procrastinate",
    text="jobs of procrastinate with a lock, in PostgreSQL",
    profile=Path(__file__).with_name("procrastinate.toml"),
    why_not=why_not,
    needs=NEEDS,
    serve=_serve,
    # A slow worker ends a job that another one holds; a failed job with a queueing lock is not tried again.
    steps=lambda seed, quiet: drawn(seed, Shape(pauses=False, queueing=False) if quiet else Shape()),
    errors=("procrastinate.exceptions.ProcrastinateException", "psycopg.Error"),
    vocabulary=vocabulary(Move, Step),
)
