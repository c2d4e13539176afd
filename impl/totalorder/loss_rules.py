"""The rules of environment D, each as one pure function, so that a literal rule or a mutant is another function.

Times, barriers and loss records are ns, and at least 1 once something was said: 0 stands for a link that has not
spoken, and for one that lost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

# One to choose, not to reckon with.
Record: TypeAlias = int


def register_under_loss(held: int, arrived: int) -> int:
    """Newest barrier of an ingress link under loss (TO-RETX-BAR): never below what was held."""
    return max(held, arrived)


def register_ack(held: int, arrived: int) -> int:
    """Newest ack barrier of an ingress link (TO-ACK-MIN)."""
    return max(held, arrived)


def aggregate_ack(acks: Sequence[int]) -> int:
    """Ack barrier of an egress link, and of a receiver (TO-ACK-MIN): the least of those counted."""
    return min(acks)


def aggregate_record(records: Sequence[int]) -> int:
    """Loss record of an egress link, and of a receiver (TO-SWLOSS): the greatest of those counted."""
    return max(records)


def greatest_with(before: int, timestamp: int) -> int:
    """What is greatest on a link once a data message is put on it: the message itself counts."""
    return max(before, timestamp)


def noticed_record(least: int, largest: int, greatest: int) -> int:
    """Loss record of a gap (TO-SWLOSS, TO-FLAG-SW), of the packet behind it what is `greatest`. least: the least
    barrier of the node's links. largest: the greatest barrier seen on the losing link."""
    return greatest


def passed_record(carried: int, least: int, largest: int, greatest: int) -> int:
    """Loss record of a link over which a packet has carried one (TO-SWLOSS, TO-FLAG-RX)."""
    return carried


def ack_barrier(outstanding: int | None, acknowledged: int, next_possible: int) -> int:
    """A host's ack barrier (TO-ACK-INIT, TO-ACK-IDLE). outstanding: the least timestamp that is not acknowledged by
    all its receivers, None for none. acknowledged: the greatest that some receiver did. next_possible: the least that
    the host could still give."""
    return next_possible - 1 if outstanding is None else outstanding - 1


def resent_barrier(timestamp: int, current: int) -> int:
    """Barrier of a resent message (TO-RETX-BAR): that of a beacon sent now."""
    return current


def judged_by(combined: Record, own: Record) -> Record:
    """The loss record by which a receiver judges a message (TO-FLAG-RX): that of its links, not the message's own. It
    is one of the two, and no other."""
    return combined


def deliverable_under_loss(timestamp: int, barrier: int, ack: int, record: int) -> bool:
    """Whether a buffered message may be delivered (TO-DELIVER, TO-FLAG-RX): at or below the ack barrier, or outside of
    the loss state and strictly below the barrier."""
    return timestamp <= ack or (record <= ack and timestamp < barrier)


def flag_on(kind: int) -> bool:
    """Whether packets of this kind carry the loss record (TO-FLAG-BEACON)."""
    return True


def counts(kind: int) -> bool:
    """Whether a link's loss counter spans packets of this kind (TO-LOSSCTR)."""
    return True


def last_hop_watched() -> bool:
    """Whether receivers watch the loss counters of their links (TO-LASTHOP)."""
    return True
