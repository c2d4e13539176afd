"""Drives jobs of BullMQ with deduplication in the mode `keepLastIfActive`, in drawn runs. A put adds a job; its group
is the deduplication id.

A job that is put while one with its id is active is kept until that one has ended; of several, only the last. A job
that is put while one waits is ignored. A process of Node.js (`bullmq_bridge.mjs`) carries out the calls, for a sender
and two consumers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.serving import program
from scatterproof.conformance.workqueue.cases.building import deletes, extends, gives_back, puts, receives
from scatterproof.conformance.workqueue.products.bridge import MODULES, Bridge, node_program, version
from scatterproof.conformance.workqueue.products.history import SECOND_NS, History, vocabulary
from scatterproof.conformance.workqueue.products.redis_server import NEEDS as REDIS
from scatterproof.conformance.workqueue.products.redis_server import redis_server
from scatterproof.spec.core import Outcome
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Trace
from scatterproof.spec.workqueue.messages import CallName, Handed

SENDER, CONSUMERS, GROUPS = 1, (2, 3), (1, 2)
LEASE_NS = 1_000_000 * SECOND_NS  # until the checker finds the job stalled
NODE_MAJOR = 18


class Move(StrEnum):
    """Steps that are no calls.

    GIVE_UP: a job fails for good.
    RETRY: the group's last job that failed for good is retried by hand.
    STALL: the locks of jobs in hand end, and the checker sees it.
    """

    GIVE_UP = "give up"
    RETRY = "retry"
    STALL = "stall"


@dataclass(frozen=True, slots=True)
class Step:
    """A step that is no call. number: of the consumer, or of the group."""

    move: Move
    number: int = 0


@dataclass(slots=True)
class Held:
    """A job in hand. name: BullMQ's. token: of its lock. stalled: whether the checker has found it so."""

    handed: Handed
    name: str
    token: str
    stalled: bool = False


@dataclass(slots=True)
class Group:
    """A deduplication id, as the documentation has it.

    name: of the job that has the id.
    active: whether that job is active.
    kept: the index, in the history, of the return of the put whose job comes next.
    failed: the last job that failed for good.
    retried: whether a job was retried by hand; what puts do then is not documented.
    """

    name: str | None = None
    active: bool = False
    kept: int | None = None
    failed: str | None = None
    retried: bool = False


