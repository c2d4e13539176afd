"""NATS' text protocol on the wire: what clients publish, read, and what a server sends, written.

Clauses: PS-TRANSLATE.
"""

from __future__ import annotations

from functools import lru_cache

from scatterproof.impl.pubsub.translation.messages import Carried, Message
from scatterproof.impl.pubsub.translation.names import nats_of_topic, topic_of_nats
from scatterproof.spec.errors import BadInput

MAX_PAYLOAD, MAX_LINE = 1 << 20, 4096
PING, PONG, OK = b"PING\r\n", b"PONG\r\n", b"+OK\r\n"


class Ends(Exception):
    """The connection ends with this error of the protocol."""


@lru_cache(1 << 14)
def _topic(subject: bytes) -> str:
    return topic_of_nats(text_of(subject))


def text_of(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadInput("a subject that is not UTF-8") from None


def read_publish(words: list[bytes], most: int) -> tuple[bytes, bytes, int]:
    """Subject, where answers go, and the size of the payload of `PUB`."""
    if len(words) not in (2, 3) or not words[-1].isdigit():
        raise Ends("Unknown Protocol Operation")
    if int(words[-1]) > most:
        raise Ends("Maximum Payload Violation")
    return words[0], words[1] if len(words) == 3 else b"", int(words[-1])


def message_of(subject: bytes, reply: bytes, payload: bytes) -> Message:
    """BadInput for what is no subject."""
    return Message(_topic(subject), payload, reply=_topic(reply) if reply else "")


def write_message(carried: Carried, key: str) -> bytes:
    """`MSG` for the subscription with this key; the message is translated once (PS-TRANSLATE)."""
    if "nats" not in carried.translated:
        message = carried.message
        reply = nats_of_topic(message.reply) + " " if message.reply else ""
        carried.translated["nats"] = f"MSG {nats_of_topic(message.topic)} ".encode()
        carried.translated["nats behind"] = b" %s%d\r\n%s\r\n" % (reply.encode(), len(message.payload), message.payload)
    return carried.translated["nats"] + key.encode() + carried.translated["nats behind"]
