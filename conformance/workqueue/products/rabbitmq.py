"""Drives queues of RabbitMQ by pika: carries out the steps of `rabbitmq_steps` at a server of `rabbitmq_node`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from scatterproof.conformance.workqueue.cases.building import cancels, deletes, gives_back
from scatterproof.conformance.workqueue.products.history import History
from scatterproof.conformance.workqueue.products.rabbitmq_steps import CONSUMERS, Move, Step
from scatterproof.spec.core import Outcome
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.workqueue.messages import CallName, Handed

# How long to wait for a message that is due, and for one that is not.
PATIENCE_S, GLANCE_S = 5.0, 0.05


@dataclass(slots=True)
class Consumer:
    """A client that consumes or fetches.

    connection, channel: None while it has none.
    tag: of its consumer; None while it has none.
    sent: the messages that it was sent and has not taken yet, as (delivery tag, body).
    hand: the messages that it has taken, each with its delivery tag.
    source: the queue that they are of.
    """

    connection: Any = None
    channel: Any = None
    tag: str | None = None
    sent: list[tuple[int, bytes]] = field(default_factory=list)
    hand: list[tuple[Handed, int]] = field(default_factory=list)
    source: str = ""


class BrokerNode(Protocol):
    """A server.

    persistent: pika's properties of a message that is kept on disk.
    refusals: the exceptions that a message without a confirm raises.
    connect: returns a connection of pika's to it.
    restart: stops it, and starts it again.
    """

    persistent: Any
    refusals: tuple[type[Exception], ...]

    def connect(self) -> Any: ...

    def restart(self) -> None: ...


class Driver:
    """Carries out steps at one queue.

    arguments: of the queue, but for the one of a single active consumer.
    limit: more arguments, of a queue with a dead-letter exchange.
    single: whether the queue has a single active consumer; then a client that goes has cancelled, with or without a
        message in hand.
    most_tries: how often a message is handed out before it is a dead letter; 0 for no dead-letter exchange.
    """

    def __init__(
        self, node: BrokerNode, queue: str, arguments: Mapping[str, Any], limit: Mapping[str, Any] | None = None
    ) -> None:
        self._node, self._queue, self._arguments, self._limit = node, queue, arguments, limit or {}
        self._aside = f"{queue}-aside"
        self.single, self.most_tries, self.history = False, 0, History()
        self._consumers = {node: Consumer(source=queue) for node in CONSUMERS}
        self._joined: list[NodeId] = []  # in the order in which they become active
        self._receipts, self._due = 0, Counter[str]()  # receipts given; messages of a queue that are in nobody's hand
        self._tries = Counter[bytes]()  # how often each was handed out, but for dead letters
        self._open_sender()
        self._declare({})

    def make(self, step: Call | Step) -> None:
        self._look()
        if isinstance(step, Step):
            self._move(step)
        elif step.call == CallName.PUT_MESSAGE:
            self._put(step)
        elif step.call in (CallName.RECEIVE, CallName.RECEIVE_ASIDE):
            (self._take if self.single else self._fetch)(step)
        else:
            self._settle(step)

    def end(self) -> None:
        for queue in (self._queue, self._aside):
            self._sender.queue_delete(queue)
        for connection in (self._sending, *(one.connection for one in self._consumers.values())):
            if connection is not None:
                connection.close()

    def _open_sender(self) -> None:
        self._sending = self._node.connect()
        self._sender = self._sending.channel()
        self._sender.confirm_delivery()

    def _declare(self, more: Mapping[str, Any]) -> None:
        self._sender.queue_delete(self._queue)
        self._sender.queue_declare(self._queue, durable=True, arguments={**self._arguments, **more})

    def _put(self, call: Call) -> None:
        body, outcome = self.history.called(call), Outcome.OK
        try:
            self._sender.basic_publish("", self._queue, body, self._node.persistent)
            self._due[self._queue] += 1
        except self._node.refusals:  # not confirmed: it may be there
            outcome = Outcome.UNKNOWN
        self.history.returned(call.node, outcome)

    def _take(self, call: Call) -> None:
        """Records nothing for a client that waits for its turn, unless it is sent a message."""
        one, node = self._consumers[call.node], call.node
        if one.tag is None:
            return
        active = self._joined[:1] == [node]
        patience_s = PATIENCE_S if active and self._due[self._queue] > 0 and not one.hand else GLANCE_S
        since_ns, until = self.history.now_ns(), time.monotonic() + patience_s
        while not one.sent and time.monotonic() < until:
            one.connection.process_data_events(GLANCE_S)
        if not one.sent and (one.hand or not active or one.tag is None):
            return
        self.history.called(call, since_ns)
        while one.sent:
            self._hand(node, *one.sent.pop(0))
        self.history.returned(node)

    def _fetch(self, call: Call) -> None:
        """Nobody fetches from a queue of which somebody holds a message."""
        one, source = self._consumers[call.node], self._aside if call.call == CallName.RECEIVE_ASIDE else self._queue
        held = any(other.hand and other.source == source for other in self._consumers.values())
        if one.hand or held or (source == self._aside and not self.most_tries):
            return
        if one.channel is None:
            self._open(one)
        one.source = source
        self._wait(source)
        self.history.called(call)
        for _ in range(int(call.arguments["most"])):
            method, _, body = one.channel.basic_get(source)
            if method is None:
                break
            self._hand(call.node, method.delivery_tag, body)
        self.history.returned(call.node)

    def _hand(self, node: NodeId, tag: int, body: bytes) -> None:
        source = self._consumers[node].source
        self._receipts += 1
        self._due[source] -= 1
        self._tries[body] += source == self._queue
        self._consumers[node].hand.append((self.history.handed(node, body, self._receipts), tag))

    def _settle(self, call: Call, *, finishes: bool = False) -> None:
        """Acknowledge one message in hand, or give it back."""
        one = self._consumers[call.node]
        if not one.hand:
            return
        self.history.called(call)
        if finishes:
            one.channel.basic_cancel(one.tag)
            self._part(call.node)
        handed, tag = one.hand.pop(-1 if call.arguments["newest"] == 1 else 0)
        if call.call == CallName.DELETE:
            one.channel.basic_ack(tag)
        else:
            # A queue without a limit of its own sets aside what is not to be queued again.
            goes_aside = one.source == self._queue and 0 < self.most_tries <= self._tries[handed.payload]
            one.channel.basic_nack(tag, requeue=not goes_aside or "x-delivery-limit" in self._limit)
            self._due[self._aside if goes_aside else one.source] += 1
        # The answer to this shows that the channel has carried out all commands before it.
        one.channel.basic_qos(prefetch_count=1)
        self.history.returned(call.node, about=handed)

    def _move(self, step: Step) -> None:
        one = self._consumers.get(step.node, Consumer())
        if step.move is Move.SINGLE:
            self.single = True
            self._declare({"x-single-active-consumer": True})
        elif step.move is Move.ASIDE:
            self.most_tries = self._limit.get("x-delivery-limit", 0) + 1
            self._sender.queue_declare(self._aside, durable=True)
            letters = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": self._aside}
            self._declare({**letters, **self._limit})
        elif self.most_tries:
            return  # whether what a channel leaves counts as a try is not said
        elif step.move is Move.RESTART:
            self._give_back(self._restart_server)
        elif step.move is Move.JOIN and self.single and one.tag is None:
            if one.channel is None:
                self._open(one)
            one.tag = one.channel.basic_consume(
                self._queue, lambda _c, method, _p, body: one.sent.append((method.delivery_tag, body))
            )
            self._joined.append(step.node)
        elif step.move is Move.FINISH and one.tag is not None and one.hand:
            self._settle(deletes(0, step.node), finishes=True)
            self.history.called(cancels(0, step.node))
            self.history.returned(step.node)
        elif step.move in (Move.LEAVE, Move.DROP) and one.channel is not None:
            closing = one.channel if step.move is Move.LEAVE else one.connection
            self._give_back(closing.close, step.node)

    def _open(self, one: Consumer) -> None:
        if one.connection is None:
            one.connection = self._node.connect()
        one.channel = one.connection.channel()
        one.channel.basic_qos(prefetch_count=1)
        one.channel.add_on_cancel_callback(lambda _: setattr(one, "tag", None))

    def _give_back(self, lose: Callable[[], None], *nodes: NodeId) -> None:
        """Call `lose`, which closes the channels of these clients, or of all: what they have in hand is given back."""
        nodes = nodes or CONSUMERS
        held = {node: [handed for handed, _ in self._consumers[node].hand] for node in nodes}
        gone = [node for node in nodes if self.single or held[node]]
        for node in gone:
            self.history.called(cancels(0, node) if self.single else gives_back(0, node))
        lose()
        for node in gone:
            for number, handed in enumerate([None] if self.single else held[node]):
                if number:
                    self.history.called(gives_back(0, node))
                self.history.returned(node, about=handed)
        for node, hand in held.items():
            self._due[self._queue] += len(hand)
            self._forget(node)
        if not self.single:  # a client that fetches must find these messages; consumers are sent them
            self._wait(self._queue)

    def _wait(self, queue: str) -> None:
        """Wait until the messages that are due, in nobody's hand, are in the queue, or for PATIENCE_S."""
        until = time.monotonic() + PATIENCE_S
        while (there := self._waiting(queue)) < self._due[queue]:
            if time.monotonic() > until:
                self._due[queue] = there  # what is not there by now is not waited for again
            time.sleep(0.01)

    def _waiting(self, queue: str) -> int:
        count: int = self._sender.queue_declare(queue, passive=True).method.message_count
        return count

    def _forget(self, node: NodeId) -> None:
        """Forget the client's channel, what it had in hand, and its connection if that is closed."""
        one = self._consumers[node]
        one.channel, one.tag = None, None
        one.sent.clear()
        one.hand.clear()
        if one.connection is not None and not one.connection.is_open:
            one.connection = None
        self._part(node)

    def _part(self, node: NodeId) -> None:
        self._consumers[node].tag = None
        self._joined = [other for other in self._joined if other != node]

    def _restart_server(self) -> None:
        for one in self._consumers.values():
            if one.connection is not None:
                one.connection.close()
        self._sending.close()
        self._node.restart()
        self._open_sender()

    def _look(self) -> None:
        """Close all channels if the server has cancelled a consumer: its queue is gone, and hands are given back."""
        for one in self._consumers.values():
            if one.connection is not None:
                one.connection.process_data_events(0)
        if any(self._consumers[node].tag is None for node in self._joined):
            self._give_back(self._close_channels)

    def _close_channels(self) -> None:
        for one in self._consumers.values():
            if one.channel is not None:
                one.channel.close()
