"""The integers and arrays that describe a run's network to the steps of checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from scatterproof.spec.topology import Role, Topology, route
from scatterproof.spec.trace import Header, Kind, Order

Surroundings: TypeAlias = dict[str, "int | npt.NDArray[np.int64]"]


def surroundings(topology: Topology, parameters: Mapping[str, int]) -> Surroundings:
    """A network as numbers and arrays by name, with the protocol's own parameters as integers.
    next_link[v * node_count + h] is node v's egress link towards host or client h, or -1."""
    return {**_network(topology), **parameters}


@lru_cache(maxsize=256)
def _network(topology: Topology) -> Surroundings:
    """All runs in it share the arrays: steps only read them."""
    return {
        "node_count": len(topology.nodes),
        "link_count": len(topology.links),
        "node_is_host": array([node.role is Role.HOST for node in topology.nodes]),
        "node_is_client": array([node.role is Role.CLIENT for node in topology.nodes]),
        "link_source": array([link.source for link in topology.links]),
        "link_target": array([link.target for link in topology.links]),
        "next_link": array([link for row in route(topology).next_link for link in row]),
    }


def recorded(header: Header) -> Surroundings:
    """How completely the trace records each link, as 0 or 1.

    both_ends_recorded: whether it has all that is sent and all that arrives, in the link's order.
    losses_recorded: whether it has all that is lost as well.
    """

    def complete(kind: Kind) -> set[int]:
        return set(header.complete.get(kind.name.lower(), ()))

    sent, arrived, lost = complete(Kind.SENT), complete(Kind.ARRIVED), complete(Kind.LOST)
    ordered = header.order.includes(Order.LINK)
    links = header.topology.links
    both = [ordered and link.source in sent and link.target in arrived for link in links]
    return {
        "both_ends_recorded": array(both),
        "losses_recorded": array([known and link.source in lost for known, link in zip(both, links, strict=True)]),
    }


def array(values: Sequence[int] | Sequence[bool]) -> npt.NDArray[np.int64]:
    return np.asarray(values, dtype=np.int64)
