"""Lines of the adapter contract, read and written by a node; and how a node's process ends."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import BinaryIO, TypeVar

import msgspec

from scatterproof.spec.adapter import VERSION, FromNode, Init, Line, ToNode
from scatterproof.spec.errors import BadInput, ScatterproofError

_decoder: msgspec.json.Decoder[ToNode] = msgspec.json.Decoder(ToNode)
_encoder = msgspec.json.Encoder()

AnyLine = TypeVar("AnyLine", bound=Line)


def decode(line: bytes, place: str) -> ToNode:
    """One line from the harness. Raises BadInput that begins with `place`."""
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{place} is no line of the adapter contract: {error}") from None


def decode_init(line: bytes, place: str) -> Init:
    """The first line. Raises BadInput for another one, and for another version of the contract."""
    first = decode(line, place)
    if not isinstance(first, Init):
        raise BadInput(f"{place} has type {type_of(first)!r}; the first line is an init")
    if first.contract != VERSION:
        raise BadInput(f"{place}: contract version {first.contract}; this node speaks version {VERSION}")
    return first


def type_of(line: Line) -> str:
    """The line's `type`."""
    return str(line.__struct_config__.tag)


def write(out: BinaryIO, lines: list[FromNode]) -> None:
    """Write lines to an unbuffered stream, whole."""
    rest = memoryview(b"".join(_encoder.encode(line) + b"\n" for line in lines))
    while rest:
        written = out.write(rest)
        rest = rest[written or 0 :]


def run(serve: Callable[[], None]) -> int:
    """Run a node to its end; the exit code. Errors end as one sentence on stderr."""
    try:
        serve()
    except BrokenPipeError:
        return 0  # The harness has gone, and nobody is left to answer.
    except ScatterproofError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0
