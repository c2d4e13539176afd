"""Runs of the reference, and of stores with a mistake, that the tests judge and damage."""

from __future__ import annotations

from functools import cache

from scatterproof.conformance.case import cases
from scatterproof.conformance.network.run import simulate
from scatterproof.impl.workqueue import RULES, Rules, make_core
from scatterproof.impl.workqueue.literal_rules import LITERAL
from scatterproof.spec.trace import Trace

NAMES = tuple(case.id for case in cases("workqueue"))
RULES_BY_NAME = {"reference": RULES, **LITERAL}


@cache
def run(name: str, rules: str = "reference") -> Trace:
    """What nodes with these rules leave of a case."""
    chosen: Rules = RULES_BY_NAME[rules]
    schedule = next(case.schedule for case in cases("workqueue") if case.id == name)
    return simulate(schedule, lambda config: make_core(config, chosen), iut=rules)