class Driver:
    """Carries out steps at one queue."""

    def __init__(self, bridge: Bridge, queue: str) -> None:
        self._bridge, self._queue, self.history = bridge, queue, History()
        self._hands: dict[NodeId, list[Held]] = {node: [] for node in CONSUMERS}
        self._groups = {group: Group() for group in GROUPS}
        self._receipts = 0
        bridge.ask("open", queue)

    def make(self, step: Call | Step) -> None:
        if isinstance(step, Step):
            self._move(step)
        elif step.call == CallName.PUT_MESSAGE:
            self._put(step)
        elif step.call == CallName.RECEIVE:
            self._fetch(step.node)
        else:
            self._end_job(step, "complete" if step.call == CallName.DELETE else "fail")

    def end(self) -> None:
        self._bridge.ask("close", self._queue)

    def _put(self, call: Call) -> None:
        group = self._groups[int(call.arguments["group"])]
        name = self._bridge.ask("add", self._queue, self.history.called(call).decode(), str(call.arguments["group"]))
        ignored = group.name is not None and not group.active and group.kept is None
        known = Outcome.REFUSED if ignored else Outcome.OK
        self.history.returned(call.node, Outcome.UNKNOWN if group.retried else known)
        if group.name is None:
            group.name = name
        elif not ignored:
            # The latest wins: the job that was kept before may never come.
            if group.kept is not None:
                self.history.forget(group.kept)
            group.kept = self.history.last()

    def _fetch(self, node: NodeId) -> None:
        """A consumer with a job that has not stalled fetches nothing."""
        hand = self._hands[node]
        if len(hand) > 1 or any(not held.stalled for held in hand):
            return
        self.history.called(receives(0, node, 1, LEASE_NS))
        self._receipts += 1
        token = f"token-{self._receipts}"
        if (job := self._bridge.ask("fetch", self._queue, token)) is not None:
            name, body, key = job
            handed = self.history.handed(node, body.encode(), self._receipts, int(key))
            hand.append(Held(handed, name, token))
            group = self._groups[int(key)]
            group.name, group.active = name, True
        self.history.returned(node)

    def _end_job(self, call: Call, how: str) -> None:
        if not self._hands[call.node]:
            return
        self.history.called(call)
        held = self._hands[call.node].pop(-1 if call.arguments["newest"] == 1 else 0)
        done = self._bridge.ask("end", self._queue, held.token, how)
        self.history.returned(call.node, Outcome.OK if done else Outcome.REFUSED, held.handed)
        group = self._groups[held.handed.group]
        if not done or group.name != held.name:
            return
        group.active = False
        if how != "fail":
            # The job that was kept comes as a new one.
            group.name, group.kept = ("next" if group.kept is not None else None), None
            group.failed = held.name if how == Move.GIVE_UP else group.failed

    def _move(self, step: Step) -> None:
        if step.move is Move.GIVE_UP:
            self._end_job(deletes(0, step.number), Move.GIVE_UP)
        elif step.move is Move.RETRY:
            group = self._groups[step.number]
            if group.failed is not None:
                self._bridge.ask("retry", self._queue, group.failed)
                group.failed, group.retried = None, True
        else:
            # A consumer has at most two jobs, and only the newest may still be its own.
            ends = {node: held for node, hand in self._hands.items() for held in hand[-1:] if not held.stalled}
            for node in ends:
                self.history.called(extends(0, node, 1, newest=1))
            self._bridge.ask("stall", self._queue, [held.token for held in ends.values()])
            for node, held in ends.items():
                held.stalled = True
                self.history.returned(node, about=held.handed)
                self._groups[held.handed.group].active = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What runs may contain. The default is everything; less avoids known mistakes.

    fails: jobs fail, or stall, and are tried again.
    retries: jobs that have failed for good are retried by hand.
    """

    fails: bool = True
    retries: bool = True


Steps = list[Call | Step]


def drawn(seed: int, shape: Shape = Shape(), steps: int = 60) -> Steps:
    draw = Random(seed)
    found: Steps = [puts(0, SENDER, group) for group in GROUPS]
    for _ in range(steps):
        node, kind, group = draw.choice(CONSUMERS), draw.randrange(20), draw.choice(GROUPS)
        if kind < 6:
            found.append(puts(0, SENDER, group))
        elif kind < 12:
            found.append(receives(0, node, 1, LEASE_NS))
        elif kind < 15:
            found.append(deletes(0, node, draw.randint(0, 1)))
        elif kind < 17 and shape.fails:
            found.append(gives_back(0, node, draw.randint(0, 1)))
        elif kind == 17 and shape.fails:
            found.append(Step(Move.STALL))
        elif kind == 18 and shape.retries:
            found += [Step(Move.GIVE_UP, node), *[puts(0, SENDER, group)] * draw.randint(0, 1), Step(Move.RETRY, group)]
        else:
            found.append(Step(Move.GIVE_UP, node))
    # The jobs that are left are done, one after the other.
    found += [deletes(0, node) for node in CONSUMERS * 2]
    return [*found, *[receives(0, CONSUMERS[0], 1, LEASE_NS), deletes(0, CONSUMERS[0])] * 6]


NEEDS = REDIS + Needs(npm=("bullmq@6.7.0", "ioredis@5", "node@22"))


def why_not() -> str | None:
    lacking = [] if program("redis-server") else ["redis-server"]
    lacking += [] if node_program(NODE_MAJOR) else [f"Node.js {NODE_MAJOR}"]
    lacking += [name for name in ("bullmq", "ioredis") if not (MODULES / name).is_dir()]
    return NEEDS.why_not(lacking)


@contextmanager
def _serve(folder: Path) -> Iterator[Play]:
    with redis_server(folder) as redis:
        bridge = Bridge("BullMQ", NODE_MAJOR, "bullmq_bridge.mjs", [str(redis.port)], folder)

        def play(name: str, steps: Sequence[Call | Step], seed: int) -> Trace:
            driver = Driver(bridge, name)
            for step in steps:
                driver.make(step)
            driver.end()
            return driver.history.trace(seed, f"BullMQ {version('bullmq')}")

        try:
            yield play
        finally:
            bridge.end()


PRODUCT = Product(
    name="bullmq",
    text="jobs of BullMQ with deduplication that keeps the last, in Redis",
    profile=Path(__file__).with_name("bullmq.toml"),
    why_not=why_not,
    needs=NEEDS,
    serve=_serve,
    # A kept job is not replaced while the active one waits to be tried again; a job retried by hand has lost its id.
    steps=lambda seed, quiet: drawn(seed, Shape(fails=not quiet, retries=not quiet)),
    vocabulary=vocabulary(Move, Step),
)
