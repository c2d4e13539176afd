"""The latency of each link, its trend and its drift, as the time stamps of messages show them; and the message on
`$SYS.NAME` in which an appliance publishes them, with its counts.

The clocks of two machines differ, so that latency and difference are seen together. The smallest recent value shows
the difference, and how fast it moves is the drift; what is above it is the time that messages waited.

Clauses: PS-LATENCY.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from scatterproof.impl.pubsub.translation.messages import Message

WINDOW = 64  # messages
SHARE = 16  # a new latency counts in the mean with a weight of 1 / SHARE
_S = 1_000_000_000


@dataclass(slots=True)
class Latency:
    """The latency of one link.

    number: how many messages were seen.
    mean_ns: exponentially weighted.
    least_ns: the smallest of the last whole window.
    trend, drift: by how many ns a second the mean and the smallest rose over it.
    """

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
    """The latency of each link. of: by the neighbour at its other end."""

    def __init__(self) -> None:
        self.of: dict[str, Latency] = {}

    def seen(self, peer: str, latency_ns: int, now_ns: int) -> None:
        self.of.setdefault(peer, Latency()).seen(latency_ns, now_ns)


def told(name: str, counts: Mapping[str, int], latencies: Latencies, there: Iterable[str]) -> Message:
    """The message with the statistics of the appliance `name`. there: the neighbours that are linked now."""
    fields = ("number", "mean_ns", "least_ns", "trend", "drift")
    links = {peer: {field: getattr(one, field) for field in fields} for peer, one in sorted(latencies.of.items())}
    said = {"name": name, "counts": dict(counts), "neighbours": sorted(there), "latency": links}
    return Message("$SYS." + name.replace(".", "-"), msgspec.json.encode(said))
