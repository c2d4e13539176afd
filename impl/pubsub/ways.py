"""The ways to one neighbour: each is measured by probes, which the neighbour echoes, and messages take the best.

In the appliance to run a way is a connection to one of the neighbour's addresses, and the end that dials chooses; in
the reference it is a link, and each end chooses for what it sends. The choice changes at once where the way in use
breaks, otherwise only when another way was clearly better for some probes in a row, so that it does not swing. After
a change, what was not acknowledged is sent again: the appliance to run greets on the new way, and both ends compare
their numbers, as after a broken connection.

Clauses: PS-NEIGHBOUR. TLA+: `Change` and `Lose` of Rerouting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf

STEADY = 3  # probes in a row
_LEAST_NS = 1_000_000  # differences strictly below this do not count where messages cross real networks
_OF_LATENCY, _OF_JITTER, _OF_LOSS = 1 / 8, 1 / 4, 1 / 8  # the weight of the last probe; the first two as in RFC 6298


def cost_ns(latency_ns: float, jitter_ns: float, loss: float) -> float:
    """The expected time for a message there and back, in ns, with tries that are lost. loss: the share of lost probes.
    The latency includes load: probes wait behind messages."""
    return (latency_ns + 4 * jitter_ns) / (1 - loss) if loss < 1 else inf


def is_better(cost: float, current: float, least_ns: int) -> bool:
    """Whether a way of this cost is clearly better than the current one, by `least_ns` at the least."""
    return 2 * cost + least_ns <= current


class Way:
    """One way, with its measurements.

    name: for people.
    greet: called when messages are to take this way; None while there is no connection.
    latency_ns: smoothed round trip, in ns; None before the first echo.
    jitter_ns: smoothed deviation of the round trip, in ns.
    loss: smoothed share of lost probes, from 0 to 1.
    is_left: whether messages took this way before the change to another; then the neighbour ends the connection.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.greet: Callable[[], None] | None = None
        self.latency_ns: float | None = None
        self.jitter_ns = self.loss = 0.0
        self.is_left = False
        self._asked: list[int] = []

    def asked(self, now_ns: int) -> None:
        """Note that a probe was sent."""
        self._asked.append(now_ns)

    def answered(self, sent_ns: int, now_ns: int) -> None:
        """Note the echo of the probe that was sent at that time; earlier ones no longer count as open."""
        self._asked = [one for one in self._asked if one > sent_ns]
        took = float(max(now_ns - sent_ns, 0))
        if self.latency_ns is None:
            self.latency_ns, self.jitter_ns = took, took / 2
        else:
            self.jitter_ns += _OF_JITTER * (abs(took - self.latency_ns) - self.jitter_ns)
            self.latency_ns += _OF_LATENCY * (took - self.latency_ns)
        self.loss -= _OF_LOSS * self.loss

    def broke(self) -> None:
        """Note that the connection ended. The probes on it are lost, except where the change of way ended it."""
        self.greet = None
        if self.is_left:
            self._asked.clear()
        self.lost()

    def lost(self) -> None:
        """Note that the open probes are lost."""
        for _ in self._asked:
            self.loss += _OF_LOSS * (1 - self.loss)
        self._asked.clear()

    def cost(self, now_ns: int) -> float:
        if self.greet is None or self.latency_ns is None:
            return inf
        waits = now_ns - self._asked[0] if self._asked else 0
        return cost_ns(max(self.latency_ns, waits), self.jitter_ns, self.loss)


class Ways:
    """All ways to one neighbour.

    used: the chosen way, None where there is none.
    peer: the neighbour's name, empty until it is known.
    """

    def __init__(self, names: Iterable[str], least_ns: int = _LEAST_NS) -> None:
        self._least_ns = least_ns
        self.all = [Way(name) for name in names]
        self.used: Way | None = None
        self.peer = ""
        self._better: tuple[Way | None, int] = None, 0

    def opened(self, way: Way, greet: Callable[[], None]) -> None:
        way.greet, way.is_left = greet, False
        if self.used is None:
            self.take(way)

    def answered(self, way: Way, sent_ns: int, now_ns: int) -> None:
        way.answered(sent_ns, now_ns)
        best = self._best(now_ns)
        used = inf if self.used is None else self.used.cost(now_ns)
        if self.used is None or best is self.used or not is_better(best.cost(now_ns), used, self._least_ns):
            self._better = None, 0
            return
        # Count only the better way's own probes: those of others say nothing new about it.
        last, times = self._better
        times = times * (last is best) + (way is best)
        self._better = best, times
        if times >= STEADY:
            self.take(best)

    def broke(self, way: Way, now_ns: int) -> None:
        way.broke()
        if way is self.used:
            self.used = None
            best = self._best(now_ns)
            if best.greet is not None:
                self.take(best)

    def _best(self, now_ns: int) -> Way:
        return min(self.all, key=lambda way: (way.greet is None, way.cost(now_ns)))

    def take(self, way: Way) -> None:
        """Change to this way, which has a connection."""
        if self.used is not None:
            self.used.is_left = True
        self.used, self._better = way, (None, 0)
        way.is_left = False
        assert way.greet is not None
        way.greet()
