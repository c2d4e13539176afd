"""Every Z3 claim of the work queue counts; the refutations that matter are checked by hand."""

from __future__ import annotations

from functools import cache

import pytest

from scatterproof.models.claim import ClaimResult, Verdict, prove, prove_under
from scatterproof.models.z3_claims import claims_of

CLAIMS = {claim.name: claim for claim in claims_of("workqueue")}


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


def test_q_priority_by_position_a_lower_group_goes_first() -> None:
    told = _refuted("highest_priority_first", "by_position")

    assert int(told["priority of found"]) > int(told["priority of ready"])
    assert int(told["place of found"]) < int(told["place of ready"])


def test_q_crash_dead_held_against_its_server_an_earlier_worker_of_it_is_heard() -> None:
    told = _refuted("dead_holder_is_fenced", "by_server")

    assert told["its server"] == told["present server"]
    assert int(told["token"]) < int(told["present"])


def test_q_crash_dead_a_token_that_stays_is_not_above_the_earlier_one() -> None:
    told = _refuted("tokens_rise", "same_token")

    assert told["next"] == told["earlier"]
