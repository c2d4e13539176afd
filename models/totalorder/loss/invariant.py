"""The invariant of every lossy network (TO-LOSS-SAFE, TO-ACK-MEAN, TO-BAR-LINK).

`conjuncts` is the inductive invariant, and `kept` says that each action of `actions` keeps it. The proof is part of the
claims of `safety`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

import z3

from scatterproof.models.claim import Obligation, Rules
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers.network import LINK, greater
from scatterproof.models.totalorder.loss.actions import ALL, SOME, before, may_deliver, steps
from scatterproof.models.totalorder.loss.network import (
    FROM,
    IS_HOST,
    MESSAGE,
    REACHES,
    RECEIVER,
    SENDER,
    SOURCE,
    TAKES,
    TARGET,
    TIMESTAMP,
    VIA,
    Formula,
    LossState,
    Terms,
    any_state,
    any_values,
    routes,
    start,
    switch_says,
)


def _if(when: Any, then: Any) -> z3.BoolRef:
    return z3.Implies(when, then)


def conjuncts(using: Rules, s: LossState) -> tuple[Formula, ...]:
    return (*_of_routes(s), *_of_packets(s), *_of_registers(s), *_of_promises(s), *_of_deliveries(using, s))


NOW = any_state()
Conjuncts: TypeAlias = Callable[[Rules, LossState], tuple[Formula, ...]]


def conjuncts_of_acks(using: Rules, s: LossState) -> tuple[Formula, ...]:
    """The part that the promise of ack barriers needs, which is inductive by itself."""
    needed = (
        "acknowledged",
        "ack_barrier_of_packet",
        "ack_barrier",
        "said_is_promised",
        "held_is_promised",
        "numbers",
        "what_is_put_was_given",
        "packet_brings_its_message",
    )
    return tuple(c for c in conjuncts(using, s) if c.name in needed)


def _of_routes(s: LossState) -> tuple[Formula, ...]:
    """How what was put, what arrived and what was received depend on each other."""
    return (
        Formula("numbers", "l", lambda e: z3.And(s.expected(e) >= 0, s.expected(e) <= s.tail(e))),
        Formula(
            "what_is_put_was_given",
            "ml",
            lambda m, e: _if(s.put(m, e), z3.And(s.given(m), TAKES(m, e), s.at(m, e) >= 0, s.at(m, e) < s.tail(e))),
        ),
        Formula(
            "what_arrived_was_put",
            "ml",
            lambda m, e: _if(s.arrived(m, e), z3.And(s.put(m, e), s.at(m, e) < s.expected(e))),
        ),
        Formula(
            "hosts_put_what_they_give",
            "ml",
            lambda m, e: _if(z3.And(s.given(m), TAKES(m, e), IS_HOST(SOURCE(e))), s.put(m, e)),
        ),
        Formula(
            "switches_forward",
            "ml",
            lambda m, e: _if(z3.And(TAKES(m, e), z3.Not(IS_HOST(SOURCE(e)))), s.put(m, e) == s.arrived(m, VIA(m, e))),
        ),
        Formula("received", "ml", lambda m, e: _if(z3.And(s.arrived(m, e), IS_HOST(TARGET(e))), s.received(m))),
        Formula("what_is_received_was_given", "m", lambda m: _if(s.received(m), s.given(m))),
        Formula("acknowledged", "m", lambda m: _if(s.acknowledged(m), s.received(m))),
        Formula(
            "packet_brings_its_message",
            "lk",
            lambda e, k: _if(
                z3.And(k >= 0, k < s.tail(e), s.is_data(e, k)),
                z3.And(s.put(s.message(e, k), e), s.at(s.message(e, k), e) <= k),
            ),
        ),
        Formula(
            "first_packet_of_a_message",
            "ml",
            lambda m, e: _if(s.put(m, e), z3.And(s.is_data(e, s.at(m, e)), s.message(e, s.at(m, e)) == m)),
        ),
    )


def _of_packets(s: LossState) -> tuple[Formula, ...]:
    """The promises of a packet, at any time after it was put."""

    def there(e: Any, k: Any) -> z3.BoolRef:
        return z3.And(k >= 0, k < s.tail(e))

    def on_the_way(m: Any, e: Any) -> z3.BoolRef:
        return z3.And(s.given(m), TAKES(m, e))

    return (
        Formula(
            "barrier_of_packet",
            "mlk",
            lambda m, e, k: _if(
                z3.And(there(e, k), on_the_way(m, e), TIMESTAMP(m) < s.said_barrier(e, k)),
                z3.Or(z3.And(s.put(m, e), s.at(m, e) <= k), s.received(m), TIMESTAMP(m) <= s.said_record(e, k)),
            ),
        ),
        Formula(
            "ack_barrier_of_packet",
            "mlk",
            lambda m, e, k: _if(z3.And(there(e, k), on_the_way(m, e), TIMESTAMP(m) <= s.said_ack(e, k)), s.received(m)),
        ),
        Formula(
            "greatest_of_packet",
            "mlk",
            lambda m, e, k: _if(
                z3.And(there(e, k), s.put(m, e), s.at(m, e) <= k), TIMESTAMP(m) <= s.said_greatest(e, k)
            ),
        ),
    )


def _of_registers(s: LossState) -> tuple[Formula, ...]:
    """The promises of a link, as the node at its far end holds them."""

    def on_the_way(m: Any, e: Any) -> z3.BoolRef:
        return z3.And(s.given(m), TAKES(m, e))

    return (
        Formula(
            "passed_over_is_recorded",
            "ml",
            lambda m, e: _if(
                z3.And(s.put(m, e), s.at(m, e) < s.expected(e)),
                z3.Or(s.arrived(m, e), s.received(m), TIMESTAMP(m) <= s.record(e)),
            ),
        ),
        Formula(
            "barrier",
            "ml",
            lambda m, e: _if(
                z3.And(on_the_way(m, e), TIMESTAMP(m) < s.barrier(e)),
                z3.Or(s.arrived(m, e), s.received(m), TIMESTAMP(m) <= s.record(e)),
            ),
        ),
        Formula(
            "withheld",
            "ml",
            lambda m, e: _if(
                z3.And(on_the_way(m, e), TIMESTAMP(m) < s.withheld(e)), z3.Or(s.arrived(m, e), s.received(m))
            ),
        ),
        Formula(
            "ack_barrier", "ml", lambda m, e: _if(z3.And(on_the_way(m, e), TIMESTAMP(m) <= s.ack(e)), s.received(m))
        ),
        Formula("greatest", "ml", lambda m, e: _if(s.arrived(m, e), TIMESTAMP(m) <= s.greatest(e))),
    )


def _of_promises(s: LossState) -> tuple[Formula, ...]:
    """No barrier or ack barrier that comes from a host is above what that host promised. A promise is at least 1 at the
    start."""

    def promise(h: Any) -> Any:
        return greater(s.promised(h), 1)

    return (
        Formula(
            "said_is_promised",
            "hlk",
            lambda h, e, k: _if(
                z3.And(FROM(h, e), k >= 0, k < s.tail(e)),
                z3.And(s.said_barrier(e, k) <= promise(h), s.said_ack(e, k) < promise(h)),
            ),
        ),
        Formula(
            "held_is_promised",
            "hl",
            lambda h, e: _if(
                FROM(h, e),
                z3.And(s.barrier(e) <= promise(h), s.ack(e) < promise(h), s.withheld(e) <= promise(h)),
            ),
        ),
        Formula("last", "m", lambda m: _if(s.given(m), TIMESTAMP(m) <= s.last(SENDER(m)))),
    )


def _of_deliveries(using: Rules, s: LossState) -> tuple[Formula, ...]:
    return (
        Formula("what_is_delivered_was_received", "m", lambda m: _if(s.delivered(m), s.received(m))),
        Formula(
            "positions",
            "m",
            lambda m: _if(s.delivered(m), s.position(m) < s.count(RECEIVER(m))),
        ),
        Formula(
            "delivered_is_below_every_promise",
            "mhl",
            lambda m, h, e: _if(
                z3.And(s.delivered(m), FROM(h, e), TARGET(e) == RECEIVER(m)),
                TIMESTAMP(m) < greater(s.promised(h), 1),
            ),
        ),
        Formula(
            "what_precedes_was_delivered_earlier",
            "mn",
            lambda m, n: _if(
                z3.And(s.delivered(m), s.given(n), RECEIVER(m) == RECEIVER(n), before(using, n, m)),
                z3.And(s.delivered(n), s.position(n) < s.position(m)),
            ),
        ),
    )


def assumed(using: Rules, s: LossState, part: Conjuncts = conjuncts) -> tuple[z3.BoolRef, ...]:
    """The routes and the invariant, of all the terms."""
    whole = (*routes(), *part(using, s))
    return tuple(formula.says(*chosen) for formula in whole for chosen in ALL.of(formula.over))


@cache
def _assumed_once(precedence: Callable[..., Any], part: Conjuncts) -> tuple[z3.BoolRef, ...]:
    """As `assumed`, made once for all actions and all other rules, as it takes long."""
    return assumed({"precedence": precedence}, NOW, part)


def kept(using: Rules, *only: str, part: Conjuncts = conjuncts) -> Iterable[Obligation]:
    """Init has the invariant, and each action keeps it; with ``only``, the actions of these names.

    A ``part`` of the invariant must be inductive by itself.
    """

    def holds(state: LossState) -> z3.BoolRef:
        chosen = {"m": SOME.messages[0], "n": SOME.messages[1], "l": SOME.links[0]}
        chosen |= {"k": SOME.numbers[0], "h": SOME.nodes[0]}
        return z3.And(*(c.says(*(chosen[x] for x in c.over)) for c in part(using, state)))

    yield Obligation("init", (z3.BoolVal(True),), holds(start()))
    given = _assumed_once(using["precedence"], part)
    for name, step in steps(using, NOW).items():
        if only and name not in only:
            continue
        yield Obligation(name, (*given, step.guard), holds(step.after))


def agree(using: Rules) -> Obligation:
    """Two scatterings with copies for two receivers: both deliver them in one order."""
    s = NOW
    here, there = z3.Consts("one_here one_there", MESSAGE), z3.Consts("two_here two_there", MESSAGE)
    copies = Terms(messages=(*here, *there))
    (invariant,) = (c for c in _of_deliveries(using, s) if c.name == "what_precedes_was_delivered_earlier")
    instances = tuple(invariant.says(*chosen) for chosen in copies.of(invariant.over))
    scatterings = tuple(z3.And(TIMESTAMP(m) == TIMESTAMP(n), SENDER(m) == SENDER(n)) for m, n in (here, there))
    places = tuple(RECEIVER(m) == RECEIVER(n) for m, n in zip(here, there, strict=True))
    unlike = z3.Or(before(using, here[0], there[0]), before(using, there[0], here[0]))
    known = tuple(z3.And(s.given(m), s.delivered(m)) for m in copies.messages)
    orders = [s.position(m) < s.position(n) for m, n in zip(here, there, strict=True)]
    return Obligation(
        "two_receivers_agree", (*instances, *scatterings, *places, *known, unlike), orders[0] == orders[1]
    )


def covered(using: Rules) -> Iterable[Obligation]:
    """The induction allows receivers and switches more than the rules do: each rule, on the combined registers of all
    links, takes one of the allowed steps.
    """
    link, egress = z3.Consts("its_link its_egress", LINK)
    timestamp, said = z3.Int("timestamp"), any_values("combined")
    combined = (
        said.barrier <= NOW.barrier(link),
        said.ack <= NOW.ack(link),
        said.record >= NOW.record(link),
        said.greatest >= NOW.greatest(link),
    )
    rule = lift(using["deliverable_under_loss"])
    yield Obligation(
        "receiver_by_the_rule",
        (*combined, rule(timestamp, said.barrier, said.ack, said.record)),
        may_deliver(NOW, timestamp, link),
        show={"timestamp": timestamp, "barrier": said.barrier, "ack barrier": said.ack, "record": said.record},
    )
    sent = replace(said, record=z3.If(said.record <= said.ack, 0, said.record))
    yield Obligation(
        "switch_by_the_rules",
        (*combined, REACHES(link, egress)),
        switch_says(NOW, egress, sent, Terms(links=(link,))),
        show={"barrier": said.barrier, "ack barrier": said.ack, "record": said.record},
    )
