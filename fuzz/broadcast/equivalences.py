"""Why some mutants cannot be told from the rule: comparisons that Z3 proves, beyond plain equality of the functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from scatterproof.fuzz.protocol import Equivalence
from scatterproof.models.claim import Claim, ClaimResult, Mutant, Obligation, Rules, prove
from scatterproof.models.equivalence import prove_equivalent


def _from_a_sender(rule: Callable[..., Any], mutant: Callable[..., Any]) -> ClaimResult:
    """Senders keep to the window after the oldest unacknowledged packet, and all below it has come."""
    return prove_equivalent(
        rule,
        mutant,
        {"pseq": "int", "prefix": "int", "window": "int"},
        hypotheses=lambda pseq, prefix, window: pseq <= prefix + window,
    )


def _prove_alike(
    name: str,
    hypothesis: str,
    mutant: Callable[..., Any],
    other: Callable[..., Any],
    obligations: Callable[[Rules], Iterable[Obligation]],
) -> ClaimResult:
    """other: it answers otherwise than `mutant`, so that the claim must not hold of it."""
    return prove(
        Claim(
            name=name,
            scope="one call of the rule",
            clauses=(),
            sentence="The mutant answers as the rule does.",
            hypotheses=(hypothesis,),
            rules={"mutant": mutant},
            obligations=obligations,
            normative=False,
            mutants=(
                Mutant(
                    name="differs_everywhere", sentence="Another answer for all arguments.", rules={"mutant": other}
                ),
            ),
        )
    )


def _on_bits(rule: Callable[..., Any], mutant: Callable[..., Any]) -> ClaimResult:
    """Sets of up to 64 processes, as bits."""

    def state(using: Rules) -> Iterable[Obligation]:
        import z3

        one, other = z3.BitVecs("one other", 64)
        expected, found = rule(one, other), using["mutant"](one, other)
        yield Obligation(name="equal", hypotheses=(), goal=expected == found, show={"one": one, "other": other})

    return _prove_alike(
        f"{rule.__name__}_alike_on_sets",
        "Sets have at most 64 processes.",
        mutant,
        lambda one, other: mutant(one, other) + 1,
        state,
    )


def _in_its_place(rule: Callable[..., Any], mutant: Callable[..., Any]) -> ClaimResult:
    """Clocks of up to 6 entries, the own one among them."""

    def state(using: Rules) -> Iterable[Obligation]:
        import z3

        begun = z3.Int("begun")
        for size in range(1, 7):
            clock = tuple(z3.Int(f"entry_{number}") for number in range(size))
            for own in range(size):
                expected, found = rule(clock, own, begun), using["mutant"](clock, own, begun)
                alike = [one == other for one, other in zip(expected, found, strict=False)]
                same = z3.And(*alike) if len(expected) == len(found) else z3.BoolVal(False)
                yield Obligation(name=f"equal_{own}_of_{size}", hypotheses=(), goal=same, show={"begun": begun})

    return _prove_alike(
        f"{rule.__name__}_alike_in_its_place",
        "The process is one of those that the clock has an entry for.",
        mutant,
        lambda clock, own, begun: mutant(clock, own, begun + 1),
        state,
    )


EQUIVALENCES = (
    Equivalence(
        rule="attached",
        claim="attached_alike_in_its_place",
        sentence="The mutant gives the same clock of up to 6 entries, the process being one of them.",
        prove=_in_its_place,
    ),
    Equivalence(
        rule="acceptable",
        claim="acceptable_alike_within_the_window",
        sentence="The mutant takes what the rule does, of all that a sender may send: it keeps to the window.",
        prove=_from_a_sender,
    ),
    Equivalence(
        rule="heard_first",
        claim="heard_first_alike_on_sets",
        sentence="The mutant gives the same set.",
        prove=_on_bits,
    ),
)
