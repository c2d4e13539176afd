"""What a driver must know of a protocol, found in the folder `impl/<protocol>`:

make_core in the package itself; codec.py with encode, decode and flaw; records.py with Records. The packet type is
`Packet` of `spec/<protocol>/messages.py`. Other makers of nodes, where there are some: iuts.py with FURTHER, by name.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from spec.core import Core, NodeConfig
from spec.errors import BadInput, CannotRun
from spec.topology import NodeId
from spec.trace import schema

Columns: TypeAlias = dict[str, int]
AnyCore: TypeAlias = Core[Any, Any]


class Records(Protocol):
    """What one node's events put into a trace row's columns, beside time, node, kind and link."""

    def submission(self, node: NodeId, messages: Sequence[tuple[NodeId, bytes]]) -> list[Columns]:
        """One row's columns for each message; counts submissions, so once a submission."""
        ...

    def packet(self, packet: Any) -> Columns: ...

    def delivery(self, node: NodeId, delivery: Any) -> Columns: ...

    def beginning(self, node: NodeId, beginning: Any) -> Columns:
        """Asked for only where the protocol's cores give the effect Began."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """packet: the packet type. decode: the packet, or the reason why there is none. flaw: why a packet is none."""

    make_core: Callable[[NodeConfig], AnyCore]
    packet: type
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any | StrEnum]
    flaw: Callable[[Any], StrEnum | None]
    records: Callable[[], Records]


def load(protocol: str, iut: str = "") -> Parts:
    """The parts of `protocol`; BadInput for an unknown one, CannotRun for one that is not implemented.

    iut: nodes are of this kind that the protocol has beside its reference core, as `name` or `name:variant`.
    """
    schema(protocol)  # its error names the protocols there are
    if importlib.util.find_spec(f"impl.{protocol}") is None:
        raise CannotRun(f"protocol {protocol!r} has no reference implementation yet; choose another")
    codec = importlib.import_module(f"impl.{protocol}.codec")
    return Parts(
        make_core=_maker(protocol, iut) if iut else importlib.import_module(f"impl.{protocol}").make_core,
        packet=importlib.import_module(f"spec.{protocol}.messages").Packet,
        encode=codec.encode,
        decode=codec.decode,
        flaw=codec.flaw,
        records=importlib.import_module(f"impl.{protocol}.records").Records,
    )


def _maker(protocol: str, iut: str) -> Callable[[NodeConfig], AnyCore]:
    name, _, variant = iut.partition(":")
    place = f"impl.{protocol}.iuts"
    further = importlib.import_module(place).FURTHER if importlib.util.find_spec(place) is not None else {}
    if name not in further:
        known = ", ".join(further) or "none"
        raise BadInput(f"protocol {protocol} has no nodes named {name!r} beside the reference's; it has {known}")
    make: Callable[[NodeConfig], AnyCore] = further[name](variant)
    return make
