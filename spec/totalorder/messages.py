"""Packets and deliveries of the total-order protocol, as cores and judges exchange them.

The wire layout of a packet is `wire.toml`; each side has a codec of its own for it.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

import msgspec

from spec.topology import NodeId

NOT_SPOKEN = 0  # the barrier of a link before anything came over it: promises nothing
NO_BARRIER = -1  # a packet that carries no barrier (data in environment B)


class PacketKind(IntEnum):
    DATA = 1
    BEACON = 2


class Environment(StrEnum):
    """What carries barriers: A data messages, B beacons at an interval, C data messages, and beacons when idle."""

    A = "A"
    B = "B"
    C = "C"


class Packet(msgspec.Struct, frozen=True, gc=False):
    """One packet on one link. Times in ns. On beacons receiver, number and timestamp are 0, payload is empty and
    sender is the node that made the beacon (TO-BEACON: each hop makes its own)."""

    kind: int
    sender: NodeId
    receiver: NodeId
    number: int
    link_seq: int
    timestamp: int
    barrier: int
    payload: bytes


class Delivery(msgspec.Struct, frozen=True, gc=False):
    """A message as the application gets it. number counts the messages of this sender and receiver, from 1."""

    sender: NodeId
    number: int
    timestamp: int
    payload: bytes
