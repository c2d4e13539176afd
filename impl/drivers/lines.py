"""Lines of the adapter contract, read and written by a node; and how a node's process ends."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from io import RawIOBase
from typing import TYPE_CHECKING, BinaryIO, TypeVar

import msgspec

from scatterproof.spec.adapter import VERSION, FromNode, Init, Line, ToNode
from scatterproof.spec.errors import BadInput, ScatterproofError

if TYPE_CHECKING:
    import socket

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
    write_whole(out, b"".join(_encoder.encode(line) + b"\n" for line in lines))


def write_whole(out: RawIOBase | BinaryIO, content: bytes) -> None:
    """Write all of it to an unbuffered stream, which may take a part at a time."""
    rest = memoryview(content)
    while rest:
        rest = rest[out.write(rest) or 0 :]


def run(serve: Callable[[], None]) -> int:
    """Run a node to its end, and return the exit code. An error is one sentence on stderr."""
    try:
        serve()
    except BrokenPipeError:
        return 0  # The harness has gone, and nobody is left to answer.
    except ScatterproofError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def run_until_signal(serve: Callable[[socket.socket], None]) -> int:
    """As `run`. The socket gives a byte for each SIGTERM or SIGINT; `serve` has to return then."""
    import socket  # nodes on stdio have none

    woken, waker = socket.socketpair()
    with woken, waker:
        waker.setblocking(False)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda _number, _frame: None)  # the wake-up byte says it all
        code = run(lambda: serve(woken))
        signal.set_wakeup_fd(-1)
    return code
