"""How far a barrier's news goes over the links of a network (TO-BAR-MIN)."""

from __future__ import annotations

from functools import lru_cache
from graphlib import CycleError, TopologicalSorter

from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import Topology, route


@lru_cache(maxsize=64)
def longest_chain(topology: Topology) -> int:
    """How many links the longest chain has in which each barrier waits for the one before, from the host that makes it.
    A barrier that waits for itself never rises, so there must be no cycle: BadInput where there is one."""
    reaching = route(topology).reaching
    lengths = [1] * len(reaching)
    try:
        for link in TopologicalSorter(dict(enumerate(reaching))).static_order():
            lengths[link] = 1 + max((lengths[feeder] for feeder in reaching[link]), default=0)
    except CycleError as error:
        stuck = sorted(set(error.args[1]))
        raise BadInput(
            f"topology: the barriers of links {stuck} would wait for one another; make the routes acyclic"
        ) from None
    return max(lengths, default=0)
