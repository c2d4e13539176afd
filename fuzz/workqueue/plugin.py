"""The queue with correlated message groups, as the shared fuzzer sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from scatterproof.conformance.network.run import MakeNode
from scatterproof.fuzz.protocol import FuzzPlugin, RuleGroup
from scatterproof.fuzz.workqueue import leases
from scatterproof.fuzz.workqueue.areas import AREAS
from scatterproof.fuzz.workqueue.breaks import BREAKS
from scatterproof.fuzz.workqueue.drawn import drawn_history
from scatterproof.fuzz.workqueue.mutants import MUTANTS
from scatterproof.fuzz.workqueue.on_model import ON_MODEL
from scatterproof.fuzz.workqueue.strategies import drawn
from scatterproof.impl.workqueue import LEASE_RULES, RULES, lease_rules, make_core, rules

_ORDER = "what it gives is compared alone, and moved by one it compares alike: other orders are tried by hand"
LEFT_OUT = {
    **dict.fromkeys(("place_of", "rank", "head_of"), _ORDER),
    "is_dead": "a tie of two times of the store's clock shows nowhere: `is_dead/never` and `always` are tried by hand",
    "next_token": "that tokens rise is all that a clause says: `next_token/fixed` and `falls` are tried by hand",
}


def node_with(functions: Mapping[str, Callable[..., Any]]) -> MakeNode:
    """A factory of nodes with these functions as rules."""
    leased = {name for name in functions if hasattr(LEASE_RULES, name)}
    chosen = replace(RULES, **{name: one for name, one in functions.items() if name not in leased})
    of_leases = replace(LEASE_RULES, **{name: functions[name] for name in leased})
    return lambda config: make_core(config, chosen, of_leases)


PLUGIN = FuzzPlugin(
    name="workqueue",
    groups=(
        RuleGroup(rules=rules, draws=drawn, left_out=LEFT_OUT),
        RuleGroup(rules=lease_rules, draws=leases.drawn, left_out=leases.LEFT_OUT),
    ),
    node_with=node_with,
    mutants=(*MUTANTS, *leases.MUTANTS),
    on_model=ON_MODEL,
    shrinking=60,
    breaks=BREAKS,
    areas=AREAS,
    names=("group", "token", "receipt", "server", "correlation", "type", "dedup", "digest"),
    history=drawn_history,
)
