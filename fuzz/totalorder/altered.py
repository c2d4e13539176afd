"""Ways of spoiling a reference core: other rules, or its effects changed on their way out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as replace_fields
from typing import Any, TypeAlias

from scatterproof.fuzz.altered import Alter, Altered, In
from scatterproof.fuzz.altered import packets as altered_packets
from scatterproof.fuzz.protocol import HandMutant
from scatterproof.impl.totalorder import RULES, make_core
from scatterproof.spec.core import Core, NodeConfig
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import Delivery, Packet

TheCore: TypeAlias = Core[Packet, Delivery]


def packets(change: Callable[[In, Packet], Packet]) -> Alter:
    """Change every packet that is sent."""
    return altered_packets(lambda event, packet: [change(event, packet)])


def altered(name: str, role: Role, sentence: str, alter: Callable[[NodeConfig], Alter], group: int = 0) -> HandMutant:
    def make_node(config: NodeConfig) -> TheCore:
        core: TheCore = make_core(config)
        return Altered(core, alter(config)) if config.role is role else core

    return HandMutant(name=f"{role}/{name}", sentence=sentence, make_node=make_node, group=group)


def by_rules(name: str, sentence: str, group: int = 0, **rules: Callable[..., Any]) -> HandMutant:
    changed = replace_fields(RULES, **rules)
    return HandMutant(
        name=name, sentence=sentence, make_node=lambda config: make_core(config, changed), rules=rules, group=group
    )
