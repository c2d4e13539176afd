"""Drives jobs of pg-boss in a queue of the policy `key_strict_fifo`, in drawn runs. A put sends a job; its group is the
singleton key. A process of Node.js (`pg_boss_bridge.mjs`) carries out the calls, for a sender and two consumers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.workqueue.cases.building import deletes, extends, gives_back, puts, receives
from scatterproof.conformance.workqueue.products.bridge import MODULES, Bridge, node_program, version
from scatterproof.conformance.workqueue.products.history import SECOND_NS, History, vocabulary
from scatterproof.conformance.workqueue.products.postgres import NEEDS as POSTGRESQL
from scatterproof.conformance.workqueue.products.postgres import ROLE, postgres, programs
from scatterproof.spec.core import Outcome
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Trace
from scatterproof.spec.workqueue.messages import CallName, Handed

SENDER, CONSUMERS, GROUPS = 1, (2, 3), (1, 2)
LEASE_NS = 1_000_000 * SECOND_NS  # until the supervisor finds the job expired
EXPIRES_S, NODE_MAJOR = 1, 22


class Move(StrEnum):
    """Steps that are no calls.

    TRANSACTION: jobs of one group are sent in one transaction, one after the other.
    INSERT: jobs of one group are sent as a list, by one call.
    EXPIRE: jobs in hand expire, and the supervisor sees it.
    BOTH: consumers fetch at the same time.
    """

    TRANSACTION = "transaction"
    INSERT = "insert"
    EXPIRE = "expire"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Step:
    """A step that is no call. count: how many jobs. ids: theirs, in order; pg-boss draws them if there are none."""

    move: Move
    group: int = 1
    count: int = 0
    ids: tuple[str, ...] = ()


@dataclass(slots=True)
class Held:
    """A job in hand. name, attempt: pg-boss's. expired: whether the supervisor has found it so."""

    handed: Handed
    name: str
    attempt: int
    expired: bool = False


