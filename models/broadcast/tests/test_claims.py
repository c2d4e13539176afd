"""Every Z3 claim of the broadcast stack counts; the refutations that matter are checked by hand."""

from __future__ import annotations

from functools import cache

import pytest

from scatterproof.models.claim import ClaimResult, Verdict, prove, prove_under
from scatterproof.models.z3_claims import claims_of

CLAIMS = {claim.name: claim for claim in claims_of("broadcast")}


@cache
def _result(name: str) -> ClaimResult:
    return prove(CLAIMS[name])


def _refuted(name: str, mutant: str) -> dict[str, int | bool | str]:
    rules = next(m.rules for m in CLAIMS[name].mutants if m.name == mutant)
    told = next(r for r in prove_under(CLAIMS[name], rules) if r.verdict is Verdict.REFUTED).counterexample
    assert told is not None
    return told


@pytest.mark.parametrize("name", CLAIMS)
def test_claim_is_proved_under_satisfiable_hypotheses_and_its_mutants_are_refuted(name: str) -> None:
    result = _result(name)

    failed = [(o.name, o.verdict, o.counterexample) for o in result.obligations if o.verdict is not Verdict.PROVED]
    assert failed == []
    assert result.hypotheses_satisfiable
    assert [mutant.name for mutant in result.mutants if mutant.verdict is not Verdict.REFUTED] == []
    assert result.counts


def test_bc_urb_maj_two_halves_share_nobody() -> None:
    told = _refuted("majority_has_it", "at_least_half")

    first, second, both = (told[f"{who}"] for who in ("heard by the first alone", "by the second alone", "by both"))
    assert both == 0
    assert 2 * int(first) >= int(told["n"]) <= 2 * int(second)


def test_bc_pl_pseq_one_counter_skips_a_number_of_the_destination() -> None:
    told = _refuted("link_numbers_apart", "one_for_all")

    assert int(told["number"]) != int(told["made for it"]) + 1


def test_bc_lcb_clocks_a_message_counted_first_waits_for_itself() -> None:
    told = _refuted("others_delay_nothing", "counted_first")

    assert told["own entry"] == told["number"]
    assert int(told["delivered of its creator"]) < int(told["number"])
