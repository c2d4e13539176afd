"""What the clauses of real messages share, at level pl and above it."""

from __future__ import annotations

from scatterproof.conformance.broadcast.oracles.whole import Event, Whole
from scatterproof.conformance.oracles.whole import before
from scatterproof.spec.broadcast.messages import Level
from scatterproof.spec.trace import Kind


def wrongly_delivered(whole: Whole) -> set[int]:
    """Deliveries of what the process does not have, or not so; repeated ones are another clause's."""
    broken: set[int] = set()
    for event in whole.of(Kind.DELIVERED):
        if event.position not in whole.repeated:
            had = whole.sighting(event.node, (event.sender, event.number), event)
            if had is None or had.digest != event.digest:
                broken.add(event.position)
    return broken


def wrongly_begun(whole: Whole) -> set[int]:
    """Beginnings that are not with the next messages handed over, and with their contents."""
    return {event.position for event in whole.of(Kind.BEGUN) if not _is_next(whole, event)}


def _is_next(whole: Whole, event: Event) -> bool:
    receiver = event.receiver if whole.level is Level.PL else None
    earlier = [other for other in before(whole.at(Kind.BEGUN, event.node), event.position) if other.is_run]
    numbers = [other.last for other in earlier if receiver in (None, other.receiver)]
    if receiver is not None and receiver not in whole.processes:
        return False
    handed = {
        other.number: other.digest
        for other in before(whole.at(Kind.SUBMITTED, event.node), event.position)
        if other.receiver == event.receiver
    }
    if not event.is_run or event.number != max(numbers, default=0) + 1:
        return False
    return all(handed.get(number) == event.digest for number in range(event.number, event.last + 1))
