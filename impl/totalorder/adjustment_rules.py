"""The rules of timestamp adjustment, each as one pure function, so that a literal rule or a mutant is another function.

Times in ns; those of one host are read from its local clock. TO-ADJ-1, TO-ADJ-2, TO-ADJ-SAFE.
"""

from __future__ import annotations

from collections.abc import Sequence


def measured_over(same_host: bool) -> bool:
    """Whether a host takes part in its own round with this other one: not with itself, which is no distance away."""
    return not same_host


def first_timestamp(local: int, in_force: int) -> int:
    """Timestamp of message 1: the local clock, without the adjustment in force, or rounds would add up."""
    return local


def base_of(arrivals: Sequence[int]) -> int:
    """The arrival of message 1 to which a receiver aligns the others: the latest."""
    return max(arrivals)


def aligned(first: int, arrival: int, base: int) -> int:
    """What a sender would have put on message 1 so that it arrives with the one at `base`."""
    return first + (base - arrival)


def returned_of(timestamps: Sequence[int]) -> int:
    """Timestamp of message 2, from the aligned ones."""
    return max(timestamps)


def round_trip(sent: int, local: int, held: int) -> int:
    """How long both messages were on their way: from sending the first to the arrival of the second at `local`, without
    the time for which the receiver held the first."""
    return local - sent - held


def difference(returned: int, round_trip_time: int, local: int) -> int:
    """How far the sender lags behind the one that is nearest to this receiver."""
    return returned + round_trip_time - local


def adjustment_of(differences: Sequence[int]) -> int:
    """What a round measures, from the differences of all receivers: the least."""
    return min(differences)


def in_force_next(in_force: int, measured: int) -> int:
    """The adjustment after a round: what it measured, in place of the one before."""
    return measured


def beacon_reading(local: int, adjusted: int) -> int:
    """The clock that beacons are taken from (TO-ADJ-SAFE): the adjusted one, as timestamps are."""
    return adjusted


def adjusted_beacon(reading: int, last: int, promised: int) -> int:
    """Barrier of a beacon where the clock that it is taken from may fall (TO-ADJ-SAFE): never below a timestamp given,
    or a promise made."""
    return max(reading, last, promised)
