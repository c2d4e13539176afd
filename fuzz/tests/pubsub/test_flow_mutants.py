"""Every generated mutant of the rules of channels and flow breaks something that a clause says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scatterproof.fuzz.mutations import RuleMutant, mutants_of_module
from scatterproof.impl.pubsub.channels import flow_rules
from scatterproof.impl.pubsub.channels.flow_rules import FLOW_RULES
from scatterproof.impl.pubsub.channels.tests.properties import broken

# The same function: which of two equal numbers comes first does not matter; nor a reference in the place of itself.
EQUIVALENT = frozenset(
    {
        "is_there/swap-number-in_slot",
        "conflates/gt-to-ge",
        "conflates/new-plus-one",
        "conflates/old-minus-one",
    }
)
MUTANTS = [mutant for mutant in mutants_of_module(flow_rules) if mutant.name not in EQUIVALENT]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_of_a_rule_is_told(mutant: RuleMutant) -> None:
    assert broken(replace(FLOW_RULES, **{mutant.rule: mutant.function}))
