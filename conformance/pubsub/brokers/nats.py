"""Which filters receive which messages at NATS, through nats-py: one client with all filters."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from scatterproof.conformance.serving import LOOPBACK
from scatterproof.spec.errors import CannotRun

END, LIMIT_S = "zz.end", 60.0
_AT_ONCE = 200  # messages on their way to the broker


def ask(port: int, filters: Sequence[str], topics: Sequence[str]) -> set[tuple[int, int]]:
    """As `broker.Ask`. Raises CannotRun where the last message does not arrive within `LIMIT_S` seconds."""
    return asyncio.run(_ask(port, filters, topics))


async def _ask(port: int, filters: Sequence[str], topics: Sequence[str]) -> set[tuple[int, int]]:
    nats = importlib.import_module("nats")
    subscriber, publisher = [await nats.connect(f"nats://{LOOPBACK}:{port}") for _ in range(2)]
    seen: set[tuple[int, int]] = set()
    ended = asyncio.Event()

    def taking(number: int) -> Callable[[Any], Awaitable[None]]:
        async def take(message: Any) -> None:
            if message.data != END.encode():
                seen.add((number, int(message.data)))

        return take

    async def end(_: object) -> None:
        ended.set()

    for number, text in enumerate(filters):
        await subscriber.subscribe(text, cb=taking(number), pending_msgs_limit=-1, pending_bytes_limit=-1)
    await subscriber.subscribe(END, cb=end)
    for _ in range(2):  # The first one's PING overtakes the subscriptions: docs/reports/nats-py-flush.md.
        await subscriber.flush()
    for number, topic in enumerate(topics):
        await publisher.publish(topic, str(number).encode())
        if number % _AT_ONCE == 0:
            await publisher.flush()
    await publisher.publish(END, END.encode())
    await publisher.flush()
    try:
        await asyncio.wait_for(ended.wait(), LIMIT_S)
    except TimeoutError:
        raise CannotRun(f"after {LIMIT_S:.0f} s the last message has not come") from None
    # Earlier messages may still wait: each subscription has a queue of its own.
    await subscriber.drain()
    await publisher.close()
    return seen
