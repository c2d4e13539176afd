"""Total order: the sans-IO host and switch."""

from __future__ import annotations

from impl import node
from impl.totalorder.host import Host
from impl.totalorder.rules import RULES, Rules
from impl.totalorder.switch import Switch
from spec.core import NodeConfig
from spec.topology import Role

__all__ = ["RULES", "Host", "Rules", "Switch", "make_core"]


def make_core(config: NodeConfig, rules: Rules = RULES) -> Host | Switch:
    """The core for one node's configuration; BadInput for one that cannot be used."""
    node.check(config)
    return Host(config, rules) if config.role is Role.HOST else Switch(config, rules)
