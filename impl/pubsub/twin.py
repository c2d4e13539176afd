"""The weakest twin: appliances and clients that use the freedom which the clauses leave. No check may fail them.

Appliances answer twice; best-effort messages are lost, every third of them; and a client delivers what is at least once
more than once, with a mark.

Clauses: PS-ROUTE, PS-ORDER, PS-QOS-LEVEL.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from msgspec.structs import replace

from scatterproof.impl.pubsub import MATCH_RULES, RULES, Appliance, Client
from scatterproof.impl.pubsub import make_core as reference
from scatterproof.spec.core import AnyCore, ClientEffect, ClientEvent, Deliver, NodeConfig, Send
from scatterproof.spec.pubsub.messages import Delivery, Packet, PacketName
from scatterproof.spec.topology import Role

_AGAIN = 3  # every third answer or delivery comes twice


def make_core(config: NodeConfig) -> AnyCore:
    """The core for one node's configuration."""
    reference(config)  # refuses one that cannot be used
    return _Client(config) if config.role is Role.CLIENT else _Appliance(config)


class _Appliance(Appliance):
    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config, RULES, MATCH_RULES)
        self._draw = Random(config.node)

    def handle(self, event: ClientEvent[Packet]) -> Sequence[ClientEffect[Packet, Delivery]]:
        found: list[ClientEffect[Packet, Delivery]] = []
        for effect in super().handle(event):
            found += [effect] * self._times(effect)
        return found

    def _times(self, effect: ClientEffect[Packet, Delivery]) -> int:
        if not isinstance(effect, Send) or self._draw.randrange(_AGAIN):
            return 1
        if effect.packet.kind == PacketName.ANSWER:
            return 2
        return int(effect.packet.kind != PacketName.MESSAGE or effect.packet.serial > 0)


class _Client(Client):
    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config, RULES)
        self._draw = Random(config.node)

    def handle(self, event: ClientEvent[Packet]) -> Sequence[ClientEffect[Packet, Delivery]]:
        effects = super().handle(event)
        again = [
            Deliver(replace(one.message, again=True))
            for one in effects
            if isinstance(one, Deliver) and one.message.level == 1 and self._draw.randrange(_AGAIN) == 0
        ]
        return [*effects, *again]
