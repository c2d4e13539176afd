"""The broadcast stack: perfect links, uniform reliable, FIFO and localized causal broadcast.

The layers are in `link`, `uniform` and `order`; `stack` puts them over one another, up to the level asked for,
into one sans-IO core a process. `program` is the stack as a program over UDP.
"""

from __future__ import annotations

from typing import TypeAlias

from scatterproof.impl import node
from scatterproof.impl.broadcast.rules import RULES, Rules
from scatterproof.impl.broadcast.settings import settings
from scatterproof.impl.broadcast.stack import LEVELS, Stack
from scatterproof.spec.broadcast.messages import Delivery, Packet
from scatterproof.spec.core import Core, NodeConfig

__all__ = ["RULES", "AnyCore", "Rules", "Stack", "make_core"]

AnyCore: TypeAlias = Core[Packet, Delivery]


def make_core(config: NodeConfig, rules: Rules = RULES) -> Stack:
    """The core for one process's configuration; BadInput for one that cannot be used."""
    node.check(config)
    return LEVELS[settings(config).level](config, rules)
