"""TO-ACK-INIT, TO-ACK-IDLE, TO-ACK-MEAN, TO-ACK-MIN: ack barriers, for any number of messages, links and hosts.

An ack barrier on a link promises that every message at or below it that can take the link has been received. A message
is outstanding at its sender until its acknowledgement has come back.

TLA+: ``AckBarrierPromiseHolds``, ``AckInit``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import z3

from scatterproof.models.claim import INDUCTION, Claim, Obligation, Rules, mutant
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers.aggregation_rules import MAX_FOR_MIN, minimum_of
from scatterproof.models.totalorder.barriers.network import BOOL, INT, LINK
from scatterproof.models.totalorder.barriers.rules import rules
from scatterproof.models.totalorder.loss import rules as wrong
from scatterproof.models.totalorder.loss.invariant import conjuncts_of_acks, kept
from scatterproof.models.totalorder.loss.rules import RUN_RULES, loss_rules
from scatterproof.models.totalorder.loss.runs import LossRun
from scatterproof.models.totalorder.loss.safety import NETWORK, Scenario, beacons_follow, first_link, two_receivers

CLOCK, LATER, LAST, PROMISED = z3.Ints("clock later_clock last promised")
WAITING, LEAST, GREATEST = z3.Bool("waiting"), z3.Int("least_outstanding"), z3.Int("greatest_acknowledged")
SOME = z3.Int("timestamp")
GIVEN, ACKNOWLEDGED = z3.Function("is_given", INT, BOOL), z3.Function("is_acknowledged", INT, BOOL)
"""Over one sender's timestamps; one with copies for several receivers is acknowledged when all copies are."""


def promised_with(promised: int, ack: int) -> int:
    """A host's greatest promise, once it has sent this ack barrier: it gives no timestamp at or below that
    afterwards."""
    return max(promised, ack + 1)


def _bound(*timestamps: Any) -> tuple[z3.BoolRef, ...]:
    """Constraints on a sender in any state: what its least outstanding and greatest acknowledged timestamps say of
    these."""
    known = [z3.And(GIVEN(t), ACKNOWLEDGED(t)) for t in timestamps]
    outstanding = [z3.And(GIVEN(t), z3.Not(ACKNOWLEDGED(t))) for t in timestamps]
    return (
        *(z3.Implies(GIVEN(t), z3.And(t > 0, t <= LAST)) for t in timestamps),
        *(z3.Implies(out, z3.And(WAITING, t >= LEAST)) for out, t in zip(outstanding, timestamps, strict=True)),
        *(z3.Implies(one, t <= GREATEST) for one, t in zip(known, timestamps, strict=True)),
        z3.Implies(WAITING, z3.And(GIVEN(LEAST), z3.Not(ACKNOWLEDGED(LEAST)), LEAST > 0, LEAST <= LAST)),
        z3.Or(GREATEST == 0, z3.And(GIVEN(GREATEST), ACKNOWLEDGED(GREATEST), GREATEST > 0, GREATEST <= LAST)),
        z3.And(CLOCK >= 0, LATER >= 0, LAST >= 0, PROMISED >= 0),
    )


def _ack(using: Rules, clock: Any, waiting: Any, least: Any, greatest: Any, promised: Any) -> Any:
    rule, possible = lift(using["ack_barrier"]), lift(using["stamp"])(clock, LAST, promised)
    return z3.If(waiting, rule(least, greatest, possible), rule(None, greatest, possible))


def _below_outstanding(using: Rules) -> Iterable[Obligation]:
    ack = _ack(using, CLOCK, WAITING, LEAST, GREATEST, PROMISED)
    given = _bound(SOME)
    show = {"timestamp": SOME, "last": LAST, "waiting": WAITING, "least outstanding": LEAST, "ack barrier": ack}
    yield Obligation("at_or_below_is_acknowledged", (*given, GIVEN(SOME), ack >= SOME), ACKNOWLEDGED(SOME), show=show)
    after = lift(using["stamp"])(LATER, LAST, lift(using["promised_with"])(PROMISED, ack))
    yield Obligation(
        "later_timestamps_strictly_above",
        given,
        after > ack,
        show={**show, "clock": CLOCK, "later clock": LATER, "next timestamp": after},
    )
    possible = lift(using["stamp"])(CLOCK, LAST, PROMISED)
    missing = z3.If(WAITING, LEAST, possible)
    yield Obligation("below_all_that_may_be_missing", given, ack < missing, show={**show, "may be missing": missing})


