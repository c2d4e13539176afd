"""What a mutant of a claim is refuted by."""

from __future__ import annotations

from scatterproof.models.claim import ClaimVerdict, prove_under
from scatterproof.models.z3_claims import claims_of


def refuted(protocol: str, name: str, mutant: str, obligation: str = "") -> dict[str, int | bool | str]:
    """The counterexample of one obligation, or of the first that is refuted."""
    claim = next(claim for claim in claims_of(protocol) if claim.name == name)
    rules = next(m.rules for m in claim.mutants if m.name == mutant)
    found = next(
        r for r in prove_under(claim, rules) if r.verdict is ClaimVerdict.REFUTED and obligation in ("", r.name)
    )
    assert found.counterexample is not None
    return found.counterexample
