"""Ports to NATS through nats-py: core NATS, and JetStream, where a client's subscriptions are one durable consumer."""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from scatterproof.conformance.pubsub.products.driving import Deliver
from scatterproof.conformance.pubsub.products.ports import ANSWER_S, Client, ClientsPort, Restart
from scatterproof.conformance.serving import LOOPBACK
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import NodeId

# How long JetStream waits for an acknowledgement before it redelivers, in s. A client that reconnects first waits that
# long.
ACK_WAIT_S = 0.6
_GLANCE_S = 0.03


@dataclass(slots=True)
class _One(Client):
    """A client.

    last_s: when it last got a message, in s.
    subscribed: by filter, nats-py's subscription; at JetStream the consumer's name.
    consumers: by name, the filters, and the subscription to pull from.
    unacknowledged: nats-py's messages.
    """

    connection: Any = None
    last_s: float = 0.0
    subscribed: dict[str, Any] = field(default_factory=dict)
    consumers: dict[str, tuple[list[str], Any]] = field(default_factory=dict)


async def _written(one: _One) -> None:
    """Return once the server has read all that the client sent. Two flushes, as the first one's PING overtakes what
    waits to be written (docs/reports/nats-py-flush.md)."""
    for _ in range(2):
        await one.connection.flush()


class CorePort(ClientsPort[_One]):
    """Core NATS: nothing is acknowledged, and no subscription outlives its connection."""

    level = 0

    def __init__(self, deliver: Deliver, port: int, name: str, *, restart: Restart | None = None) -> None:
        super().__init__(deliver, name, _One, restart)
        self._nats = importlib.import_module("nats")
        self._port, self._loop = port, asyncio.new_event_loop()

    def _run(self, call: Coroutine[Any, Any, None]) -> Outcome:
        """OK, or UNKNOWN where the call fails, or does not return within `ANSWER_S` seconds."""
        try:
            self._loop.run_until_complete(asyncio.wait_for(call, ANSWER_S))
        except (OSError, TimeoutError, self._nats.errors.Error):
            return Outcome.UNKNOWN
        return Outcome.OK

    # ---------------------------------------------------------------- connections

    def connect(self, node: NodeId, lasts: bool) -> Outcome:
        one = self._one(node)
        self.drop(node)
        return self._run(self._connect(one))

    async def _connect(self, one: _One) -> None:
        async def quiet(_: Exception) -> None:
            """Print nothing: the caller gets the errors of a connection."""

        address = f"nats://{LOOPBACK}:{self._port}"
        one.connection = await self._nats.connect(address, allow_reconnect=False, error_cb=quiet)

    def drop(self, node: NodeId) -> None:
        one = self._ones[node]
        if one.connection is not None:
            self._run(one.connection.close())
        one.connection, one.stalled = None, False
        one.subscribed.clear()

    def is_connected(self, node: NodeId) -> bool:
        connection = self._ones[node].connection
        return connection is not None and bool(connection.is_connected)

    def end(self) -> None:
        for node in self._ones:
            self.drop(node)
        self._loop.close()

    # ---------------------------------------------------------------- calls

    def publish(self, node: NodeId, topic: str, body: bytes, level: int, retain: bool, expiry_s: int) -> Outcome:
        return self._run(self._publish(self._ones[node], topic, body, expiry_s))

    async def _publish(self, one: _One, topic: str, body: bytes, expiry_s: int) -> None:
        await one.connection.publish(topic, body)
        await _written(one)

    def subscribe(self, node: NodeId, filter_: str, level: int, group: int) -> Outcome:
        one = self._ones[node]
        return Outcome.OK if filter_ in one.subscribed else self._run(self._subscribe(node, one, filter_, group))

    async def _subscribe(self, node: NodeId, one: _One, filter_: str, group: int) -> None:
        async def take(message: Any) -> None:
            self._take(node, message.subject, message.data, self.level, again=False)

        queue = f"g{group}" if group else ""
        one.subscribed[filter_] = await one.connection.subscribe(filter_, queue=queue, cb=take)
        await _written(one)

    def unsubscribe(self, node: NodeId, filter_: str) -> Outcome:
        one = self._ones[node]
        found = one.subscribed.pop(filter_, None)
        return Outcome.REFUSED if found is None else self._run(self._unsubscribe(one, found))

    async def _unsubscribe(self, one: _One, subscribed: Any) -> None:
        await subscribed.unsubscribe()
        await _written(one)

    def acknowledge(self, node: NodeId) -> Outcome:
        one = self._ones[node]
        outcomes = [self._run(message.ack_sync(ANSWER_S)) for message in one.unacknowledged]
        one.unacknowledged.clear()
        return Outcome.UNKNOWN if Outcome.UNKNOWN in outcomes else Outcome.OK

    # ---------------------------------------------------------------- reading

    def _read(self, most_s: float) -> None:
        self._loop.run_until_complete(self._glance())

    async def _glance(self) -> None:
        await asyncio.sleep(0.01)


