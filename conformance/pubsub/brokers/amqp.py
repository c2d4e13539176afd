"""Which filters receive which messages at a topic exchange, through pika: a queue for each filter, all on one
connection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scatterproof.spec.errors import CannotRun

EXCHANGE, END, LIMIT_S = "all", "zz-end", 60.0


def ask(connection: Any, filters: Sequence[str], topics: Sequence[str]) -> set[tuple[int, int]]:
    """As `broker.Ask`; closes the connection. Raises CannotRun where nothing arrives for `LIMIT_S` seconds, and a last
    message is missing."""
    seen: set[tuple[int, int]] = set()
    ended: set[int] = set()
    channel = connection.channel()
    channel.exchange_declare(EXCHANGE, "topic")
    for number, text in enumerate(filters):
        queue = f"filter-{number}"
        channel.queue_declare(queue, exclusive=True)
        channel.queue_bind(queue, EXCHANGE, text)

        def take(_channel: Any, _method: Any, _properties: Any, body: bytes, number: int = number) -> None:
            ended.add(number) if body == END.encode() else seen.add((number, int(body)))

        channel.basic_consume(queue, take, auto_ack=True)
    for at, topic in enumerate(topics):
        channel.basic_publish(EXCHANGE, topic, str(at).encode())
        if at % 50 == 0:
            connection.process_data_events(0)
    # The default exchange puts a message into the queue of that name, behind all that is there.
    for number in range(len(filters)):
        channel.basic_publish("", f"filter-{number}", END.encode())
    waited = 0.0
    while len(ended) < len(filters):
        before = len(seen) + len(ended)
        connection.process_data_events(0.5)
        waited = 0.0 if len(seen) + len(ended) > before else waited + 0.5
        if waited > LIMIT_S:
            raise CannotRun(f"after {LIMIT_S:.0f} s the last message has not come to each queue")
    connection.close()
    return seen
