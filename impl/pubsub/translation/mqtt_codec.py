"""MQTT 3.1.1 on the wire: what clients send, read, and what a server sends, written.

A body that breaks the standard is BadInput; the server ends the connection then (section 4.8).

Clauses: PS-TRANSLATE.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from scatterproof.impl.pubsub.translation.messages import Carried, Message
from scatterproof.impl.pubsub.translation.names import mqtt_of_topic, topic_of_mqtt
from scatterproof.spec.errors import BadInput

MOST_LENGTH, LONGEST_TEXT = 268_435_455, 65_535
_FLAGS = {6: 2, 8: 2, 10: 2}  # of the kinds whose flags are not 0, but for publish


class Kind(IntEnum):
    CONNECT = 1
    CONNACK = 2
    PUBLISH = 3
    PUBACK = 4
    PUBREC = 5
    PUBREL = 6
    PUBCOMP = 7
    SUBSCRIBE = 8
    SUBACK = 9
    UNSUBSCRIBE = 10
    UNSUBACK = 11
    PINGREQ = 12
    PINGRESP = 13
    DISCONNECT = 14


PINGRESP = bytes([Kind.PINGRESP << 4, 0])


class Packets:
    """Bytes of a connection as packets: kind, flags and body."""

    def __init__(self, most: int) -> None:
        self._left, self._most = bytearray(), most

    def feed(self, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        """BadInput where a length or the flags cannot be."""
        if self._left:
            self._left += data
            data = bytes(self._left)
            self._left.clear()
        at, end = 0, len(data)
        while end - at >= 2:
            kind, flags = data[at] >> 4, data[at] & 15
            if kind != Kind.PUBLISH and flags != _FLAGS.get(kind, 0):
                raise BadInput(f"flags {flags} on a packet of kind {kind}")
            length, size = data[at + 1] & 127, 2
            while data[at + size - 1] & 128:
                if size > 4:
                    raise BadInput("a length of more than four bytes")
                if at + size >= end:
                    self._left += data[at:]
                    return
                length |= (data[at + size] & 127) << 7 * (size - 1)
                size += 1
            if length > self._most:
                raise BadInput(f"a packet of {length} bytes, and {self._most} is the most")
            if end - at - size < length:
                break
            yield kind, flags, data[at + size : at + size + length]
            at += size + length
        self._left += data[at:]


class _Body:
    """A packet's body, read from its front."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size))

    def take(self, size: int) -> bytes:
        found = self.data[self.at : self.at + size]
        if len(found) < size:
            raise BadInput("a packet that ends too early")
        self.at += size
        return found

    def field(self) -> bytes:
        return self.take(self.number(2))

    def text(self) -> str:
        return _text(self.field())

    @property
    def is_over(self) -> bool:
        return self.at >= len(self.data)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadInput("a text that is not UTF-8") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Connect:
    """version: 4 for 3.1.1. will: published when the client goes without a word."""

    version: int
    client: str
    clean: bool
    keep_alive_s: int
    will: Message | None
    user: str | None
    password: bytes | None


def read_connect(data: bytes) -> Connect:
    body = _Body(data)
    name, version = body.text(), body.number(1)
    if (name, version) != ("MQTT", 4):
        return Connect(
            version=version if name == "MQTT" else -1,
            client="",
            clean=True,
            keep_alive_s=0,
            will=None,
            user=None,
            password=None,
        )
    flags = body.number(1)
    level, has_will = flags >> 3 & 3, bool(flags & 4)
    if flags & 1 or level == 3 or (not has_will and flags & 0x38) or (flags & 0x40 and not flags & 0x80):
        raise BadInput(f"connect flags {flags:#04x}")
    keep_alive, client, will = body.number(2), body.text(), None
    if has_will:
        topic = body.text()
        will = Message(topic_of_mqtt(topic), body.field(), level, bool(flags & 0x20))
    user = body.text() if flags & 0x80 else None
    password = body.field() if flags & 0x40 else None
    if not body.is_over:
        raise BadInput("a connect packet that goes on behind its end")
    return Connect(
        version=version,
        client=client,
        clean=bool(flags & 2),
        keep_alive_s=keep_alive,
        will=will,
        user=user,
        password=password,
    )


