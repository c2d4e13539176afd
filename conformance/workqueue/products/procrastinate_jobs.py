"""Drives jobs of procrastinate with a lock, in drawn runs. A put defers a job; its group is the lock, its deduplication
id the queueing lock.

Client 1 defers. Clients 2 and 3 are workers, processes of their own (`procrastinate_worker`) with one job at a time
each, that report which jobs they were handed. A job ends (`delete`), or fails and is tried again at once (`give_back`).
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
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any

from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.supervisor import Child
from scatterproof.conformance.workqueue.cases.building import deletes, extends, gives_back, puts, receives
from scatterproof.conformance.workqueue.products import procrastinate_worker
from scatterproof.conformance.workqueue.products.history import SECOND_NS, History, vocabulary
from scatterproof.conformance.workqueue.products.postgres import INSTALL, Postgres, postgres, programs
from scatterproof.conformance.workqueue.products.procrastinate_worker import BEATS, POLL_S, READY, TASK
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Trace
from scatterproof.spec.workqueue.messages import CallName, Handed

SENDER, WORKERS, GROUPS = 1, (2, 3), (1, 2)
LEASE_NS = 1_000_000 * SECOND_NS  # until its worker is found stalled
STALLED_S, START_S, PATIENCE_S, GLANCE_S = 3.0, 60.0, 10.0, 4 * POLL_S


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


@dataclass(frozen=True, slots=True)
class Step:
    move: Move
    node: NodeId = 0


@dataclass(slots=True)
class Job:
    """A job. number: procrastinate's. holder: the worker that began it last, and has not ended it."""

    number: int
    group: int
    holder: NodeId | None = None
    done: bool = False


@dataclass(slots=True)
class Worker:
    """A worker's place.

    job: the one that the worker has begun.
    stale: whether that job was retried since.
    lost: the jobs of workers that were killed at this place.
    """

    child: Child | None = None
    paused: bool = False
    job: Handed | None = None
    stale: bool = False
    lost: list[Handed] = field(default_factory=list)

    @property
    def is_idle(self) -> bool:
        return self.child is not None and not self.paused and self.job is None


