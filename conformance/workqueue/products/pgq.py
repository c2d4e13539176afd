"""Drives queues of PgQ, in PostgreSQL, in drawn runs. A put inserts an event; a receive gets the consumer's next batch.

PgQ promises no order across batches, as retried events come later: so each event is a group of its own. Finishing a
batch deletes its events that were not put back (`delete`).
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.workqueue.cases.building import deletes, gives_back, puts, receives
from scatterproof.conformance.workqueue.products import polled
from scatterproof.conformance.workqueue.products.history import History, vocabulary
from scatterproof.conformance.workqueue.products.polled import FOREVER_NS
from scatterproof.conformance.workqueue.products.postgres import NEEDS as POSTGRESQL
from scatterproof.conformance.workqueue.products.postgres import postgres, programs
from scatterproof.spec.schedule import Call
from scatterproof.spec.trace import Trace
from scatterproof.spec.workqueue.messages import CallName, Handed

SENDER, CONSUMER, OTHER_SENDER = 1, 2, 3
QUEUE, NAME, BYSTANDER, MOST = "events", "consumer", "bystander", 10_000


class Move(StrEnum):
    """Steps that are no calls.

    FINISH: the batch is finished.
    STOP: the consumer stops in the midst of its batch, and begins anew with the same one.
    EARLY: the same, unless it has put an event back.
    BEGIN, COMMIT: a transaction in which an event is put begins, and is committed.
    BYSTANDER: another consumer of the queue takes its next batch, puts all of it back, and finishes.
    ROTATE: the queue goes on in its next table, where it can.
    """

    FINISH = "finish"
    STOP = "stop"
    EARLY = "early"
    BEGIN = "begin"
    COMMIT = "commit"
    BYSTANDER = "bystander"
    ROTATE = "rotate"


class Step(polled.Step[Move]):
    pass


@dataclass(slots=True)
class Batch:
    """A batch. hand: the events not put back, each with its number. is_touched: whether one was put back."""

    number: int
    hand: list[tuple[Handed, int]]
    is_touched: bool = False


class Driver:
    def __init__(self, address: str) -> None:
        psycopg = importlib.import_module("psycopg")
        self._session, self._transaction = (psycopg.connect(address, autocommit=True) for _ in range(2))
        self._ask("create extension pgq")
        self._ask("select pgq.create_queue(%s)", QUEUE)
        self._ask("select pgq.set_queue_config(%s, 'rotation_period', '0')", QUEUE)
        for name in (NAME, BYSTANDER):
            self._ask("select pgq.register_consumer(%s, %s)", QUEUE, name)
        self.history = History()
        self._batch: Batch | None = None
        self._is_open, self._has_stopped, self._receipts = False, False, 0
        self._groups: dict[str, int] = {}  # by the bodies of events

    def _ask(self, words: str, *given: Any) -> list[Any]:
        cursor = self._session.execute(words, given)
        return cursor.fetchall() if cursor.description else []

    def version(self) -> str:
        return str(self._ask("select pgq.version()")[0][0])

    def make(self, step: Any) -> None:
        if not isinstance(step, Call):
            self._move(step)
        elif step.call == CallName.PUT_MESSAGE:
            body = self._put_called(OTHER_SENDER)
            self._ask("select pgq.insert_event(%s, 'type', %s)", QUEUE, body)
            self.history.returned(OTHER_SENDER)
        elif step.call == CallName.RECEIVE and self._batch is None:
            self._receive()
        elif step.call == CallName.GIVE_BACK and self._batch is not None and self._batch.hand:
            self.history.called(step)
            self._batch.is_touched = True
            handed, number = self._batch.hand.pop(-1 if step.arguments["newest"] == 1 else 0)
            # It returns 0 for an event that waits to be tried again already.
            self._ask("select pgq.event_retry(%s, %s, 0)", self._batch.number, number)
            self.history.returned(CONSUMER, about=handed)

    def _put_called(self, sender: int) -> str:
        group = len(self._groups) + 1
        body = self.history.called(puts(0, sender, group)).decode()
        self._groups[body] = group
        return body

    def _receive(self) -> None:
        self.history.called(receives(0, CONSUMER, MOST, FOREVER_NS))
        number, events = self._next(NAME)
        hand: list[tuple[Handed, int]] = []
        # An event that comes twice in a batch is one event for the consumer.
        for event, body in dict(events).items():
            self._receipts += 1
            hand.append((self.history.handed(CONSUMER, body.encode(), self._receipts, self._groups[body]), event))
        self._batch, self._has_stopped = None if number is None else Batch(number, hand), False
        self.history.returned(CONSUMER)

    def _next(self, name: str) -> tuple[int | None, list[Any]]:
        """The number and events of the next batch that is not empty; None and no events where there is none. First does
        what PgQ's daemon does from time to time; a consumer that comes back to a batch waits for no tick."""
        while self._ask("select pgq.maint_retry_events()") != [(0,)]:
            pass
        if name != NAME or not self._has_stopped:
            self._ask("select pgq.force_tick(%s)", QUEUE)
            self._ask("select pgq.ticker(%s)", QUEUE)
        while (number := self._ask("select pgq.next_batch(%s, %s)", QUEUE, name)[0][0]) is not None:
            events = self._ask("select ev_id, ev_data from pgq.get_batch_events(%s)", number)
            if events:
                return number, events
            self._ask("select pgq.finish_batch(%s)", number)
        return None, []

    def _finish(self) -> None:
        if self._batch is None:
            return
        self._ask("select pgq.finish_batch(%s)", self._batch.number)
        for handed, _ in self._batch.hand:
            self.history.called(deletes(0, CONSUMER))
            self.history.returned(CONSUMER, about=handed)
        self._batch = None

    def _move(self, step: Any) -> None:
        if step.move is Move.FINISH:
            self._finish()
        elif step.move in (Move.STOP, Move.EARLY) and self._batch is not None:
            if step.move is Move.STOP or not self._batch.is_touched:
                for handed, _ in self._batch.hand:
                    self.history.called(gives_back(0, CONSUMER))
                    self.history.returned(CONSUMER, about=handed)
                self._batch, self._has_stopped = None, True
        elif step.move is Move.BEGIN and not self._is_open:
            body, self._is_open = self._put_called(SENDER), True
            self._transaction.execute("begin")
            self._transaction.execute("select pgq.insert_event(%s, 'type', %s)", (QUEUE, body))
        elif step.move is Move.COMMIT and self._is_open:
            self._transaction.execute("commit")
            self.history.returned(SENDER)
            self._is_open = False
        elif step.move is Move.ROTATE:
            self._ask("select pgq.maint_rotate_tables_step1(%s)", QUEUE)
            self._ask("select pgq.maint_rotate_tables_step2()")
        elif step.move is Move.BYSTANDER:
            number, _ = self._next(BYSTANDER)
            if number is not None:
                self._ask("select pgq.batch_retry(%s, 0)", number)
                self._ask("select pgq.finish_batch(%s)", number)

    def end(self) -> None:
        for session in (self._session, self._transaction):
            session.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What runs may contain. The default is everything; less avoids known mistakes.

    stops: the consumer stops and begins anew after it has put an event back.
    """

    stops: bool = True


Steps = list[Call | Step]


def drawn(seed: int, shape: Shape = Shape(), steps: int = 50) -> Steps:
    draw = Random(seed)
    fetch = receives(0, CONSUMER, MOST, FOREVER_NS)
    found: Steps = [puts(0, OTHER_SENDER), puts(0, OTHER_SENDER)]
    for _ in range(steps):
        kind = draw.randrange(20)
        if kind < 2:
            found.append(puts(0, OTHER_SENDER))
        elif kind < 8:
            found.append(fetch)
        elif kind < 12:
            found += [gives_back(0, CONSUMER, newest=draw.randint(0, 1))] * draw.randint(1, 4)
        elif kind < 14:
            found.append(Step(Move.FINISH))
        elif kind < 16:
            stop = Step(Move.STOP if shape.stops else Move.EARLY)
            found += [stop, fetch, *[gives_back(0, CONSUMER)] * draw.randint(0, 2)]
        else:
            found.append(Step(draw.choice((Move.BEGIN, Move.COMMIT, Move.BYSTANDER, Move.ROTATE))))
    found += [Step(Move.COMMIT), Step(Move.FINISH)]
    for _ in range(3):
        found += [fetch, Step(Move.FINISH)]
    return found


NEEDS = POSTGRESQL + Needs(pypi=("psycopg",), debian=("postgresql-15-pgq3",))


def why_not() -> str | None:
    found = programs()
    lacking = [] if found else ["PostgreSQL"]
    lacking += [] if found and list((found.parent / "lib").glob("pgq_lowlevel.so")) else ["PgQ"]
    lacking += [] if importlib.util.find_spec("psycopg") else ["psycopg"]
    return NEEDS.why_not(lacking)


@contextmanager
def _serve(folder: Path) -> Iterator[Play]:
    with postgres(folder) as server:

        def play(name: str, steps: Sequence[Call | Step], seed: int) -> Trace:
            driver = Driver(server.database(name))
            try:
                for step in steps:
                    driver.make(step)
                version = driver.version()
            finally:
                driver.end()
            return driver.history.trace(seed, f"PgQ {version}")

        yield play


PRODUCT = Product(
    name="pgq",
    text="queues of PgQ, in PostgreSQL",
    profile=Path(__file__).with_name("pgq.toml"),
    why_not=why_not,
    needs=NEEDS,
    serve=_serve,
    # An event put back twice from one batch comes twice; it is lost when it is put back once more.
    steps=lambda seed, quiet: drawn(seed, Shape(stops=not quiet)),
    errors=("psycopg.Error",),
    vocabulary=vocabulary(Move, Step),
)
