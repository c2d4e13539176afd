"""TO-DELIVER and TO-ORDER: delivery strictly below the barrier gives one order at all receivers.

The proof is about one receiver with any number of ingress links, senders and messages, on links that keep their promise
(TO-BAR-LINK, proved in `aggregation`): nothing that arrives precedes what was delivered. Two such receivers agree.

TLA+: ``DeliverBelowBarrier``, ``DeliveredInTotalOrder``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import z3

from scatterproof.models.claim import Claim, Obligation, Rules, mutant
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers.aggregation import SENDING
from scatterproof.models.totalorder.barriers.aggregation_rules import MAX_FOR_MIN, may_go_on, minimum_of
from scatterproof.models.totalorder.barriers.at_the_barrier import (
    AT_THE_BARRIER,
    ONE_BEYOND,
    WITHOUT_BARRIER,
    overtaken_in_environment_a,
    overtaken_in_environments_b_and_c,
    same_scattering,
)
from scatterproof.models.totalorder.barriers.network import BOOL, INT, LINK
from scatterproof.models.totalorder.barriers.rules import rules
from scatterproof.models.totalorder.barriers.tie_break import precedes

MESSAGE = z3.DeclareSort("Message")
TIMESTAMP, SENDER = z3.Function("timestamp_of", MESSAGE, INT), z3.Function("sender_of", MESSAGE, INT)
NEWEST = z3.Function("newest_barrier", LINK, INT)
M, N, L = z3.Const("m", MESSAGE), z3.Const("n", MESSAGE), z3.Const("l", LINK)


def _before(using: Rules, one: Any, other: Any) -> z3.BoolRef:
    return precedes(using, (TIMESTAMP(one), SENDER(one)), (TIMESTAMP(other), SENDER(other)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverState:
    """``position(m)`` counts deliveries; what has arrived and was not delivered is in the receive buffer."""

    arrived: Callable[[Any], Any]
    delivered: Callable[[Any], Any]
    position: Callable[[Any], Any]
    count: Any
    newest: Callable[[Any], Any]


def _any_receiver(name: str) -> ReceiverState:
    return ReceiverState(
        arrived=z3.Function(f"arrived_{name}", MESSAGE, BOOL),
        delivered=z3.Function(f"delivered_{name}", MESSAGE, BOOL),
        position=z3.Function(f"position_{name}", MESSAGE, INT),
        count=z3.Int(f"count_{name}"),
        newest=NEWEST,
    )


def _ordered(using: Rules, receiver: ReceiverState) -> z3.BoolRef:
    """Positions rise with precedence."""
    both = z3.And(receiver.delivered(M), receiver.delivered(N), _before(using, M, N))
    return z3.ForAll([M, N], z3.Implies(both, receiver.position(M) < receiver.position(N)))


def _invariant(using: Rules, receiver: ReceiverState) -> z3.BoolRef:
    return z3.And(
        z3.ForAll(
            [M], z3.Implies(receiver.delivered(M), z3.And(receiver.arrived(M), receiver.position(M) < receiver.count))
        ),
        z3.ForAll([M, L], z3.Implies(receiver.delivered(M), TIMESTAMP(M) < receiver.newest(L))),
        z3.ForAll(
            [M, N],
            z3.Implies(
                z3.And(receiver.delivered(M), receiver.arrived(N), z3.Not(receiver.delivered(N))),
                z3.Not(_before(using, N, M)),
            ),
        ),
        _ordered(using, receiver),
    )


def _one_message_a_scattering() -> z3.BoolRef:
    same = z3.And(TIMESTAMP(M) == TIMESTAMP(N), SENDER(M) == SENDER(N))
    return z3.ForAll([M, N], z3.Implies(same, M == N))


def _arrivals(using: Rules, receiver: ReceiverState) -> tuple[z3.BoolRef, ReceiverState, z3.ExprRef, z3.ExprRef]:
    """A message that keeps the promise of its link arrives, with some barrier."""
    message, link = z3.Const("arriving", MESSAGE), z3.Const("link", LINK)
    barrier = z3.Int("arriving_barrier")
    held = receiver.newest(link)
    newest = z3.If(barrier >= held, lift(using["register"])(held, barrier), held)
    guard = z3.And(z3.Not(receiver.arrived(message)), TIMESTAMP(message) >= held)
    after = ReceiverState(
        arrived=lambda m: z3.Or(m == message, receiver.arrived(m)),
        delivered=receiver.delivered,
        position=receiver.position,
        count=receiver.count,
        newest=lambda link_: z3.If(link_ == link, newest, receiver.newest(link_)),
    )
    return guard, after, message, link


def _delivery(using: Rules, receiver: ReceiverState) -> tuple[z3.BoolRef, ReceiverState, z3.ExprRef, z3.ArithRef]:
    """The first message of the receive buffer is delivered, if the rule says so for the minimum over the receiver's
    links.
    """
    message, barrier = z3.Const("delivering", MESSAGE), z3.Int("receiver_barrier")
    forgotten = z3.Const("forgotten", LINK)
    in_buffer = z3.And(receiver.arrived(N), z3.Not(receiver.delivered(N)))
    guard = z3.And(
        receiver.arrived(message),
        z3.Not(receiver.delivered(message)),
        using["minimum_of"](barrier, receiver.newest, lambda _: z3.BoolVal(True), forgotten),
        lift(using["deliverable"])(TIMESTAMP(message), barrier),
        z3.ForAll([N], z3.Implies(in_buffer, z3.Not(_before(using, N, message)))),
    )
    after = ReceiverState(
        arrived=receiver.arrived,
        delivered=lambda m: z3.Or(m == message, receiver.delivered(m)),
        position=lambda m: z3.If(m == message, receiver.count, receiver.position(m)),
        count=receiver.count + 1,
        newest=receiver.newest,
    )
    return guard, after, message, barrier


def _total_order(using: Rules) -> Iterable[Obligation]:
    yield overtaken_in_environment_a(using)
    yield overtaken_in_environments_b_and_c(using)
    receiver, other = _any_receiver("here"), _any_receiver("there")
    given = (_one_message_a_scattering(), _invariant(using, receiver))
    arriving, _, newcomer, link = _arrivals(using, receiver)
    delivering, _, message, barrier = _delivery(using, receiver)
    earlier = z3.Const("earlier", MESSAGE)
    show = {
        "delivered_timestamp": TIMESTAMP(earlier),
        "delivered_sender": SENDER(earlier),
        "arriving_timestamp": TIMESTAMP(newcomer),
        "arriving_sender": SENDER(newcomer),
        "register": NEWEST(link),
    }
    yield Obligation(
        "no_later_arrival_precedes_a_delivered_message",
        (*given, arriving, receiver.delivered(earlier)),
        z3.Not(_before(using, newcomer, earlier)),
        show=show,
    )
    # At the moment of delivery, too: every later arrival that keeps its link's promise follows the message.
    yield Obligation(
        "no_arrival_after_a_delivery_precedes_it",
        (*given, delivering, arriving, newcomer != message),
        z3.Not(_before(using, newcomer, message)),
        show={
            "delivered_timestamp": TIMESTAMP(message),
            "delivered_sender": SENDER(message),
            "barrier": barrier,
            "arriving_timestamp": TIMESTAMP(newcomer),
            "arriving_sender": SENDER(newcomer),
        },
    )
    first, second = z3.Const("first", MESSAGE), z3.Const("second", MESSAGE)
    common = z3.And(*(r.delivered(m) for r in (receiver, other) for m in (first, second)), first != second)
    unlike = z3.And(*(r.position(first) != r.position(second) for r in (receiver, other)))
    yield Obligation(
        "two_receivers_agree",
        (_one_message_a_scattering(), _ordered(using, receiver), _ordered(using, other), common, unlike),
        (receiver.position(first) < receiver.position(second)) == (other.position(first) < other.position(second)),
        show={
            "first_timestamp": TIMESTAMP(first),
            "first_sender": SENDER(first),
            "second_timestamp": TIMESTAMP(second),
            "second_sender": SENDER(second),
        },
    )


def _order_is_kept(using: Rules) -> Iterable[Obligation]:
    """Arrivals and deliveries keep the invariant of one receiver."""
    receiver = _any_receiver("here")
    given = (_one_message_a_scattering(), _invariant(using, receiver))
    for name, (guard, after, *_) in (
        ("arrival", _arrivals(using, receiver)),
        ("delivery", _delivery(using, receiver)),
    ):
        yield Obligation(name, (*given, guard), _invariant(using, after))


def _strictly_below(using: Rules) -> Iterable[Obligation]:
    timestamp, barrier = z3.Ints("timestamp barrier")
    answer = lift(using["deliverable"])(timestamp, barrier)
    natural = (timestamp >= 0, barrier >= 0)
    show = {"timestamp": timestamp, "barrier": barrier, "deliverable": answer}
    yield Obligation("only_below", (*natural, answer), timestamp < barrier, show=show)
    yield Obligation("all_below", (*natural, timestamp < barrier), answer, show=show)


CLAIMS = (
    Claim(
        name="delivered_in_total_order",
        scope="two receivers, any number of links, senders and messages, by induction",
        clauses=("TO-ORDER", "TO-DELIVER"),
        sentence="If every receiver delivers strictly below its barrier, least first in (timestamp, sender), then "
        "nothing that "
        "arrives later precedes what was delivered, and any two receivers deliver their common messages in one order.",
        hypotheses=(
            "Links keep the promise of TO-BAR-LINK; any number of links, senders and messages.",
            "A receiver gets at most one message of a scattering.",
        ),
        rules={
            **SENDING,
            **rules("deliverable", "precedence"),
            "minimum_of": minimum_of,
            "may_go_on": may_go_on,
            "second_message": same_scattering,
        },
        obligations=_total_order,
        induction=_order_is_kept,
        mutants=(
            AT_THE_BARRIER,
            ONE_BEYOND,
            WITHOUT_BARRIER,
            mutant(
                "receiver_takes_max",
                "The receiver's barrier is the greatest of its links' barriers.",
                minimum_of=MAX_FOR_MIN.rules["minimum_of"],
            ),
            mutant(
                "timestamp_only",
                "No tie-break: messages with one timestamp in any order.",
                precedence=lambda timestamp, sender: (timestamp,),
            ),
            mutant(
                "sender_first",
                "Sorts by sender, then timestamp.",
                precedence=lambda timestamp, sender: (sender, timestamp),
            ),
        ),
    ),
    Claim(
        name="deliver_below_barrier",
        scope="one message at one receiver",
        clauses=("TO-DELIVER",),
        sentence="A message may be delivered exactly when its timestamp is strictly below the receiver's barrier.",
        hypotheses=("Timestamps and barriers are not negative.",),
        rules=rules("deliverable"),
        obligations=_strictly_below,
        mutants=(
            AT_THE_BARRIER,
            ONE_BEYOND,
            WITHOUT_BARRIER,
            mutant(
                "one_short",
                "Waits for one more than is needed: safe, but late.",
                deliverable=lambda timestamp, barrier: timestamp + 1 < barrier,
            ),
        ),
    ),
)
