"""Failures of a schedule, drawn from bytes: of Hypothesis for fuzzing, of any other source for corpora."""

from __future__ import annotations

from collections.abc import Iterator

from scatterproof.spec.schedule import MAX_TIME_NS, Failure, FailureKind
from scatterproof.spec.topology import LinkId, NodeId, Topology

CRASH, RESTART, CUT, MEND = FailureKind.CRASH, FailureKind.RESTART, FailureKind.CUT, FailureKind.MEND
_BACK = (RESTART, MEND)
MAX_INCIDENTS = 4
_INCIDENT = 6  # bytes
BYTES = 1 + MAX_INCIDENTS * _INCIDENT  # that are read at most
_NEVER = MAX_TIME_NS + 1


def failures(numbers: bytes, topology: Topology, last_ns: int) -> tuple[Failure, ...]:
    """Up to four incidents, together or in turn: hosts and switches crash, for good or until they restart; links are
    cut, for good or for a while; all links of a host are cut at once. What is back may fail again."""
    return _befalling(numbers, topology, last_ns, anew=topology.hosts())


def outages(numbers: bytes, topology: Topology, last_ns: int) -> tuple[Failure, ...]:
    """As `failures`, but a host that has crashed does not come back: its old messages are what others know of it."""
    return _befalling(numbers, topology, last_ns, anew=())


def stops(numbers: bytes, topology: Topology, last_ns: int) -> tuple[Failure, ...]:
    """As `outages`, but nothing that has failed comes back, so that a link loses only the last packets on it."""
    found = _befalling(numbers, topology, last_ns, anew=())
    first = {(failure.node, failure.link): failure for failure in reversed(found) if failure.kind not in _BACK}
    return tuple(failure for failure in found if first.get((failure.node, failure.link)) is failure)


def _befalling(numbers: bytes, topology: Topology, last_ns: int, anew: tuple[NodeId, ...]) -> tuple[Failure, ...]:
    """anew: the hosts that may come back."""
    spans: list[tuple[int, int, NodeId, LinkId]] = []  # from, to (_NEVER or above: for good), node or -1, link or -1
    for at in range(1, 2 + _INCIDENT * (numbers[0] % MAX_INCIDENTS), _INCIDENT):
        early, late, what, which, long, more = numbers[at : at + _INCIDENT]
        begin = (early * 256 + late) % (last_ns + 40)
        spans += _incident(topology, begin, what, which, begin + 1 + long % (24 if more < 128 else 160), anew)
    found: list[Failure] = []
    free: dict[tuple[NodeId, LinkId], int] = {}  # when a node or link may fail again
    for begin, end, node, link in sorted(spans):
        if begin < free.get((node, link), 0):
            continue
        free[node, link] = end
        down, up = (CRASH, RESTART) if link < 0 else (CUT, MEND)
        found.append(Failure(begin, down, node, link))
        if end < _NEVER:
            found.append(Failure(end, up, node, link))
    return tuple(sorted(found, key=lambda failure: failure.time_ns))


def _incident(
    topology: Topology, begin: int, what: int, which: int, end: int, anew: tuple[NodeId, ...]
) -> Iterator[tuple[int, int, NodeId, LinkId]]:
    """What fails together, from `begin` on: (from, to, node or -1, link or -1)."""
    hosts, switches, links = topology.hosts(), topology.switches(), topology.links
    host, switch, link = hosts[which % len(hosts)], switches[which % len(switches)], which % len(links)
    for_good = what >= 128
    match what % 8:
        case 0 | 1:
            yield begin, _NEVER if for_good or host not in anew else end, host, -1
        case 2 | 3 | 4:
            yield begin, _NEVER if what >= 224 else end, switch, -1
            if what % 8 == 4:  # and once more, soon
                again = end + which % 4
                yield again, again + end - begin, switch, -1
        case 5 | 6:
            yield begin, _NEVER if for_good else end, -1, link
        case _:
            for number, ends in enumerate(links):
                if host in (ends.source, ends.target):
                    yield begin, _NEVER if for_good else end, -1, number
