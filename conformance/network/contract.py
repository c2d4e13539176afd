"""What the simulator asks of others: rows of a protocol's recorder, and nodes of whoever makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from scatterproof.spec.core import AnyCore, Return
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Row


class RowRecorder(Protocol):
    """What a protocol puts into the columns from `sender` on; and what it must have where hosts hand over messages, or
    clients call: a `MessageRecorder` or a `CallRecorder`."""

    def packet(self, packet: Any) -> Row: ...

    def ended(self, flags: int) -> Row: ...

    def carries_message(self, packet: Any) -> bool:
        """Whether the run goes on while this packet is in flight."""
        ...


class MessageRecorder(RowRecorder, Protocol):
    def submission(self, node: NodeId, messages: Sequence[tuple[NodeId, bytes]]) -> Sequence[Row]:
        """One tail for each message of the next submission at `node`."""
        ...

    def delivery(self, node: NodeId, delivery: Any) -> Row: ...

    # Where nodes may begin with messages: def beginning(self, node: NodeId, beginning: Any) -> Row


class CallRecorder(RowRecorder, Protocol):
    """operation: the call's number among its client's."""

    def called(self, node: NodeId, operation: int, call: Call) -> Row: ...

    def returned(self, node: NodeId, call: Call, returned: Return) -> Row: ...


class Lives(Protocol):
    """What a run with failures asks of whoever makes its nodes."""

    def crash(self, node: NodeId) -> None:
        """The node is asked for nothing any more."""
        ...

    def restart(self, node: NodeId) -> AnyCore:
        """A new core in its place, which knows how often the node began anew and what it stored durably."""
        ...


class NodeFailed(Exception):
    """A node crashed unbidden, hung or broke the contract. The run ends cut, with this sentence among its notes."""
