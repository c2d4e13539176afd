"""TO-FLAG-RX: what a receiver may deliver under loss, with any number of ingress links; and that less is not enough.

Of one link the receiver knows a barrier b, an ack barrier a and a loss record r. A message of timestamp s may be
missing on it, now or later, exactly when s > a, and s >= b or s <= r. What precedes a delivery must not be missing on
any link.

TLA+: ``Deliver``, ``AckReached`` of LossOrder.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import z3

from scatterproof.models.claim import Claim, ClaimMutant, Obligation, Rules
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers.aggregation_rules import minimum_of
from scatterproof.models.totalorder.barriers.network import INT, LINK
from scatterproof.models.totalorder.loss import rules as wrong
from scatterproof.models.totalorder.loss.rules import RUN_RULES, deliverable_under_loss, loss_rules
from scatterproof.models.totalorder.loss.safety import by, last_link, two_ingress_links

TIMESTAMP, MISSING = z3.Ints("timestamp missing")
BARRIER, ACK, RECORD = z3.Ints("barrier ack_barrier record")
NATURAL = (TIMESTAMP > 0, BARRIER >= 0, ACK >= 0, RECORD >= 0)
SHOW = {"timestamp": TIMESTAMP, "barrier": BARRIER, "ack barrier": ACK, "record": RECORD}
SIZES = (1, 2, 3)


def may_be_missing(timestamp: Any, barrier: Any, ack: Any, record: Any) -> z3.BoolRef:
    """Whether a message of this timestamp may still arrive, by the promises of the link."""
    return z3.And(timestamp > ack, z3.Or(timestamp >= barrier, timestamp <= record))


def overtaken(timestamp: Any, barrier: Any, ack: Any, record: Any) -> z3.BoolRef:
    """Whether a message at or below the timestamp may be missing: if any, then the first one above the ack barrier, or
    one of the timestamp itself.
    """
    return z3.Or(
        z3.And(ack + 1 <= timestamp, may_be_missing(ack + 1, barrier, ack, record)),
        may_be_missing(timestamp, barrier, ack, record),
    )


def _receiver(using: Rules) -> Iterable[Obligation]:
    rule = lift(using["deliverable_under_loss"])
    # A message of any link that precedes the delivered one.
    b, a, r = (z3.Function(f"{name}_of", LINK, INT) for name in ("barrier", "ack", "record"))
    link, i = z3.Const("link", LINK), z3.Const("i", LINK)
    everywhere = z3.BoolVal(True)
    combined = (
        minimum_of(BARRIER, b, lambda _: everywhere, link),
        minimum_of(ACK, a, lambda _: everywhere, link),
        minimum_of(-RECORD, lambda e: -r(e), lambda _: everywhere, link),
        z3.ForAll([i], z3.And(b(i) >= 0, a(i) >= 0, r(i) >= 0)),
    )
    yield Obligation(
        "nothing_that_precedes_is_missing",
        (
            TIMESTAMP > 0,
            *combined,
            rule(TIMESTAMP, BARRIER, ACK, RECORD),
            MISSING > 0,
            MISSING <= TIMESTAMP,
        ),
        z3.Not(may_be_missing(MISSING, b(link), a(link), r(link))),
        show={**SHOW, "precedes": MISSING},
    )
    yield Obligation(
        "what_is_refused_may_be_overtaken",
        (*NATURAL, z3.Not(rule(TIMESTAMP, BARRIER, ACK, RECORD))),
        overtaken(TIMESTAMP, BARRIER, ACK, RECORD),
        show=SHOW,
    )


def on_every_link(timestamp: int, barriers: Sequence[int], acks: Sequence[int], records: Sequence[int]) -> bool:
    """The rule asked of each link by itself."""
    each = zip(barriers, acks, records, strict=True)
    return all(deliverable_under_loss(timestamp, barrier, ack, record) for barrier, ack, record in each)


def combined_first(timestamp: int, barriers: Sequence[int], acks: Sequence[int], records: Sequence[int]) -> bool:
    return deliverable_under_loss(timestamp, min(barriers), min(acks), max(records))


def reached_records_dropped(
    timestamp: int, barriers: Sequence[int], acks: Sequence[int], records: Sequence[int]
) -> bool:
    left = [record if record > ack else 0 for ack, record in zip(acks, records, strict=True)]
    return deliverable_under_loss(timestamp, min(barriers), min(acks), max(left))


def barrier_of_any(timestamp: int, barriers: Sequence[int], acks: Sequence[int], records: Sequence[int]) -> bool:
    each = zip(barriers, acks, records, strict=True)
    return any(deliverable_under_loss(timestamp, barrier, ack, record) for barrier, ack, record in each)


def _registers(count: int) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
    b, a, r = (tuple(z3.Int(f"{name}_{k}") for k in range(1, count + 1)) for name in ("barrier", "ack", "record"))
    return b, a, r


def _link_by_link(using: Rules) -> Iterable[Obligation]:
    for count in SIZES:
        b, a, r = _registers(count)
        answer = lift(using["on_links"])(TIMESTAMP, b, a, r)
        natural = (TIMESTAMP > 0, *(x >= 0 for x in (*b, *a, *r)))
        show = {"timestamp": TIMESTAMP, **{str(x): x for k in range(count) for x in (b[k], a[k], r[k])}}
        missing = z3.Or(*(overtaken(TIMESTAMP, *link) for link in zip(b, a, r, strict=True)))
        yield Obligation(f"safe_with_{count}", (*natural, answer), z3.Not(missing), show=show)
        yield Obligation(
            f"what_is_refused_may_be_overtaken_with_{count}", (*natural, z3.Not(answer)), missing, show=show
        )


def _recorded_again(using: Rules) -> Iterable[Obligation]:
    """Each look at a flagged message records the barrier minimum; an ack barrier is strictly below a barrier."""
    record = lift(using["seen_again"])(RECORD, BARRIER)
    yield Obligation(
        "loss_state_holds_after_every_look",
        (*NATURAL, ACK < BARRIER),
        record > ACK,
        show={**SHOW, "record after the look": record},
    )


def _by_runs_and_registers(using: Rules) -> Iterable[Obligation]:
    yield from by(last_link, two_ingress_links)(using)
    yield from _receiver(using)


def _mutant(name: str, sentence: str, rule: Any, of: str = "deliverable_under_loss") -> ClaimMutant:
    return ClaimMutant(name=name, sentence=sentence, rules={of: rule})


TIES = (
    "Of two messages with one timestamp either may precede: the rule does not see the sender.",
    "A link keeps its promises; whatever they leave open may be true.",
)

CLAIMS = (
    Claim(
        name="flagged_deliver_at_ack_barrier",
        scope="one receiver, any number of links",
        clauses=("TO-FLAG-RX", "TO-DELIVER"),
        sentence="A receiver delivers at or below its ack barrier, and outside the loss state strictly below its "
        "barrier: nothing that precedes is then missing on any of its links; and of all rules that know only the "
        "combined barrier, ack barrier and record, this refuses the least.",
        hypotheses=TIES,
        rules={**RUN_RULES, **loss_rules("deliverable_under_loss")},
        obligations=_by_runs_and_registers,
        mutants=(
            wrong.STATELESS_FLAG,
            wrong.BARRIER_ALONE,
            _mutant(
                "strictly_below_the_ack_barrier",
                "The literal bound in the loss state: the last message, at the ack barrier, is received and never "
                "delivered.",
                lambda timestamp, barrier, ack, record: timestamp < (ack if record > ack else barrier),
            ),
            _mutant(
                "at_the_barrier",
                "At or below the barrier.",
                lambda timestamp, barrier, ack, record: timestamp <= ack or (record <= ack and timestamp <= barrier),
            ),
            _mutant(
                "record_strictly_below",
                "The loss state ends only when the ack barrier has passed the record: safe, but late.",
                lambda timestamp, barrier, ack, record: timestamp <= ack or (record < ack and timestamp < barrier),
            ),
            _mutant(
                "ack_barrier_alone",
                "Always by the ack barrier: safe, but late.",
                lambda timestamp, barrier, ack, record: timestamp <= ack,
            ),
            wrong.LEAST_OF_RECORDS,
            wrong.MAX_OF_ACKS,
        ),
    ),
    Claim(
        name="delivery_asked_of_every_link_is_the_weakest",
        scope="one receiver, up to three links",
        clauses=("TO-FLAG-RX",),
        sentence="Asked of each ingress link by itself, the rule is safe and refuses the least of all rules that know "
        "the three registers of every link; combining the registers first refuses more.",
        hypotheses=(*TIES, "Up to three ingress links; of any number the promise of each one follows in the same way."),
        rules={"on_links": on_every_link},
        obligations=_link_by_link,
        normative=False,
        mutants=(
            _mutant(
                "combined_first",
                "Safe, but a link in the loss state holds the others at the least ack barrier of all.",
                combined_first,
                "on_links",
            ),
            _mutant(
                "combined_but_for_records_reached",
                "The same, where a record that the link's own ack barrier has reached counts as 0: safe, and late yet.",
                reached_records_dropped,
                "on_links",
            ),
            _mutant("any_link", "One link that lets the message pass is enough.", barrier_of_any, "on_links"),
        ),
    ),
    Claim(
        name="record_taken_at_every_look_ends_no_loss_state",
        scope="one receiver",
        clauses=("TO-FLAG-RX",),
        sentence="If each look at an undelivered flagged message records the barrier minimum again, the record is "
        "above the ack barrier after every look.",
        hypotheses=("An ack barrier is strictly below the barrier that comes with it.",),
        rules={"seen_again": lambda record, barrier: barrier},
        obligations=_recorded_again,
        normative=False,
        mutants=(
            _mutant("recorded_once", "The record stays: it is reached.", lambda record, barrier: record, "seen_again"),
        ),
    ),
)
