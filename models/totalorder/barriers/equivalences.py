"""Mutants of the rules that no test can tell from the rule, each proved equal under a stated hypothesis.

A hypothesis marked as needed is shown to be so: without it the two differ, and the arguments are named.
`prove_equivalent` takes any rule and any mutant of it as plain Python functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scatterproof.models.claim import Claim, ClaimResult
from scatterproof.models.equivalence import ParameterKind, equivalence_claim, prove_equivalent
from scatterproof.models.totalorder.barriers.rules import RULES
from scatterproof.spec.errors import BadInput

__all__ = ["CLAIMS", "PARAMETERS", "prove_equivalent", "prove_rule_equivalent"]

PARAMETERS: dict[str, dict[str, ParameterKind]] = {
    "stamp": {"clock": "int", "last": "int", "promised": "int"},
    "data_barrier": {"timestamp": "int"},
    "beacon_barrier": {"clock": "int", "last": "int"},
    "register": {"held": "int", "arrived": "int"},
    "aggregate": {"barriers": "ints"},
    "deliverable": {"timestamp": "int", "barrier": "int"},
    "precedence": {"timestamp": "int", "sender": "int"},
    "beacon_due": {"clock": "int", "last_carried": "int", "interval": "int"},
}
"""Parameters of each rule that runs on terms (``counted`` takes sets of links, and is tried on all small ones
instead).
"""

PAIR: dict[str, ParameterKind] = {"timestamp_1": "int", "sender_1": "int", "timestamp_2": "int", "sender_2": "int"}


def _order(key: Callable[[Any, Any], tuple[Any, ...]]) -> Callable[..., bool]:
    """The order that a sort key gives; two keys are equivalent when their orders are equal."""
    return lambda t, s, u, r: bool(key(t, s) < key(u, r))


def prove_rule_equivalent(rule: str, mutant: Callable[..., Any]) -> ClaimResult:
    """Whether the mutant of the named rule answers as the rule does; sort keys count as equal when their orders are.

    Raises BadInput for a rule that does not run on terms, CannotRun for such a mutant.
    """
    if rule not in PARAMETERS:
        raise BadInput(f"rule {rule!r} has no equivalence proof: name one of {', '.join(PARAMETERS)}")
    if rule == "precedence":
        return prove_equivalent(_order(RULES[rule]), _order(mutant), PAIR)
    return prove_equivalent(RULES[rule], mutant, PARAMETERS[rule])


def _of(rule: str, **rest: Any) -> Claim:
    return equivalence_claim(original=RULES[rule], params=PARAMETERS[rule], **rest)


CLAIMS = (
    _of(
        "stamp",
        name="stamp_without_promised_when_the_clock_never_falls",
        clauses=("TO-MONO", "TO-BAR-HOST"),
        sentence="Without its third bound, stamp answers the same as long as the host's clock never steps back.",
        mutant=lambda clock, last, promised: max(clock, last + 1),
        hypotheses=lambda clock, last, promised: promised <= max(clock, last),
        given="Promised is at or below max(clock, last), as host_barriers_never_fall proves if readings never fall.",
        needed=True,
    ),
    _of(
        "stamp",
        name="stamp_with_last_when_the_clock_is_ahead",
        clauses=("TO-MONO",),
        sentence="last for last + 1 makes no difference while the clock, or a promise, is strictly above the last "
        "timestamp.",
        mutant=lambda clock, last, promised: max(clock, last, promised),
        hypotheses=lambda clock, last, promised: max(clock, promised) > last,
        given="The clock or the promised barrier is strictly above the last timestamp.",
        needed=True,
    ),
    _of(
        "beacon_barrier",
        name="beacon_of_the_clock_when_it_leads",
        clauses=("TO-BAR-HOST",),
        sentence="The clock alone is the same beacon while no timestamp is ahead of it.",
        mutant=lambda clock, last: clock,
        hypotheses=lambda clock, last: last <= clock,
        given="The last timestamp is at or below the clock: not so after two scatterings at one reading.",
        needed=True,
    ),
    _of(
        "register",
        name="register_of_the_greater",
        clauses=("TO-BAR-MIN",),
        sentence="max(held, arrived) is arrived, since falling barriers are refused before they are registered.",
        mutant=lambda held, arrived: max(held, arrived),
        hypotheses=lambda held, arrived: arrived >= held,
        given="What arrives is at or above what is held.",
        needed=True,
    ),
    _of(
        "aggregate",
        name="aggregate_by_max_of_equal_barriers",
        clauses=("TO-BAR-MIN",),
        sentence="max for min makes no difference where all barriers are equal, so for one ingress link in particular.",
        mutant=max,
        hypotheses=lambda barriers: max(barriers) == min(barriers),
        given="All barriers are equal.",
        needed=True,
    ),
    _of(
        "aggregate",
        name="aggregate_by_sorting",
        clauses=("TO-BAR-MIN",),
        sentence="The first of the sorted barriers is their minimum.",
        mutant=lambda barriers: sorted(barriers)[0],
    ),
    _of(
        "deliverable",
        name="deliverable_at_the_barrier_when_no_message_is_there",
        clauses=("TO-DELIVER",),
        sentence="<= for < makes no difference for a message whose timestamp is not the barrier itself.",
        mutant=lambda timestamp, barrier: timestamp <= barrier,
        hypotheses=lambda timestamp, barrier: timestamp != barrier,
        given="The timestamp differs from the barrier.",
        needed=True,
    ),
    _of(
        "deliverable",
        name="deliverable_by_plus_one",
        clauses=("TO-DELIVER",),
        sentence="timestamp + 1 <= barrier is timestamp < barrier, timestamps being whole numbers.",
        mutant=lambda timestamp, barrier: timestamp + 1 <= barrier,
    ),
    _of(
        "beacon_due",
        name="beacon_due_by_sum",
        clauses=("TO-ENV-C",),
        sentence="last + interval <= clock is clock - last >= interval, where sums do not overflow.",
        mutant=lambda clock, last_carried, interval: last_carried + interval <= clock,
    ),
    equivalence_claim(
        name="precedence_by_shifted_key",
        clauses=("TO-ORDER",),
        sentence="A constant added to either part of the sort key leaves the order as it is.",
        original=_order(RULES["precedence"]),
        mutant=_order(lambda timestamp, sender: (timestamp + 1, sender - 1)),
        params=PAIR,
    ),
    equivalence_claim(
        name="precedence_by_timestamp_without_ties",
        clauses=("TO-ORDER",),
        sentence="The timestamp alone gives the same order where no two timestamps are equal.",
        original=_order(RULES["precedence"]),
        mutant=_order(lambda timestamp, sender: (timestamp,)),
        params=PAIR,
        hypotheses=lambda t, s, u, r: t != u,
        given="The timestamps differ.",
        needed=True,
    ),
)
