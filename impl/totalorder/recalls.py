"""What a sender keeps for the case that a receiver fails: its scatterings that not all have acknowledged, and those
that it has recalled since.

Clauses: TO-FAIL, TO-ATOMIC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from impl.totalorder.outstanding import Pair
from spec.topology import NodeId


class Recalls:
    """failed: the hosts that are known to have failed. due: when recalls that were not answered are sent again."""

    def __init__(self, timeout: int) -> None:
        self._timeout = timeout
        self._scatterings: dict[int, list[tuple[NodeId, int]]] = {}  # timestamp -> (receiver, number), oldest first
        self._waiting: dict[tuple[NodeId, int], int] = {}  # (receiver, number) -> timestamp of what was recalled
        self.failed: set[NodeId] = set()
        self.due: int | None = None

    def sent(self, timestamp: int, receiver: NodeId, number: int, pairs: Mapping[NodeId, Pair]) -> None:
        """A message of the scattering of this timestamp is sent. Those that all have acknowledged are forgotten."""
        if timestamp not in self._scatterings:
            while self._scatterings:
                oldest = next(iter(self._scatterings))
                if any(n > pairs[r].acknowledged for r, n in self._scatterings[oldest]):
                    break
                del self._scatterings[oldest]
        self._scatterings.setdefault(timestamp, []).append((receiver, number))

    def fail(
        self, now: int, host: NodeId, pairs: Mapping[NodeId, Pair], *, recalls: bool
    ) -> Sequence[tuple[NodeId, int, int]]:
        """The messages, as (receiver, number, timestamp), that are to be recalled as this host has failed."""
        self.failed.add(host)
        self._waiting = {key: timestamp for key, timestamp in self._waiting.items() if key[0] != host}
        upto = pairs[host].acknowledged
        broken = [t for t, copies in self._scatterings.items() if any(r == host and n > upto for r, n in copies)]
        found: list[tuple[NodeId, int, int]] = []
        for timestamp in broken:
            copies = self._scatterings.pop(timestamp)
            found += [(r, n, timestamp) for r, n in copies if recalls and r not in self.failed]
        self._waiting |= {(receiver, number): timestamp for receiver, number, timestamp in found}
        self._set(now)
        return found

    def answered(self, receiver: NodeId, number: int) -> None:
        self._waiting.pop((receiver, number), None)
        if not self._waiting:
            self.due = None

    def again(self, now: int) -> Sequence[tuple[NodeId, int, int]]:
        """The messages whose recall was not answered in time."""
        if self.due is None or now < self.due:
            return ()
        self._set(now)
        return [(receiver, number, timestamp) for (receiver, number), timestamp in self._waiting.items()]

    def least(self, outstanding: int | None) -> int | None:
        """The least timestamp that is outstanding, recalled messages included."""
        if not self._waiting:
            return outstanding
        recalled = min(self._waiting.values())
        return recalled if outstanding is None else min(recalled, outstanding)

    def _set(self, now: int) -> None:
        self.due = now + self._timeout if self._waiting else None
