"""Packets of clients' calls as datagrams, in MessagePack, and as columns of log rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT

encode = msgspec.msgpack.encode


class Malformed(StrEnum):
    NO_PACKET = "no_packet"
    UNKNOWN_KIND = "unknown_kind"
    OUT_OF_RANGE = "out_of_range"


def decoder(packet: type, flaw: Callable[[Any], Malformed | None]) -> Callable[[bytes], Any | Malformed]:
    """The packet of a datagram, or the reason why there is none."""
    decode: Callable[[bytes], Any] = msgspec.msgpack.Decoder(packet).decode

    def decoded(datagram: bytes) -> Any | Malformed:
        try:
            found = decode(datagram)
        except msgspec.DecodeError:
            return Malformed.NO_PACKET
        return flaw(found) or found

    return decoded


def out_of_range(fits: bool, numbers: Iterable[int]) -> Malformed | None:
    """fits: whether all that is no column fits."""
    return None if fits and all(ABSENT <= number < 1 << 63 for number in numbers) else Malformed.OUT_OF_RANGE


@dataclass(frozen=True, slots=True)
class CallRecords:
    """sent: the fields of a packet by the columns that they go into. handed: the columns of a delivery."""

    sent: Mapping[str, str]
    handed: tuple[str, ...]

    def submission(self, node: NodeId, messages: Sequence[tuple[NodeId, bytes]]) -> list[dict[str, int]]:
        return []

    def packet(self, packet: Any) -> dict[str, int]:
        return {column: getattr(packet, name) for column, name in self.sent.items()}

    def delivery(self, node: NodeId, delivery: Any) -> dict[str, int]:
        return {name: getattr(delivery, name) for name in self.handed}
