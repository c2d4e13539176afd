"""What the claims about adjustment refute, with the numbers; that each claim counts is tested with all the others."""

from __future__ import annotations

from typing import Any

import pytest

from scatterproof.models.claim import Claim, ClaimVerdict, prove, prove_under
from scatterproof.models.totalorder.adjustment import gain as adjustment_gain
from scatterproof.models.totalorder.adjustment import measuring as adjustment
from scatterproof.models.totalorder.adjustment import safety as adjustment_safety

CLAIMS = {claim.name: claim for module in (adjustment, adjustment_gain, adjustment_safety) for claim in module.CLAIMS}


def _refuted(claim: str, mutant: str, obligation: str) -> dict[str, Any]:
    said: Claim = CLAIMS[claim]
    rules = next(m.rules for m in said.mutants if m.name == mutant)
    result = next(r for r in prove_under(said, rules) if r.name == obligation)
    assert result.verdict is ClaimVerdict.REFUTED
    assert result.counterexample is not None
    return result.counterexample


@pytest.mark.parametrize(
    ("mutant", "expected"),
    [
        ("other_sign", {"S1": -9, "S2": 0}),
        ("earliest_arrival_is_the_base", {"S1": 0, "S2": -9}),
        ("greatest_difference", {"S1": 9, "S2": 0}),
    ],
)
def test_to_adj_ex_literal_reading_gives_the_worked_example_other_numbers(
    mutant: str, expected: dict[str, int]
) -> None:
    assert _refuted("adjustment_of_worked_example", mutant, "adjustments") == expected


def test_to_adj_ex_rounds_that_add_up_give_5_then_10_then_15() -> None:
    told = _refuted("adjustment_of_worked_example", "rounds_add_up", "three_rounds_of_s1")

    assert told == {"round 1": 5, "round 2": 10, "round 3": 15}


def test_to_adj_ex_twice_the_one_way_delay_agrees_while_the_ways_back_are_as_long() -> None:
    claim = CLAIMS["adjustment_of_worked_example"]
    rules = next(m.rules for m in claim.mutants if m.name == "twice_the_one_way_delay")

    refuted = [r.name for r in prove_under(claim, rules) if r.verdict is ClaimVerdict.REFUTED]

    assert refuted == ["any_way_back"]


def test_to_adj_2_a_host_that_counts_itself_is_never_adjusted() -> None:
    told = _refuted("sender_takes_least_difference", "host_counts_itself", "hosts_that_send_to_themselves")

    assert set(told.values()) == {0}


def test_to_adj_2_a_held_return_puts_an_adjustment_below_zero() -> None:
    assert _refuted("sender_takes_least_difference", "return_is_held", "never_below_zero")["adjustment"] < 0


def test_to_adj_1_adjusted_first_timestamps_keep_the_old_adjustment_for_ever() -> None:
    told = _refuted("sender_takes_least_difference", "first_timestamps_are_adjusted", "delays_that_became_equal")

    assert told == {"S1": 5, "S2": 5}


def test_to_adj_safe_clamp_to_rising_timestamps_alone_breaks_a_promise() -> None:
    told = _refuted("adjustment_keeps_promises", "clamped_to_rising_only", "data_after_a_falling_adjustment")

    assert told == {"beacon": 25, "timestamp": 21}


def test_to_adj_safe_beacons_of_the_plain_clock_lag_and_break_nothing() -> None:
    claim = CLAIMS["adjustment_keeps_promises"]
    rules = next(m.rules for m in claim.mutants if m.name == "beacons_of_the_plain_clock")

    refuted = {r.name for r in prove_under(claim, rules) if r.verdict is ClaimVerdict.REFUTED}

    assert refuted == {"beacon_keeps_up", "beacon_no_further_than_reached"}


def test_to_adj_gain_host_waits_longer_for_its_own_message() -> None:
    told = _refuted("adjustment_narrows_arrivals", "own_messages_count", "hosts_that_scatter_to_themselves")

    assert (told["wait at R1 without"], told["wait at R1 with"]) == (1, 2)


@pytest.mark.parametrize(
    ("claim", "shown"),
    [
        ("adjustment_narrows_arrivals", "own_latency_can_grow"),
        ("waiting_grows_by_at_most_twice_the_change", "least_growth_by_one_change_of_one"),
        ("waiting_grows_by_at_most_twice_the_change", "twice_the_change_is_reached"),
    ],
)
def test_to_adj_gain_exhibited_instance_is_there_and_not_vacuous(claim: str, shown: str) -> None:
    result = next(o for o in prove(CLAIMS[claim]).obligations if o.name == shown)

    assert result.verdict is ClaimVerdict.PROVED
    assert result.satisfiable