@lru_cache(1 << 14)
def _topic(data: bytes) -> str:
    return topic_of_mqtt(_text(data))


def read_publish(flags: int, data: bytes) -> tuple[Message, int, bool]:
    """The message, its packet id (0 at level 0), and whether it may have come before."""
    level, length = flags >> 1 & 3, int.from_bytes(data[:2])
    head = 2 + length + (2 if level else 0)
    if level == 3 or len(data) < head or (flags & 8 and not level):
        raise BadInput(f"flags {flags} on a publish of {len(data)} bytes")
    packet_id = int.from_bytes(data[2 + length : head]) if level else 0
    if level and not packet_id:
        raise BadInput("packet id 0")
    return Message(_topic(data[2 : 2 + length]), data[head:], level, bool(flags & 1)), packet_id, bool(flags & 8)


def read_id(data: bytes) -> int:
    found = int.from_bytes(data)
    if len(data) != 2 or not found:
        raise BadInput("a packet that needs a packet id")
    return found


def read_subscribe(data: bytes) -> tuple[int, list[tuple[str, int]]]:
    """The packet id, and filters with their levels."""
    body, found = _Body(data), []
    packet_id = body.number(2)
    while not body.is_over:
        text, level = body.text(), body.number(1)
        if level > 2:
            raise BadInput(f"level {level} of a subscription")
        found.append((text, level))
    if not found or not packet_id:
        raise BadInput("a subscribe without a filter or a packet id")
    return packet_id, found


def read_unsubscribe(data: bytes) -> tuple[int, list[str]]:
    body, found = _Body(data), []
    packet_id = body.number(2)
    while not body.is_over:
        found.append(body.text())
    if not found or not packet_id:
        raise BadInput("an unsubscribe without a filter or a packet id")
    return packet_id, found


def _length(length: int) -> bytes:
    if length < 128:
        return bytes([length])
    found = bytearray()
    while True:
        length, part = length >> 7, length & 127
        found.append(part | (128 if length else 0))
        if not length:
            return bytes(found)


def packet(kind: Kind, body: bytes, flags: int = 0) -> bytes:
    return bytes([kind << 4 | flags]) + _length(len(body)) + body


def connack(present: bool, code: int) -> bytes:
    return packet(Kind.CONNACK, bytes([present, code]))


def suback(packet_id: int, codes: list[int]) -> bytes:
    return packet(Kind.SUBACK, packet_id.to_bytes(2) + bytes(codes))


def answer(kind: Kind, packet_id: int) -> bytes:
    """PUBACK, PUBREC, PUBREL, PUBCOMP or UNSUBACK."""
    return struct.pack(">BBH", kind << 4 | (2 if kind is Kind.PUBREL else 0), 2, packet_id)


def _topic_field(carried: Carried) -> bytes:
    """Translated once, however many clients get it (PS-TRANSLATE)."""
    found = carried.translated.get("mqtt")
    if found is None:
        topic = mqtt_of_topic(carried.message.topic).encode()
        if len(topic) > LONGEST_TEXT:
            raise BadInput(f"a topic of {len(topic)} bytes is too long for MQTT")
        found = carried.translated["mqtt"] = len(topic).to_bytes(2) + topic
    return found


def fits(carried: Carried) -> bool:
    """Whether its topic is short enough for MQTT."""
    try:
        _topic_field(carried)
    except BadInput:
        return False
    return True


def publish(carried: Carried, level: int, packet_id: int, *, again: bool, retained: bool) -> bytes:
    """BadInput where the topic is too long for MQTT."""
    topic, payload = _topic_field(carried), carried.message.payload
    first = Kind.PUBLISH << 4 | again << 3 | level << 1 | retained
    head = bytes([first]) + _length(len(topic) + len(payload) + (2 if level else 0)) + topic
    return head + packet_id.to_bytes(2) + payload if level else head + payload


def publish_once(carried: Carried) -> bytes:
    """At level 0 and live: the same bytes for all."""
    found = carried.translated.get("mqtt level 0")
    if found is None:
        found = carried.translated["mqtt level 0"] = publish(carried, 0, 0, again=False, retained=False)
    return found


def publish_retained(carried: Carried) -> bytes:
    """At level 0, to a new subscription."""
    return publish(carried, 0, 0, again=False, retained=True)
