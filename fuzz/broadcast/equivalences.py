"""Why some mutants cannot be told from the rule: comparisons that Z3 proves, beyond plain equality of the functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from scatterproof.fuzz.protocol import Equivalence
from scatterproof.models.claim import ClaimResult, Obligation, Rules
from scatterproof.models.equivalence import prove_alike, prove_equivalent


def _from_a_sender(rule: Callable[..., Any], mutant: Callable[..., Any]) -> ClaimResult:
    """Senders keep to the window after the oldest unacknowledged packet, and all below it has come."""
    return prove_equivalent(
        rule,
        mutant,
        {"pseq": "int", "prefix": "int", "window": "int"},
        hypotheses=lambda pseq, prefix, window: pseq <= prefix + window,
    )


def _on_sets(rule: Callable[..., Any], mutant: Callable[..., Any]) -> ClaimResult:
    return prove_equivalent(rule, mutant, {"own": "bits", "forwarder": "bits"})


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

    name = f"{rule.__name__}_alike_in_its_place"
    return prove_alike(name, "The process is one of those that the clock has an entry for.", mutant, state)


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
        prove=_on_sets,
    ),
)
