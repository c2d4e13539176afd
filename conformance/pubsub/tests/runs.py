"""Runs of the reference, and of rules with a mistake, that the tests judge and damage."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from scatterproof.conformance.case import cases
from scatterproof.conformance.network.run import simulate
from scatterproof.impl.pubsub import RULES, Rules, make_core
from scatterproof.impl.pubsub.literal_rules import LITERAL
from scatterproof.spec.trace import Trace

NAMES = tuple(case.id for case in cases("pubsub"))
RULES_BY_NAME: dict[str, Rules] = {
    "reference": RULES,
    **LITERAL,
    "takes all": replace(RULES, is_next=lambda serial, taken: True, is_late=lambda number, last: False),
    "highest level": replace(RULES, delivered_level=max),
}


@cache
def run(name: str, rules: str = "reference") -> Trace:
    """What nodes with these rules leave of a case."""
    chosen = RULES_BY_NAME[rules]
    schedule = next(case.schedule for case in cases("pubsub") if case.id == name)
    return simulate(schedule, lambda config: make_core(config, chosen), iut=rules)
