"""TO-ADJ-1 and TO-ADJ-2: what a round of adjustment measures, for any number of senders and receivers.

The receiver returns the latest arrival less the least delay to it. A sender's adjustment is the least, over its
receivers, of its own delay less the least delay to that receiver: the same whenever senders send, however long the ways
back are, and whatever was in force. So one round is enough under constant delays, and nothing falls.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3

from scatterproof.models.claim import Claim, Obligation, Rules
from scatterproof.models.totalorder.adjustment import rules as wrong
from scatterproof.models.totalorder.adjustment.round import (
    RECEIVER,
    SENDER,
    Round,
    ScatteringNetwork,
    adjusted,
    any_network,
    nearest,
    run_round,
    small_network,
    spread_at,
)
from scatterproof.models.totalorder.adjustment.rules import RULES, Values, least_of

S, R = z3.Const("sender", SENDER), z3.Const("receiver", RECEIVER)
IN_FORCE = z3.Function("in_force", SENDER, z3.IntSort())
EXAMPLE = ((10, 10), (1, 5))
THREE_HOSTS = ((0, 2, 2), (1, 0, 1), (1, 1, 0))


def zero(_: Any) -> Any:
    return z3.IntVal(0)


def _returned(using: Rules) -> Iterable[Obligation]:
    """At one receiver, with any number of senders."""
    yield _example_returned(using)
    yield _delays_that_became_equal(using)
    net = any_network(receiver=R)
    once = run_round(using, net, "now", in_force=IN_FORCE)
    least, bound = nearest(net)
    hypotheses = (*net.assumptions(), once.at_receivers)
    counted = net.counts(S, R)
    show = {"first timestamp": once.first(S), "delay": net.delay(S, R), "latest arrival": once.latest(R)}
    virtual = once.aligned(S, R) - net.skew(S) + net.delay(S, R)
    yield Obligation(
        "aligned_would_arrive_with_the_latest",
        (*hypotheses, counted),
        virtual == once.latest(R),
        show={**show, "arrival of aligned": virtual},
    )
    yield Obligation(
        "returned_is_latest_arrival_less_least_delay",
        (*hypotheses, bound),
        once.returned(R) == once.latest(R) - least(R),
        show={**show, "returned": once.returned(R), "least delay": least(R)},
    )
    yield Obligation(
        "returned_at_or_above_every_first_timestamp",
        (*hypotheses, counted),
        once.returned(R) >= once.first(S),
        show={**show, "returned": once.returned(R)},
    )


def _as_returned(net: ScatteringNetwork, once: Round, least: Values) -> z3.BoolRef:
    """What receivers return, as receiver_returns_aligned_maximum proves it; this sender is one of those heard."""
    return net.receivers.every(
        lambda r: z3.And(
            once.returned(r) == once.latest(r) - least(r),
            z3.Implies(net.counts(S, r), least(r) <= net.apparent(S, r)),
        )
    )


def _adjustment(using: Rules) -> Iterable[Obligation]:
    """At one sender, with any number of receivers."""
    yield _hosts_that_send_to_themselves(using)
    yield _delays_that_became_equal(using)
    net = any_network(sender=S)
    least: Values = z3.Function("nearest", RECEIVER, z3.IntSort())
    once = run_round(using, net, "now", in_force=IN_FORCE)
    hypotheses = (*net.assumptions(), once.at_senders, once.natural, _as_returned(net, once, least))
    expected = z3.Int("expected")
    over = least_of(expected, lambda r: net.apparent(S, r) - least(r), lambda r: net.counts(S, r), net.receivers)
    show = {"adjustment": once.adjustment(S)}
    yield Obligation(
        "least_delay_above_the_nearest_sender",
        (*hypotheses, over),
        once.adjustment(S) == expected,
        show={**show, "delay above the nearest": expected},
    )
    yield Obligation("never_below_zero", hypotheses, once.adjustment(S) >= 0, show=show)
    after = run_round(using, net, "again", in_force=once.adjustment)
    again = (after.at_senders, after.natural, _as_returned(net, after, least))
    yield Obligation(
        "second_round_changes_nothing",
        (*hypotheses, *again),
        after.adjustment(S) == once.adjustment(S),
        show={"first round": once.adjustment(S), "second round": after.adjustment(S)},
    )


def _example_returned(using: Rules) -> Obligation:
    net = small_network(EXAMPLE)
    one = run_round(using, net, "one", in_force=zero, sent=zero)
    returned = {f"by R{r}": one.returned(r) for r in net.receivers.listed or ()}
    return exactly("worked_example", (one.at_receivers, one.natural), returned, (9, 5))


def _delays_that_became_equal(using: Rules) -> Obligation:
    """Two senders, adjusted by 5 and 0 when their delays were 6 and 1, are now 1 away from the one receiver."""
    net = small_network(((1,), (1,)))
    once = run_round(using, net, "equal", in_force=lambda s: z3.IntVal(5 if s.as_long() == 1 else 0), sent=zero)
    return exactly("delays_that_became_equal", once.assumed, _adjustments(net, once.adjustment), (0, 0))


def _hosts_that_send_to_themselves(using: Rules) -> Obligation:
    """Host 1 is 2 from the others, all other delays are 1, and 0 from each host to itself."""
    net = small_network(THREE_HOSTS, hosts=True)
    once = run_round(using, net, "hosts", in_force=zero)
    adjustments = [once.adjustment(s) for s in net.senders.listed or ()]
    return Obligation(
        "hosts_that_send_to_themselves",
        once.assumed,
        z3.And(*(a == right for a, right in zip(adjustments, (1, 0, 0), strict=True))),
        show={f"adjustment of host {k}": a for k, a in enumerate(adjustments, start=1)},
    )


def _example(using: Rules) -> Iterable[Obligation]:
    net = small_network(EXAMPLE)
    one = run_round(using, net, "one", in_force=zero, sent=zero, back=net.delay)
    two = run_round(using, net, "two", in_force=one.adjustment, sent=zero, back=net.delay)
    three = run_round(using, net, "three", in_force=two.adjustment, sent=zero, back=net.delay)
    pairs = [(s, r) for s in net.senders.listed or () for r in net.receivers.listed or ()]
    told = {
        "returned": ({f"by R{r}": one.returned(r) for r in net.receivers.listed or ()}, (9, 5)),
        "returns_at": ({f"to S{s} from R{r}": one.returns_at(s, r) for s, r in pairs}, (20, 20, 11, 15)),
        "third": ({f"S{s} for R{r}": one.third(s, r) for s, r in pairs}, (29, 25, 11, 15)),
        "differences": ({f"S{s} for R{r}": one.difference(s, r) for s, r in pairs}, (9, 5, 0, 0)),
        "adjustments": (_adjustments(net, one.adjustment), (5, 0)),
    }
    for name, (terms, right) in told.items():
        yield exactly(name, one.assumed, terms, right)
    rounds = {f"round {k}": r.adjustment(z3.IntVal(1)) for k, r in enumerate((one, two, three), start=1)}
    yield exactly("three_rounds_of_s1", (*one.assumed, *two.assumed, *three.assumed), rounds, (5, 5, 5))
    free = run_round(using, net, "free", in_force=zero)
    yield exactly("any_way_back", free.assumed, _adjustments(net, free.adjustment), (5, 0))
    waits: dict[str, Any] = {}
    assumed = list(one.assumed)
    for when, given in (("before", zero), ("after", one.adjustment)):
        for r in net.receivers.listed or ():
            first, last, bound = spread_at(net, r, when, adjusted(net, given), net.counts)
            assumed.extend(bound)
            waits[f"wait at R{r} {when}"] = last - first
    yield exactly("waits", tuple(assumed), waits, (9, 5, 4, 0))


def _adjustments(net: ScatteringNetwork, adjustment: Any) -> dict[str, Any]:
    return {f"S{s}": adjustment(s) for s in net.senders.listed or ()}


def exactly(name: str, hypotheses: tuple[z3.BoolRef, ...], terms: dict[str, Any], right: tuple[int, ...]) -> Obligation:
    goal = z3.And(*(term == value for term, value in zip(terms.values(), right, strict=True)))
    return Obligation(name, hypotheses, goal, show=terms)


CONSTANT = (
    "One-way delays are constant and may differ in the two directions; delays back, send times and the adjustments in "
    "force may be anything."
)
HOSTS = "Any number of senders and receivers; each sends to, and hears from, another host at least."
CLOCKS = "Each clock may be off by a constant."

CLAIMS = (
    Claim(
        name="receiver_returns_aligned_maximum",
        scope="any number of senders and receivers, one round",
        clauses=("TO-ADJ-1",),
        sentence="A message sent at its aligned timestamp would arrive with the latest one, and what a receiver "
        "returns is the time of the latest arrival less the least delay to it (less the skew of that sender's clock).",
        hypotheses=(HOSTS, CONSTANT, CLOCKS),
        rules=RULES,
        obligations=_returned,
        mutants=(wrong.EARLIEST_IS_BASE, wrong.SHIFTED_BACK, wrong.LEAST_RETURNED, wrong.FIRST_IS_ADJUSTED),
    ),
    Claim(
        name="sender_takes_least_difference",
        scope="any number of senders and receivers, one round",
        clauses=("TO-ADJ-2", "TO-ADJ-1"),
        sentence="The adjustment is the least, over the receivers, of the sender's own delay less the least delay to "
        "that receiver; it is never below zero, a second round with equal delays changes nothing, and none falls.",
        hypotheses=(HOSTS, CONSTANT, CLOCKS, "Message 2 leaves at the latest arrival."),
        rules=RULES,
        obligations=_adjustment,
        mutants=(
            wrong.OTHER_SIGN,
            wrong.TWICE_ONE_WAY,
            wrong.ROUND_TRIP_OF_BEFORE,
            wrong.EARLIEST_IS_BASE,
            wrong.RETURN_IS_HELD,
            wrong.GREATEST_DIFFERENCE,
            wrong.ROUNDS_ADD_UP,
            wrong.FIRST_IS_ADJUSTED,
            wrong.ITSELF_COUNTS,
        ),
    ),
    Claim(
        name="adjustment_of_worked_example",
        scope="two senders and two receivers, the document's delays",
        clauses=("TO-ADJ-EX", "TO-ADJ-1", "TO-ADJ-2"),
        sentence="With one-way delays S1-R1 10, S1-R2 10, S2-R1 1, S2-R2 5, all sending at 0, R1 returns 9 and R2 5; "
        "S1 compensates to 29 and 25, takes 9 and 5, and adjusts by 5; S2 adjusts by 0; the waits fall from 9 to 4 and "
        "from 5 to 0.",
        hypotheses=("The ways back take as long as the ways there, as in the document; any_way_back drops this.",),
        rules=RULES,
        obligations=_example,
        mutants=(
            wrong.OTHER_SIGN,
            wrong.TWICE_ONE_WAY,
            wrong.EARLIEST_IS_BASE,
            wrong.ROUNDS_ADD_UP,
            wrong.GREATEST_DIFFERENCE,
        ),
    ),
)
