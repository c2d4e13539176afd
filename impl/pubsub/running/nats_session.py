"""A client of NATS' text protocol: a connection and what it subscribed to.

Each subscription is a receiver of its own, as in NATS. `PONG` is held back until the subscriptions ahead of its `PING`
are in force everywhere, so that a client's flush means as much here as with a single server.

Clauses: PS-TRANSLATE, PS-SHARED, PS-QOS-BE.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass

from scatterproof.impl.pubsub.running.core import Core
from scatterproof.impl.pubsub.running.management import Action
from scatterproof.impl.pubsub.running.outbox import Outbox
from scatterproof.impl.pubsub.running.table import Subscription
from scatterproof.impl.pubsub.translation.messages import Carried
from scatterproof.impl.pubsub.translation.names import filter_of_nats
from scatterproof.impl.pubsub.translation.nats_codec import (
    MAX_LINE,
    MAX_PAYLOAD,
    OK,
    PING,
    PONG,
    Ends,
    message_of,
    read_publish,
    text_of,
    write_message,
)
from scatterproof.spec.errors import BadInput

_SILENCE_NS, _PINGS = 120_000_000_000, 2
_VERSION = "2.9.0"  # of the server whose text protocol this is


@dataclass(slots=True)
class _Subscribed:
    """most: after how many messages it ends, None for never.
    got: how many it has got.
    """

    one: Subscription
    subject: str
    most: int | None = None
    got: int = 0


class NatsConnection:
    """A connection of one client. Where the client breaks the protocol, it ends with an error in the protocol's
    words."""

    def __init__(self, core: Core, outbox: Outbox, number: int, most: int = MAX_PAYLOAD) -> None:
        self._core, self.outbox, self._most = core, outbox, most
        self._left = bytearray()
        self._publishing: tuple[bytes, bytes, int] | None = None
        self._subscribed: dict[str, _Subscribed] = {}
        self._held: deque[bytes] = deque()  # answers that wait for subscriptions
        self._pending = 0
        self._verbose, self._echo, self._pings = True, True, 0
        self.user = ""
        self._limit_ns = core.now_ns + _SILENCE_NS
        told = {
            "server_id": core.name,
            "server_name": core.name,
            "version": _VERSION,
            "proto": 1,
            "headers": False,
            "max_payload": most,
            "client_id": number,
        }
        outbox.write(f"INFO {json.dumps(told)}\r\n".encode())

    @property
    def is_there(self) -> bool:
        return self.outbox.closing is None

    def receive(self, data: bytes) -> None:
        self._limit_ns, self._pings = self._core.now_ns + _SILENCE_NS, 0
        if self._left:
            self._left += data
            data = bytes(self._left)
            self._left.clear()
        try:
            at = self._read(data)
        except Ends as error:
            self._error(str(error))
            self.outbox.close(str(error))
        else:
            self._left += data[at:]

    def _read(self, data: bytes) -> int:
        """Carry out the data, and return how many bytes of them were read."""
        at = 0
        while self.outbox.closing is None:
            if self._publishing is not None:
                subject, reply, size = self._publishing
                if len(data) - at < size + 2:
                    break
                if data[at + size : at + size + 2] != b"\r\n":
                    raise Ends("Unknown Protocol Operation")
                self._publish(subject, reply, data[at : at + size])
                self._publishing = None
                at += size + 2
                continue
            end = data.find(b"\n", at)
            if end - at > MAX_LINE or (end < 0 and len(data) - at > MAX_LINE):
                raise Ends("Maximum Control Line Exceeded")
            if end < 0:
                break
            words = data[at:end].split()
            at = end + 1
            if words:
                self._line(words[0].upper(), words[1:])
        return at

    def _line(self, operation: bytes, words: list[bytes]) -> None:
        if operation == b"PUB":
            self._publishing = read_publish(words, self._most)
        elif operation == b"PING":
            self._say(PONG)
        elif operation == b"PONG":
            pass
        elif operation == b"SUB" and len(words) in (2, 3):
            self._subscribe(words[0], words[1] if len(words) == 3 else b"", words[-1])
        elif operation == b"UNSUB" and len(words) in (1, 2) and all(word.isdigit() for word in words[1:]):
            self._unsubscribe(words[0].decode(errors="replace"), int(words[1]) if len(words) == 2 else None)
        elif operation == b"CONNECT":
            self._connect(b" ".join(words))
        else:
            raise Ends("Unknown Protocol Operation")

    def _connect(self, given: bytes) -> None:
        try:
            options = json.loads(given)
        except (ValueError, RecursionError):
            options = None
        if not isinstance(options, dict):
            raise Ends("Invalid Client Protocol")
        self._verbose, self._echo = bool(options.get("verbose", True)), bool(options.get("echo", True))
        self.user = str(options.get("user") or "")
        self._done()

    def _publish(self, subject: bytes, reply: bytes, payload: bytes) -> None:
        try:
            message = message_of(subject, reply, payload)
        except BadInput:
            self._error("Invalid Publish Subject")
            return
        if not self._core.allows(self.user, Action.PUBLISH, message.topic):
            self._error(f'Permissions Violation for Publish to "{text_of(subject)}"')
            return
        self._core.publish(message, None if self._echo else self)
        self._done()

    def _subscribe(self, subject: bytes, group: bytes, key: bytes) -> None:
        try:
            name, text = text_of(key), filter_of_nats(text_of(subject))
            one = Subscription(self, name, text, 0, text_of(group), each=True)
        except BadInput:
            self._error("Invalid Subject")
            return
        if name in self._subscribed:
            return  # as servers of NATS do
        if group and self._core.paths is not None:
            self._error("Queue Groups Not Supported With All Paths")
            return
        if not self._core.allows(self.user, Action.SUBSCRIBE, text):
            self._error(f'Permissions Violation for Subscription to "{text_of(subject)}"')
            return
        self._subscribed[name] = _Subscribed(one, text_of(subject))
        self._pending += 1
        if self._core.subscribe(one, self._in_force):
            self._pending -= 1
        self._done()

    def _in_force(self) -> None:
        self._pending -= 1
        while self._held and not self._pending:
            self.outbox.write(self._held.popleft())

    def _unsubscribe(self, key: str, most: int | None) -> None:
        found = self._subscribed.get(key)
        if found is not None:
            found.most = most
            if not most or found.got >= most:
                self._end_one(key)
        self._done()

    def revoked(self, one: Subscription) -> None:
        subject = self._subscribed[one.key].subject
        self.outbox.forget()
        self._end_one(one.key)
        self._error(f'Permissions Violation for Subscription to "{subject}"')

    def _end_one(self, key: str) -> None:
        self._core.unsubscribe(self._subscribed.pop(key).one)

    def give(self, carried: Carried, level: int, key: str, group: str = "") -> None:
        found = self._subscribed.get(key)
        if found is None:
            return
        if self.outbox.keeps_up():
            self.outbox.write(write_message(carried, key))
        elif not self.outbox.wait(carried, key, lambda one: write_message(one, key)):
            return
        self._core.counts["delivered"] += 1
        found.got += 1
        if found.most and found.got >= found.most:
            self._end_one(key)

    def tick(self) -> None:
        """Ping a silent client, and end the connection of one that does not answer."""
        if self._core.now_ns > self._limit_ns:
            self._limit_ns += _SILENCE_NS
            self._pings += 1
            if self._pings > _PINGS:
                self._error("Stale Connection")
                self.outbox.close("the client was silent for too long")
            else:
                self.outbox.write(PING)

    def lost(self) -> None:
        for key in list(self._subscribed):
            self._end_one(key)

    def _done(self) -> None:
        if self._verbose:
            self._say(OK)

    def _say(self, answer: bytes) -> None:
        if self._pending:
            self._held.append(answer)
        else:
            self.outbox.write(answer)

    def _error(self, text: str) -> None:
        self.outbox.write(f"-ERR '{text}'\r\n".encode())
