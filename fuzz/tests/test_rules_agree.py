"""The rules that Z3 proves things about, and the rules that the reference core is built with, are the same rules."""

from __future__ import annotations

import pytest

from fuzz.mutations import Rule, rules_of_module
from impl.totalorder import rules as built
from models.claim import Verdict
from models.totalorder.equivalences import PARAMETERS, prove_rule_equivalent
from models.totalorder.rules import RULES as PROVED

BUILT = rules_of_module(built)


def test_both_have_the_same_rules() -> None:
    assert {rule.__name__ for rule in BUILT} == set(PROVED)


@pytest.mark.parametrize("rule", [rule for rule in BUILT if rule.__name__ in PARAMETERS], ids=lambda r: str(r.__name__))
def test_a_rule_of_the_core_answers_as_the_proved_one_for_all_values(rule: Rule) -> None:
    assert prove_rule_equivalent(rule.__name__, rule).verdict is Verdict.PROVED


def test_the_rule_on_links_answers_as_the_proved_one() -> None:
    (rule,) = (rule for rule in BUILT if rule.__name__ not in PARAMETERS)
    for reaching, ingress in (((), (1,)), ((1,), (1, 2)), ((2, 3), (1, 2, 3)), ((1, 2), (1, 2))):
        assert rule(reaching, ingress) == PROVED[rule.__name__](reaching, ingress)
