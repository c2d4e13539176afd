"""Local clocks with offset and drift, in whole nanoseconds."""

from __future__ import annotations

from collections.abc import Sequence

from scatterproof.spec.schedule import Clock

_BILLION = 1_000_000_000


class LocalClock:
    """reading(t) = start + t + t * drift / 10^9 in whole ns; it never falls while true time t does not."""

    __slots__ = ("drift", "start")

    def __init__(self, clock: Clock, start: int) -> None:
        self.start = start + clock.offset_ns
        self.drift = clock.drift_ppb

    def reading(self, true_ns: int) -> int:
        if self.drift == 0:
            return self.start + true_ns
        return self.start + true_ns + true_ns * self.drift // _BILLION

    def when(self, reading: int) -> int:
        """The least true time, at or above 0, at which the clock reads `reading` or more."""
        if self.drift == 0:
            return max(0, reading - self.start)
        guess = max(0, (reading - self.start) * _BILLION // (_BILLION + self.drift))
        while self.reading(guess) < reading:
            guess += 1
        while guess > 0 and self.reading(guess - 1) >= reading:
            guess -= 1
        return guess


def local_clocks(clocks: Sequence[Clock]) -> list[LocalClock]:
    """One clock a node, shifted together so that every reading is at least 1: 0 stands for "has not spoken"."""
    start = 1 - min(0, *(clock.offset_ns for clock in clocks))
    return [LocalClock(clock, start) for clock in clocks]
