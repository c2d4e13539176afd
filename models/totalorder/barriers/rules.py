"""The corrected rules of total order as the Z3 claims read them: plain Python, run on terms by
`scatterproof.models.symbolic.lift`.

They are stated here a second time on purpose: the models do not import the reference implementation. Any function of
the same name and shape can be handed to a claim in their place. All numbers are nanoseconds; 0 is the barrier of a
link that has not spoken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def stamp(clock: int, last: int, promised: int) -> int:
    """Timestamp of the next scattering (TO-MONO, TO-BAR-HOST)."""
    return max(clock, last + 1, promised)


def data_barrier(timestamp: int) -> int:
    """Barrier that a host puts on its data messages in environments A and C (TO-BAR-HOST)."""
    return timestamp


def beacon_barrier(clock: int, last: int) -> int:
    """Barrier that a host puts on a beacon (TO-BAR-HOST)."""
    return max(clock, last)


def register(held: int, arrived: int) -> int:
    """Newest barrier of an ingress link; falling ones are refused before (TO-BAR-MIN)."""
    return arrived


def aggregate(barriers: Sequence[int]) -> int:
    """Barrier of an egress link, from the newest barriers of the counted ingress links (TO-BAR-MIN)."""
    return min(barriers)


def counted(reaching: tuple[int, ...], ingress: tuple[int, ...]) -> tuple[int, ...]:
    """The ingress links that an egress link's barrier covers: those from which data can reach it (TO-BAR-PART)."""
    return reaching


def deliverable(timestamp: int, barrier: int) -> bool:
    """TO-DELIVER: strictly below."""
    return timestamp < barrier


def precedence(timestamp: int, sender: int) -> tuple[int, ...]:
    """Sort key of TO-ORDER."""
    return (timestamp, sender)


def beacon_due(clock: int, last_carried: int, interval: int) -> bool:
    """Whether a beacon may leave a link: no data message carried a barrier over it for the interval (TO-ENV-C)."""
    return clock - last_carried >= interval


RULES: dict[str, Callable[..., Any]] = {
    rule.__name__: rule
    for rule in (stamp, data_barrier, beacon_barrier, register, aggregate, counted, deliverable, precedence, beacon_due)
}


def rules(*names: str) -> dict[str, Callable[..., Any]]:
    """The corrected rules of these names."""
    return {name: RULES[name] for name in names}
