"""Real appliances as processes on free ports of loopback, ended by the test; and clients of paho's and of NATS' own."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

LIMIT_S = 60.0


class Appliance:
    """A process. ports: by what they are for. said: the lines of its standard error."""

    def __init__(self, *words: str, command: str = "run") -> None:
        self.ports: dict[str, int] = {}
        self.said: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "scatterproof.cli", "appliance", command, *words], stderr=subprocess.PIPE, text=True
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            found = re.match(r"listens for (\w+) at .*:(\d+)$", line)
            if found:
                self.ports[found[1]] = int(found[2])
            self.said.append(line.strip())

    def has_said(self, text: str) -> bool:
        return any(text in line for line in self.said)

    def wait_for(self, text: str) -> None:
        until(lambda: self.has_said(text) or self.process.poll() is not None)
        assert self.has_said(text), self.said

    def end(self) -> int:
        self.process.terminate()
        try:
            return self.process.wait(LIMIT_S)
        finally:
            self.process.kill()
            self._reader.join(LIMIT_S)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(LIMIT_S)


@contextmanager
def appliance(*words: str, command: str = "run") -> Iterator[Appliance]:
    """An appliance with these options, once it listens."""
    running = Appliance(*words, command=command)
    try:
        running.wait_for("ready")
        yield running
    finally:
        running.process.kill()
        running.process.wait(LIMIT_S)


@contextmanager
def pair() -> Iterator[tuple[Appliance, Appliance]]:
    """Two joined appliances, each with ports for both protocols."""
    both = ("--listen-mqtt", "127.0.0.1:0", "--listen-nats", "127.0.0.1:0")
    with ExitStack() as opened:
        one = opened.enter_context(appliance("--id", "one", *both, "--listen-neighbours", "127.0.0.1:0"))
        joins = ("--neighbour", f"127.0.0.1:{one.ports['neighbours']}")
        other = opened.enter_context(appliance("--id", "other", *both, *joins))
        one.wait_for("linked to other")
        other.wait_for("linked to one")
        yield one, other


def until(done: Callable[[], object]) -> None:
    """Look again and again, until it is true or time is over."""
    end = time.monotonic() + LIMIT_S
    while not done() and time.monotonic() < end:
        threading.Event().wait(0.005)


class Paho:
    """A client of paho's. got: topic, payload, level, retained, again."""

    def __init__(self, port: int, name: str, *, clean: bool = True, user: str = "", **will: Any) -> None:
        paho = importlib.import_module("paho.mqtt.client")

        self.got: list[tuple[str, bytes, int, bool, bool]] = []
        self.present: list[bool] = []
        self._granted: list[list[int]] = []
        self.client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id=name, clean_session=clean)
        if user:
            self.client.username_pw_set(user)
        if will:
            self.client.will_set(**will)
        self.client.on_message = lambda _client, _user, it: self.got.append(
            (it.topic, it.payload, it.qos, it.retain, it.dup)
        )
        self.client.on_connect = lambda _client, _user, flags, *_: self.present.append(flags.session_present)
        self.client.on_subscribe = lambda _client, _user, _id, codes, *_: self._granted.append(
            [code.value for code in codes]
        )
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()
        self.wait(lambda: self.present)

    def wait(self, done: Callable[[], object]) -> None:
        until(done)
        assert done()

    def subscribe(self, *filters: tuple[str, int]) -> list[int]:
        number = len(self._granted)
        self.client.subscribe(list(filters))
        self.wait(lambda: len(self._granted) > number)
        return self._granted[-1]

    def publish(self, topic: str, payload: bytes | str, level: int = 0, *, retain: bool = False) -> None:
        """Publish, and wait for the acknowledgement, if there is one at that level."""
        sent = self.client.publish(topic, payload, level, retain)
        sent.wait_for_publish(LIMIT_S)
        assert sent.is_published()

    def end(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()

    def vanish(self) -> None:
        """Drop the connection without DISCONNECT."""
        self.client.loop_stop()
        found = self.client.socket()
        if found is not None:
            found.close()
