"""Drives jobs of GroupMQ, in Redis, in drawn runs. A put adds a job to its group.

Client 1 adds and removes; the workers are of `groupmq_bridge.mjs`. The order times of a run's puts are 1 ms apart; the
first is in the last millisecond of a day.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.serving import program
from scatterproof.conformance.workqueue.cases.building import deletes, gives_back, puts
from scatterproof.conformance.workqueue.products import workers
from scatterproof.conformance.workqueue.products.bridge import MODULES, Bridge, node_program, version
from scatterproof.conformance.workqueue.products.history import vocabulary
from scatterproof.conformance.workqueue.products.redis_server import NEEDS as REDIS
from scatterproof.conformance.workqueue.products.redis_server import redis_server
from scatterproof.conformance.workqueue.products.workers import GROUPS, SENDER, WORKERS, Job, Worker
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Trace
from scatterproof.spec.workqueue.messages import CallName

NODE_MAJOR = 18
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


class Step(workers.Step[Move]):
    pass


class Driver(workers.Driver):
    """Carries out steps at one queue. port: of Redis. folder: of the clients' output."""

    patience_s, tells_stale = 12.0, False

    def __init__(self, port: int, queue: str, folder: Path) -> None:
        super().__init__()
        self._port, self._queue, self._folder = port, queue, folder
        self._timeout_ms, self._made = TIMEOUT_MS, 0
        self._sender = self._bridge("sender")

    def put(self, call: Call) -> None:
        group, self._made = int(call.arguments["group"]), self._made + 1
        body, order_ms = self.history.called(call), MIDNIGHT_MS - 2 + self._made
        self._jobs[body] = Job(self._sender.ask("add", str(group), body.decode(), order_ms), group)
        self.history.returned(call.node)

    def end(self) -> None:
        for bridge in [self._sender, *(worker.process for worker in self._workers.values())]:
            if bridge is not None:
                bridge.end()

    def _bridge(self, name: str) -> Bridge:
        words = [str(self._port), self._queue, str(self._timeout_ms)]
        return Bridge(f"GroupMQ-{name}", NODE_MAJOR, "groupmq_bridge.mjs", words, self._folder)

    def end_one(self, worker: Worker, job: Job, *, fails: bool) -> None:
        worker.process.ask("end", "fail" if fails else "done")

    def move(self, step: Step) -> None:
        worker = self._workers.get(step.node, Worker())
        if step.move is Move.SHORT:
            self._timeout_ms = SHORT_MS
        elif step.move is Move.WAIT:
            time.sleep(2 * self._timeout_ms / 1000)
        elif step.move is Move.OTHERS:
            self._sender.ask("others", OTHERS, MIDNIGHT_MS - 1)
        elif step.move is Move.START and worker.process is None:
            worker.process = self._bridge(f"worker-{step.node}")
            worker.process.ask("work")
        elif worker.process is None:
            return
        elif step.move is Move.KILL:
            worker.process.kill()
            self._lose(worker, gives_back(0, step.node, newest=1))
            self._workers[step.node] = Worker()
        elif step.move is Move.REMOVE and worker.job is not None and not worker.stale:
            self._sender.ask("remove", self._jobs[worker.job.payload].name)
            self._lose(worker, deletes(0, step.node, newest=1))
            worker.stale = True

    def _lose(self, worker: Worker, call: Call) -> None:
        """Record this call, by which the worker loses its job."""
        if worker.job is None or worker.stale:
            return
        self.note(call, worker.job)
        job = self._jobs[worker.job.payload]
        job.done = job.done or call.call == CallName.DELETE
        job.holder = None if job.holder == call.node else job.holder

    def reported(self, node: NodeId, worker: Worker) -> Sequence[bytes]:
        begun = worker.process.ask("begun") if worker.process is not None else ()
        return [body.encode() for body in begun]


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


NEEDS = REDIS + Needs(npm=("groupmq@1.1.0", "ioredis@5", "node@22"))


def why_not() -> str | None:
    lacking = [] if program("redis-server") else ["redis-server"]
    lacking += [] if node_program(NODE_MAJOR) else [f"Node.js {NODE_MAJOR}"]
    lacking += [name for name in ("groupmq", "ioredis") if not (MODULES / name).is_dir()]
    return NEEDS.why_not(lacking)


@contextmanager
def _serve(folder: Path) -> Iterator[Play]:
    with redis_server(folder) as redis:

        def play(name: str, steps: Sequence[Call | Step], seed: int) -> Trace:
            history = Driver(redis.port, name, folder / name).play(steps)
            return history.trace(seed, f"GroupMQ {version('groupmq')}")

        yield play


PRODUCT = Product(
    name="groupmq",
    text="jobs of GroupMQ, a queue in order per group, in Redis",
    profile=Path(__file__).with_name("groupmq.toml"),
    why_not=why_not,
    needs=NEEDS,
    serve=_serve,
    # The group of a worker that died, or of a job that was removed, stands still; order breaks at midnight; a short
    # time-out ends while its worker lives.
    steps=lambda seed, quiet: drawn(seed, Shape(kills=not quiet, removes=not quiet, others=not quiet, short=not quiet)),
    vocabulary=vocabulary(Move, Step),
)
