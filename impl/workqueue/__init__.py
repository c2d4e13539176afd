"""The queue with correlated message groups: the reference.

`store` carries out calls by `rules` on what `storage` keeps; `client` is a sender or a worker that calls it. The queue
to run is beside it: `stores`, `sender`, `receiver`.
"""

from __future__ import annotations

from scatterproof.impl import node
from scatterproof.impl.workqueue.client import Client
from scatterproof.impl.workqueue.rules import RULES, Rules
from scatterproof.impl.workqueue.store import Store
from scatterproof.spec.core import AnyCore, NodeConfig
from scatterproof.spec.topology import Role

__all__ = ["RULES", "Client", "Rules", "Store", "make_core"]


def make_core(config: NodeConfig, rules: Rules | None = None) -> AnyCore:
    """The core for one node's configuration; BadInput for one that cannot be used."""
    node.check(config)
    return Client(config) if config.role is Role.CLIENT else Store(config, rules or RULES)
