"""Each claim counts: proved, not from what cannot be, and refuted under each of its mutants.

The shared test of all protocols' claims takes this over when the protocol is registered.
"""

from __future__ import annotations

import pytest

import scatterproof.models.pubsub
from scatterproof.models.claim import Claim, Verdict, prove
from scatterproof.models.z3_claims import claims_in

CLAIMS = claims_in(scatterproof.models.pubsub)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_claim_is_proved_under_satisfiable_hypotheses_and_its_mutants_are_refuted(claim: Claim) -> None:
    result = prove(claim)

    failed = [(o.name, o.verdict, o.counterexample) for o in result.obligations if o.verdict is not Verdict.PROVED]
    assert failed == []
    assert result.hypotheses_satisfiable
    assert [mutant.name for mutant in result.mutants if mutant.verdict is not Verdict.REFUTED] == []
