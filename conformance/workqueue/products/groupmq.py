"""Drives jobs of GroupMQ, in Redis, in drawn runs. A put adds a job to its group.

Client 1 adds and removes. Clients 2 and 3 are workers, processes of their own (`groupmq_bridge.mjs`) with one job at a
time each, that report which jobs they were handed. A job ends (`delete`), or fails and is tried again at once
(`give_back`). The order times of a run's puts are 1 ms apart; the first is in the last millisecond of a day.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random

from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.serving import program
from scatterproof.conformance.workqueue.cases.building import deletes, gives_back, puts, receives
from scatterproof.conformance.workqueue.products.bridge import MODULES, Bridge, node_program, version
from scatterproof.conformance.workqueue.products.history import SECOND_NS, History, vocabulary
from scatterproof.conformance.workqueue.products.redis_server import INSTALL, redis_server
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Trace
from scatterproof.spec.workqueue.messages import CallName, Handed

SENDER, WORKERS, GROUPS = 1, (2, 3), (1, 2)
LEASE_NS = 1_000_000 * SECOND_NS  # a worker renews it for as long as it lives and works
NODE_MAJOR, PATIENCE_S, GLANCE_S = 18, 12.0, 0.1
TIMEOUT_MS, SHORT_MS, MIDNIGHT_MS = 3000, 1000, 20_000 * 86_400_000
OTHERS = 1100  # jobs of a day


class Move(StrEnum):
    """Steps that are no calls.

    START: a worker is started.
    KILL: a worker is killed.
    REMOVE: the job that a worker has in hand is removed from the queue.
    OTHERS: jobs come and go in other groups, shortly before midnight; this step comes before any worker starts.
    SHORT: jobs time out after a second in this run; this step is the first.
    WAIT: nothing is done for twice the time-out.
    """

    START = "start"
    KILL = "kill"
    REMOVE = "remove"
    OTHERS = "others"
    WAIT = "wait"
    SHORT = "short"


@dataclass(frozen=True, slots=True)
class Step:
    move: Move
    node: NodeId = 0


@dataclass(slots=True)
class Job:
    """A job. name: GroupMQ's. holder: the worker that began it last, and has not ended it."""

    name: str
    group: int
    holder: NodeId | None = None
    done: bool = False


@dataclass(slots=True)
class Worker:
    """A worker. job: the one that it has begun. removed: whether that was removed since."""

    bridge: Bridge | None = None
    job: Handed | None = None
    removed: bool = False


