"""Publish and subscribe, as the shared fuzzer sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from scatterproof.conformance.network.run import MakeNode
from scatterproof.fuzz.protocol import FuzzPlugin, RuleGroup
from scatterproof.fuzz.pubsub.areas import AREAS
from scatterproof.fuzz.pubsub.breaks import BREAKS
from scatterproof.fuzz.pubsub.drawn import drawn_history
from scatterproof.fuzz.pubsub.mutants import MUTANTS
from scatterproof.fuzz.pubsub.on_model import ON_MODEL
from scatterproof.fuzz.pubsub.strategies import drawn
from scatterproof.impl.pubsub import MATCH_RULES, RULES, make_core, match_rules, rules


def node_with(functions: Mapping[str, Callable[..., Any]]) -> MakeNode:
    """A factory of nodes with these functions as rules."""
    matching = {name for name in functions if hasattr(MATCH_RULES, name)}
    chosen = replace(RULES, **{name: one for name, one in functions.items() if name not in matching})
    of_matching = replace(MATCH_RULES, **{name: functions[name] for name in matching})
    return lambda config: make_core(config, chosen, of_matching)


LEFT_OUT = {
    "is_late": "nothing asks for a best-effort message to come: that a copy, or one that was overtaken, is dropped is "
    "tried by hand, as `is_late/never`",
    "is_guaranteed": "best effort may be better than it must be: that what is guaranteed is sent once is tried by "
    "hand, as `is_guaranteed/never`",
}

PLUGIN = FuzzPlugin(
    name="pubsub",
    groups=(
        RuleGroup(rules=rules, draws=drawn, left_out=LEFT_OUT),
        RuleGroup(rules=match_rules, draws=drawn),
    ),
    node_with=node_with,
    mutants=MUTANTS,
    on_model=ON_MODEL,
    shrinking=60,
    breaks=BREAKS,
    areas=AREAS,
    history=drawn_history,
)
