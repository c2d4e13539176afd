"""Drives jobs of Graphile Worker in named queues, in PostgreSQL, in drawn runs. A put adds a job; its group is the name
of the queue. Workers are processes of Node.js (`graphile_bridge.mjs`), each with one place, or one with places for both
and a local queue. They go by the time of Node.js (`useNodeTime`), so that hours pass at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from random import Random

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.adapters.versions import Client, Package
from scatterproof.conformance.workqueue.cases.building import deletes, extends, puts
from scatterproof.conformance.workqueue.products import workers
from scatterproof.conformance.workqueue.products.bridge import MODULES, Bridge, node_program, version
from scatterproof.conformance.workqueue.products.history import vocabulary
from scatterproof.conformance.workqueue.products.postgres import NEEDS as POSTGRESQL
from scatterproof.conformance.workqueue.products.postgres import ROLE, Postgres, postgres, programs
from scatterproof.conformance.workqueue.products.workers import GROUPS, SENDER, WORKERS, Job, Worker
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Trace

HOURS, NODE_MAJOR, NEWEST = 5, 22, "0.18.0"
PACKAGE = Package(Client.NPM, "graphile-worker", "graphile-worker")


class Move(StrEnum):
    """Steps that are no calls.

    START: a worker is started.
    POOL: both workers are started, as one process with a local queue.
    LATER: HOURS pass, so that the locks of jobs in hand lapse.
    """

    START = "start"
    POOL = "pool"
    LATER = "later"


class Step(workers.Step[Move]):
    pass


class Driver(workers.Driver):
    """Carries out steps. words: the host, user and database. prefix: the folder with `node_modules`. folder: of the
    clients' output."""

    def __init__(self, words: Sequence[str], prefix: Path, folder: Path) -> None:
        super().__init__()
        self._words, self._prefix, self._folder = words, prefix, folder
        self._sender = self._bridge("sender")
        self._sender.ask("migrate")

    def _bridge(self, name: str) -> Bridge:
        return Bridge(f"graphile-{name}", NODE_MAJOR, "graphile_bridge.mjs", self._words, self._folder, self._prefix)

    def _processes(self) -> list[Bridge]:
        """Of the workers, each once."""
        found = (worker.process for worker in self._workers.values())
        return list(dict.fromkeys(process for process in found if process is not None))

    def end(self) -> None:
        for bridge in (self._sender, *self._processes()):
            bridge.end()

    def put(self, call: Call) -> None:
        group = int(call.arguments["group"])
        body = self.history.called(call)
        self._jobs[body] = Job(self._sender.ask("add", f"queue-{group}", body.decode()), group)
        self.history.returned(call.node)

    def end_one(self, worker: Worker, job: Job, *, fails: bool) -> None:
        assert worker.job is not None
        worker.process.ask("end", worker.job.payload.decode())

    def move(self, step: Step) -> None:
        if step.move is Move.LATER:
            self._lapse()
            return
        nodes = WORKERS if step.move is Move.POOL else (step.node,)
        if any(self._workers[node].process is not None for node in nodes):
            return
        process = self._bridge(f"worker-{'-'.join(map(str, nodes))}")
        for node in nodes:
            self._workers[node].process = process
        process.ask("work", len(nodes))

    def _lapse(self) -> None:
        """Record that workers lose their jobs, at which they go on. The clocks of all of them go ahead."""
        for process in self._processes():
            process.ask("later", HOURS)
        for node, worker in self._workers.items():
            if worker.job is not None and not worker.stale:
                self.note(extends(0, node, 1, newest=1), worker.job)
                self._jobs[worker.job.payload].holder, worker.stale = None, True

    def reported(self, node: NodeId, worker: Worker) -> Sequence[bytes]:
        begun = worker.process.ask("begun") if worker.is_idle else ()
        return [body.encode() for body in begun]


Steps = list[Call | Step]


def drawn(seed: int, quiet: bool = False, steps: int = 24) -> Steps:
    """The steps of a drawn run. In some, a worker still works when its lock has lapsed; a quiet run has none of it."""
    draw = Random(seed)
    if not quiet and draw.random() < 0.4:
        return _lapsing(draw)
    found = [Step(Move.POOL)] if draw.random() < 0.5 else [Step(Move.START, node) for node in WORKERS]
    calls = [
        puts(0, SENDER, draw.choice(GROUPS)) if draw.random() < 0.5 else deletes(0, draw.choice(WORKERS))
        for _ in range(steps)
    ]
    # Those that are added first are there when workers start.
    first = draw.randrange(5)
    return [*calls[:first], *found, *calls[first:], *[deletes(0, node) for node in WORKERS] * steps]


def _lapsing(draw: Random) -> Steps:
    """A job that has lapsed goes behind those that wait: there are none in its queue."""
    slow, other = draw.sample(WORKERS, 2)
    late = [deletes(0, slow), deletes(0, other)]
    draw.shuffle(late)
    rest = [puts(0, SENDER, 1), deletes(0, other)] * 3
    return [Step(Move.START, slow), puts(0, SENDER, 1), Step(Move.START, other), Step(Move.LATER), *late, *rest]


_NODE = f"node@{NODE_MAJOR}"


def _why_not(module: Path, needs: Needs) -> str | None:
    lacking = [] if programs() else ["PostgreSQL"]
    lacking += [] if node_program(NODE_MAJOR) else [f"Node.js {NODE_MAJOR}"]
    lacking += [] if module.is_dir() else ["graphile-worker"]
    return needs.why_not(lacking)


def _play(server: Postgres, prefix: Path, folder: Path, name: str, steps: Sequence[Call | Step], seed: int) -> Trace:
    server.database(name)
    history = Driver([str(server.folder), ROLE, name], prefix, folder / name).play(steps)
    return history.trace(seed, f"Graphile Worker {version('graphile-worker', prefix)}")


def _served(prefix: Path) -> Callable[[Path], AbstractContextManager[Play]]:
    @contextmanager
    def serve(folder: Path) -> Iterator[Play]:
        with postgres(folder) as server:
            yield lambda name, steps, seed: _play(server, prefix, folder, name, steps, seed)

    return serve


def of_version(number: str) -> Product:
    """This version, in a folder of its own."""
    prefix, needs = PACKAGE.folder(number), POSTGRESQL + Needs(npm=(_NODE,), beside=((PACKAGE, number),))
    module = prefix / "node_modules" / "graphile-worker"
    return replace(
        PRODUCT,
        name=f"graphile-worker-{number}",
        why_not=lambda: _why_not(module, needs),
        needs=needs,
        serve=_served(prefix),
    )


NEEDS = POSTGRESQL + Needs(npm=(f"graphile-worker@{NEWEST}", _NODE))
PRODUCT = Product(
    name="graphile-worker",
    text="jobs of Graphile Worker in named queues, in PostgreSQL",
    profile=Path(__file__).with_name("graphile-worker.toml"),
    why_not=lambda: _why_not(MODULES / "graphile-worker", NEEDS),
    needs=NEEDS,
    serve=_served(MODULES.parent),
    # A worker whose lock has lapsed ends the job that another one has, and the queue stands still.
    steps=drawn,
    vocabulary=vocabulary(Move, Step),
    package=PACKAGE,
    of_version=of_version,
)
