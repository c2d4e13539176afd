"""What the time stamps of messages say of each link: the latency of a hop, its trend, and its drift; and the message
on `$SYS.NAME` in which an appliance publishes that, with what it counts.

The clocks of two machines differ: what is seen is the latency and that difference. The smallest of late is where the
difference shows, and how fast that moves is the drift; the rest is what the messages waited.

Clauses: PS-LATENCY.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from scatterproof.impl.pubsub.translation.messages import Message

WINDOW = 64  # messages
SHARE = 16  # of a latency one in so many parts goes into the mean
_S = 1_000_000_000


@dataclass(slots=True)
class Latency:
    """Of one link. number: how many messages were seen. mean_ns: of late, exponentially weighted. least_ns: of the
    last whole window. trend, drift: ns in a second, by which the mean and the least rose over it."""

    number: int = 0
    mean_ns: float = 0.0
    least_ns: int = 0
    trend: float = 0.0
    drift: float = 0.0
    _smallest_ns: int = 0
    _mean_then_ns: float = 0.0
    _then_ns: int = 0

    def seen(self, latency_ns: int, now_ns: int) -> None:
        self.number += 1
        if self.number == 1:
            self.mean_ns = self._mean_then_ns = float(latency_ns)
            self.least_ns = self._smallest_ns = latency_ns
            self._then_ns = now_ns
            return
        self.mean_ns += (latency_ns - self.mean_ns) / SHARE
        self._smallest_ns = min(self._smallest_ns, latency_ns)
        if self.number % WINDOW == 0 and now_ns > self._then_ns:
            passed_s = (now_ns - self._then_ns) / _S
            self.trend = (self.mean_ns - self._mean_then_ns) / passed_s
            if self.number > WINDOW:
                self.drift = (self._smallest_ns - self.least_ns) / passed_s
            self.least_ns, self._mean_then_ns, self._then_ns = self._smallest_ns, self.mean_ns, now_ns
            self._smallest_ns = latency_ns


class Latencies:
    """By the neighbour at the other end."""

    def __init__(self) -> None:
        self.of: dict[str, Latency] = {}

    def seen(self, peer: str, latency_ns: int, now_ns: int) -> None:
        self.of.setdefault(peer, Latency()).seen(latency_ns, now_ns)


def told(name: str, counts: Mapping[str, int], latencies: Latencies, there: Iterable[str]) -> Message:
    """there: the neighbours that are linked now."""
    fields = ("number", "mean_ns", "least_ns", "trend", "drift")
    links = {peer: {field: getattr(one, field) for field in fields} for peer, one in sorted(latencies.of.items())}
    said = {"name": name, "counts": dict(counts), "neighbours": sorted(there), "latency": links}
    return Message("$SYS." + name.replace(".", "-"), msgspec.json.encode(said))
