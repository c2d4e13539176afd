"""Every Z3 claim of every protocol counts: proved, not from what cannot be, and refuted under each of its mutants."""

from __future__ import annotations

import pytest

from scatterproof.models.claim import Claim, ClaimVerdict, prove
from scatterproof.models.z3_claims import claims_of
from scatterproof.spec.clauses import protocols

CLAIMS = {f"{protocol}: {claim.name}": claim for protocol in protocols() for claim in claims_of(protocol)}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=list(CLAIMS))
def test_claim_is_proved_under_satisfiable_hypotheses_and_its_mutants_are_refuted(claim: Claim) -> None:
    result = prove(claim)

    failed = [(o.name, o.verdict, o.counterexample) for o in result.obligations if o.verdict is not ClaimVerdict.PROVED]
    assert failed == []
    assert result.hypotheses_satisfiable
    assert [mutant.name for mutant in result.mutants if mutant.verdict is not ClaimVerdict.REFUTED] == []
    assert result.counts