class Driver:
    """Carries out steps at one queue."""

    def __init__(self, bridge: Bridge, queue: str) -> None:
        self._bridge, self._queue, self.history = bridge, queue, History()
        self._hands: dict[NodeId, list[Held]] = {node: [] for node in CONSUMERS}
        self._receipts = 0
        given = {"policy": "key_strict_fifo", "retryLimit": 1000, "expireInSeconds": EXPIRES_S}
        self._ask("create", given)

    def make(self, step: Call | Step) -> None:
        if isinstance(step, Step):
            self._move(step)
        elif step.call == CallName.PUT_MESSAGE:
            body = self.history.called(step)
            self._ask("send", body.decode(), {"singletonKey": str(step.arguments["group"])})
            self.history.returned(step.node)
        elif step.call == CallName.RECEIVE:
            self._fetch(step.node)
        elif self._hands[step.node]:
            self.history.called(step)
            held = self._hands[step.node].pop(-1 if step.arguments["newest"] == 1 else 0)
            done = self._ask("complete" if step.call == CallName.DELETE else "fail", held.name, held.attempt)
            self.history.returned(step.node, Outcome.OK if done else Outcome.REFUSED, held.handed)

    def _fetch(self, *nodes: NodeId) -> None:
        """A consumer with a job that has not expired fetches nothing."""
        nodes = tuple(node for node in nodes if all(held.expired for held in self._hands[node][:2]))
        nodes = tuple(node for node in nodes if len(self._hands[node]) < 2)
        for node in nodes:
            self.history.called(receives(0, node, 1, LEASE_NS))
        for node, job in zip(nodes, self._ask("fetch", len(nodes)), strict=True):
            if job is not None:
                name, attempt, body, key = job
                self._receipts += 1
                handed = self.history.handed(node, body.encode(), self._receipts, int(key))
                self._hands[node].append(Held(handed, name, attempt))
            self.history.returned(node)

    def _move(self, step: Step) -> None:
        if step.move is Move.BOTH:
            self._fetch(*CONSUMERS)
        elif step.move is Move.EXPIRE:
            # A consumer has at most two jobs, and only the newest may still be its own.
            ends = {node: held for node, hand in self._hands.items() for held in hand[-1:] if not held.expired}
            for node in ends:
                self.history.called(extends(0, node, 1, newest=1))
            self._ask("expire", [held.name for held in ends.values()])
            for node, held in ends.items():
                held.expired = True
                self.history.returned(node, about=held.handed)
        else:
            self._send(step)

    def _send(self, step: Step) -> None:
        jobs = []
        for number in range(step.count):
            body = self.history.called(puts(0, SENDER, step.group)).decode()
            named = {"id": step.ids[number]} if step.ids else {}
            jobs.append((body, {"singletonKey": str(step.group), **named}))
            self.history.returned(SENDER)
        self._ask("together" if step.move is Move.TRANSACTION else "insert", jobs)

    def _ask(self, operation: str, *given: Any) -> Any:
        return self._bridge.ask(operation, self._queue, *given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What runs may contain. The default is everything; less avoids known mistakes.

    several: some jobs are sent with others, in one transaction or as a list.
    """

    several: bool = True


Steps = list[Call | Step]


def drawn(seed: int, shape: Shape = Shape(), steps: int = 40) -> Steps:
    draw = Random(seed)
    found: Steps = [puts(0, SENDER, 1), puts(0, SENDER, 1), puts(0, SENDER, 2)]
    for _ in range(steps):
        node, kind, group = draw.choice(CONSUMERS), draw.randrange(20), draw.choice(GROUPS)
        if kind < 5:
            found.append(puts(0, SENDER, group))
        elif kind == 5 and shape.several:
            found.append(Step(draw.choice((Move.TRANSACTION, Move.INSERT)), group, draw.randint(2, 3)))
        elif kind < 10:
            found.append(receives(0, node, 1, LEASE_NS))
        elif kind < 12:
            found.append(Step(Move.BOTH))
        elif kind < 16:
            found.append(deletes(0, node, draw.randint(0, 1)))
        elif kind < 19:
            found.append(gives_back(0, node, draw.randint(0, 1)))
        else:
            found.append(Step(Move.EXPIRE))
    # The jobs that are left are done, one after the other.
    found += [Step(Move.EXPIRE), *(deletes(0, node) for node in CONSUMERS * 2)]
    return [*found, *[receives(0, CONSUMERS[0], 1, LEASE_NS), deletes(0, CONSUMERS[0])] * steps]


NEEDS = POSTGRESQL + Needs(npm=("pg-boss@12.38.0", f"node@{NODE_MAJOR}"))


def why_not() -> str | None:
    lacking = [] if programs() else ["PostgreSQL"]
    lacking += [] if node_program(NODE_MAJOR) else [f"Node.js {NODE_MAJOR}"]
    lacking += [] if (MODULES / "pg-boss").is_dir() else ["pg-boss"]
    return NEEDS.why_not(lacking)


@contextmanager
def _serve(folder: Path) -> Iterator[Play]:
    with postgres(folder) as server:
        server.database("boss")
        words = [str(server.folder), ROLE, "boss"]
        bridge = Bridge("pg-boss", NODE_MAJOR, "pg_boss_bridge.mjs", words, folder)

        def play(name: str, steps: Sequence[Call | Step], seed: int) -> Trace:
            driver = Driver(bridge, name)
            for step in steps:
                driver.make(step)
            return driver.history.trace(seed, f"pg-boss {version('pg-boss')}")

        try:
            yield play
        finally:
            bridge.end()


PRODUCT = Product(
    name="pg-boss",
    text="jobs of pg-boss in key_strict_fifo queues, in PostgreSQL",
    profile=Path(__file__).with_name("pg-boss.toml"),
    why_not=why_not,
    needs=NEEDS,
    serve=_serve,
    # Jobs that are sent together come in the order of their ids.
    steps=lambda seed, quiet: drawn(seed, Shape(several=not quiet)),
    vocabulary=vocabulary(Move, Step),
)
