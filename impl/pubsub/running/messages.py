"""Frames on the link of two appliances: MessagePack with its length in front."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from scatterproof.impl.pubsub.translation.messages import Message
from scatterproof.spec.errors import BadInput

VERSION = 3
MAX_FRAME = 64 << 20
# A filter and the group that shares it, empty for none: what is wanted of a neighbour.
Want: TypeAlias = tuple[str, str]


class Hello(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """The first frame on a connection, from both ends.

    name, incarnation: of the sender; the incarnation is a new one where it has lost its numbers.
    names: the sender and all appliances behind it, without this neighbour.
    known, taken: the incarnation of the neighbour that it knows, and the number of the last message that it took from
        it.
    first: the number of the first message that it may send now.
    all_paths: whether messages take all paths at once.
    """

    version: int
    name: str
    incarnation: str
    names: list[str]
    known: str
    taken: int
    first: int
    all_paths: bool = False


class Names(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """The names of Hello, when they change."""

    names: list[str]


class Wanted(msgspec.Struct, frozen=True, array_like=True, tag=3):
    filter: str
    group: str


class Dropped(msgspec.Struct, frozen=True, array_like=True, tag=4):
    filter: str
    group: str


class Had(msgspec.Struct, frozen=True, array_like=True, tag=5):
    """The answer to Wanted: all appliances beyond know of it."""

    filter: str
    group: str


class Synced(msgspec.Struct, frozen=True, array_like=True, tag=6):
    """All that is wanted was told on this connection. What was wanted earlier and not told again is no longer
    wanted."""


class Data(msgspec.Struct, frozen=True, array_like=True, tag=7):
    """A message.

    serial: its number on the link, from 1; 0 for best effort.
    plain: whether subscriptions without a group are served.
    groups: the groups to serve, with one member each.
    sent_ns: Unix time (PS-LATENCY).
    """

    serial: int
    plain: bool
    groups: list[str]
    sent_ns: int
    message: Message


class Taken(msgspec.Struct, frozen=True, array_like=True, tag=8):
    """All messages up to this number were taken, and stored where they must be."""

    serial: int


class Retained(msgspec.Struct, frozen=True, array_like=True, tag=9):
    """A retained message as it stands, or an empty one that deleted it; the later made_ns wins."""

    message: Message


class Refused(msgspec.Struct, frozen=True, array_like=True, tag=10):
    """The neighbour cannot be one, and the connection ends."""

    reason: str


class Alive(msgspec.Struct, frozen=True, array_like=True, tag=11):
    """The sender is alive, and has nothing else to say."""


class Probe(msgspec.Struct, frozen=True, array_like=True, tag=12):
    """Measures the way; it is answered at once, also before both have said who they are. sent_ns: by the sender's
    clock."""

    sent_ns: int


class Echo(msgspec.Struct, frozen=True, array_like=True, tag=13):
    """The answer to Probe. sent_ns: of the probe."""

    sent_ns: int


Frame: TypeAlias = (
    Hello | Refused | Names | Wanted | Dropped | Had | Synced | Data | Taken | Retained | Alive | Probe | Echo
)
_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Frame] = msgspec.msgpack.Decoder(Frame)


def encode(frame: Frame) -> bytes:
    body = _encoder.encode(frame)
    return struct.pack(">I", len(body)) + body


class Frames:
    """Makes frames of the bytes of a connection."""

    def __init__(self) -> None:
        self._left = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that are whole now. Raises BadInput for bytes that are no frame."""
        self._left += data
        at, end = 0, len(self._left)
        try:
            while end - at >= 4:
                length = int.from_bytes(self._left[at : at + 4])
                if length > MAX_FRAME:
                    raise BadInput(f"a frame of {length} bytes: this is no appliance, or one of another version")
                if end - at - 4 < length:
                    break
                yield _decoder.decode(self._left[at + 4 : at + 4 + length])
                at += 4 + length
        except msgspec.DecodeError as error:
            raise BadInput(f"a frame that cannot be read: {error}") from None
        finally:
            del self._left[:at]
