"""When nodes and links of a schedule are down, and what that does to a packet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from spec.schedule import FailureKind, Schedule
from spec.topology import LinkId, NodeId

# Down from the first instant on, up again at the second.
_Spans = list[tuple[int, int]]
_NEVER = 1 << 62


class Outages:
    """A cut link loses what is on it and what is put on it. A crashed node loses what arrives; what it sent earlier
    goes on, and so does a packet that arrives once it has restarted. A failure comes first at its instant."""

    def __init__(self, schedule: Schedule) -> None:
        self._nodes: defaultdict[NodeId, _Spans] = defaultdict(list)
        self._links: defaultdict[LinkId, _Spans] = defaultdict(list)
        for failure in schedule.failures:
            spans = self._links[failure.link] if failure.node == -1 else self._nodes[failure.node]
            if failure.kind in (FailureKind.CRASH, FailureKind.CUT):
                spans.append((failure.time_ns, _NEVER))
            else:
                spans[-1] = (spans[-1][0], failure.time_ns)
        self._targets = [link.target for link in schedule.topology.links]
        self.links = {link for link, target in enumerate(self._targets) if link in self._links or target in self._nodes}

    def is_down(self, node: NodeId, time_ns: int) -> bool:
        return _covers(self._nodes.get(node, ()), time_ns)

    def lost_at(self, link: LinkId, sent: int, arrival: int) -> int | None:
        """When a packet is lost that was put on the link at `sent` and is due at `arrival`; None if it arrives."""
        for start, end in self._links.get(link, ()):
            if start <= arrival and sent < end:
                return max(start, sent)
        return arrival if _covers(self._nodes.get(self._targets[link], ()), arrival) else None


def _covers(spans: Sequence[tuple[int, int]], time_ns: int) -> bool:
    return any(start <= time_ns < end for start, end in spans)
