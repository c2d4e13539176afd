"""Packets, deliveries and beginnings of the broadcast stack, as cores and judges exchange them.

The wire layout of packets is `wire.toml`; each side has a codec of its own for it. Processes are counted from 0, and a
process's messages from 1. A run of messages is `first` to `first + count - 1` of one creator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum, StrEnum

import msgspec

from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import EVERYBODY
from scatterproof.spec.topology import NodeId

NO_CLOCK: tuple[int, ...] = ()


PacketKind = IntEnum("PacketKind", "DATA ACK")
# How much of the stack there is: perfect links, uniform reliable, FIFO, localized causal broadcast.
Level = StrEnum("Level", "PL URB FIFO LCB")


class Packet(msgspec.Struct, frozen=True, gc=False):
    """One packet from `source` to `receiver`, the two ends of the link that it is put on.

    DATA: messages `first` to `first + count - 1` of `creator`, a run that its creator made and that is never cut;
    source is the creator, or forwards them. More than one only where the payloads are empty.

    pseq: the packet's number among the DATA from source to receiver, from 1 (BC-PL-PSEQ); the same when the packet is
        sent again (`resent`).
    clock: the dependency clock at the beginning of the run's first message, one entry a process, the creator's own
        first - 1 (BC-LCB-CLOCKS); that of a later message of the run differs in the own entry alone. Empty below level
        lcb.

    ACK: source has the receiver's DATA `pseq` to `pseq + count - 1`, and all up to `first` (0 for none); creator is the
    source, payload and clock are empty.
    """

    kind: int
    source: NodeId
    receiver: NodeId
    creator: NodeId
    first: int
    count: int
    pseq: int
    resent: bool = False
    payload: bytes = b""
    clock: tuple[int, ...] = NO_CLOCK


class Delivery(msgspec.Struct, frozen=True, gc=False):
    """A message as the application gets it. number: its place among the creator's, from 1 (at level pl: among those
    from the creator to this process)."""

    creator: NodeId
    number: int
    payload: bytes


class Beginning(msgspec.Struct, frozen=True, gc=False):
    """The process began with its messages `number` to `number + count - 1`, all with this payload (which is empty where
    count is above 1). receiver: EVERYBODY, or at level pl the process that they are for, among whose they count."""

    number: int
    count: int
    payload: bytes
    receiver: NodeId = EVERYBODY


def dependencies(given: Mapping[str, Parameter], processes: int, place: str = "") -> list[frozenset[NodeId]]:
    """The dependencies of each process, from the parameter `dependencies`: "1,2;0;" says that 0 depends on 1 and 2, 1
    on 0, and 2 on none. Raises BadInput, which begins with `place`, for a text that is no such list."""
    text = given.get("dependencies", "")
    if text == "":
        return [frozenset()] * processes
    parts = text.split(";") if isinstance(text, str) else []
    if len(parts) != processes:
        raise BadInput(f"{place}parameter dependencies is {text!r}; give {processes} lists, parted by ';'")
    named = [[name.strip() for name in part.split(",")] if part.strip() else [] for part in parts]
    for name in (name for names in named for name in names):
        if not name.isdecimal() or int(name) >= processes:
            raise BadInput(f"{place}parameter dependencies names {name!r}; processes are 0 to {processes - 1}")
    return [frozenset(map(int, names)) for names in named]


def in_words(named: Iterable[Iterable[NodeId]]) -> str:
    """The parameter `dependencies` that says so, by process."""
    return ";".join(",".join(map(str, names)) for names in named)


# What a row is in modules/TraceBroadcast.tla: the actions that are taken where nobody breaks a rule, then the others.
Action = IntEnum(
    "Action",
    "Submit Begin Send Forward Resend Answer Receive ReceiveAgain Acknowledge Deliver Lose Crash Pause Resume "
    "Settle Stop Refuse Stray",
    start=0,
)
REGULAR = tuple(Action.__members__)[: Action.Refuse]
