"""Which filters receive which messages at a broker of MQTT 3.1.1, through paho: a client for each filter."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from scatterproof.conformance.serving import LOOPBACK
from scatterproof.spec.errors import CannotRun

END, LIMIT_S = "zz-end", 60.0
_AT_ONCE = 50  # messages on their way to the broker


class _Subscriber:
    """A client that subscribes to its filter, and to the last message. seen: the indices of topics that it received."""

    def __init__(self, paho: Any, port: int, name: str, filter_text: str) -> None:
        self.seen: set[int] = set()
        self.taken, self.ended = threading.Event(), threading.Event()
        self.refused = False
        self._filter, self._asked = filter_text, -1
        self.client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id=name)
        self.client.on_connect, self.client.on_subscribe = self._connected, self._subscribed
        self.client.on_message = self._message
        self.client.connect(LOOPBACK, port)
        self.client.loop_start()

    def _connected(self, client: Any, *_: object) -> None:
        client.subscribe(END, 0)
        _, self._asked = client.subscribe(self._filter, 0)

    def _subscribed(self, client: Any, _: object, asked: int, codes: Sequence[Any], *__: object) -> None:
        if asked == self._asked:
            self.refused = any(code.is_failure for code in codes)
            self.taken.set()

    def _message(self, client: Any, _: object, message: Any) -> None:
        if message.payload == END.encode():
            self.ended.set()
        else:
            self.seen.add(int(message.payload))

    def end(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


def ask(port: int, filters: Sequence[str], topics: Sequence[str]) -> set[tuple[int, int]]:
    """As `broker.Ask`. Raises CannotRun where a filter is refused, or the last message does not arrive within `LIMIT_S`
    seconds."""
    paho = importlib.import_module("paho.mqtt.client")
    with ExitStack() as opened:
        subscribers: list[_Subscriber] = []
        for number, text in enumerate(filters):
            subscribers.append(_Subscriber(paho, port, f"filter{number}", text))
            opened.callback(subscribers[-1].end)
        for text, one in zip(filters, subscribers, strict=True):
            if not one.taken.wait(LIMIT_S) or one.refused:
                raise CannotRun(f"the broker does not take filter {text!r}")
        publisher = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id="publisher")
        publisher.connect(LOOPBACK, port)
        publisher.loop_start()
        opened.callback(publisher.loop_stop)
        opened.callback(publisher.disconnect)
        for number, topic in enumerate(topics):
            sent = publisher.publish(topic, str(number), 0)
            if number % _AT_ONCE == 0:
                sent.wait_for_publish(LIMIT_S)
        publisher.publish(END, END, 0).wait_for_publish(LIMIT_S)
        for text, one in zip(filters, subscribers, strict=True):
            if not one.ended.wait(LIMIT_S):
                raise CannotRun(f"after {LIMIT_S:.0f} s the last message has not come to filter {text!r}")
        return {(number, topic) for number, one in enumerate(subscribers) for topic in one.seen}
