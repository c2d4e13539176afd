"""TO-ADJ-2 without a round trip: the receiver tells how long it held message 1, and nothing else need be measured.

The document's sender adds the round-trip time to what was returned, and subtracts its local time at the arrival of
message 2. Both contain the way back, which falls out; and so does the instant to which the receiver aligns, if it
counts the holding time up to that very instant.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3

from scatterproof.models.claim import Claim, Obligation, Rules, mutant
from scatterproof.models.totalorder.adjustment.measuring import CLOCKS, CONSTANT, HOSTS, IN_FORCE, R, S
from scatterproof.models.totalorder.adjustment.round import ScatteringNetwork, any_network, run_round
from scatterproof.models.totalorder.adjustment.rules import RULES, greatest_of


def held_for(arrival: Any, base: Any, departure: Any) -> Any:
    """Time from the arrival of message 1 to the instant that the receiver aligns to, by the receiver's clock."""
    return base - arrival


def difference_by_hold(returned: Any, first: Any, held: Any) -> Any:
    """How far the returned maximum is above the sender's own aligned timestamp."""
    return returned - first - held


def _arrival(net: ScatteringNetwork, shown: Any, sent: Any, s: Any) -> Any:
    """Arrival of message 1, by the receiver's clock."""
    return sent(s) + net.delay(s, R) + shown


def _equal(using: Rules) -> Iterable[Obligation]:
    """At one receiver, with any number of senders. Base and departure of message 2 are any instants."""
    net = any_network(receiver=R)
    clock = z3.Function("sent", S.sort(), z3.IntSort())

    def sent(s: Any) -> Any:
        return clock(s)

    once = run_round(RULES, net, "document", in_force=IN_FORCE, sent=sent)
    base, departure, shown, returned = z3.Ints("base departure receiver_skew returned_by_hold")
    bound = greatest_of(
        returned,
        lambda s: once.first(s) + (base - _arrival(net, shown, sent, s)),
        lambda s: net.counts(s, R),
        net.senders,
    )
    held = using["held_for"](_arrival(net, shown, sent, S), base, departure)
    found = using["difference_by_hold"](returned, once.first(S), held)
    expected = once.difference(S, R)
    show = {"document": expected, "by hold": found, "held": held, "base": base, "departure": departure}
    given = (*net.assumptions(), once.at_receivers, once.natural, bound, net.counts(S, R))
    yield Obligation("equals_the_documents_difference", given, found == expected, show=show)
    yield Obligation("never_below_zero", given, found >= 0, show=show)
    other_base, other = z3.Ints("other_base returned_by_other_base")
    moved = greatest_of(
        other,
        lambda s: once.first(s) + (other_base - _arrival(net, shown, sent, s)),
        lambda s: net.counts(s, R),
        net.senders,
    )
    again = using["difference_by_hold"](
        other, once.first(S), using["held_for"](_arrival(net, shown, sent, S), other_base, departure)
    )
    yield Obligation(
        "any_base_is_as_good",
        (*given, moved),
        again == found,
        show={**show, "other base": other_base, "by the other base": again},
    )


CLAIMS = (
    Claim(
        name="hold_time_needs_no_round_trip",
        scope="any number of senders and receivers, one round",
        clauses=("TO-ADJ-2", "TO-ADJ-1"),
        sentence="The returned maximum less the first timestamp less the holding time equals the document's "
        "difference with the true round trip, whatever the ways back are, whenever message 2 leaves, and whichever "
        "instant the receiver aligns to.",
        hypotheses=(
            HOSTS,
            CONSTANT,
            CLOCKS,
            "The holding time is counted up to the instant that the receiver aligns to.",
        ),
        rules={"held_for": held_for, "difference_by_hold": difference_by_hold},
        obligations=_equal,
        mutants=(
            mutant(
                "held_until_message_2_leaves",
                "The holding time goes on after the instant of alignment: every adjustment is too small.",
                held_for=lambda arrival, base, departure: departure - arrival,
            ),
            mutant(
                "hold_left_out",
                "What is returned less the first timestamp: the receiver's waiting counts as delay.",
                difference_by_hold=lambda returned, first, held: returned - first,
            ),
            mutant(
                "hold_added",
                "The other sign of the holding time.",
                difference_by_hold=lambda returned, first, held: returned - first + held,
            ),
        ),
    ),
)
