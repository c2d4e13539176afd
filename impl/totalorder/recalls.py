"""What a sender keeps for the case that a receiver fails: its scatterings that not all have acknowledged, and those
that it has recalled since.

Clauses: TO-FAIL, TO-ATOMIC.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop

from scatterproof.impl.totalorder.outstanding import Pair
from scatterproof.spec.topology import NodeId


class Recalls:
    """failed: the hosts that are known to have failed. due: when recalls that were not answered are sent again."""

    def __init__(self, timeout: int) -> None:
        self._timeout = timeout
        # timestamp -> (receiver, number), oldest first. A plain dictionary goes through what was deleted to find its
        # first entry.
        self._scatterings: OrderedDict[int, list[tuple[NodeId, int]]] = OrderedDict()
        self._waiting: dict[tuple[NodeId, int], int] = {}  # (receiver, number) -> timestamp of what was recalled
        self._recalled: list[tuple[int, NodeId, int]] = []  # heap of (timestamp, receiver, number), some answered
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
        self._recalled = [(timestamp, receiver, number) for (receiver, number), timestamp in self._waiting.items()]
        heapify(self._recalled)
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
        recalled = self._recalled
        while recalled and recalled[0][1:] not in self._waiting:
            heappop(recalled)
        if not recalled:
            return outstanding
        return recalled[0][0] if outstanding is None else min(recalled[0][0], outstanding)

    def _set(self, now: int) -> None:
        self.due = now + self._timeout if self._waiting else None
