"""The arrays that tell checks whose barriers a node, or an egress link, has to wait for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from scatterproof.conformance.checks.surroundings import Surroundings, array
from scatterproof.spec.core import Parameter
from scatterproof.spec.topology import LinkId, Topology, route


def barrier_links(topology: Topology, parameters: Mapping[str, Parameter]) -> Surroundings:
    """Arrays by name:

    feeds_links[feeds_first[e]:feeds_first[e + 1]]: the ingress links from which data can reach egress link e.
    feeds_group[e]: the first link that the same ingress links reach; a minimum found for one link of a group holds for
        all.
    ingress_links[ingress_first[n]:ingress_first[n + 1]]: the ingress links of node n that data can take.
    """
    return _barrier_links(topology)


@lru_cache(maxsize=256)
def _barrier_links(topology: Topology) -> Surroundings:
    routes = route(topology)
    ingress = [[link for link in topology.ingress(n) if link in routes.used] for n in range(len(topology.nodes))]
    feeds_first, feeds_links = _packed(routes.reaching)
    ingress_first, ingress_links = _packed(ingress)
    first_of: dict[tuple[LinkId, ...], LinkId] = {}
    return {
        "feeds_first": feeds_first,
        "feeds_links": feeds_links,
        "feeds_group": array([first_of.setdefault(reaching, link) for link, reaching in enumerate(routes.reaching)]),
        "ingress_first": ingress_first,
        "ingress_links": ingress_links,
    }


def _packed(groups: Iterable[Iterable[LinkId]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    kept = [tuple(group) for group in groups]
    first = np.cumsum([0, *(len(group) for group in kept)], dtype=np.int64)
    return first, array([member for group in kept for member in group])
