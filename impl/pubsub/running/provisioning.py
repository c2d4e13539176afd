"""The management node, and what an appliance takes from one over a connection of its own: configurations and images,
each with an id and a signature.

An appliance says what it has. The node gives it whatever has another id, at once and at each change; it does not send
what has the same id. An appliance tries one node after the other, and meanwhile keeps what it has.

Clauses: PS-CONFIG, PS-AUTH. TLA+: Configuration.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from scatterproof.spec.errors import BadInput, CannotRun

if TYPE_CHECKING:
    from scatterproof.impl.pubsub.running.signing import Signer

_AGAIN_S, _MOST = 0.5, 1 << 30


class Provided(StrEnum):
    CONFIGURATION = "configuration"
    IMAGE = "image"


class Has(msgspec.Struct, frozen=True, array_like=True, tag="has"):
    """What an appliance says first. ids: by kind that it takes, the id of what it has, empty for
    none."""

    name: str
    ids: dict[str, str]


class Given(msgspec.Struct, frozen=True, array_like=True, tag="given"):
    """What a node gives. kind: of `Provided`. id: of an image, the SHA-256 of its content in hexadecimal."""

    kind: str
    id: str
    content: bytes
    signature: bytes


Frame: TypeAlias = Has | Given
_decoder: msgspec.msgpack.Decoder[Frame] = msgspec.msgpack.Decoder(Frame)


def encode(frame: Frame) -> bytes:
    body = msgspec.msgpack.encode(frame)
    return struct.pack(">I", len(body)) + body


async def _read(reader: asyncio.StreamReader) -> Frame | None:
    """The next frame; None at the end of the connection, or for anything that is no frame."""
    try:
        (length,) = struct.unpack(">I", await reader.readexactly(4))
        return _decoder.decode(await reader.readexactly(length)) if length <= _MOST else None
    except (asyncio.IncompleteReadError, OSError, msgspec.DecodeError):
        return None


def image_id(content: bytes) -> str:
    return sha256(content).hexdigest()


class Node:
    """The management node. say: prints a line."""

    def __init__(self, signer: Signer, say: Callable[[str], None]) -> None:
        self._signer, self._say = signer, say
        self._gives: dict[str, Given] = {}
        self._there: dict[asyncio.StreamWriter, dict[str, str]] = {}
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None] | None] = {}

    def give(self, contents: Mapping[str, tuple[str, bytes]]) -> None:
        """Give out these from now on. contents: by kind, id and content."""
        for kind, (id_, content) in contents.items():
            self._gives[kind] = Given(kind, id_, content, self._signer.sign(kind, id_, content))
        for writer, ids in self._there.items():
            self._send(writer, ids)

    def _send(self, writer: asyncio.StreamWriter, ids: dict[str, str]) -> None:
        for kind, given in self._gives.items():
            if kind in ids and ids[kind] != given.id:
                ids[kind] = given.id
                writer.write(encode(given))

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open[writer] = asyncio.current_task()
        try:
            has = await _read(reader)
            if not isinstance(has, Has):
                return
            told = ", ".join(f"{kind} {id_}" for kind, id_ in sorted(has.ids.items()) if id_)
            self._say(f"{has.name} has {told or 'nothing'}")
            self._there[writer] = dict(has.ids)
            self._send(writer, self._there[writer])
            await reader.read()  # it sends nothing more; wait for its end
        except OSError:
            pass  # it has gone
        finally:
            self._there.pop(writer, None)
            self._open.pop(writer)
            writer.close()

    async def close(self) -> None:
        """End all connections."""
        ending = [task for task in self._open.values() if task is not None]
        for writer in list(self._open):
            writer.close()
        await asyncio.gather(*ending)


@dataclass(frozen=True, slots=True)
class Managed:
    """How an appliance is managed.

    nodes: the management nodes, each (host, port).
    trust: the file with the key that verifies their signatures.
    image: the file that images are put into; None where they are not taken.
    """

    nodes: tuple[tuple[str, int], ...]
    trust: Path
    image: Path | None = None


class Follower:
    """The appliance's side.

    known: returns the id of its configuration, empty for none.
    take: puts a configuration in force; raises BadInput for a text that is none.
    say: prints a line.
    """

    def __init__(
        self,
        name: str,
        managed: Managed,
        known: Callable[[], str],
        take: Callable[[str], None],
        say: Callable[[str], None],
    ) -> None:
        from scatterproof.impl.pubsub.running.signing import Verifier  # of an extra

        self._name, self._managed, self._known, self._take, self._say = name, managed, known, take, say
        self._verifier = Verifier(managed.trust)
        self._refused: set[str] = set()

    def _has(self) -> Has:
        found, image = {Provided.CONFIGURATION.value: self._known()}, self._managed.image
        if image is not None:
            found[Provided.IMAGE] = image_id(image.read_bytes()) if image.is_file() else ""
        return Has(self._name, found)

    async def follow(self) -> None:
        """Take what the nodes give, in turn, until cancelled."""
        while True:
            for address in self._managed.nodes:
                await self._follow(address)
            await asyncio.sleep(_AGAIN_S)

    async def _follow(self, address: tuple[str, int]) -> None:
        try:
            reader, writer = await asyncio.open_connection(*address)
        except OSError:
            return
        where = "management node {}:{}".format(*address)
        try:
            writer.write(encode(self._has()))
            while isinstance(given := await _read(reader), Given) and self._took(where, given):
                pass
        except OSError:
            pass  # it has gone
        finally:
            writer.close()

    def _took(self, where: str, given: Given) -> bool:
        """Take what is given. Returns False where the signature is not valid: then ask another node."""
        told = f"{where}: {given.kind} {given.id}"
        if not self._verifier.is_valid(given.kind, given.id, given.content, given.signature):
            if told not in self._refused:
                self._refused.add(told)
                self._say(f"{told} has no valid signature, and is not taken")
            return False
        if given.kind == Provided.CONFIGURATION:
            try:
                self._take(given.content.decode())
            except (BadInput, UnicodeDecodeError) as error:
                self._say(f"{told} is not taken: {error}")
        elif given.kind == Provided.IMAGE and self._managed.image is not None:
            if given.id != image_id(given.content):
                self._say(f"{told} is not taken: its content has another id")
                return True
            try:
                put(self._managed.image, given.content)
            except CannotRun as error:
                self._say(f"{told} is not taken: {error}")
            else:
                self._say(f"image {given.id} is in {self._managed.image}")
        return True


def put(path: Path, content: bytes) -> None:
    """Replace a file in one step. Raises CannotRun where it cannot be written; then the old file stays."""
    new = path.with_name(path.name + ".new")
    try:
        new.write_bytes(content)
        new.replace(path)
    except OSError as error:
        raise CannotRun(f"{path}: cannot be written: {error.strerror}") from None
