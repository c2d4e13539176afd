"""What a trace must be so that it can be judged: calls return once, and packets arrive as they were sent."""

from __future__ import annotations

from scatterproof.conformance.checks.premises import (
    EndsRecorded,
    Followed,
    Passage,
    follow,
    premise_of_packets,
    with_common,
)
from scatterproof.conformance.checks.step import Outcome


@premise_of_packets("workqueue")
def packets_arrive_as_sent(
    row: Passage, contents: tuple[int, ...], recorded: EndsRecorded, so_far: Followed
) -> Outcome:
    """What arrives was put on the link. Clients give up, so nothing is in flight when a run is over."""
    return follow(row, contents, True, False, recorded, so_far)


PREMISES = with_common("workqueue", packets_arrive_as_sent)