class Driver:
    """Carries out steps. address: of a database for this run. folder: of the workers' output."""

    def __init__(self, address: str, folder: Path) -> None:
        self._module = importlib.import_module("procrastinate")
        self._address, self._folder = address, folder
        self._app = self._new_app()
        self._app.open()
        self._app.schema_manager.apply_schema()
        self.history = History()
        self._workers = {node: Worker() for node in WORKERS}
        self._jobs: dict[bytes, Job] = {}
        self._receipts, self._since_ns = 0, 0

    def make(self, step: Call | Step) -> None:
        self._look()
        if isinstance(step, Step):
            self._move(step)
        elif step.call == CallName.PUT_MESSAGE:
            self._put(step)
        else:
            self._end_job(step)
        self._since_ns = self.history.now_ns()
        self._settle()

    def end(self) -> None:
        for worker in self._workers.values():
            if worker.child is not None:
                worker.child.reap()
        self._app.close()

    def _new_app(self) -> Any:
        return self._module.App(connector=self._module.PsycopgConnector(conninfo=self._address))

    def _put(self, call: Call) -> None:
        group, queueing = int(call.arguments["group"]), call.arguments["dedup"]
        body, outcome = self.history.called(puts(0, SENDER, group)), Outcome.OK
        task = self._app.configure_task(TASK, lock=str(group), queueing_lock=str(queueing) if queueing else None)
        try:
            self._jobs[body] = Job(task.defer(body=body.decode()), group)
        except self._module.exceptions.AlreadyEnqueued:
            outcome = Outcome.REFUSED
        self.history.returned(call.node, outcome)

    def _end_job(self, call: Call) -> None:
        node, worker, fails = call.node, self._workers[call.node], call.call == CallName.GIVE_BACK
        if worker.job is None or worker.child is None or worker.paused:
            return
        handed, job = worker.job, self._jobs[worker.job.payload]
        tries = self._tries(job)
        self.history.called(gives_back(0, node, newest=1) if fails else deletes(0, node, newest=1))
        worker.child.tell(b"fail" if fails else b"done")
        until = time.monotonic() + PATIENCE_S
        while self._tries(job) == tries and time.monotonic() < until:
            time.sleep(0.01)
        self.history.returned(node, about=handed)
        if job.holder in (node, None):
            job.holder, job.done = None, job.done or not fails
        worker.job, worker.stale = None, False

    def _tries(self, job: Job) -> int:
        (found,) = self._app.job_manager.list_jobs(id=job.number)
        tries: int = found.attempts
        return tries

    def _move(self, step: Step) -> None:
        if step.move is Move.STALLED:
            self._retry_stalled()
            return
        worker = self._workers[step.node]
        if step.move is Move.START and worker.child is None:
            words = [sys.executable, "-m", procrastinate_worker.__name__, self._address, str(STALLED_S)]
            worker.child = Child(f"worker-{step.node}", words, self._folder)
            # Only a worker that is ready is asked for anything.
            said = worker.child.line(START_S)
            if said != READY.encode():
                raise CannotRun(f"a worker of procrastinate did not start: {said!r}; see {self._folder}")
        elif worker.child is None:
            return
        elif step.move is Move.KILL:
            worker.child.reap()
            worker.lost += [worker.job] if worker.job is not None and not worker.stale else []
            self._workers[step.node] = Worker(lost=worker.lost)
        elif step.move in (Move.PAUSE, Move.RESUME):
            worker.paused = step.move is Move.PAUSE
            os.kill(worker.child.process, signal.SIGSTOP if worker.paused else signal.SIGCONT)

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
                self._note(gives_back(0, node), handed)
            if worker.paused and worker.job is not None and worker.job.payload in retried:
                # It may still work on the job, but its lease is over.
                worker.stale = True
                self._note(extends(0, node, 1, newest=1), worker.job)
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

    def _note(self, call: Call, handed: Handed) -> None:
        self.history.called(call)
        self.history.returned(call.node, about=handed)

    def _look(self) -> None:
        """Record the jobs that workers have begun."""
        for node, worker in self._workers.items():
            line = b"" if worker.child is None or worker.paused else worker.child.line(0)
            if isinstance(line, bytes) and line in self._jobs:
                self._begun(node, line)
            elif worker.child is not None and not worker.child.is_running():
                self._move(Step(Move.KILL, node))

    def _begun(self, node: NodeId, body: bytes) -> None:
        job = self._jobs[body]
        self._receipts += 1
        self.history.called(receives(0, node, 1, LEASE_NS), self._since_ns)
        self._workers[node].job = self.history.handed(node, body, self._receipts, job.group)
        self._workers[node].stale, job.holder = False, node
        self.history.returned(node)
        self._since_ns = self.history.now_ns()

    def _settle(self) -> None:
        """Wait until workers have begun the jobs that are due; record a receive without a job if they leave one."""
        begun = time.monotonic()
        while (idle := self._idle()) is not None:
            due, left_s = self._is_due(), begun + PATIENCE_S - time.monotonic()
            if due and left_s < 0:
                self.history.called(receives(0, idle, 1, LEASE_NS))
                self.history.returned(idle)
                return
            if not due and time.monotonic() > begun + GLANCE_S and self._all_told(left_s):
                return
            time.sleep(0.01)
            self._look()

    def _idle(self) -> NodeId | None:
        return next((node for node, worker in self._workers.items() if worker.is_idle), None)

    def _is_due(self) -> bool:
        """Whether some job is not done, and no job with its lock is in progress."""
        busy = {job.group for job in self._jobs.values() if job.holder is not None}
        return any(not job.done and job.group not in busy for job in self._jobs.values())

    def _all_told(self, left_s: float) -> bool:
        """Whether workers have reported all jobs that they have begun; also true once left_s is below 0."""
        doing = {str(job.task_kwargs["body"]).encode() for job in self._app.job_manager.list_jobs(status="doing")}
        held = {body for body, job in self._jobs.items() if job.holder is not None}
        return doing <= held or left_s < 0


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


def why_not() -> str | None:
    lacking = [] if programs() else ["PostgreSQL"]
    lacking += [] if importlib.util.find_spec("procrastinate") else ["procrastinate"]
    install = f"install procrastinate of PyPI into this environment, and {INSTALL}"
    return f"there is no {' and no '.join(lacking)}; {install}" if lacking else None


def play(server: Postgres, folder: Path, name: str, steps: Sequence[Call | Step], seed: int = 0) -> Trace:
    driver = Driver(server.database(name), folder / name)
    try:
        for step in steps:
            driver.make(step)
    finally:
        driver.end()
    return driver.history.trace(seed, f"procrastinate {importlib.metadata.version('procrastinate')}")


@contextmanager
def _serve(folder: Path) -> Iterator[Play]:
    with postgres(folder) as server:
        yield lambda name, steps, seed: play(server, folder, name, steps, seed)


PRODUCT = Product(
    name="procrastinate",
    text="jobs of procrastinate with a lock, in PostgreSQL",
    profile=Path(__file__).with_name("procrastinate.toml"),
    why_not=why_not,
    serve=_serve,
    # A slow worker ends a job that another one holds; a failed job with a queueing lock is not tried again.
    steps=lambda seed, quiet: drawn(seed, Shape(pauses=False, queueing=False) if quiet else Shape()),
    errors=("procrastinate.exceptions.ProcrastinateException", "psycopg.Error"),
    vocabulary=vocabulary(Move, Step),
)
