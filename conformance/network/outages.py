"""When nodes and links of a schedule are down or paused, and what that does to a packet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from scatterproof.spec.schedule import FailureKind, Schedule
from scatterproof.spec.topology import LinkId, NodeId

# Down from the first instant on, up again at the second.
_Spans = list[tuple[int, int]]
_NEVER = 1 << 62


class Outages:
    """A cut link loses what is on it and what is put on it. A crashed node loses what arrives at it; what it sent
    before still arrives. A packet that arrives once the node has restarted is not lost. At its instant a failure comes
    before all else. What arrives at a paused node waits there until the node resumes, and is lost if it crashes
    instead."""

    def __init__(self, schedule: Schedule) -> None:
        self._nodes: defaultdict[NodeId, _Spans] = defaultdict(list)
        self._links: defaultdict[LinkId, _Spans] = defaultdict(list)
        self._pauses: defaultdict[NodeId, _Spans] = defaultdict(list)
        for failure in schedule.failures:
            node, at = failure.node, failure.time_ns
            match failure.kind:
                case FailureKind.CRASH:
                    self._nodes[node].append((at, _NEVER))
                    _end(self._pauses, node, at)
                case FailureKind.RESTART:
                    _end(self._nodes, node, at)
                case FailureKind.CUT:
                    self._links[failure.link].append((at, _NEVER))
                case FailureKind.MEND:
                    _end(self._links, failure.link, at)
                case FailureKind.PAUSE:
                    self._pauses[node].append((at, _NEVER))
                case FailureKind.RESUME:
                    _end(self._pauses, node, at)
        self._targets = [link.target for link in schedule.topology.links]
        failing = {*self._nodes, *self._pauses}
        self.links = {link for link, target in enumerate(self._targets) if link in self._links or target in failing}

    def is_down(self, node: NodeId, time_ns: int) -> bool:
        return _covers(self._nodes.get(node, ()), time_ns)

    def awake(self, node: NodeId, time_ns: int) -> int:
        """The first time, from this one on, at which the node is not paused."""
        return next((end for start, end in self._pauses.get(node, ()) if start <= time_ns < end), time_ns)

    def lost_at(self, link: LinkId, sent: int, arrival: int) -> int | None:
        """When a packet put on the link at `sent` and due at `arrival` is lost; None if it arrives. All times in ns."""
        for start, end in self._links.get(link, ()):
            if start <= arrival and sent < end:
                return max(start, sent)
        target = self._targets[link]
        handled = self.awake(target, arrival)
        return handled if _covers(self._nodes.get(target, ()), handled) else None


def _end(spans: defaultdict[int, _Spans], which: int, time_ns: int) -> None:
    """End the latest span that is still open, if there is one."""
    if spans[which] and spans[which][-1][1] == _NEVER:
        spans[which][-1] = (spans[which][-1][0], time_ns)


def _covers(spans: Sequence[tuple[int, int]], time_ns: int) -> bool:
    return any(start <= time_ns < end for start, end in spans)
