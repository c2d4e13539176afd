"""What the hosts of a real system were handed and delivered, and who tells it as rows of a protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from scatterproof.conformance.adapters.recorded_run import RecordedRun
from scatterproof.spec.trace import Row


class LogEvent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a host's log: its application handed over its message `number`, counted from 1, or it delivered that
    of the host `sender`, counted from 0. digest: of the contents, 63 bits."""

    what: Literal["handed", "delivered"]
    time_ns: int
    sender: int
    number: int
    digest: int


class SystemHistory(msgspec.Struct, frozen=True):
    """hosts: the events of each, in its order.
    settled: nothing was on its way any more.
    notes: what befell them.
    gone: hosts that did not live to the end.
    """

    hosts: tuple[tuple[LogEvent, ...], ...]
    messages: int
    settled: bool
    notes: tuple[str, ...] = ()
    gone: tuple[int, ...] = ()


class SystemTeller(Protocol):
    """Who tells what a real system did as rows of the protocol."""

    def rows(self, history: SystemHistory) -> Sequence[Sequence[Row]]:
        """The trace rows of each host."""
        ...

    def run(self, history: SystemHistory) -> RecordedRun: ...
