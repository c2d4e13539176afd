"""The rules of timestamp adjustment (TO-ADJ-1, TO-ADJ-2), and the readings of the document that must be refuted.

A rule over all senders or receivers is a relation between its answer and a function over them (`least_of`,
`greatest_of`), so that it speaks of any number of hosts; the others are plain arithmetic on nanoseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import z3

from scatterproof.models.claim import mutant


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """All senders, or all receivers: ``listed`` names them in a small network, None means any number of them."""

    variable: z3.ExprRef
    listed: tuple[Any, ...] | None = None

    def every(self, predicate: Callable[[Any], Any]) -> z3.BoolRef:
        if self.listed is None:
            return z3.ForAll([self.variable], predicate(self.variable))
        return z3.And(*(predicate(member) for member in self.listed))

    def some(self, predicate: Callable[[Any], Any]) -> z3.BoolRef:
        if self.listed is None:
            return z3.Exists([self.variable], predicate(self.variable))
        return z3.Or(*(predicate(member) for member in self.listed))


Values = Callable[[Any], Any]


def least_of(value: Any, of: Values, counts: Values, members: Members) -> z3.BoolRef:
    return z3.And(
        members.some(lambda m: z3.And(counts(m), of(m) == value)),
        members.every(lambda m: z3.Implies(counts(m), value <= of(m))),
    )


def greatest_of(value: Any, of: Values, counts: Values, members: Members) -> z3.BoolRef:
    return z3.And(
        members.some(lambda m: z3.And(counts(m), of(m) == value)),
        members.every(lambda m: z3.Implies(counts(m), value >= of(m))),
    )


def first_timestamp(local: Any, in_force: Any) -> Any:
    """Message 1 bears the sender's local time, without the adjustment in force."""
    return local


def aligned(first: Any, arrival: Any, base: Any) -> Any:
    return first + (base - arrival)


def hold(time: Any) -> Any:
    """How long after the latest arrival message 2 leaves: no time."""
    return 0


def round_trip(forward: Any, back: Any, earlier: Any) -> Any:
    """The round trip of this round's own two messages; ``earlier`` is that of an earlier round."""
    return forward + back


def difference(returned: Any, round_trip_time: Any, local: Any) -> Any:
    return returned + round_trip_time - local


def in_force_next(in_force: Any, measured: Any) -> Any:
    """The new adjustment replaces the old one."""
    return measured


def other_host(sends: Any, same_host: Any) -> Any:
    """The links that count: those to other hosts."""
    return z3.And(sends, z3.Not(same_host))


RULES: dict[str, Callable[..., Any]] = {
    "first_timestamp": first_timestamp,
    "base_of": greatest_of,
    "aligned": aligned,
    "returned_of": greatest_of,
    "hold": hold,
    "round_trip": round_trip,
    "difference": difference,
    "adjustment_of": least_of,
    "in_force_next": in_force_next,
    "measured_over": other_host,
}
"""One round of adjustment, from message 1 to the adjustment in force."""


FIRST_IS_ADJUSTED = mutant(
    "first_timestamps_are_adjusted",
    "Message 1 bears an adjusted timestamp: after a change of delays the old adjustment comes back, and never falls.",
    first_timestamp=lambda local, in_force: local + in_force,
)
EARLIEST_IS_BASE = mutant(
    "earliest_arrival_is_the_base",
    "The literal remark that either message may be the base of the alignment.",
    base_of=least_of,
)
SHIFTED_BACK = mutant(
    "shifted_the_other_way",
    "The later a message arrives, the more is added to it.",
    aligned=lambda first, arrival, base: first - (base - arrival),
)
LEAST_RETURNED = mutant("least_returned", "The minimum of the aligned timestamps is returned.", returned_of=least_of)
RETURN_IS_HELD = mutant(
    "return_is_held",
    "Message 2 leaves some time after the latest arrival, and is aligned to that arrival still.",
    hold=lambda time: time,
)
TWICE_ONE_WAY = mutant(
    "twice_the_one_way_delay",
    "The literal round-trip time: wrong where the way back takes another time.",
    round_trip=lambda forward, back, earlier: forward + forward,
)
ROUND_TRIP_OF_BEFORE = mutant(
    "round_trip_of_before",
    "The round trip was measured with other messages, under other delays.",
    round_trip=lambda forward, back, earlier: earlier,
)
OTHER_SIGN = mutant(
    "other_sign",
    "The literal difference: local time of the arrival less the third timestamp.",
    difference=lambda returned, round_trip_time, local: local - (returned + round_trip_time),
)
GREATEST_DIFFERENCE = mutant("greatest_difference", "The maximum of the differences.", adjustment_of=greatest_of)
ROUNDS_ADD_UP = mutant(
    "rounds_add_up",
    "Each round's result is added to the adjustment in force.",
    in_force_next=lambda in_force, measured: in_force + measured,
)
ITSELF_COUNTS = mutant(
    "host_counts_itself",
    "A host that sends to itself takes that link, of delay 0, into both rules.",
    measured_over=lambda sends, same_host: sends,
)
