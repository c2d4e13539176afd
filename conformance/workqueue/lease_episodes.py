"""Steps of drawn runs of a queue with leases, made from numbers that fuzzing and corpora draw."""

from __future__ import annotations

from collections.abc import Sequence

from scatterproof.conformance.workqueue.cases.building import (
    cancels,
    deletes,
    extends,
    gives_back,
    puts,
    receives,
    receives_aside,
)
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId

KINDS = 22


def step(kind: int, now: int, client: NodeId, more: int, leases_ns: Sequence[int]) -> tuple[Call, ...]:
    """The calls of one step. kind: strictly below KINDS. more: any number; it decides group, id, lease and the like.
    leases_ns: three leases in ns, short to long."""
    group, lease_ns, most, newest = 1 + more % 2, leases_ns[more % 3], 1 + more // 4 % 3, more // 16 % 2
    match kind:
        case 0 | 1 | 2 | 3 | 4:
            return (puts(now, client, group, more // 8 % 4),)
        case 5 | 6 | 7 | 8 | 9:
            return (receives(now, client, most, lease_ns),)
        case 10:
            return (receives(now, client, most, lease_ns), *[deletes(now, client, newest)] * most)
        case 11:
            return (deletes(now, client, newest),)
        case 12:
            return (extends(now, client, lease_ns, newest),)
        case 13 | 14 | 15:
            return (gives_back(now, client, newest),)
        case 16:
            return (puts(now, client, group, more // 8 % 4, most),)
        case 17:
            return (receives(now, client, most, lease_ns), deletes(now, client, newest, most))
        case 18:
            return (cancels(now, client),)
        case 19:
            return (receives_aside(now, client, most, lease_ns),)
        case 20:
            return (receives_aside(now, client, most, lease_ns), deletes(now, client, newest, most))
        case _:
            return (receives(now, client, most, lease_ns), cancels(now, client))
