"""Lines of the adapter contract as the harness writes and reads them; and a protocol's packets, strictly typed."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias, TypeVar

import msgspec

from scatterproof.conformance.supervisor import Child, ChildFailure
from scatterproof.spec.adapter import VERSION, FromNode, Line, Ready, ToNode
from scatterproof.spec.protocol import load

encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[FromNode] = msgspec.json.Decoder(FromNode)
# The last: of what is nested too deeply.
_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_INT64 = range(-(1 << 63), 1 << 63)

_Decoder: TypeAlias = msgspec.json.Decoder[Any]
AnyLine = TypeVar("AnyLine", bound=Line)


class LineContents:
    """Packets and deliveries of one protocol, and what nodes begin with."""

    def __init__(self, protocol: str) -> None:
        plugin = load(protocol)
        self._packet: _Decoder = msgspec.json.Decoder(plugin.packet)
        self._delivery: _Decoder | None = msgspec.json.Decoder(plugin.delivery) if plugin.delivery else None
        self._beginning: _Decoder | None = msgspec.json.Decoder(plugin.beginning) if plugin.beginning else None

    def packet(self, raw: msgspec.Raw) -> Any:
        """The packet, or a Failure."""
        return _checked(self._packet, raw)

    def delivery(self, raw: msgspec.Raw) -> Any:
        if self._delivery is None:
            return ChildFailure("wrote 'deliver', which this protocol does not have")
        return _checked(self._delivery, raw)

    def beginning(self, raw: msgspec.Raw) -> Any:
        if self._beginning is None:
            return ChildFailure("wrote 'begin', which this protocol does not have")
        return _checked(self._beginning, raw)


@cache
def contents(protocol: str) -> LineContents:
    return LineContents(protocol)


def tell(child: Child, line: ToNode) -> None:
    child.tell(encode(line))


def answer(child: Child, timeout_s: float | None = None) -> FromNode | ChildFailure:
    """The child's next line, or what is wrong with it."""
    line = child.line(timeout_s)
    if isinstance(line, ChildFailure):
        return line
    try:
        return _decoder.decode(line)
    except _ERRORS as error:
        return ChildFailure(f"wrote {shown(line)}, which is no line of the contract: {error}")


def expect(child: Child, kind: type[AnyLine], timeout_s: float | None = None) -> AnyLine | ChildFailure:
    """The child's next line, which has to be of this kind."""
    line = answer(child, timeout_s)
    if isinstance(line, kind | ChildFailure):
        return line
    return ChildFailure(f"answered with {type_of(line)!r} where {kind.__struct_config__.tag!r} is due")


def flaw_of(ready: Ready) -> str | None:
    """Why nothing can be said to this node, or None."""
    if ready.contract == VERSION:
        return None
    return f"speaks version {ready.contract} of the contract; this harness speaks version {VERSION}"


def type_of(line: Line) -> str:
    return str(line.__struct_config__.tag)


def shown(text: bytes) -> str:
    """The beginning of what a child wrote, fit for a sentence."""
    return repr(text[:80].decode("utf-8", "replace")) + ("..." if len(text) > 80 else "")


def _checked(decoder: msgspec.json.Decoder[Any], raw: msgspec.Raw) -> Any:
    try:
        found = decoder.decode(raw)
    except _ERRORS as error:
        return ChildFailure(f"wrote {shown(bytes(raw))}: {error}")
    for name in found.__struct_fields__:
        value = getattr(found, name)
        if isinstance(value, int) and value not in _INT64:
            return ChildFailure(f"wrote {shown(bytes(raw))}: {name} does not fit into 64 bits")
    return found
