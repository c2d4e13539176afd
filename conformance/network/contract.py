"""What the simulator needs from others: a protocol's recorder, which gives the rows, whoever makes the nodes, and
whoever looks on; and what it says of nodes that fail."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from scatterproof.spec.core import AnyCore, Return
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Row

# Is given all rows of a run in turn, those of some thousand events at a time.
Observer: TypeAlias = Callable[[Sequence[Row]], None]


class RowRecorder(Protocol):
    """Gives the columns of rows from `sender` on. A protocol whose hosts submit messages gives a `MessageRecorder`, one
    whose clients make calls a `CallRecorder`."""

    def packet(self, packet: Any) -> Row: ...

    def ended(self, flags: int) -> Row: ...

    def carries_message(self, packet: Any) -> bool:
        """Whether the run goes on while this packet is in flight."""
        ...


class MessageRecorder(RowRecorder, Protocol):
    def submission(self, node: NodeId, messages: Sequence[tuple[NodeId, bytes]]) -> Sequence[Row]:
        """The columns from `sender` on, for each message of the next submission at `node`."""
        ...

    def delivery(self, node: NodeId, delivery: Any) -> Row: ...

    # Optional, for `Began` effects: def beginning(self, node: NodeId, beginning: Any) -> Row


class CallRecorder(RowRecorder, Protocol):
    """operation: the number of the call among those of its client, from 1."""

    def called(self, node: NodeId, operation: int, call: Call) -> Row: ...

    def returned(self, node: NodeId, call: Call, returned: Return) -> Row: ...


class Lives(Protocol):
    """What a run with failures asks of whoever makes its nodes."""

    def crash(self, node: NodeId) -> None:
        """The node has crashed, and gets no event any more."""
        ...

    def restart(self, node: NodeId) -> AnyCore:
        """A new core in the node's place, which knows how often the node restarted and what it stored durably."""
        ...


class NodeFailed(Exception):
    """A node crashed by itself, hung or broke the contract. The run is cut there, with this sentence among its
    notes."""


# What a node's own mistakes raise. Anything else is the harness's or the machine's.
FAILURES = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError),
    NodeFailed,
)


def said_of(failure: Exception) -> str:
    """A node's failure in words; of what is none of ours, with the file and line that raised it."""
    if isinstance(failure, NodeFailed):
        return str(failure)
    frame = traceback.extract_tb(failure.__traceback__)[-1]
    return f"{type(failure).__name__}: {failure} ({Path(frame.filename).name}:{frame.lineno})"
