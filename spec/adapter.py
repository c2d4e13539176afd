"""The adapter contract: newline-delimited JSON between the harness and one process a node.

Over stdin and stdout, one object a line, told apart by `type`. In stdio mode the harness is the node's network and
clock: after `init` the node answers `ready`; after every `submit`, `call`, `packet` and `tick` it answers with the
effects in their order (`send`, `deliver`, `begin`, `return`, `refuse`, any `log`) and then `done`. In datagram mode the
node has real sockets and a clock of its own: `init`, `listening`, `connect`, `ready`, then `submit` as often as wanted,
`stop`, `stopped`; what happened is in its log.

Packets and deliveries are the objects of the protocol's `messages.py`; byte strings are base64. ADAPTER.md explains all
of it to whoever writes a node, and adapter.schema.json is made from these types.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from scatterproof.spec.core import NodeConfig, Parameter
from scatterproof.spec.topology import LinkId, NodeId

VERSION = 1


class Line(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """One line of the contract."""


class Payload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    receiver: NodeId
    payload: bytes


class Init(Line, frozen=True, tag="init"):
    """state: stdio mode only: a folder for what the node must keep over a crash; its processes of one run share it, and
        it is empty when the run begins.
    log, clock_offset_ns: datagram mode only: the file for the trace rows, and what to add to the machine's clock.
    """

    config: NodeConfig
    state: str = ""
    log: str | None = None
    clock_offset_ns: int = 0
    contract: int = VERSION


class Submit(Line, frozen=True, tag="submit"):
    """now: the node's local clock; absent in datagram mode."""

    messages: tuple[Payload, ...]
    now: int | None = None


class CallIn(Line, frozen=True, tag="call"):
    """The application of a client calls.

    operation: the call's number among the client's, from 1.
    call: which, one of those in the protocol's trace.toml.
    arguments, payload: what the protocol gives them to mean.
    """

    now: int
    operation: int
    call: str
    arguments: dict[str, Parameter] = {}
    payload: bytes = b""


class PacketIn(Line, frozen=True, tag="packet"):
    now: int
    link: LinkId
    packet: msgspec.Raw


class Tick(Line, frozen=True, tag="tick"):
    """The deadline that the node asked for is reached."""

    now: int


class Connect(Line, frozen=True, tag="connect"):
    """peers: for each egress link the port on 127.0.0.1 to send to."""

    peers: dict[LinkId, int]


class Stop(Line, frozen=True, tag="stop"):
    """Write everything out, stop all network activity, answer `stopped` if in datagram mode, and end."""


class Ready(Line, frozen=True, tag="ready"):
    """deadline: the local clock reading at which the node wants a tick.
    contract: the version that the node speaks.
    """

    deadline: int | None = None
    contract: int = VERSION


class Listening(Line, frozen=True, tag="listening"):
    """ports: for each ingress link the UDP port on 127.0.0.1 that it arrives at."""

    ports: dict[LinkId, int]


class SendOut(Line, frozen=True, tag="send"):
    link: LinkId
    packet: msgspec.Raw


class DeliverOut(Line, frozen=True, tag="deliver"):
    message: msgspec.Raw


class BeginOut(Line, frozen=True, tag="begin"):
    """The node began with what `message`, an object of the protocol's `messages.py`, says."""

    message: msgspec.Raw


class ReturnOut(Line, frozen=True, tag="return"):
    """The call with this number comes back to the application.

    outcome: unknown where the client cannot say whether it took effect.
    results, payload: what the protocol gives them to mean.
    """

    operation: int
    outcome: Literal["ok", "refused", "unknown"]
    results: dict[str, Parameter] = {}
    payload: bytes = b""


class RefuseOut(Line, frozen=True, tag="refuse"):
    link: LinkId
    reason: str


class Log(Line, frozen=True, tag="log"):
    text: str


class Done(Line, frozen=True, tag="done"):
    deadline: int | None = None


class Stopped(Line, frozen=True, tag="stopped"):
    """The log is complete."""


ToNode: TypeAlias = Init | Submit | CallIn | PacketIn | Tick | Connect | Stop
FromNode: TypeAlias = Ready | Listening | SendOut | DeliverOut | BeginOut | ReturnOut | RefuseOut | Log | Done | Stopped
