"""What a protocol gives to `impl`: its reference nodes, what drivers need to put them on a wire, and what else there is
of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from scatterproof.spec import plugins
from scatterproof.spec.core import AnyCore, NodeConfig
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import NodeId

Columns: TypeAlias = dict[str, int]
MakeCore: TypeAlias = Callable[[NodeConfig], AnyCore]


class LogRecords(Protocol):
    """What one node's events put into a trace row's columns, beside time, node, kind and link; where cores give the
    effect Began, RecordsOfBeginnings."""

    def submission(self, node: NodeId, messages: Sequence[tuple[NodeId, bytes]]) -> list[Columns]:
        """One row's columns for each message; counts submissions, so once a submission."""
        ...

    def packet(self, packet: Any) -> Columns: ...

    def delivery(self, node: NodeId, delivery: Any) -> Columns: ...


class RecordsOfBeginnings(LogRecords, Protocol):
    def beginning(self, node: NodeId, beginning: Any) -> Columns: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ImplPlugin:
    """The reference implementation of a protocol.

    make_core: a node's core for its configuration, and with `rules=` for other rules; BadInput for one that cannot be
        used.
    encode: a packet as the bytes of a datagram.
    decode: the packet, or the reason why there is none.
    flaw: why a packet, or anything else, is none; None for one.
    records: what a node's events put into its log.
    further: nodes that there are beside the reference's, by the name that `--iut` has for them: a factory of nodes for
        what is behind the colon, empty for nothing.
    program: the command line of the reference program, behind the interpreter, with the placeholders of
        `--iut-command`; empty where there is no such program.
    has_figures: whether `ci/bench figures` draws the implementation's latencies in simulation.
    """

    make_core: Callable[..., AnyCore]
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any | StrEnum]
    flaw: Callable[[Any], StrEnum | None]
    records: Callable[[], LogRecords]
    further: Mapping[str, Callable[[str], MakeCore]] = field(default_factory=dict)
    program: str = ""
    has_figures: bool = False


def load(protocol: str) -> ImplPlugin:
    """BadInput for an unknown protocol, CannotRun for one that is not implemented."""
    return plugins.load("impl", ImplPlugin, protocol, "has no reference implementation yet; choose another")


def maker(protocol: str, name: str = "") -> MakeCore:
    """Who makes its nodes: the reference's, or with a name, as `name` or `name:variant`, of a kind that the protocol
    has beside it. BadInput, with those that there are, for another one."""
    plugin = load(protocol)
    if not name:
        return plugin.make_core
    kind, _, variant = name.partition(":")
    if kind not in plugin.further:
        known = ", ".join(plugin.further) or "none"
        raise BadInput(f"protocol {protocol} has no nodes named {kind!r} beside the reference's; it has {known}")
    return plugin.further[kind](variant)
