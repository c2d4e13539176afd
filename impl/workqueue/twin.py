"""The weakest twin: a store that uses the freedom which the clauses leave. No check may fail it.

Its groups' numbers and its tokens leave some out, and answers come twice, which clients pass over.

Clauses: Q-CRASH-DEAD, Q-CALL-ONCE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from scatterproof.impl import node
from scatterproof.impl.workqueue.client import Client
from scatterproof.impl.workqueue.rules import RULES
from scatterproof.impl.workqueue.store import Store
from scatterproof.spec.core import AnyCore, ClientEffect, ClientEvent, NodeConfig, Send
from scatterproof.spec.topology import Role
from scatterproof.spec.workqueue.messages import CallName, Packet

_AGAIN = 3  # every third answer is sent twice
_STEP = 7  # from one group's number, or token, to the next


def make_core(config: NodeConfig) -> AnyCore:
    """The core for one node's configuration."""
    node.check(config)
    return Client(config) if config.role is Role.CLIENT else _Store(config)


class _Store(Store):
    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config, replace(RULES, next_token=lambda token: token + _STEP))
        self._draw = Random(config.node)

    def handle(self, event: ClientEvent[Packet]) -> Sequence[ClientEffect[Packet, None]]:
        effects = super().handle(event)
        again = [one for one in effects if isinstance(one, Send) and self._draw.randrange(_AGAIN) == 0]
        return [*effects, *again]

    def _carry_out(self, asked: Packet, now: int) -> Packet:
        if asked.call == CallName.OPEN_GROUP:
            self._all.begun += _STEP - 1
        return super()._carry_out(asked, now)
