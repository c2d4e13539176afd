"""The weakest twin: a store that uses the freedom which the clauses leave. No check may fail it.

Its groups' numbers and its tokens leave some out, and answers come twice, which clients pass over.
With leases it hands out one message at a time, its receipts leave some out, and a receipt is good until the next
lease, also when its own has ended.

Clauses: Q-CRASH-DEAD, Q-CALL-ONCE, Q-LEASE, Q-RECEIPT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from scatterproof.impl import node
from scatterproof.impl.workqueue import is_leased
from scatterproof.impl.workqueue import make_core as reference
from scatterproof.impl.workqueue.lease_rules import LEASE_RULES
from scatterproof.impl.workqueue.lease_store import LeaseStore
from scatterproof.impl.workqueue.rules import RULES
from scatterproof.impl.workqueue.store import Store
from scatterproof.spec.core import AnyCore, ClientEffect, ClientEvent, NodeConfig, Send
from scatterproof.spec.topology import Role
from scatterproof.spec.workqueue.messages import CallName, Handed, Packet

_AGAIN = 3  # every third answer is sent twice
_STEP = 7  # from one group's number, or token, to the next


def make_core(config: NodeConfig) -> AnyCore:
    """The core for one node's configuration."""
    node.check(config)
    if config.role is Role.CLIENT:
        return reference(config)
    return _LeaseStore(config) if is_leased(config) else _Store(config)


class _Store(Store):
    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config, replace(RULES, next_token=lambda token: token + _STEP))
        self._draw = Random(config.node)

    def handle(self, event: ClientEvent[Packet]) -> Sequence[ClientEffect[Packet, Handed]]:
        effects = super().handle(event)
        again = [one for one in effects if isinstance(one, Send) and self._draw.randrange(_AGAIN) == 0]
        return [*effects, *again]

    def _carry_out(self, asked: Packet, now: int) -> Packet:
        if asked.call == CallName.OPEN_GROUP:
            self._all.begun += _STEP - 1
        return super()._carry_out(asked, now)


class _LeaseStore(LeaseStore):
    def __init__(self, config: NodeConfig) -> None:
        rules = replace(
            LEASE_RULES,
            next_receipt=lambda receipt: receipt + _STEP,
            batch_of=lambda room, there: min(room, there, 1),
            is_good=lambda receipt, present, held: receipt == present,
        )
        super().__init__(config, rules)
