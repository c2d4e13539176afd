"""Total order: the sans-IO host and switch.

Environments A, B and C as they are have cores of their own, which do no more than these need; everything else runs on
`ReliableHost` and `ReliableSwitch`, which behave alike there; where nodes may fail, on `FailingHost` and
`FailingSwitch`. Switches with two processors, or with a proxy
host, are those of `embodiments`.
"""

from __future__ import annotations

from typing import TypeAlias

from impl import node
from impl.totalorder.authority import FailingSwitch
from impl.totalorder.embodiments import embodied
from impl.totalorder.failures import FailingHost
from impl.totalorder.host import Host
from impl.totalorder.reliable_host import ReliableHost
from impl.totalorder.reliable_switch import ReliableSwitch
from impl.totalorder.rules import RULES, Rules
from impl.totalorder.settings import settings
from impl.totalorder.switch import Switch
from spec.core import Core, NodeConfig
from spec.topology import Role
from spec.totalorder.messages import Delivery, Packet

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
