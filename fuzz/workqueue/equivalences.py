"""Why some mutants cannot be told from the rule: comparisons that Z3 proves, of others than functions of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from scatterproof.fuzz.protocol import Equivalence
from scatterproof.models.claim import Claim, ClaimResult, Mutant, Obligation, Rules, prove


def _on_truths(rule: Callable[..., Any], mutant: Callable[..., Any]) -> ClaimResult:
    """Both arguments are true or false."""

    def alike(using: Rules) -> Iterable[Obligation]:
        import z3

        from scatterproof.models.symbolic import lift

        one, other = z3.Bools("one other")
        expected, found = lift(rule)(one, other), lift(using["mutant"])(one, other)
        yield Obligation(name="equal", hypotheses=(), goal=expected == found, show={"one": one, "other": other})

    never = Mutant(name="never", sentence="Never.", rules={"mutant": lambda one, other: False})
    return prove(
        Claim(
            name="answers_alike_on_truths",
            scope="one call of the rule",
            clauses=(),
            sentence="The mutant answers as the rule does.",
            hypotheses=("Its arguments are true or false.",),
            rules={"mutant": mutant},
            obligations=alike,
            normative=False,
            mutants=(never,),
        )
    )


EQUIVALENCES = (
    Equivalence(
        rule="is_freed",
        claim="answers_alike_on_truths",
        sentence="it answers as the rule does for all four pairs of arguments",
        prove=_on_truths,
    ),
)
