"""Episodes of drawn runs: a few calls of one client in a row, made from numbers that fuzzing and corpora draw."""

from __future__ import annotations

from scatterproof.conformance.workqueue.cases.building import (
    ALL,
    NOBODY,
    begins,
    boots,
    cleans,
    closes,
    finishes,
    flushes,
    group,
    pops,
    reads,
    sends,
    takes,
    works,
)
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT

KINDS = 16
_NOBODYS = 9  # a server id under which nothing is locked
_LATE = 40  # the longest delay of an episode's second half, in hops


def episode(kind: int, time_ns: int, client: NodeId, more: int, hop_ns: int) -> tuple[Call, ...]:
    """The calls of one episode.

    kind: strictly below KINDS; most kinds are groups and work.
    more: any number; it decides correlation, priority, server id, number of messages and the like.
    hop_ns: about how long a packet takes, in ns.
    """
    correlation, priority, server, messages = 1 + more % 3, 1 + more // 3 % 3, 1 + client % 2, 1 + more // 9 % 3
    bodies = [b"%d.%d" % (more, number) for number in range(messages)]
    # A third of the groups wait for the last one of their correlation, or are that.
    last = (ABSENT, ABSENT, more % 2, 0)[more // 81 % 4]
    begun_as = {"correlation": correlation, "priority": priority, "server": server, "last": last}
    begun = begins(time_ns, client, **begun_as)
    later_ns, way = time_ns + hop_ns * (1 + more % _LATE), more // 27 % 3
    match kind:
        case 0 | 1 | 2 | 3:  # a group that waits may be followed by the last
            one = group(time_ns, client, *bodies, **begun_as)
            return one if last or way else (*one, *group(later_ns, client, b"last", **{**begun_as, "last": 1}))
        case 4:  # a slow sender
            return (
                begun,
                *sends(time_ns, client, *bodies),
                *sends(later_ns, client, b"slow"),
                closes(later_ns, client),
            )
        case 5:  # a sender that leaves its group open, cancels it, or treats it as a worker would
            end = ((), (flushes(later_ns, client),), _as_a_worker(later_ns, client))[way]
            return (begun, *sends(time_ns, client, *bodies), *end)
        case 6:  # an empty group, or one that goes on when it is closed
            some = sends(time_ns, client, *bodies[: more % 3])
            return (begun, *some, closes(time_ns, client), *sends(later_ns, client, b"late"))
        case 7 | 8 | 9 | 10:
            return (takes(time_ns, client, server), *works(time_ns, client, messages))
        case 11:  # a slow worker; it may pop what it read before another call of its own
            late = () if way else (boots(later_ns, client, _NOBODYS), pops(later_ns, client))
            return (takes(time_ns, client, server), reads(time_ns, client), *late, *works(later_ns, client, messages))
        case 12:  # a worker that stops half-way and asks again; its receiver may begin anew then
            twice = (takes(time_ns, client, server), reads(time_ns, client), takes(later_ns, client, server))
            return twice if way else (*twice, boots(later_ns, client, server))
        case 13:  # a worker that pops and finishes out of turn, or calls what senders do
            odd = (pops(time_ns, client, message=1 + more % 3), finishes(time_ns, client))
            if way:
                odd = (closes(time_ns, client), flushes(time_ns, client))
            return (takes(time_ns, client, server), reads(time_ns, client), *odd, *works(later_ns, client, messages))
        case 14:
            return (boots(time_ns, client, server), takes(time_ns, client, server), *works(later_ns, client, messages))
        case _:
            senders, receivers = (ALL if more % 2 else NOBODY), (ALL if more % 3 else NOBODY)
            return (cleans(time_ns, client, senders, receivers), takes(later_ns, client, server))


def _as_a_worker(time_ns: int, client: NodeId) -> tuple[Call, ...]:
    return (reads(time_ns, client), pops(time_ns, client, message=1), finishes(time_ns, client))
