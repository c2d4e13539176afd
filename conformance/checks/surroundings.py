"""The integers and arrays that describe a run's network to the steps of checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from spec.topology import Role, Topology, route
from spec.trace import Header, Kind, Order

Surroundings: TypeAlias = dict[str, "int | npt.NDArray[np.int64]"]

# feeds_links[feeds_first[e]:feeds_first[e + 1]] are the ingress links from which data can reach egress link e, and
# ingress_links[ingress_first[n]:ingress_first[n + 1]] the ingress links of node n that data can take. feeds_group[e] is
# the first link that the same ingress links reach: what is found out for one link of a group holds for all.
# next_link[v * node_count + h] is node v's egress link towards host h, or -1.
ARRAYS = (
    "node_is_host",
    "link_source",
    "link_target",
    "feeds_first",
    "feeds_links",
    "feeds_group",
    "ingress_first",
    "ingress_links",
    "next_link",
)


def surroundings(topology: Topology, parameters: Mapping[str, int]) -> Surroundings:
    """node_count, link_count, the arrays above, and the protocol's own parameters as integers."""
    routes = route(topology)
    ingress = [
        tuple(link for link in topology.ingress(node) if link in routes.used) for node in range(len(topology.nodes))
    ]
    feeds_first, feeds_links = _packed(routes.reaching)
    first_of: dict[tuple[int, ...], int] = {}
    feeds_group = [first_of.setdefault(reaching, link) for link, reaching in enumerate(routes.reaching)]
    ingress_first, ingress_links = _packed(ingress)
    return {
        "node_count": len(topology.nodes),
        "link_count": len(topology.links),
        "node_is_host": _array([node.role is Role.HOST for node in topology.nodes]),
        "link_source": _array([link.source for link in topology.links]),
        "link_target": _array([link.target for link in topology.links]),
        "feeds_first": feeds_first,
        "feeds_links": feeds_links,
        "feeds_group": _array(feeds_group),
        "ingress_first": ingress_first,
        "ingress_links": ingress_links,
        "next_link": _array([link for row in routes.next_link for link in row]),
        **parameters,
    }


def recorded(header: Header) -> Surroundings:
    """What the trace records of each link, as 0 or 1. both_ends_recorded: all that is sent and all that arrives, in the
    order of link; losses_recorded: all that is lost besides."""

    def complete(kind: Kind) -> set[int]:
        return set(header.complete.get(kind.name.lower(), ()))

    sent, arrived, lost = complete(Kind.SENT), complete(Kind.ARRIVED), complete(Kind.LOST)
    ordered = header.order.includes(Order.LINK)
    links = header.topology.links
    both = [ordered and link.source in sent and link.target in arrived for link in links]
    return {
        "both_ends_recorded": _array(both),
        "losses_recorded": _array([known and link.source in lost for known, link in zip(both, links, strict=True)]),
    }


def _packed(
    groups: tuple[tuple[int, ...], ...] | list[tuple[int, ...]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    first = np.cumsum([0, *(len(group) for group in groups)], dtype=np.int64)
    return first, _array([member for group in groups for member in group])


def _array(values: list[int] | list[bool]) -> npt.NDArray[np.int64]:
    return np.asarray(values, dtype=np.int64)
