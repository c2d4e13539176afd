"""What the documents argue about, each as one pure function, so that a literal rule or a mutant is another function.

Every rule has an operator of the same name in CamelCase in the models. Times and barriers are ns, and at least 1 once
something was said: 0 stands for a link that has not spoken. The rules of environment D are in `loss_rules`, those of
timestamp adjustment in `adjustment_rules`, those about failures in `failure_rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scatterproof.impl.totalorder import adjustment_rules, failure_rules, loss_rules


def stamp(clock: int, last: int, promised: int) -> int:
    """Timestamp of the next scattering (TO-MONO): the clock, but strictly above the last timestamp given out, and at or
    above every barrier that this host has sent (TO-BAR-HOST)."""
    return max(clock, last + 1, promised)


def data_barrier(timestamp: int) -> int:
    """Barrier of a host's data message (TO-BAR-HOST): its timestamp."""
    return timestamp


def beacon_barrier(clock: int, last: int) -> int:
    """Barrier of a host's beacon (TO-BAR-HOST): its clock, but never below the last timestamp, which was promised."""
    return max(clock, last)


def register(held: int, arrived: int) -> int:
    """Newest barrier of an ingress link (TO-BAR-MIN): what arrived, which is at or above what was held."""
    return arrived


def aggregate(barriers: Sequence[int]) -> int:
    """Barrier of an egress link (TO-BAR-MIN), and of a receiver (TO-DELIVER): the least of those counted."""
    return min(barriers)


def counted(reaching: tuple[int, ...], ingress: tuple[int, ...]) -> tuple[int, ...]:
    """The ingress links whose barriers an egress link's barrier covers (TO-BAR-PART): those that reach it."""
    return reaching


def deliverable(timestamp: int, barrier: int) -> bool:
    """Whether a buffered message may be delivered (TO-DELIVER): strictly below the barrier."""
    return timestamp < barrier


def precedence(timestamp: int, sender: int) -> tuple[int, int]:
    """Sort key of the one order of delivery (TO-ORDER): timestamp, and the sender's id among equal timestamps."""
    return (timestamp, sender)


def beacon_due(clock: int, last_carried: int, interval: int) -> bool:
    """Whether a beacon may leave a link (TO-ENV-C): no data message carried a barrier over it for the interval."""
    return clock - last_carried >= interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules that a core is built with."""

    stamp: Callable[[int, int, int], int] = stamp
    data_barrier: Callable[[int], int] = data_barrier
    beacon_barrier: Callable[[int, int], int] = beacon_barrier
    register: Callable[[int, int], int] = register
    aggregate: Callable[[Sequence[int]], int] = aggregate
    counted: Callable[[tuple[int, ...], tuple[int, ...]], tuple[int, ...]] = counted
    deliverable: Callable[[int, int], bool] = deliverable
    precedence: Callable[[int, int], tuple[int, ...]] = precedence
    beacon_due: Callable[[int, int, int], bool] = beacon_due
    register_under_loss: Callable[[int, int], int] = loss_rules.register_under_loss
    register_ack: Callable[[int, int], int] = loss_rules.register_ack
    aggregate_ack: Callable[[Sequence[int]], int] = loss_rules.aggregate_ack
    aggregate_record: Callable[[Sequence[int]], int] = loss_rules.aggregate_record
    greatest_with: Callable[[int, int], int] = loss_rules.greatest_with
    noticed_record: Callable[[int, int, int], int] = loss_rules.noticed_record
    passed_record: Callable[[int, int, int, int], int] = loss_rules.passed_record
    ack_barrier: Callable[[int | None, int, int], int] = loss_rules.ack_barrier
    resent_barrier: Callable[[int, int], int] = loss_rules.resent_barrier
    judged_by: Callable[[int, int], int] = loss_rules.judged_by
    deliverable_under_loss: Callable[[int, int, int, int], bool] = loss_rules.deliverable_under_loss
    flag_on: Callable[[int], bool] = loss_rules.flag_on
    counts: Callable[[int], bool] = loss_rules.counts
    last_hop_watched: Callable[[], bool] = loss_rules.last_hop_watched
    measured_over: Callable[[bool], bool] = adjustment_rules.measured_over
    first_timestamp: Callable[[int, int], int] = adjustment_rules.first_timestamp
    base_of: Callable[[Sequence[int]], int] = adjustment_rules.base_of
    aligned: Callable[[int, int, int], int] = adjustment_rules.aligned
    returned_of: Callable[[Sequence[int]], int] = adjustment_rules.returned_of
    round_trip: Callable[[int, int, int], int] = adjustment_rules.round_trip
    difference: Callable[[int, int, int], int] = adjustment_rules.difference
    adjustment_of: Callable[[Sequence[int]], int] = adjustment_rules.adjustment_of
    in_force_next: Callable[[int, int], int] = adjustment_rules.in_force_next
    beacon_reading: Callable[[int, int], int] = adjustment_rules.beacon_reading
    adjusted_beacon: Callable[[int, int, int], int] = adjustment_rules.adjusted_beacon
    cut_off: Callable[[int, int], int] = failure_rules.cut_off
    may_deliver: Callable[[int, int, int], bool] = failure_rules.may_deliver
    closes_back: Callable[[], bool] = failure_rules.closes_back
    removes: Callable[[int], bool] = failure_rules.removes
    recalls: Callable[[], bool] = failure_rules.recalls
    may_tell: Callable[[bool, int], bool] = failure_rules.may_tell

    @property
    def only_the_least_counts(self) -> bool:
        """Whether the aggregate stays as it is when a link that was strictly above it rises: a core with hundreds of
        links need not compute it again then. True of the rules above; other ones are taken at their word."""
        barriers = self.aggregate is aggregate and self.register is register
        acks = self.aggregate_ack is loss_rules.aggregate_ack and self.register_ack is loss_rules.register_ack
        return barriers and acks and self.register_under_loss is loss_rules.register_under_loss


RULES = Rules()
