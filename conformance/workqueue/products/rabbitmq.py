"""Drives queues of RabbitMQ by pika, in drawn runs of consumers or of batches.

Client 1 sends messages with confirms. In a run of *consumers*, clients 2 and 3 consume a queue with a single active
consumer and a prefetch of 1: a client is sent one message at a time. In a run of *batches*, client 2 fetches several
messages, acknowledges each or gives it back, in any order, and fetches again when it has none in hand. The server is in
`rabbitmq_node`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import Any, Protocol

from scatterproof.conformance.workqueue.cases.building import cancels, deletes, gives_back, puts, receives
from scatterproof.conformance.workqueue.products.history import SECOND_NS, History
from scatterproof.spec.core import Outcome
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.workqueue.messages import CallName, Handed

SENDER, CONSUMERS = 1, (2, 3)
LEASE_NS = 1_000_000 * SECOND_NS  # as long as the channel is open
# How long to wait for a message that is due, and for one that is not.
PATIENCE_S, GLANCE_S = 5.0, 0.05


class Move(StrEnum):
    """Steps that are no calls.

    SINGLE: the queue is declared with a single active consumer. This step is the first, or the run is one of batches.
    JOIN: a client begins to consume.
    LEAVE: a client closes its channel, and so gives back what it has in hand.
    DROP: a client closes its connection.
    FINISH: a client cancels its consumer, and then acknowledges what it has in hand.
    RESTART: the server is stopped, and started again.
    """

    SINGLE = "single"
    JOIN = "join"
    LEAVE = "leave"
    DROP = "drop"
    FINISH = "finish"
    RESTART = "restart"


@dataclass(frozen=True, slots=True)
class Step:
    move: Move
    node: NodeId = 0


@dataclass(slots=True)
class Consumer:
    """A client that consumes or fetches.

    connection, channel: None while it has none.
    tag: of its consumer; None while it has none.
    sent: the messages that it was sent and has not taken yet, as (delivery tag, body).
    hand: the messages that it has taken, each with its delivery tag.
    """

    connection: Any = None
    channel: Any = None
    tag: str | None = None
    sent: list[tuple[int, bytes]] = field(default_factory=list)
    hand: list[tuple[Handed, int]] = field(default_factory=list)


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
    single: whether the queue has a single active consumer; then a client that goes has cancelled, with or without a
        message in hand.
    """

    def __init__(self, node: BrokerNode, queue: str, arguments: Mapping[str, Any]) -> None:
        self._node, self._queue, self._arguments = node, queue, arguments
        self.single, self.history = False, History()
        self._consumers = {node: Consumer() for node in CONSUMERS}
        self._joined: list[NodeId] = []  # in the order in which they become active
        self._receipts = self._due = 0  # receipts given; messages that are in nobody's hand
        self._open_sender()
        self._declare({})

    def make(self, step: Call | Step) -> None:
        self._look()
        if isinstance(step, Step):
            self._move(step)
        elif step.call == CallName.PUT_MESSAGE:
            self._put(step)
        elif step.call == CallName.RECEIVE:
            (self._take if self.single else self._fetch)(step)
        else:
            self._settle(step)

    def end(self) -> None:
        self._sender.queue_delete(self._queue)
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
            self._due += 1
        except self._node.refusals:  # not confirmed: it may be there
            outcome = Outcome.UNKNOWN
        self.history.returned(call.node, outcome)

    def _take(self, call: Call) -> None:
        """Records nothing for a client that waits for its turn, unless it is sent a message."""
        one, node = self._consumers[call.node], call.node
        if one.tag is None:
            return
        active = self._joined[:1] == [node]
        patience_s = PATIENCE_S if active and self._due > 0 and not one.hand else GLANCE_S
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
        one = self._consumers[call.node]
        if any(other.hand for other in self._consumers.values()):
            return
        if one.channel is None:
            self._open(one)
        self.history.called(call)
        for _ in range(int(call.arguments["most"])):
            method, _, body = one.channel.basic_get(self._queue)
            if method is None:
                break
            self._hand(call.node, method.delivery_tag, body)
        self.history.returned(call.node)

    def _hand(self, node: NodeId, tag: int, body: bytes) -> None:
        self._receipts += 1
        self._due -= 1
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
            one.channel.basic_nack(tag, requeue=True)
            self._due += 1
        # The answer to this shows that the channel has carried out all commands before it.
        one.channel.basic_qos(prefetch_count=1)
        self.history.returned(call.node, about=handed)

    def _move(self, step: Step) -> None:
        one = self._consumers.get(step.node, Consumer())
        if step.move is Move.SINGLE:
            self.single = True
            self._declare({"x-single-active-consumer": True})
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
            self._due += len(hand)
            self._forget(node)
        until = time.monotonic() + PATIENCE_S
        # A client that fetches must find these messages; consumers are sent them.
        while not self.single and self._waiting() < self._due and time.monotonic() < until:
            time.sleep(0.01)

    def _waiting(self) -> int:
        """How many messages are in the queue and in nobody's hand."""
        count: int = self._sender.queue_declare(self._queue, passive=True).method.message_count
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What runs may contain. The default is everything; less avoids known mistakes.

    leaves: consumers leave, and drop their connections.
    finishes: consumers cancel before they acknowledge.
    any_order: batches differ in size, and their messages are acknowledged or given back in any order.
    """

    leaves: bool = True
    finishes: bool = True
    any_order: bool = True


Steps = list[Call | Step]


def drawn(seed: int, shape: Shape = Shape(), steps: int = 30) -> Steps:
    draw = Random(seed)
    found: Steps = [puts(0, SENDER) for _ in range(3)]
    if draw.random() < 0.5:
        found += [step for _ in range(steps // 5) for step in _batch(draw, shape)]
    else:
        found[:0] = [Step(Move.SINGLE), *(Step(Move.JOIN, node) for node in CONSUMERS)]
        found += [step for _ in range(steps) for step in _consumer_step(draw, shape)]
    if draw.random() < 0.1:
        found.insert(draw.randrange(6, len(found)), Step(Move.RESTART))
    return found


def _consumer_step(draw: Random, shape: Shape) -> Sequence[Call | Step]:
    """The next steps of consumers. Most take a message first, as they do nothing without one."""
    node = draw.choice(CONSUMERS)
    takes = [_receives(other) for other in CONSUMERS]
    kind = draw.randrange(12)
    if kind < 3:
        return [puts(0, SENDER)]
    if kind < 6:
        return [*takes, deletes(0, node)]
    if kind < 8:
        return [*takes, gives_back(0, node)]
    if kind == 8 and shape.leaves:
        return [*takes, Step(draw.choice((Move.LEAVE, Move.DROP)), node)]
    if kind == 9 and shape.finishes:
        return [*takes, Step(Move.FINISH, node)]
    return [Step(Move.JOIN, node)]


def _batch(draw: Random, shape: Shape) -> Sequence[Call | Step]:
    most = draw.randint(1, 4) if shape.any_order else 4
    found: Steps = [puts(0, SENDER) for _ in range(draw.randint(0, 2))]
    found.append(_receives(CONSUMERS[0], most))
    for _ in range(most):
        done = draw.random() < 0.3
        newest = draw.randint(0, 1) if shape.any_order else 0
        found.append(deletes(0, CONSUMERS[0], newest) if done else gives_back(0, CONSUMERS[0], newest))
    return found


def _receives(node: NodeId, most: int = 1) -> Call:
    return receives(0, node, most, LEASE_NS)
