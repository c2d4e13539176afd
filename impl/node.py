"""Checks on a node's configuration that hold for every protocol."""

from __future__ import annotations

from scatterproof.spec.core import NodeConfig
from scatterproof.spec.errors import BadInput

_NODE_LIMIT = 1 << 32  # packets name nodes in 32 bits


def check(config: NodeConfig, *, several_links: bool = False) -> None:
    """Raise BadInput, with one sentence, for a configuration that contradicts itself. several_links: whether it may
    name several links to one node."""

    def refuse(problem: str) -> BadInput:
        return BadInput(f"node {config.node}: {problem}")

    for number in (config.node, *(host for host, _ in config.next_link)):
        if not 0 <= number < _NODE_LIMIT:
            raise refuse(f"{number} is no node's number; give 0 to {_NODE_LIMIT - 1}")
    for name, links in (("ingress", config.ingress), ("egress", config.egress)):
        if len(set(links)) < len(links):
            raise refuse(f"{name} names a link twice in {list(links)}; give each link once")
    both = set(config.ingress) & set(config.egress)
    if both:
        raise refuse(f"links {sorted(both)} are both ingress and egress; links are directed")
    if len(config.reaching) != len(config.egress):
        raise refuse(
            f"reaching has {len(config.reaching)} entries for {len(config.egress)} egress links; give one a link"
        )
    for link, feeders in zip(config.egress, config.reaching, strict=True):
        if not set(feeders) <= set(config.ingress):
            raise refuse(f"reaching of link {link} is {list(feeders)}; its entries are ingress links of the node")
    for host, link in config.next_link:
        if link not in config.egress:
            raise refuse(f"next_link leads to host {host} over link {link}, which is no egress link of the node")
    hosts = [host for host, _ in config.next_link]
    if len(set(hosts)) < len(hosts) and not several_links:
        raise refuse("next_link names a host twice; give each host one link")
