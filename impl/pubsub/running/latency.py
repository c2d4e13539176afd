"""What the time stamps of messages say of each link: the latency of a hop, its trend, and its drift.

The clocks of two machines differ: what is seen is the latency and that difference. The smallest of late is where the
difference shows, and how fast that moves is the drift; the rest is what the messages waited.

Clauses: PS-LATENCY.
"""

from __future__ import annotations

from dataclasses import dataclass

WINDOW = 64  # latencies of which the smallest is taken
SHARE = 16  # of a latency one in so many parts goes into the mean


@dataclass(slots=True)
class Latency:
    """Of one link, in ns. mean: of late, exponentially weighted. trend: how much it rises with each message. least: of
    the window before this one. drift: how much `least` moved with each message. number: how many were seen."""

    number: int = 0
    mean: float = 0.0
    trend: float = 0.0
    least: int = 0
    drift: float = 0.0
    smallest: int = 0

    def seen(self, latency_ns: int) -> None:
        self.number += 1
        if self.number == 1:
            self.mean, self.least, self.smallest = float(latency_ns), latency_ns, latency_ns
            return
        step = (latency_ns - self.mean) / SHARE
        self.mean += step
        self.trend += (step - self.trend) / SHARE
        self.smallest = min(self.smallest, latency_ns)
        if self.number % WINDOW == 0:
            if self.number > WINDOW:
                self.drift = (self.smallest - self.least) / WINDOW
            self.least, self.smallest = self.smallest, latency_ns


class Latencies:
    """By the neighbour at the other end."""

    def __init__(self) -> None:
        self.of: dict[str, Latency] = {}

    def seen(self, peer: str, latency_ns: int) -> None:
        self.of.setdefault(peer, Latency()).seen(latency_ns)
