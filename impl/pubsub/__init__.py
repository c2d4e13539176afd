"""Publish and subscribe: the reference.

`appliance` carries out calls and routes messages, by `rules`, over `streams` to its neighbours; `spreading` says what
it tells them that it wants; `client` publishes and subscribes. `filters`, `matching`, `topic_tree` and `covering` are
what topics and filters are. `running` and `translation` are an appliance to run.
"""

from __future__ import annotations

from scatterproof.impl import node
from scatterproof.impl.pubsub.appliance import Appliance
from scatterproof.impl.pubsub.client import Client
from scatterproof.impl.pubsub.match_rules import MATCH_RULES, MatchRules
from scatterproof.impl.pubsub.rules import RULES, Rules
from scatterproof.spec.core import AnyCore, NodeConfig
from scatterproof.spec.errors import BadInput
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.topology import Role

__all__ = ["MATCH_RULES", "RULES", "Appliance", "Client", "MatchRules", "Rules", "make_core"]


def make_core(config: NodeConfig, rules: Rules | None = None, match_rules: MatchRules | None = None) -> AnyCore:
    """The core for one node's configuration; BadInput for one that cannot be used."""
    node.check(config, several_links=True)
    appliances = Parameters("pubsub", config.parameters, f"node {config.node}").number("appliances")
    if (config.role is Role.HOST) != (config.node < appliances):
        raise BadInput(f"node {config.node} is a {config.role}, and appliances is {appliances}; hosts come first")
    if config.role is Role.CLIENT:
        return Client(config, rules or RULES)
    return Appliance(config, rules or RULES, match_rules or MATCH_RULES)
