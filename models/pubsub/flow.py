"""PS-FLOW, PS-QOS-CONF: flow control for any marks and any lengths of a queue, and conflation for any queue.

TLA+: ``BetweenMarks`` and ``InPlace`` of ChannelFlow, checked there for small queues.
"""

from __future__ import annotations

from collections.abc import Iterable

import z3

from scatterproof.models.claim import Claim, Obligation, Rules, mutant
from scatterproof.models.pubsub.rules import rules
from scatterproof.models.symbolic import lift


def _marks(using: Rules) -> Iterable[Obligation]:
    is_on = lift(using["flow_is_on"])
    high, low, length = z3.Ints("high low length")
    was = z3.Bool("was")
    marks = (low > 0, low <= high)
    now = is_on(was, length, high, low)
    show = {"high": high, "low": low, "length": length, "was on": was}
    yield Obligation("on_at_the_high_mark", (*marks, length >= high), now, show=show)
    yield Obligation("off_strictly_below_the_low_mark", (*marks, length < low), z3.Not(now), show=show)
    yield Obligation("as_it_was_in_between", (*marks, low <= length, length < high), now == was, show=show)
    # Since it was last on, has the queue been strictly below the low mark? By induction over all lengths since then.
    fell = z3.Bool("fell")
    yield Obligation(
        "whoever_goes_off_has_fallen_below_the_low_mark",
        (*marks, z3.Or(was, fell)),
        z3.Or(now, fell, length < low),
        show=show,
    )
    # And since it was last off, has it been at or above the high mark?
    rose = z3.Bool("rose")
    yield Obligation(
        "whoever_goes_on_has_risen_to_the_high_mark",
        (*marks, z3.Or(z3.Not(was), rose)),
        z3.Or(z3.Not(now), rose, length >= high),
        show=show,
    )


def _conflated(using: Rules) -> Iterable[Obligation]:
    """of, number: by place, the subscription and the number of a message that waits; all are best effort."""
    is_replaced = lift(using["is_replaced"])
    of, number = (z3.Function(name, z3.IntSort(), z3.IntSort()) for name in ("of", "number"))
    first, last, length, its, new, one, other = z3.Ints("first last length its new one other")
    place = z3.Int("place")

    def waits(at: z3.ArithRef) -> z3.BoolRef:
        return z3.And(at >= 0, at < length)

    def mine(at: z3.ArithRef) -> z3.BoolRef:
        return z3.And(waits(at), of(at) == its)

    queue = (
        z3.ForAll([one, other], z3.Implies(z3.And(mine(one), mine(other), one < other), number(one) < number(other))),
        z3.ForAll([place], z3.Implies(mine(place), z3.And(first <= place, place <= last, number(place) < new))),
        mine(first),
        mine(last),
    )

    def after(at: z3.ArithRef) -> z3.ArithRef:
        return z3.If(is_replaced(of(at) == its, at == first, at == last), new, number(at))

    show = {"first": first, "last": last, "place": one, "other place": other}
    yield Obligation("the_newest_waits", queue, after(last) == new, show=show)
    yield Obligation(
        "nothing_older_waits_behind_it",
        (*queue, mine(one), mine(other), one < other),
        after(one) < after(other),
        show=show,
    )
    yield Obligation("those_of_others_stay", (*queue, waits(one), of(one) != its), after(one) == number(one), show=show)


CLAIMS = (
    Claim(
        name="flow_has_two_marks",
        scope="any two marks, any lengths of the queue, by induction over them",
        clauses=("PS-FLOW",),
        sentence="Flow control is on at the high mark, off strictly below the low one, and switches nowhere in "
        "between: from on to off the queue has been below the low mark, and from off to on at the high one.",
        hypotheses=("The low mark is above 0 and at or below the high one.",),
        rules=rules("flow_is_on"),
        obligations=_marks,
        mutants=(
            mutant("one_mark", "There is no low mark.", flow_is_on=lambda was, length, high, low: length >= high),
            mutant(
                "off_at_the_low_mark",
                "It goes off at the low mark.",
                flow_is_on=lambda was, length, high, low: length >= high or (was and length > low),
            ),
            mutant(
                "on_above_the_high_mark",
                "It goes on above the high mark.",
                flow_is_on=lambda was, length, high, low: length > high or (was and length >= low),
            ),
            mutant(
                "for_ever",
                "It never goes off.",
                flow_is_on=lambda was, length, high, low: length >= high or was,
            ),
        ),
    ),
    Claim(
        name="conflation_keeps_newest",
        scope="a queue of any length, any number of subscriptions in it",
        clauses=("PS-QOS-CONF",),
        sentence="A new message that takes the place of the last of its subscription waits, nothing older waits behind "
        "it, and those of others stay as they are.",
        hypotheses=("A message of the subscription waits.", "Those of a subscription wait in their order."),
        rules=rules("is_replaced"),
        obligations=_conflated,
        mutants=(
            mutant(
                "in_the_first_place",
                "It takes the place of the first of its subscription.",
                is_replaced=lambda is_its, is_first, is_last: is_its and is_first,
            ),
            mutant(
                "in_every_place",
                "It takes every place of its subscription.",
                is_replaced=lambda is_its, is_first, is_last: is_its,
            ),
            mutant("nowhere", "The older one stays.", is_replaced=lambda is_its, is_first, is_last: False),
            mutant(
                "of_anybody",
                "It takes the places of others, too.",
                is_replaced=lambda is_its, is_first, is_last: is_last or not is_its,
            ),
        ),
    ),
)