class JetStreamPort(CorePort):
    """A stream for each run, in a file. A client's subscriptions are the filters of one durable consumer, from which it
    pulls; the members of a group share one. at_once: how many unacknowledged messages a consumer may have; with 1,
    redelivered messages keep their order."""

    level = 1

    def __init__(
        self,
        deliver: Deliver,
        port: int,
        name: str,
        *,
        restart: Restart | None = None,
        at_once: int = 1,
    ) -> None:
        super().__init__(deliver, port, name, restart=restart)
        self._api, self._at_once, self._has_stream = importlib.import_module("nats.js.api"), at_once, False

    def connect(self, node: NodeId, lasts: bool) -> Outcome:
        one = self._one(node)
        if one.unacknowledged:
            self.pump(max(0.0, one.last_s + ACK_WAIT_S - time.monotonic()))
            one.unacknowledged.clear()
        return super().connect(node, lasts)

    async def _connect(self, one: _One) -> None:
        await super()._connect(one)
        context = one.connection.jetstream(timeout=ANSWER_S)
        if not self._has_stream:
            await context.add_stream(name=self._name, subjects=[f"{self._name}.>"], storage=self._api.StorageType.FILE)
            self._has_stream = True
        for name, (filters, _) in one.consumers.items():
            one.consumers[name] = filters, await context.pull_subscribe_bind(name, stream=self._name)

    async def _publish(self, one: _One, topic: str, body: bytes, expiry_s: int) -> None:
        more = {"msg_ttl": expiry_s} if expiry_s else {}
        await one.connection.jetstream(timeout=ANSWER_S).publish(topic, body, **more)

    async def _subscribe(self, node: NodeId, one: _One, filter_: str, group: int) -> None:
        name = f"group-{group}" if group else f"client-{node}"
        filters = sorted({*one.consumers.get(name, ([], None))[0], filter_})
        context = one.connection.jetstream(timeout=ANSWER_S)
        await context.add_consumer(
            self._name,
            self._api.ConsumerConfig(
                durable_name=name,
                filter_subjects=filters,
                ack_policy=self._api.AckPolicy.EXPLICIT,
                ack_wait=ACK_WAIT_S,
                deliver_policy=self._api.DeliverPolicy.NEW,
                max_ack_pending=self._at_once,
            ),
        )
        one.consumers[name] = filters, await context.pull_subscribe_bind(name, stream=self._name)
        one.subscribed[filter_] = name

    def unsubscribe(self, node: NodeId, filter_: str) -> Outcome:
        raise BadInput("a durable consumer of JetStream keeps its filters; leave unsubscribe out of the steps")

    async def _glance(self) -> None:
        for node, one in self._ones.items():
            if not one.stalled and self.is_connected(node):
                for _, pulled in one.consumers.values():
                    await self._pull(node, one, pulled)
        await asyncio.sleep(0.005)

    async def _pull(self, node: NodeId, one: _One, pulled: Any) -> None:
        try:
            messages = await pulled.fetch(10, timeout=_GLANCE_S)
        except (TimeoutError, self._nats.errors.Error):
            return
        for message in messages:
            one.unacknowledged.append(message)
            one.last_s = time.monotonic()
            self._take(node, message.subject, message.data, self.level, again=message.metadata.num_delivered > 1)

    def end(self) -> None:
        node = next((node for node in self._ones if self.is_connected(node)), None)
        if node is not None and self._has_stream:
            self._run(self._forget(self._ones[node]))
        super().end()

    async def _forget(self, one: _One) -> None:
        await one.connection.jetstream(timeout=ANSWER_S).delete_stream(self._name)
