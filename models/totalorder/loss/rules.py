"""The corrected rules of environment D as the Z3 claims read them, and the readings of the document that must be
refuted.

Plain Python, run on terms by `scatterproof.models.symbolic.lift`; a rule of the reference core with the same name and
shape can be handed to a claim in its place. All numbers are nanoseconds; 0 is the barrier or ack barrier of a link that
has not spoken, and the loss record of one that has lost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scatterproof.models.claim import mutant
from scatterproof.models.totalorder.barriers.rules import rules

DATA, BEACON = 1, 2
"""Kinds of packets, the argument of ``flag_on`` and ``counts``; all but data count as beacons."""


def register_under_loss(held: int, arrived: int) -> int:
    """Newest barrier of an ingress link: under loss a maximum (TO-RETX-BAR)."""
    return max(held, arrived)


def register_ack(held: int, arrived: int) -> int:
    """Newest ack barrier of an ingress link (TO-ACK-MIN)."""
    return max(held, arrived)


def noticed_record(least: int, largest: int, greatest: int) -> int:
    """Record of a gap (TO-FLAG-SW): no data message lost in it has a timestamp above what is greatest on the link.

    ``least`` is the least barrier of the node's counted links, ``largest`` the greatest barrier seen on the losing one.
    """
    return greatest


def passed_record(carried: int, least: int, largest: int, greatest: int) -> int:
    """Record of a link over which a packet carried one (TO-SWLOSS)."""
    return carried


def ack_barrier(outstanding: int | None, acknowledged: int, next_possible: int) -> int:
    """A sender's ack barrier (TO-ACK-INIT, TO-ACK-IDLE), from the least outstanding timestamp, if there is one, the
    greatest acknowledged one, and the least one that it could still give.
    """
    return next_possible - 1 if outstanding is None else outstanding - 1


def aggregate_ack(acks: Sequence[int]) -> int:
    """Ack barrier of an egress link, and of a receiver (TO-ACK-MIN)."""
    return min(acks)


def aggregate_record(records: Sequence[int]) -> int:
    """Loss record of an egress link, and of a receiver (TO-FLAG-SW)."""
    return max(records)


def resent_barrier(timestamp: int, current: int) -> int:
    """Barrier of a resent message (TO-RETX-BAR)."""
    return current


def deliverable_under_loss(timestamp: int, barrier: int, ack: int, record: int) -> bool:
    """TO-FLAG-RX: at or below the ack barrier; or outside the loss state, and strictly below the barrier."""
    return timestamp <= ack or (record <= ack and timestamp < barrier)


def flag_on(kind: int) -> bool:
    """Whether a packet of this kind carries the loss record (TO-FLAG-BEACON)."""
    return True


def counts(kind: int) -> bool:
    """Whether a packet of this kind bears a number of the link's loss counter (TO-LOSSCTR)."""
    return True


def last_hop_watched() -> bool:
    """Whether a receiver has loss counters, too (TO-LASTHOP)."""
    return True


LOSS_RULES: dict[str, Callable[..., Any]] = {
    rule.__name__: rule
    for rule in (
        register_under_loss,
        register_ack,
        noticed_record,
        passed_record,
        ack_barrier,
        aggregate_ack,
        aggregate_record,
        resent_barrier,
        deliverable_under_loss,
        flag_on,
        counts,
        last_hop_watched,
    )
}


def loss_rules(*names: str) -> dict[str, Callable[..., Any]]:
    """The corrected rules of these names."""
    return {name: LOSS_RULES[name] for name in names}


def greatest_with(before: int, timestamp: int) -> int:
    """The greatest timestamp on a link, as a data message carries it: its own timestamp counts."""
    return max(before, timestamp)


def judged_by(combined: int, own: int) -> int:
    """The record by which a receiver judges a message: that of its links, and not the one that came with the
    message.
    """
    return combined


def kept_record(held: int, told: int) -> int:
    """Loss record of a link: a maximum, so that a packet without a flag ends nothing."""
    return max(held, told)