def _never_falls(using: Rules) -> Iterable[Obligation]:
    """After more acknowledgements, timestamps and readings: what is outstanding then is above the ack barrier sent
    before."""
    ack = _ack(using, CLOCK, WAITING, LEAST, GREATEST, PROMISED)
    promised = lift(using["promised_with"])(PROMISED, ack)
    waiting, least, greatest = z3.Bool("waiting_then"), z3.Int("least_then"), z3.Int("greatest_then")
    new, stood = least >= promised, z3.And(WAITING, least >= LEAST)
    grown = z3.And(z3.Implies(waiting, z3.Or(new, stood)), greatest >= GREATEST)
    later = _ack(using, LATER, waiting, least, greatest, promised)
    yield Obligation(
        "never_falls",
        (*_bound(SOME), grown),
        later >= ack,
        show={"clock": CLOCK, "later clock": LATER, "last": LAST, "ack barrier": ack, "next": later},
    )


def _idle(using: Rules) -> Iterable[Obligation]:
    yield from _never_falls(using)
    ack = _ack(using, CLOCK, z3.BoolVal(False), LEAST, GREATEST, PROMISED)
    record = z3.Int("record")
    given = (*_bound(SOME), z3.Not(WAITING))
    show = {"clock": CLOCK, "last": LAST, "greatest acknowledged": GREATEST, "ack barrier": ack}
    yield Obligation("keeps_up_with_the_clock", given, ack >= CLOCK - 1, show=show)
    yield Obligation(
        "reaches_any_record_in_the_end", (*given, record < CLOCK), ack >= record, show={**show, "record": record}
    )


def _kept_value(using: Rules) -> Iterable[Obligation]:
    """An idle sender under any clock, and the minimum of ack barriers over any links that include its own."""
    literal = lift(using["idle_ack"])(GREATEST, lift(using["stamp"])(CLOCK, LAST, PROMISED))
    combined, record = z3.Ints("combined record")
    show = {"clock": CLOCK, "greatest acknowledged": GREATEST, "combined": combined, "record": record}
    given = (*_bound(SOME), z3.Not(WAITING), combined <= literal)
    yield Obligation(
        "what_is_at_or_below_was_received", (*given, GIVEN(SOME), literal >= SOME), ACKNOWLEDGED(SOME), show=show
    )
    yield Obligation("no_record_above_it_is_ever_reached", (*given, record > GREATEST), record > combined, show=show)


def _promise_runs(using: Rules) -> Iterable[Obligation]:
    scenarios: tuple[Scenario, ...] = (first_link, beacons_follow, two_receivers)
    for scenario in scenarios:
        run = LossRun(using)
        scenario(run)
        goal = z3.And(*run.ack_promises)
        yield Obligation(f"run_{scenario.__name__}", run.guards, goal, show=run.show)


def _switch_minimum(using: Rules) -> Iterable[Obligation]:
    value, other, timestamp, before = z3.Ints("ack_barrier other timestamp ack_barrier_before")
    newest, held = z3.Function("newest_ack", LINK, INT), z3.Function("ack_before", LINK, INT)
    reaches = z3.Function("is_reaching", LINK, BOOL)
    forgotten, i = z3.Consts("forgotten ingress", LINK)
    least: Callable[..., z3.BoolRef] = using["minimum_of"]
    given = (least(value, newest, reaches, forgotten), z3.Exists([i], reaches(i)))
    received = z3.Function("was_received", INT, BOOL)
    promises = z3.ForAll([i], z3.Implies(z3.And(reaches(i), timestamp <= newest(i)), received(timestamp)))
    link = z3.Const("its_link", LINK)
    yield Obligation(
        "promise_of_every_link_is_one_of_the_minimum",
        (*given, promises, reaches(link), timestamp <= value),
        received(timestamp),
        show={"ack barrier": value, "timestamp": timestamp},
    )
    yield Obligation(
        "any_larger_value_can_be_broken",
        (*given, other > value),
        z3.Exists([i, timestamp], z3.And(reaches(i), timestamp > newest(i), timestamp <= other)),
        show={"ack barrier": value, "larger": other},
    )
    arrived = z3.Function("arrived_ack", LINK, INT)
    registered = z3.ForAll([i], newest(i) == lift(using["register_ack"])(held(i), arrived(i)))
    yield Obligation(
        "minimum_never_falls",
        (*given, least(before, held, reaches, forgotten), registered),
        value >= before,
        show={"before": before, "after": value},
    )
    for count in range(1, 5):
        acks = tuple(z3.Int(f"ack_{k}") for k in range(count))
        answer = lift(using["aggregate_ack"])(acks)
        yield Obligation(
            f"rule_is_minimum_of_{count}",
            tuple(ack >= 0 for ack in acks),
            z3.And(*(answer <= ack for ack in acks), z3.Or(*(answer == ack for ack in acks))),
            show={**{str(ack): ack for ack in acks}, "aggregate": answer},
        )


