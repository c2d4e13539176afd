"""What waits in a simulation for its time, and what a schedule has planned of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from scatterproof.conformance.network.outages import Outages
from scatterproof.spec.schedule import Call, Schedule, Submission
from scatterproof.spec.topology import LinkId, NodeId
from scatterproof.spec.trace import Row

# (time, running number, link, index of the packet on the link, packet, its columns): the columns are the same where it
# is sent and where it arrives. For all else the link is one of the marks below, the index is the node, and the packet
# is a deadline, submission, call or failure, or (link, index, packet) of one that is lost or has come to a paused node.
Entry: TypeAlias = tuple[int, int, int, int, Any, Row]
TIMER, SUBMISSION, FAILURE, LOSS, STOP, HELD, CALL = -1, -2, -3, -4, -5, -6, -7
LAST = 1 << 62


def planned(schedule: Schedule, outages: Outages, sources: Mapping[LinkId, NodeId], end: int) -> list[Entry]:
    """The schedule's failures, submissions and calls, and the end of the run; the latest comes first."""
    entries: list[Entry] = [(end, LAST, STOP, 0, None, ())]
    due: list[Submission | Call] = [*schedule.submissions, *schedule.calls]
    for number, one in enumerate(sorted(due, key=lambda one: one.time_ns)):
        awake = outages.awake(one.node, one.time_ns)
        if not outages.is_down(one.node, awake):  # its application is gone, too
            mark = CALL if isinstance(one, Call) else SUBMISSION
            entries.append((awake, number, mark, one.node, one, ()))
    entries += [
        (failure.time_ns, number, FAILURE, sources.get(failure.link, failure.node), failure, ())
        for number, failure in enumerate(schedule.failures, -2 * LAST)
    ]
    return sorted(entries, reverse=True)
