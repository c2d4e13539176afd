"""BC-URB-MAJ, BC-URB-SELF, BC-URB-MINORITY: counting processes, for any number of them.

TLA+: ``Enough``, ``Own``. Sets of processes are described by the sizes of the regions into which they cut all n
processes, so n has no bound.
"""

from __future__ import annotations

from collections.abc import Iterable

import z3

from scatterproof.models.broadcast.rules import rules
from scatterproof.models.claim import Obligation, Rules, claim, mutant
from scatterproof.models.symbolic import lift

_LESS_THAN_HALF_CRASH = "Less than half of the processes crash."


def _crashes() -> tuple[z3.ArithRef, z3.ArithRef, tuple[z3.BoolRef, ...]]:
    """n processes; f of them crash, fewer than half."""
    n, f = z3.Ints("n f")
    return n, f, (n >= 1, f >= 0, 2 * f < n)


_AT_LEAST_HALF = mutant(
    "at_least_half", "The literal rule: half of the processes suffice.", enough=lambda having, n: 2 * having >= n
)


@claim(
    scope="any number of processes",
    clauses=("BC-URB-MAJ", "BC-URB-AGREE", "BC-URB-VALID"),
    hypotheses=(_LESS_THAN_HALF_CRASH,),
    rules=rules("enough"),
    mutants=(
        _AT_LEAST_HALF,
        mutant("one_below_half", "One process less than more than half.", enough=lambda having, n: 2 * having + 2 > n),
        mutant("all_of_them", "All processes must have it.", enough=lambda having, n: having == n),
        mutant("one_above_half", "One process more than more than half.", enough=lambda having, n: 2 * having > n + 2),
    ),
)
def majority_has_it(using: Rules) -> Iterable[Obligation]:
    """Any two processes that may deliver have heard of one process in common, at least one correct process has what is
    delivered, and the correct ones are enough to deliver."""
    enough = lift(using["enough"])
    n, f, minority = _crashes()
    first, second, both, neither = z3.Ints("first_only second_only both neither")
    regions = (first >= 0, second >= 0, both >= 0, neither >= 0, first + second + both + neither == n, n >= 1)
    yield Obligation(
        "two_deliverers_have_heard_of_one_process",
        (*regions, enough(first + both, n), enough(second + both, n)),
        both >= 1,
        {"n": n, "heard by the first alone": first, "by the second alone": second, "by both": both},
    )
    having, crashing = z3.Ints("having having_and_crashed")
    yield Obligation(
        "a_correct_process_has_what_is_delivered",
        (*minority, crashing >= 0, crashing <= having, crashing <= f, having <= n, enough(having, n)),
        having - crashing >= 1,
        {"n": n, "f": f, "having": having},
    )
    yield Obligation("the_correct_ones_are_enough", minority, enough(n - f, n), {"n": n, "f": f})


@claim(
    scope="any number of processes",
    clauses=("BC-URB-SELF",),
    hypotheses=(_LESS_THAN_HALF_CRASH,),
    rules=rules("enough", "counted"),
    mutants=(
        mutant(
            "senders_only",
            "The literal rule: only those are counted from whom the message was received.",
            counted=lambda heard: heard,
        ),
        mutant("oneself_twice", "A process counts itself twice.", counted=lambda heard: heard + 2),
    ),
)
def oneself_counts(using: Rules) -> Iterable[Obligation]:
    """What the other correct processes have, and a process itself, is enough for it to deliver."""
    enough, counted = lift(using["enough"]), lift(using["counted"])
    n, f, minority = _crashes()
    yield Obligation(
        "the_other_correct_ones_and_oneself_are_enough", minority, enough(counted(n - f - 1), n), {"n": n, "f": f}
    )
    heard = z3.Int("heard")
    yield Obligation(
        "nobody_is_counted_who_does_not_have_it", (heard >= 0,), counted(heard) <= heard + 1, {"heard": heard}
    )


@claim(scope="any number of processes", clauses=("BC-URB-MINORITY",), rules=rules("enough"), mutants=(_AT_LEAST_HALF,))
def minority_delivers_nothing(using: Rules) -> Iterable[Obligation]:
    """Processes that can hear of no more than half of all do not deliver."""
    enough = lift(using["enough"])
    n, apart = z3.Ints("n cut_off")
    yield Obligation(
        "those_cut_off_are_not_enough",
        (n >= 1, apart >= 0, 2 * apart <= n),
        z3.Not(enough(apart, n)),
        {"n": n, "cut off": apart},
    )


@claim(
    scope="any number of processes",
    clauses=("BC-URB-MAJ",),
    hypotheses=("At most f of n processes crash; for the second obligation, less than half of them.",),
    rules={"threshold": lambda f: f + 1},
    mutants=(
        mutant("as_many_as_crash", "f processes suffice.", threshold=lambda f: f),
        mutant("two_more", "f + 2 are needed.", threshold=lambda f: f + 2),
    ),
    normative=False,
)
def one_more_than_crash_is_enough(using: Rules) -> Iterable[Obligation]:
    """Where at most f processes crash, f + 1 that have a message are enough for uniform agreement, and no fewer are;
    the majority is this bound for the largest f that leaves a majority correct, when n is odd."""
    threshold = lift(using["threshold"])
    n, f = z3.Ints("n f")
    some = (n >= 1, f >= 0, f < n)
    having, crashing = z3.Ints("having having_and_crashed")
    yield Obligation(
        "a_correct_process_has_what_is_delivered",
        (*some, crashing >= 0, crashing <= having, crashing <= f, having <= n, having >= threshold(f)),
        having - crashing >= 1,
        {"n": n, "f": f, "having": having},
    )
    yield Obligation("the_correct_ones_are_enough", (*some, 2 * f < n), n - f >= threshold(f), {"n": n, "f": f})
    yield Obligation("one_less_is_not_safe", (*some,), threshold(f) - 1 <= f, {"n": n, "f": f})


CLAIMS = (majority_has_it, oneself_counts, minority_delivers_nothing, one_more_than_crash_is_enough)
