"""The steps of a lossy network: what hosts, switches and receivers do, each with its guard and the state after it.

All of them are instantiated with the terms `ALL`, so that the hypotheses about the state before are the same for each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import z3

from scatterproof.models.claim import Rules
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers.network import LINK, NODE, greater
from scatterproof.models.totalorder.barriers.tie_break import precedes
from scatterproof.models.totalorder.loss.network import (
    IS_HOST,
    MESSAGE,
    NEXT,
    NUMBER,
    RECEIVER,
    SENDER,
    SOURCE,
    TAKES,
    TARGET,
    TIMESTAMP,
    LossState,
    Terms,
    altered,
    any_values,
    host_says,
    put,
    switch_says,
    take,
)


def _if(when: Any, then: Any) -> z3.BoolRef:
    return z3.Implies(when, then)


def before(using: Rules, one: Any, other: Any) -> z3.BoolRef:
    return precedes(using, (TIMESTAMP(one), NUMBER(SENDER(one))), (TIMESTAMP(other), NUMBER(SENDER(other))))


@dataclass(frozen=True, slots=True, kw_only=True)
class LossStep:
    guard: z3.BoolRef
    after: LossState


LINKS = tuple(z3.Consts("acting_link other_link", LINK))
ACTING, HOST, CLOCK = z3.Const("acting_message", MESSAGE), z3.Const("acting_host", NODE), z3.Int("reading")
TAKEN = z3.Int("taken_number")
SOME = Terms(
    messages=tuple(z3.Consts("some_message other_message", MESSAGE)),
    links=(z3.Const("some_link", LINK),),
    numbers=(z3.Int("some_number"),),
    nodes=(z3.Const("some_node", NODE),),
)
ALL = Terms(
    messages=(*SOME.messages, ACTING),
    links=(*SOME.links, *LINKS),
    numbers=(*SOME.numbers, TAKEN),
    nodes=(*SOME.nodes, HOST),
).with_routes((*SOME.links, LINKS[1]), SOME.nodes[0])
"""What the hypotheses of every step are instantiated with."""


def steps(using: Rules, s: LossState) -> dict[str, LossStep]:
    learned = replace(s, acknowledged=altered(s.acknowledged, z3.BoolVal(True), ACTING))
    return {
        **_host_steps(using, s),
        "acknowledgement_comes_back": LossStep(guard=s.received(ACTING), after=learned),
        "switch_forwards": _forward(using, s),
        "packet_ends_at_a_node": _end(using, s),
        "receiver_gets_a_message": _receive(using, s),
        "switch_says_something": _say(s),
        "receiver_delivers": _deliver(using, s),
    }


def _host_steps(using: Rules, s: LossState) -> dict[str, LossStep]:
    link, said = LINKS[0], any_values("said")
    timestamp = TIMESTAMP(ACTING)
    stamped = lift(using["stamp"])(CLOCK, s.last(HOST), s.promised(HOST))
    current = greater(CLOCK, greater(s.last(HOST), s.promised(HOST)))
    own = z3.And(IS_HOST(HOST), SOURCE(link) == HOST)
    its = z3.And(own, SENDER(ACTING) == HOST, TAKES(ACTING, link))
    opens = timestamp == stamped
    goes_on = z3.And(timestamp == s.last(HOST), s.promised(HOST) <= timestamp)
    given = replace(s, given=altered(s.given, z3.BoolVal(True), ACTING), last=altered(s.last, timestamp, HOST))

    def sends(at: LossState, barrier: Any, message: Any, *guards: Any) -> LossStep:
        says, promised = host_says(using, at, HOST, link, said, CLOCK, ALL, message)
        carried = z3.Or(said.barrier == 0, said.barrier == barrier)
        after = put(replace(at, promised=altered(at.promised, promised, HOST)), link, said, message)
        return LossStep(guard=z3.And(says, carried, *guards), after=after)

    first = lift(using["data_barrier"])(timestamp)
    again = lift(using["resent_barrier"])(timestamp, current)
    return {
        "host_scatters": sends(given, first, ACTING, its, z3.Not(s.given(ACTING)), z3.Or(opens, goes_on)),
        "host_resends": sends(s, again, ACTING, its, s.given(ACTING)),
        "host_sends_beacon": sends(s, current, None, own),
    }


def _taken(using: Rules, s: LossState) -> tuple[z3.BoolRef, LossState, Any]:
    """A packet of the acting link, which may bring the acting message."""
    link, data = LINKS[0], s.is_data(LINKS[0], TAKEN)
    guard, after = take(using, s, link, TAKEN, z3.Bool("noticed"), ALL)
    return z3.And(guard, _if(data, s.message(link, TAKEN) == ACTING)), after, data


def _forward(using: Rules, s: LossState) -> LossStep:
    """A switch takes data, and forwards them in the same step (TO-SW-PATH)."""
    (link, egress), said = LINKS, any_values("said")
    guard, after, data = _taken(using, s)
    onwards = z3.And(data, z3.Not(IS_HOST(TARGET(link))), egress == NEXT(ACTING, link))
    allowed = z3.And(guard, onwards, switch_says(after, egress, said, ALL, ACTING))
    return LossStep(guard=allowed, after=put(after, egress, said, ACTING))


def _end(using: Rules, s: LossState) -> LossStep:
    """A packet without data is not forwarded."""
    guard, after, data = _taken(using, s)
    return LossStep(guard=z3.And(guard, z3.Not(data)), after=after)


def _receive(using: Rules, s: LossState) -> LossStep:
    guard, after, data = _taken(using, s)
    received = replace(after, received=altered(after.received, z3.BoolVal(True), ACTING))
    return LossStep(guard=z3.And(guard, data, IS_HOST(TARGET(LINKS[0]))), after=received)


def _say(s: LossState) -> LossStep:
    """A switch puts a beacon, or another packet without data, at any time."""
    link, said = LINKS[1], any_values("said")
    allowed = z3.And(z3.Not(IS_HOST(SOURCE(link))), switch_says(s, link, said, ALL))
    return LossStep(guard=allowed, after=put(s, link, said))


def may_deliver(s: LossState, timestamp: Any, link: Any) -> z3.BoolRef:
    """Whether one ingress link allows the delivery: nothing at or below the timestamp is missing on it."""
    return z3.Or(
        timestamp <= s.ack(link),
        timestamp < s.withheld(link),
        z3.And(s.record(link) <= s.ack(link), timestamp < s.barrier(link)),
    )


def _deliver(using: Rules, s: LossState) -> LossStep:
    """The first message of a receive buffer, when all ingress links allow it."""
    here = RECEIVER(ACTING)
    buffered = [
        _if(
            z3.And(s.received(m), z3.Not(s.delivered(m)), RECEIVER(m) == here, m != ACTING),
            z3.Not(before(using, m, ACTING)),
        )
        for m in ALL.messages
    ]
    let = [_if(TARGET(e) == here, may_deliver(s, TIMESTAMP(ACTING), e)) for e in ALL.links]
    guard = z3.And(s.received(ACTING), z3.Not(s.delivered(ACTING)), *buffered, *let)
    after = replace(
        s,
        delivered=altered(s.delivered, z3.BoolVal(True), ACTING),
        position=altered(s.position, s.count(here), ACTING),
        count=altered(s.count, s.count(here) + 1, here),
    )
    return LossStep(guard=guard, after=after)
