"""Ways of spoiling a reference core: other rules, or its effects changed on their way out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace as replace_fields
from typing import Any, TypeAlias

from fuzz.protocol import HandMutant
from impl.totalorder import RULES, make_core
from spec.core import Core, Deliver, Effect, Event, NodeConfig, Send
from spec.topology import Role
from spec.totalorder.messages import Delivery, Packet

TheCore: TypeAlias = Core[Packet, Delivery]
In: TypeAlias = Event[Packet]
Out: TypeAlias = Effect[Packet, Delivery]
# What an altered node does in place of the core's effects; it may keep state in its closure.
Alter: TypeAlias = Callable[[In, Sequence[Out]], Sequence[Out]]


class Altered:
    """A core whose effects pass through `alter` on their way out."""

    def __init__(self, core: TheCore, alter: Alter) -> None:
        self._core = core
        self._alter = alter

    def handle(self, event: In) -> Sequence[Out]:
        return self._alter(event, self._core.handle(event))

    def next_deadline(self) -> int | None:
        return self._core.next_deadline()


def packets(change: Callable[[In, Packet], Packet]) -> Alter:
    """Every packet that is sent, changed."""

    def alter(event: In, effects: Sequence[Out]) -> Sequence[Out]:
        return [
            Send(effect.link, change(event, effect.packet)) if isinstance(effect, Send) else effect
            for effect in effects
        ]

    return alter


def deliveries(change: Callable[[int, Delivery], list[Delivery]]) -> Alter:
    """Every message that is delivered, counted from 1 at each host, changed."""
    count = [0]

    def alter(event: In, effects: Sequence[Out]) -> Sequence[Out]:
        out: list[Out] = []
        for effect in effects:
            if not isinstance(effect, Deliver):
                out.append(effect)
                continue
            count[0] += 1
            out += [Deliver(message) for message in change(count[0], effect.message)]
        return out

    return alter


def altered(name: str, role: Role, sentence: str, alter: Callable[[NodeConfig], Alter], group: int = 0) -> HandMutant:
    def make_node(config: NodeConfig) -> TheCore:
        core: TheCore = make_core(config)
        return Altered(core, alter(config)) if config.role is role else core

    return HandMutant(name=f"{role}/{name}", sentence=sentence, make_node=make_node, rules={}, group=group)


def by_rules(name: str, sentence: str, group: int = 0, **rules: Callable[..., Any]) -> HandMutant:
    changed = replace_fields(RULES, **rules)
    return HandMutant(
        name=name, sentence=sentence, make_node=lambda config: make_core(config, changed), rules=rules, group=group
    )
