"""Why some mutants cannot be told from the rule: comparisons that Z3 proves, beyond plain equality of the functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scatterproof.fuzz.protocol import Equivalence
from scatterproof.models.claim import ClaimResult
from scatterproof.models.equivalence import prove_equivalent


def _same_order(rule: Callable[..., Any], mutant: Callable[..., Any]) -> ClaimResult:
    """Sort keys matter only by how two of them compare."""

    def precedes(key: Callable[..., Any]) -> Callable[..., bool]:
        return lambda timestamp, sender, other_timestamp, other_sender: bool(
            key(timestamp, sender) < key(other_timestamp, other_sender)
        )

    return prove_equivalent(
        precedes(rule),
        precedes(mutant),
        {"timestamp": "int", "sender": "int", "other_timestamp": "int", "other_sender": "int"},
    )


def _rising(rule: Callable[..., Any], mutant: Callable[..., Any]) -> ClaimResult:
    """Ingress links refuse a falling barrier before it is registered (TO-BAR-RISE)."""
    return prove_equivalent(
        rule, mutant, {"held": "int", "arrived": "int"}, hypotheses=lambda held, arrived: arrived >= held
    )


def _above_the_last(rule: Callable[..., Any], mutant: Callable[..., Any]) -> ClaimResult:
    """A host puts its timestamps on a link in rising order (TO-MONO)."""
    return prove_equivalent(
        rule, mutant, {"before": "int", "timestamp": "int"}, hypotheses=lambda before, timestamp: timestamp > before
    )


EQUIVALENCES = (
    Equivalence(
        rule="register_under_loss",
        claim="register_under_loss_alike_on_rising_barriers",
        sentence="The mutant registers what the rule does, for every barrier that does not fall; none does, as resent "
        "messages carry the current one (either_half_of_the_resent_barrier_is_enough_current_barrier).",
        prove=_rising,
    ),
    Equivalence(
        rule="greatest_with",
        claim="greatest_with_alike_on_rising_timestamps",
        sentence="The mutant gives what the rule does, for every timestamp above the last one on the link.",
        prove=_above_the_last,
    ),
    Equivalence(
        rule="register",
        claim="register_alike_on_rising_barriers",
        sentence="The mutant registers what the rule does, for every barrier that is not refused for falling.",
        prove=_rising,
    ),
    Equivalence(
        rule="precedence",
        claim="precedence_compares_alike",
        sentence="The mutant's sort keys compare as the rule's do, for any two scatterings.",
        prove=_same_order,
    ),
)
