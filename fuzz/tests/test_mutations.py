"""Each mutation operator on a small function: the changes that it makes, and no others."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import pytest

from scatterproof.fuzz.mutations import (
    OPERATORS,
    SWAPPED,
    Rule,
    RuleMutant,
    cuts_of,
    mutants_of,
    mutants_of_module,
    rules_of_module,
)
from scatterproof.impl.totalorder import rules


def below(one: int, other: int) -> bool:
    return one < other


def limit(value: int, floor: int) -> int:
    """With a docstring, which is no part of the rule."""
    return max(value, floor)


def total(value: int, extra: str) -> int:
    return value + 7


def key(time: int, name: str) -> tuple[int, str]:
    return (time, name)


def least(values: Sequence[int]) -> int:
    return min(values)


def guarded(value: int, ready: bool) -> bool:
    if not ready:
        return False
    return ready and value > 0


def results(function: Rule, operator: str) -> dict[str, str]:
    """Change -> the text of the last line, for one operator."""
    return {
        mutant.name.split("/")[1]: mutant.source.splitlines()[-1].strip()
        for mutant in mutants_of(function)
        if mutant.operator == operator
    }


def test_comparison_becomes_its_neighbour_its_negation_and_its_reverse() -> None:
    assert results(below, "comparison") == {
        "lt-to-le": "return one <= other",
        "lt-to-ge": "return one >= other",
        "lt-to-gt": "return one > other",
    }


def test_min_and_max_change_places() -> None:
    assert results(limit, "min-max") == {"max-to-min": "return min(value, floor)"}
    assert results(least, "min-max") == {"min-to-max": "return max(values)"}


def test_one_off_touches_integers_and_integer_results_only() -> None:
    assert results(total, "one-off") == {
        "value-plus-one": "return value + 1 + 7",
        "value-minus-one": "return value - 1 + 7",
        "result-plus-one": "return value + 7 + 1",
        "result-minus-one": "return value + 7 - 1",
    }


def test_dropped_term_leaves_out_arguments_summands_items_and_ends() -> None:
    assert results(limit, "dropped-term") == {"drop-value": "return floor", "drop-floor": "return value"}
    assert results(total, "dropped-term") == {"drop-7": "return value", "drop-value": "return 7"}
    assert results(key, "dropped-term") == {"drop-time": "return (name,)", "drop-name": "return (time,)"}
    assert results(least, "dropped-term") == {
        "drop-first-of-values": "return min(values[1:] or values)",
        "drop-last-of-values": "return min(values[:-1] or values)",
    }


def test_dropped_guard_is_always_or_never_met_or_half_of_it() -> None:
    assert results(below, "dropped-guard") == {"always": "return True", "never": "return False"}
    sources = {mutant.name: mutant.source for mutant in mutants_of(guarded) if mutant.operator == "dropped-guard"}
    assert "if ready:" in sources["guarded/drop-not"]
    assert sources["guarded/drop-ready"].endswith("return value > 0")
    assert sources["guarded/always"].endswith("return ready and True")


def test_stale_value_uses_another_argument_of_the_same_type_only() -> None:
    assert results(below, "stale-value") == {
        "other-for-one": "return other < other",
        "one-for-other": "return one < one",
    }
    assert results(key, "stale-value") == {}


def test_argument_swap_exchanges_two_of_the_same_type_throughout() -> None:
    assert results(below, SWAPPED) == {"swap-one-other": "return other < one"}
    assert results(key, SWAPPED) == {}


def test_mutants_answer_as_their_text_says() -> None:
    changed = {mutant.name: mutant.function for mutant in mutants_of(below)}
    assert below(1, 1) is False
    assert changed["below/lt-to-le"](1, 1) is True
    assert changed["below/swap-one-other"](2, 1) is True


@pytest.mark.parametrize("rule", rules_of_module(rules), ids=lambda rule: rule.__name__)
def test_every_rule_has_mutants_that_differ_from_it_and_from_one_another(rule: Rule) -> None:
    mutants = mutants_of(rule)
    texts = [ast.unparse(ast.parse(mutant.source)) for mutant in mutants]
    assert len(texts) >= 2
    assert len(set(texts)) == len(texts)
    assert len({mutant.name for mutant in mutants}) == len(mutants)


def test_every_operator_makes_a_mutant_of_some_rule() -> None:
    used = {mutant.operator for mutant in mutants_of_module(rules)}
    assert used == {operator.name for operator in OPERATORS} | {SWAPPED}


def test_cuts_answer_with_an_argument_a_constant_or_the_negation() -> None:
    def texts(cuts: tuple[RuleMutant, ...]) -> dict[str, str]:
        return {cut.name: cut.source.splitlines()[-1].strip() for cut in cuts}

    assert texts(cuts_of(limit)) == {
        "limit/return-value": "return value",
        "limit/return-floor": "return floor",
        "limit/return-constant": "return 1",
        "limit/negate": "return -max(value, floor)",
    }
    assert texts(cuts_of(below)) == {"below/always": "return True", "below/negate": "return not one < other"}
