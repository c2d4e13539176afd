"""BC-PL-PSEQ, BC-PL-MEMORY, BC-PL-ONCE, BC-FIFO-FLOW: numbers, and what is kept of them, without bound.

TLA+: ``Number``, ``Remember``, ``Pauses``. What a receiver remembers is a prefix and a set of numbers beyond it; the
set is any predicate over the integers, so that nothing bounds it.
"""

from __future__ import annotations

from collections.abc import Iterable

import z3

from scatterproof.models.broadcast.rules import rules
from scatterproof.models.claim import Obligation, Rules, claim, mutant
from scatterproof.models.symbolic import lift

_beyond = z3.Function("beyond", z3.IntSort(), z3.BoolSort())


@claim(
    scope="one sender at one receiver, any number of packets",
    clauses=("BC-PL-MEMORY", "BC-PL-ONCE"),
    hypotheses=("Numbers count from 1.", "The prefix is not beyond what was delivered."),
    rules=rules("known", "collapse", "stays"),
    mutants=(
        mutant(
            "known_below_the_prefix",
            "The end of the prefix is not known.",
            known=lambda packet, prefix, beyond: packet < prefix or beyond,
        ),
        mutant(
            "past_gaps",
            "The prefix rises whether the next number is there or not.",
            collapse=lambda prefix, following: prefix + 1,
        ),
        mutant("keeping_all", "The literal rule: the set is kept as it is.", collapse=lambda prefix, following: prefix),
        mutant(
            "one_dropped",
            "The first number beyond the prefix is dropped with it.",
            stays=lambda packet, prefix: packet > prefix + 1,
        ),
    ),
)
def delivered_prefix_collapses(using: Rules) -> Iterable[Obligation]:
    """A prefix and the numbers beyond it know exactly what was delivered, before and after collapsing, and when no
    packet is missing they are one number."""
    known, collapse, stays = (lift(using[name]) for name in ("known", "collapse", "stays"))
    prefix, packet, new, length = z3.Ints("prefix packet new length")
    some = (prefix >= 0, packet >= 1)

    def is_known(number: z3.ArithRef) -> z3.BoolRef:
        result: z3.BoolRef = known(number, prefix, _beyond(number))
        return result

    def known_after(number: z3.ArithRef) -> z3.BoolRef:
        """After one step of collapsing."""
        end = collapse(prefix, _beyond(prefix + 1))
        result: z3.BoolRef = known(number, end, z3.And(_beyond(number), stays(number, end)))
        return result

    show = {"prefix": prefix, "packet": packet, "in the set": _beyond(packet)}
    yield Obligation("a_step_of_collapsing_loses_nothing", (*some, is_known(packet)), known_after(packet), show)
    yield Obligation("a_step_of_collapsing_adds_nothing", (*some, known_after(packet)), is_known(packet), show)
    yield Obligation(
        "what_is_stored_is_known_and_nothing_else",
        (*some, new >= 1),
        known(packet, prefix, z3.Or(_beyond(packet), packet == new)) == z3.Or(is_known(packet), packet == new),
        {**show, "new": new},
    )
    k = z3.Int("k")
    at_rest = collapse(prefix, _beyond(prefix + 1)) == prefix
    all_known = z3.ForAll([k], z3.Implies(z3.And(k >= 1, k <= length), is_known(k)))
    nothing_else = z3.ForAll([k], z3.Implies(_beyond(k), z3.And(stays(k, prefix), k <= length)))
    complete = (prefix >= 0, length >= 0, prefix <= length, at_rest, all_known, nothing_else)
    yield Obligation(
        "without_a_gap_it_is_one_number",
        (*complete, packet >= 1),
        z3.And(prefix == length, z3.Not(_beyond(packet))),
        {"prefix": prefix, "length": length, "packet": packet},
    )


@claim(
    scope="one sender, any number of destinations",
    clauses=("BC-PL-PSEQ",),
    hypotheses=("Packets for the destination are among all packets.",),
    rules=rules("number"),
    mutants=(
        mutant(
            "one_for_all", "The literal rule: one counter for all destinations.", number=lambda made, total: total + 1
        ),
        mutant("from_zero", "Numbers count from 0.", number=lambda made, total: made),
    ),
)
def link_numbers_apart(using: Rules) -> Iterable[Obligation]:
    """The numbers that a destination sees are 1 up to how many packets were made for it, however many were made for
    others."""
    number = lift(using["number"])
    made, total, seen = z3.Ints("made total seen")
    next_one = number(made, total)
    yield Obligation(
        "a_destination_sees_no_gap",
        (made >= 0, total >= made),
        z3.And(seen >= 1, seen <= made + 1) == z3.Or(z3.And(seen >= 1, seen <= made), seen == next_one),
        {"made for it": made, "made for all": total, "number": next_one},
    )


@claim(
    scope="one process",
    clauses=("BC-FIFO-FLOW",),
    hypotheses=("The threshold is at least 1.",),
    rules=rules("pauses"),
    mutants=(
        mutant(
            "above_the_threshold",
            "The literal rule: it stops above the threshold.",
            pauses=lambda undelivered, threshold: undelivered > threshold,
        ),
        mutant(
            "one_early",
            "It stops one below the threshold.",
            pauses=lambda undelivered, threshold: undelivered + 1 >= threshold,
        ),
    ),
)
def own_undelivered_is_bounded(using: Rules) -> Iterable[Obligation]:
    """A process never has more own messages undelivered than the threshold, and goes on when it has fewer, so that it
    goes on when nothing is undelivered."""
    pauses = lift(using["pauses"])
    undelivered, threshold = z3.Ints("undelivered threshold")
    some = (undelivered >= 0, threshold >= 1)
    show = {"undelivered": undelivered, "threshold": threshold}
    yield Obligation(
        "never_above_the_threshold",
        (*some, undelivered <= threshold, z3.Not(pauses(undelivered, threshold))),
        undelivered + 1 <= threshold,
        show,
    )
    yield Obligation("goes_on_below_it", (*some, undelivered < threshold), z3.Not(pauses(undelivered, threshold)), show)


CLAIMS = (delivered_prefix_collapses, link_numbers_apart, own_undelivered_is_bounded)
