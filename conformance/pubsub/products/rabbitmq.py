"""A topic exchange of RabbitMQ, through pika: a client's session is a durable queue, its subscriptions are bindings.
Messages are persistent and confirmed; deliveries are acknowledged one by one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.pubsub.products.drawing import CLIENTS, VOCABULARY, Shape, drawn, words_of_amqp
from scatterproof.conformance.pubsub.products.driving import Deliver, Move, Step, Steps, play
from scatterproof.conformance.pubsub.products.ports import ANSWER_S, Client, ClientsPort
from scatterproof.conformance.workqueue.products.rabbitmq_node import NEEDS, RabbitNode, why_not
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Trace

LEVEL = 1
# When a binding is removed, its messages stay in the queue, as those of a subscription do.
SHAPE = Shape(levels=(LEVEL,), lasting=10, restarts=Move.KILL)
# A binding made less than this many seconds before the node is killed can be lost.
ON_DISK_S = 2.5


@dataclass(slots=True)
class _One(Client):
    """A client. bound: the filters by which its queue is bound. unacknowledged: delivery tags."""

    connection: Any = None
    channel: Any = None
    bound: set[str] = field(default_factory=set)


class TopicPort(ClientsPort[_One]):
    """A port to a topic exchange. name: the run's, and the exchange's."""

    def __init__(self, deliver: Deliver, node: RabbitNode, name: str) -> None:
        super().__init__(deliver, name, _One, lambda _: node.restart(kill=True))
        self._node = node
        with node.connect() as connection:
            connection.channel().exchange_declare(name, "topic", durable=True)

    def _queue(self, node: NodeId) -> str:
        return f"{self._name}-{node}"

    # ---------------------------------------------------------------- connections

    def connect(self, node: NodeId, lasts: bool) -> Outcome:
        one = self._one(node)
        self.drop(node)
        one.connection = self._node.connect()
        one.channel = one.connection.channel()
        one.channel.confirm_delivery()
        if one.bound:
            self._consume(node, one)
        return Outcome.OK

    def _consume(self, node: NodeId, one: _One) -> None:
        """Consume, once the queue has no consumer: then what the last connection left unacknowledged is back in it.
        Raises CannotRun where it keeps one for `ANSWER_S` seconds."""
        until = time.monotonic() + ANSWER_S
        while one.channel.queue_declare(self._queue(node), passive=True).method.consumer_count:
            if time.monotonic() > until:
                raise CannotRun(f"{self._queue(node)} of RabbitMQ keeps a consumer whose connection has ended")
            time.sleep(0.005)

        def take(_channel: Any, method: Any, _properties: Any, body: bytes) -> None:
            one.unacknowledged.append(method.delivery_tag)
            self._take(node, method.routing_key, body, LEVEL, method.redelivered)

        one.channel.basic_consume(self._queue(node), take)

    def drop(self, node: NodeId) -> None:
        one = self._ones[node]
        # Closing fails where the server is gone.
        with suppress(*self._node.losses):
            if one.connection is not None and one.connection.is_open:
                one.connection.close()
        one.connection, one.stalled = None, False
        one.unacknowledged.clear()

    def is_connected(self, node: NodeId) -> bool:
        connection = self._ones[node].connection
        return connection is not None and bool(connection.is_open)

    def end(self) -> None:
        with self._node.connect() as connection:
            channel = connection.channel()
            for node in self._ones:
                channel.queue_delete(self._queue(node))
            channel.exchange_delete(self._name)
        for node in self._ones:
            self.drop(node)

    # ---------------------------------------------------------------- calls

    def publish(self, node: NodeId, topic: str, body: bytes, level: int, retain: bool, expiry_s: int) -> Outcome:
        try:
            self._ones[node].channel.basic_publish(self._name, topic, body, self._node.persistent)
        except self._node.refusals:
            return Outcome.UNKNOWN
        return Outcome.OK

    def subscribe(self, node: NodeId, filter_: str, level: int, group: int) -> Outcome:
        one = self._ones[node]
        first = not one.bound
        one.channel.queue_declare(self._queue(node), durable=True)
        one.channel.queue_bind(self._queue(node), self._name, filter_)
        one.bound.add(filter_)
        if first:
            self._consume(node, one)
        return Outcome.OK

    def unsubscribe(self, node: NodeId, filter_: str) -> Outcome:
        one = self._ones[node]
        if filter_ not in one.bound:
            return Outcome.REFUSED
        one.channel.queue_unbind(self._queue(node), self._name, filter_)
        one.bound.discard(filter_)
        if not one.bound:
            for tag in list(one.channel.consumer_tags):
                one.channel.basic_cancel(tag)
        return Outcome.OK

    def acknowledge(self, node: NodeId) -> Outcome:
        one = self._ones[node]
        for tag in one.unacknowledged:
            one.channel.basic_ack(tag)
        one.unacknowledged.clear()
        # Its answer shows that the channel has carried out all acknowledgements.
        one.channel.basic_qos(prefetch_count=0)
        return Outcome.OK

    # ---------------------------------------------------------------- reading

    def _read(self, most_s: float) -> None:
        for node, one in self._ones.items():
            if not one.stalled and self.is_connected(node):
                one.connection.process_data_events(0.01)


def _play(node: RabbitNode, name: str, steps: Steps, seed: int) -> Trace:
    iut = f"{PRODUCT.name} {node.iut.split()[-1]}"
    return play(partial(TopicPort, node=node, name=name), words_of_amqp(name), CLIENTS, steps, seed, iut)


@contextmanager
def _serve(folder: Path) -> Iterator[Play]:
    node = RabbitNode(folder)
    try:
        yield partial(_play, node)
    finally:
        node.end()


def _steps(seed: int, quiet: bool) -> list[Call | object]:
    found: list[Call | object] = []
    for step in drawn(seed, SHAPE):
        found += [Step(Move.WAIT, seconds=ON_DISK_S)] if quiet and step == Step(Move.KILL) else []
        found.append(step)
    return found


PRODUCT = Product(
    name="rabbitmq-topic",
    text="a topic exchange of RabbitMQ with durable queues, killed while it runs, by pika",
    profile=Path(__file__).with_name("rabbitmq-topic.toml"),
    why_not=why_not,
    needs=NEEDS,
    serve=_serve,
    steps=_steps,
    vocabulary=VOCABULARY,
)
