"""TO-ORDER: the precedence of scatterings is a strict total order, and agrees with barriers.

TLA+: ``Precedence``. A scattering is named by its timestamp and its sender.
"""

from __future__ import annotations

from collections.abc import Iterable

import z3

from scatterproof.models.claim import Claim, Obligation, Rules, mutant
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers.rules import rules


def precedes(
    using: Rules, earlier: tuple[z3.ArithRef, z3.ArithRef], later: tuple[z3.ArithRef, z3.ArithRef]
) -> z3.BoolRef:
    """Whether the scattering (timestamp, sender) ``earlier`` is strictly before ``later`` under the rule
    ``precedence``.
    """
    key = using["precedence"]
    result: z3.BoolRef = lift(lambda t, s, u, r: bool(key(t, s) < key(u, r)))(*earlier, *later)
    return result


def _obligations(using: Rules) -> Iterable[Obligation]:
    first, second, third = [(z3.Int(f"timestamp_{k}"), z3.Int(f"sender_{k}")) for k in (1, 2, 3)]
    natural = tuple(number >= 0 for pair in (first, second, third) for number in pair)
    show = {str(number): number for pair in (first, second, third) for number in pair}
    two = {str(number): number for pair in (first, second) for number in pair}
    distinct = z3.Or(first[0] != second[0], first[1] != second[1])
    forth, back = precedes(using, first, second), precedes(using, second, first)

    yield Obligation("irreflexive", natural, z3.Not(precedes(using, first, first)), show=two)
    yield Obligation("asymmetric", (*natural, forth), z3.Not(back), show=two)
    yield Obligation(
        "transitive", (*natural, forth, precedes(using, second, third)), precedes(using, first, third), show=show
    )
    yield Obligation("total", (*natural, distinct), z3.Or(forth, back), show=two)
    tie = (*natural, first[0] == second[0], first[1] < second[1])
    yield Obligation("ties_go_by_the_sender", tie, forth, show=two)
    yield Obligation("agrees_with_timestamps", (*natural, first[0] < second[0]), forth, show=two)


def _timestamp_only(timestamp: int, sender: int) -> tuple[int, ...]:
    return (timestamp,)


def _sender_first(timestamp: int, sender: int) -> tuple[int, ...]:
    return (sender, timestamp)


def _summed(timestamp: int, sender: int) -> tuple[int, ...]:
    return (timestamp + sender,)


def _newest_first(timestamp: int, sender: int) -> tuple[int, ...]:
    return (-timestamp, sender)


CLAIMS = (
    Claim(
        name="precedence_is_a_strict_total_order",
        scope="any three scatterings",
        clauses=("TO-ORDER", "TO-SCATTER"),
        sentence="Of two scatterings with different (timestamp, sender) exactly one precedes the other, transitively, "
        "and a "
        "smaller timestamp always precedes, among equal ones the smaller sender.",
        hypotheses=("Timestamps and sender numbers are not negative.",),
        rules=rules("precedence"),
        obligations=_obligations,
        mutants=(
            mutant(
                "timestamp_only",
                "The literal rule: sort by timestamp alone, ties in the order of arrival.",
                precedence=_timestamp_only,
            ),
            mutant(
                "sender_first",
                "A total order, but one that a barrier, which bounds timestamps, cannot guard.",
                precedence=_sender_first,
            ),
            mutant("timestamp_plus_sender", "The two numbers packed into one by addition.", precedence=_summed),
            mutant(
                "ties_reversed",
                "A total order that agrees with barriers, but not the one agreed upon.",
                precedence=lambda timestamp, sender: (timestamp, -sender),
            ),
            mutant("newest_first", "The timestamp with its sign changed.", precedence=_newest_first),
        ),
    ),
)
