"""One host of a NATS system: `python nats_node.py URL MODE HOST MESSAGES PACE LOG`.

It says `ready` when it hears all subjects, waits for a line, publishes its messages, PACE seconds apart, delivers
everybody's, and logs both until its stdin ends, an event a line (`LogEvent` in telling.py). It uses the client library
alone, and nothing of this project: it is what somebody would write to have their own system judged.

MODE core: publish and subscribe, nothing stored. MODE jetstream: a message counts as published when the server has
stored it; until then it is published again under the same id. What is stored is read in the order of the stream.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from hashlib import blake2b
from typing import BinaryIO

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import Error as JetStreamError

STREAM = "everything"
AGAIN_S = 0.002
WAIT_S = 0.5  # for an answer of the server, before it is asked again
_ERRORS = (NatsError, JetStreamError, OSError, asyncio.TimeoutError)


class RowFeed:
    """Rows of one node, handed to the system one by one."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def add(self, what: str, payload: bytes) -> None:
        """what: handed or delivered."""
        sender, number = (int(word) for word in payload.split())
        event = {"what": what, "time_ns": time.monotonic_ns(), "sender": sender, "number": number}
        self._file.write(json.dumps({**event, "digest": digest(payload)}).encode() + b"\n")


def digest(payload: bytes) -> int:
    return int.from_bytes(blake2b(payload, digest_size=8).digest(), "big") >> 1


def message(node: int, number: int) -> tuple[str, bytes]:
    """Subject and contents."""
    return f"host.{node}", b"%d %d" % (node, number)


class NatsCore:
    """Publish and subscribe."""

    def __init__(self, client: Client, log: RowFeed) -> None:
        self._client, self._log = client, log

    async def listen(self) -> None:
        async def deliver(msg: Msg) -> None:
            self._log.add("delivered", msg.data)

        await self._client.subscribe("host.*", cb=deliver)
        for _ in range(2):  # The PING of the first overtakes the subscription: docs/reports/nats-py-flush.md.
            await self._client.flush()

    async def publish(self, subject: str, payload: bytes) -> None:
        await self._client.publish(subject, payload)


class JetStream:
    """A stream that stores all subjects."""

    def __init__(self, client: Client, log: RowFeed) -> None:
        self._stream, self._log = client.jetstream(timeout=WAIT_S), log
        self._reading: asyncio.Task[None] | None = None

    async def listen(self) -> None:
        while True:
            try:
                await self._stream.add_stream(name=STREAM, subjects=["host.*"])
                break
            except _ERRORS:
                await asyncio.sleep(AGAIN_S)
        self._reading = asyncio.create_task(self._read())

    async def publish(self, subject: str, payload: bytes) -> None:
        while True:
            try:
                await self._stream.publish(subject, payload, headers={"Nats-Msg-Id": payload.decode()})
            except _ERRORS:
                await asyncio.sleep(AGAIN_S)
            else:
                return

    async def _read(self) -> None:
        """Read from the first message on. A consumer that is gone is made anew behind the last one that was read."""
        last = 0
        while True:
            start = ConsumerConfig(
                deliver_policy=DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=last + 1, ack_policy=AckPolicy.NONE
            )
            try:
                consumer = await self._stream.pull_subscribe("host.*", stream=STREAM, config=start)
                while True:
                    for msg in await consumer.fetch(batch=64, timeout=WAIT_S):
                        if msg.metadata.sequence.stream > last:
                            last = msg.metadata.sequence.stream
                            self._log.add("delivered", msg.data)
            except _ERRORS:
                await asyncio.sleep(AGAIN_S)


async def run(url: str, mode: str, node: int, messages: int, pace_s: float, file: BinaryIO) -> None:
    log = RowFeed(file)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    async def note(error: Exception) -> None:
        print(f"client: {error or type(error).__name__}", file=sys.stderr)

    client = await nats.connect(url, reconnect_time_wait=0.1, max_reconnect_attempts=-1, error_cb=note)
    system = NatsCore(client, log) if mode == "core" else JetStream(client, log)
    await system.listen()
    print("ready", flush=True)
    await reader.readline()
    publishing = asyncio.create_task(_publish(system, log, node, messages, pace_s))
    await reader.read()  # until its end
    publishing.cancel()


async def _publish(system: NatsCore | JetStream, log: RowFeed, node: int, messages: int, pace_s: float) -> None:
    for number in range(1, messages + 1):
        subject, payload = message(node, number)
        log.add("handed", payload)
        await system.publish(subject, payload)
        await asyncio.sleep(pace_s)


def main() -> None:
    url, mode, node, messages, pace, log = sys.argv[1:]
    with open(log, "wb", buffering=0) as file:
        asyncio.run(run(url, mode, int(node), int(messages), float(pace), file))


if __name__ == "__main__":
    main()