RUN_RULES: dict[str, Callable[..., Any]] = {
    **rules("stamp", "data_barrier", "aggregate", "precedence"),
    **LOSS_RULES,
    "greatest_with": greatest_with,
    "judged_by": judged_by,
    "kept_record": kept_record,
}
"""The rules that a run under loss uses."""


LEAST_IS_RECORD = mutant(
    "least_is_record",
    "The literal record, the barrier minimum: a slow link ends the loss state before the lost message is back.",
    noticed_record=lambda least, largest, greatest: least,
)
LARGEST_IS_RECORD = mutant(
    "largest_of_losing_link_is_record",
    "The greatest barrier seen on the losing link: too small behind a switch, whose barriers are minima.",
    noticed_record=lambda least, largest, greatest: largest,
)
LARGEST_OR_ONE_IS_RECORD = mutant(
    "largest_of_losing_link_or_one_is_record",
    "The same, at least 1, so that it is not the silent sender alone that makes it too small.",
    noticed_record=lambda least, largest, greatest: max(largest, 1),
)
ONE_BELOW_GREATEST = mutant(
    "one_below_greatest_is_record",
    "A record one below what is greatest.",
    noticed_record=lambda least, largest, greatest: greatest - 1,
)
RECORD_NOT_PASSED = mutant(
    "record_is_not_passed_on",
    "A switch or receiver heeds its own gaps alone.",
    passed_record=lambda carried, least, largest, greatest: 0,
)
LEAST_OF_RECORDS = mutant("least_of_records", "The least record of the links.", aggregate_record=min)
BEACONS_WITHOUT_FLAG = mutant(
    "beacons_without_flag", "The literal formats: data alone carry the flag.", flag_on=lambda kind: kind == DATA
)
DATA_COUNTED_ALONE = mutant(
    "data_counted_alone",
    "A loss counter of data messages: a beacon raises the barrier and shows no gap.",
    counts=lambda kind: kind == DATA,
)
LAST_HOP_UNWATCHED = mutant("last_hop_unwatched", "Switches alone have loss counters.", last_hop_watched=lambda: False)
LARGEST_ACKNOWLEDGED = mutant(
    "largest_acknowledged",
    "The literal ack barrier, the greatest acknowledged timestamp: one receiver's acknowledgement passes what the "
    "other has lost.",
    ack_barrier=lambda outstanding, acknowledged, next_possible: acknowledged,
)
AT_OUTSTANDING = mutant(
    "at_outstanding",
    "The least outstanding timestamp itself, which at or below then covers.",
    ack_barrier=lambda outstanding, acknowledged, next_possible: (
        next_possible - 1 if outstanding is None else outstanding
    ),
)
MAX_OF_ACKS = mutant("max_of_acks", "The greatest ack barrier of the links.", aggregate_ack=max)
STATELESS_FLAG = mutant(
    "flag_of_the_message_alone",
    "The literal figure 22 and claim E1: each message's own flag chooses its bound.",
    judged_by=lambda combined, own: own,
)
BARRIER_ALONE = mutant(
    "barrier_alone",
    "Delivery below the barrier, as without loss.",
    deliverable_under_loss=lambda timestamp, barrier, ack, record: timestamp <= ack or timestamp < barrier,
)
GREATEST_EARLIER = mutant(
    "greatest_of_earlier_messages",
    "What is greatest without the message that tells it: a register of it forgets that very message.",
    greatest_with=lambda before, timestamp: before,
)
NEWEST_RECORD = mutant(
    "newest_record_kept", "A packet without a flag ends the loss state.", kept_record=lambda held, told: told
)
GAPS_UNHEEDED = mutant(
    "gaps_unheeded",
    "Only flags that hosts set count, and a host sets its flag after the loss, if ever.",
    noticed_record=lambda least, largest, greatest: 0,
)
LAST_ARRIVED = mutant("last_arrived", "Registers as without loss.", register_under_loss=lambda held, arrived: arrived)
