"""What the harness asks of an implementation under test, however it is reached."""

from __future__ import annotations

from typing import Protocol

from scatterproof.spec.schedule import Schedule
from scatterproof.spec.trace import Trace


class Iut(Protocol):
    """An implementation under test. `run` plays a schedule and returns the trace that it left.

    Raises scatterproof.spec.errors.CannotRun when it cannot be started here. One that hangs, crashes or lies is no
    error: its trace ends cut, with what was seen until then.
    """

    name: str

    def run(self, schedule: Schedule) -> Trace: ...