SENDER = (
    "Any number of timestamps given and acknowledged; readings are any numbers, as of a clock that steps back or an "
    "adjustment that falls.",
    "While copies of a scattering have yet to leave, its timestamp is one that can still be given.",
)
SENDER_RULES: Rules = {**rules("stamp"), **loss_rules("ack_barrier"), "promised_with": promised_with}
POSSIBLE_ITSELF = mutant(
    "next_possible_itself",
    "An idle sender promises the very timestamp that it could give next: kept, but ahead of the clock.",
    ack_barrier=lambda out, known, possible: possible if out is None else out - 1,
)
NOT_PROMISED = mutant(
    "ack_barrier_is_no_promise",
    "The stamp heeds barriers alone: after an ack barrier the clock steps back, and with it the timestamps.",
    promised_with=lambda promised, ack: promised,
)

CLAIMS = (
    Claim(
        name="ack_barrier_below_outstanding",
        scope="one sender, any number of messages",
        clauses=("TO-ACK-INIT",),
        sentence="A sender's ack barrier, strictly below the least outstanding timestamp or the least that it could "
        "still give, is a true promise; timestamps given later are strictly above it.",
        hypotheses=SENDER,
        rules=SENDER_RULES,
        obligations=_below_outstanding,
        mutants=(
            wrong.LARGEST_ACKNOWLEDGED,
            wrong.AT_OUTSTANDING,
            POSSIBLE_ITSELF,
            NOT_PROMISED,
        ),
    ),
    Claim(
        name="idle_ack_barrier_rises",
        scope="one sender, any number of messages",
        clauses=("TO-ACK-IDLE",),
        sentence="With nothing outstanding the ack barrier keeps up with the clock, so that it reaches every loss "
        "record in the end; and it never falls, whatever the clock does, without a clamp of its own.",
        hypotheses=SENDER,
        rules=SENDER_RULES,
        obligations=_idle,
        mutants=(wrong.LARGEST_ACKNOWLEDGED, NOT_PROMISED),
    ),
    Claim(
        name="idle_sender_that_keeps_its_value_ends_no_loss_state",
        scope="one sender, any number of messages",
        clauses=("TO-ACK-IDLE",),
        sentence="The literal ack barrier of an idle sender, what it was last acknowledged, is a true promise; but no "
        "combined ack barrier ever passes it, so that a loss state with a record above it never ends.",
        hypotheses=(*SENDER, "Nothing is outstanding, and the sender gives no further timestamp."),
        rules={**rules("stamp"), "idle_ack": lambda acknowledged, possible: acknowledged},
        obligations=_kept_value,
        normative=False,
        mutants=(
            mutant(
                "rises_with_the_clock",
                "The corrected rule: a record above what was acknowledged is reached.",
                idle_ack=lambda acknowledged, possible: possible - 1,
            ),
        ),
    ),
    Claim(
        name="ack_barrier_promise_holds",
        scope=INDUCTION,
        clauses=("TO-ACK-MEAN", "TO-ACK-MIN", "TO-ACK-INIT"),
        sentence="On every link of any network, every message that can take it and whose timestamp is at or below an "
        "ack barrier sent there has been received.",
        hypotheses=NETWORK,
        rules=RUN_RULES,
        obligations=_promise_runs,
        induction=lambda using: kept(using, part=conjuncts_of_acks),
        mutants=(wrong.LARGEST_ACKNOWLEDGED, wrong.AT_OUTSTANDING, wrong.MAX_OF_ACKS),
    ),
    Claim(
        name="switch_ack_barrier_is_minimum",
        scope="one switch, any number of links; the rule as a program: up to four links",
        clauses=("TO-ACK-MIN",),
        sentence="The least ack barrier of the ingress links that count is a true promise, the largest one, and never "
        "falls, for any number of links.",
        hypotheses=("Some link reaches the egress link.", "The promise of every ingress link holds."),
        rules={**loss_rules("register_ack", "aggregate_ack"), "minimum_of": minimum_of},
        obligations=_switch_minimum,
        mutants=(
            mutant(
                "max_for_min",
                "The greatest ack barrier of the links.",
                minimum_of=MAX_FOR_MIN.rules["minimum_of"],
                aggregate_ack=max,
            ),
            mutant("last_arrived", "The register keeps what arrived last.", register_ack=lambda held, arrived: arrived),
            mutant("minimum_less_one", "Safe, but not the largest.", aggregate_ack=lambda acks: min(acks) - 1),
        ),
    ),
)
