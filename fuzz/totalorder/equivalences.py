"""Why some mutants cannot be told from the rule: comparisons that Z3 proves, beyond plain equality of the functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fuzz.protocol import Equivalence
from models.claim import ClaimResult
from models.equivalence import prove_equivalent


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


EQUIVALENCES = (
    Equivalence(
        rule="precedence",
        claim="precedence_compares_alike",
        sentence="The mutant's sort keys compare as the rule's do, for any two scatterings.",
        prove=_same_order,
    ),
)
