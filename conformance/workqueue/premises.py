"""What a trace must be so that anything can be said of it: calls that return once, and packets on links that are those
that were sent."""

from __future__ import annotations

from scatterproof.conformance.checks.premises import (
    EndsRecorded,
    Followed,
    Passage,
    compiled_apart,
    follow,
    premise_of_packets,
)
from scatterproof.conformance.checks.step import Outcome


@premise_of_packets("workqueue")
def packets_arrive_as_sent(
    row: Passage, contents: tuple[int, ...], recorded: EndsRecorded, so_far: Followed
) -> Outcome:
    """What arrives was put on the link. Clients give up, so that in a run that is over nothing is in flight."""
    return follow(row, contents, True, False, recorded, so_far)


PREMISES = compiled_apart("workqueue", packets_arrive_as_sent)
