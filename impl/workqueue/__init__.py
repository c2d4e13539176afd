"""The queue with correlated message groups: the reference.

`store` carries out calls by `rules` on what `storage` keeps; `client` is a sender or a worker that calls it.
`lease_store`, `lease_rules` and `lease_client` are a queue with leases. The queue to run is beside it: `stores`,
`sender`, `receiver`.
"""

from __future__ import annotations

from scatterproof.impl import node
from scatterproof.impl.workqueue.client import Client
from scatterproof.impl.workqueue.lease_client import LeaseClient
from scatterproof.impl.workqueue.lease_rules import LEASE_RULES, LeaseRules
from scatterproof.impl.workqueue.lease_store import LeaseStore
from scatterproof.impl.workqueue.rules import RULES, Rules
from scatterproof.impl.workqueue.store import Store
from scatterproof.spec.core import AnyCore, NodeConfig
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.topology import Role

__all__ = ["LEASE_RULES", "RULES", "Client", "LeaseRules", "LeaseStore", "Rules", "Store", "is_leased", "make_core"]


def is_leased(config: NodeConfig) -> bool:
    """Whether the store is a queue with leases."""
    return Parameters("workqueue", config.parameters, f"node {config.node}").number("leased") == 1


def make_core(config: NodeConfig, rules: Rules | None = None, lease_rules: LeaseRules | None = None) -> AnyCore:
    """The core for one node's configuration; BadInput for one that cannot be used."""
    node.check(config)
    if is_leased(config):
        return LeaseClient(config) if config.role is Role.CLIENT else LeaseStore(config, lease_rules or LEASE_RULES)
    return Client(config) if config.role is Role.CLIENT else Store(config, rules or RULES)
