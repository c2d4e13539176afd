"""Total order: the sans-IO host and switch.

Environments A, B and C as they are have cores of their own, which do no more than these need; everything else runs on
`ReliableHost` and `ReliableSwitch`, which behave alike there; where nodes may fail, on `FailingHost` and
`FailingSwitch`. Switches with two processors, or with a proxy
host, are those of `embodiments`.
"""

from __future__ import annotations

from typing import TypeAlias

from scatterproof.impl import node
from scatterproof.impl.totalorder.authority import FailingSwitch
from scatterproof.impl.totalorder.embodiments import embodied
from scatterproof.impl.totalorder.failures import FailingHost
from scatterproof.impl.totalorder.host import Host
from scatterproof.impl.totalorder.reliable_host import ReliableHost
from scatterproof.impl.totalorder.reliable_switch import ReliableSwitch
from scatterproof.impl.totalorder.rules import RULES, Rules
from scatterproof.impl.totalorder.settings import settings
from scatterproof.impl.totalorder.switch import Switch
from scatterproof.spec.core import Core, NodeConfig
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import Delivery, Packet

__all__ = ["RULES", "AnyCore", "Host", "ReliableHost", "ReliableSwitch", "Rules", "Switch", "make_core", "make_plain"]

AnyCore: TypeAlias = Core[Packet, Delivery]


def make_core(config: NodeConfig, rules: Rules = RULES) -> AnyCore:
    """The core for one node's configuration; BadInput for one that cannot be used."""
    node.check(config)
    return embodied(config, rules, make_plain)


def make_plain(config: NodeConfig, rules: Rules) -> AnyCore:
    """A host, or a switch with one processor."""
    host = config.role is Role.HOST
    if settings(config).reliable:
        return FailingHost(config, rules) if host else FailingSwitch(config, rules)
    if settings(config).plain:
        return Host(config, rules) if host else Switch(config, rules)
    return ReliableHost(config, rules) if host else ReliableSwitch(config, rules)