class Driver:
    """Carries out steps at one queue. port: of Redis. folder: of the clients' output."""

    def __init__(self, port: int, queue: str, folder: Path) -> None:
        self._port, self._queue, self._folder = port, queue, folder
        self._timeout_ms, self._made = TIMEOUT_MS, 0
        self._sender = self._bridge("sender")
        self.history = History()
        self._workers = {node: Worker() for node in WORKERS}
        self._jobs: dict[bytes, Job] = {}
        self._receipts, self._since_ns, self._stands = 0, 0, False

    def make(self, step: Call | Step) -> None:
        if self._stands:
            return  # each further step would take as long
        self._look()
        if isinstance(step, Step):
            self._move(step)
        elif step.call == CallName.PUT_MESSAGE:
            group, self._made = int(step.arguments["group"]), self._made + 1
            body, order_ms = self.history.called(step), MIDNIGHT_MS - 2 + self._made
            self._jobs[body] = Job(self._sender.ask("add", str(group), body.decode(), order_ms), group)
            self.history.returned(step.node)
        else:
            self._end_job(step)
        self._since_ns = self.history.now_ns()
        self._settle()

    def end(self) -> None:
        for bridge in [self._sender, *(worker.bridge for worker in self._workers.values())]:
            if bridge is not None:
                bridge.end()

    def _bridge(self, name: str) -> Bridge:
        words = [str(self._port), self._queue, str(self._timeout_ms)]
        return Bridge(f"GroupMQ-{name}", NODE_MAJOR, "groupmq_bridge.mjs", words, self._folder)

    def _end_job(self, call: Call) -> None:
        worker, fails = self._workers[call.node], call.call == CallName.GIVE_BACK
        if worker.bridge is None or worker.job is None:
            return
        handed, job = worker.job, self._jobs[worker.job.payload]
        if not worker.removed:
            self.history.called(gives_back(0, call.node, newest=1) if fails else deletes(0, call.node, newest=1))
        worker.bridge.ask("end", "fail" if fails else "done")
        if not worker.removed:
            self.history.returned(call.node, about=handed)
        if job.holder in (call.node, None):
            job.holder, job.done = None, job.done or not fails
        worker.job, worker.removed = None, False

    def _move(self, step: Step) -> None:
        worker = self._workers.get(step.node, Worker())
        if step.move is Move.SHORT:
            self._timeout_ms = SHORT_MS
        elif step.move is Move.WAIT:
            time.sleep(2 * self._timeout_ms / 1000)
        elif step.move is Move.OTHERS:
            self._sender.ask("others", OTHERS, MIDNIGHT_MS - 1)
        elif step.move is Move.START and worker.bridge is None:
            worker.bridge = self._bridge(f"worker-{step.node}")
            worker.bridge.ask("work")
        elif worker.bridge is None:
            return
        elif step.move is Move.KILL:
            worker.bridge.kill()
            self._lose(step.node, worker, gives_back(0, step.node, newest=1))
            self._workers[step.node] = Worker()
        elif step.move is Move.REMOVE and worker.job is not None and not worker.removed:
            self._sender.ask("remove", self._jobs[worker.job.payload].name)
            self._lose(step.node, worker, deletes(0, step.node, newest=1))
            worker.removed = True

    def _lose(self, node: NodeId, worker: Worker, call: Call) -> None:
        """Record this call, by which the worker loses its job."""
        if worker.job is None or worker.removed:
            return
        self.history.called(call)
        self.history.returned(node, about=worker.job)
        job = self._jobs[worker.job.payload]
        job.done = job.done or call.call == CallName.DELETE
        job.holder = None if job.holder == node else job.holder

    def _look(self) -> None:
        """Record the jobs that workers have begun."""
        for node, worker in self._workers.items():
            for body, group in worker.bridge.ask("begun") if worker.bridge is not None else ():
                job = self._jobs[body.encode()]
                self._receipts += 1
                self.history.called(receives(0, node, 1, LEASE_NS), self._since_ns)
                worker.job = self.history.handed(node, body.encode(), self._receipts, int(group))
                job.holder = node
                self.history.returned(node)
                self._since_ns = self.history.now_ns()

    def _settle(self) -> None:
        """Wait until workers have begun the jobs that are due; record a receive without a job if they leave one."""
        begun = time.monotonic()
        while (idle := self._idle()) is not None:
            passed_s = time.monotonic() - begun
            if self._is_due() and passed_s > PATIENCE_S:
                self.history.called(receives(0, idle, 1, LEASE_NS))
                self.history.returned(idle)
                self._stands = True
                return
            if not self._is_due() and passed_s > GLANCE_S:
                return
            time.sleep(0.01)
            self._look()

    def _idle(self) -> NodeId | None:
        workers = self._workers.items()
        return next((node for node, worker in workers if worker.bridge is not None and worker.job is None), None)

    def _is_due(self) -> bool:
        """Whether some job is not done, and no job of its group is in progress."""
        busy = {job.group for job in self._jobs.values() if job.holder is not None}
        return any(not job.done and job.group not in busy for job in self._jobs.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What runs may contain. The default is everything; less avoids known mistakes.

    kills: workers are killed.
    removes: jobs in hand are removed.
    others: jobs of other groups come and go.
    short: in some runs the time-out of jobs is a second.
    """

    kills: bool = True
    removes: bool = True
    others: bool = True
    short: bool = True


Steps = list[Call | Step]


def drawn(seed: int, shape: Shape = Shape(), steps: int = 16) -> Steps:
    """The steps of a drawn run: one kind of trouble in each, so that no mistake hides another."""
    draw = Random(seed)
    trouble = draw.choice([Move.KILL, Move.REMOVE, Move.OTHERS, Move.SHORT])
    allowed = {Move.KILL: shape.kills, Move.REMOVE: shape.removes, Move.OTHERS: shape.others, Move.SHORT: shape.short}
    found: Steps = [Step(trouble)] if trouble in (Move.SHORT, Move.OTHERS) and allowed[trouble] else []
    found += [puts(0, SENDER, 1), puts(0, SENDER, 1), *(Step(Move.START, node) for node in WORKERS)]
    for _ in range(steps):
        node, kind = draw.choice(WORKERS), draw.randrange(12)
        if kind < 4:
            found.append(puts(0, SENDER, draw.choice(GROUPS)))
        elif kind < 7:
            found.append(deletes(0, node))
        elif kind < 10 or trouble is Move.OTHERS or not allowed[trouble]:
            found.append(gives_back(0, node))
        elif trouble is Move.KILL:
            found += [Step(Move.KILL, node), Step(Move.START, node)]
        else:
            found.append(Step(Move.WAIT if trouble is Move.SHORT else trouble, node))
    # The jobs that are left are done.
    return [*found, *[deletes(0, node) for node in WORKERS] * 8]


def why_not() -> str | None:
    lacking = [] if program("redis-server") else ["redis-server"]
    lacking += [] if node_program(NODE_MAJOR) else [f"Node.js {NODE_MAJOR}"]
    lacking += [name for name in ("groupmq", "ioredis") if not (MODULES / name).is_dir()]
    install = f"install {INSTALL}, and run npm install --prefix {sys.prefix} groupmq@1.1.0 ioredis@5 node@22"
    return f"there is no {' and no '.join(lacking)}; {install}" if lacking else None


@contextmanager
def _serve(folder: Path) -> Iterator[Play]:
    with redis_server(folder) as redis:

        def play(name: str, steps: Sequence[Call | Step], seed: int) -> Trace:
            driver = Driver(redis.port, name, folder / name)
            try:
                for step in steps:
                    driver.make(step)
            finally:
                driver.end()
            return driver.history.trace(seed, f"GroupMQ {version('groupmq')}")

        yield play


PRODUCT = Product(
    name="groupmq",
    text="jobs of GroupMQ, a queue in order per group, in Redis",
    profile=Path(__file__).with_name("groupmq.toml"),
    why_not=why_not,
    serve=_serve,
    # The group of a worker that died, or of a job that was removed, stands still; order breaks at midnight; a short
    # time-out ends while its worker lives.
    steps=lambda seed, quiet: drawn(seed, Shape(kills=not quiet, removes=not quiet, others=not quiet, short=not quiet)),
    vocabulary=vocabulary(Move, Step),
)
