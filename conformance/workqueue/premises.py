"""What a trace must be so that it can be judged: calls are those of a queue with leases, or of one without; they return
once; and packets arrive as they were sent."""

from __future__ import annotations

from scatterproof.conformance.checks.premises import (
    EndsRecorded,
    Followed,
    Passage,
    follow,
    premise_of_packets,
    with_common,
)
from scatterproof.conformance.checks.step import HOLDS, Outcome, check, violated
from scatterproof.conformance.workqueue.lease_records import PUT
from scatterproof.spec.trace import Kind, Order


@premise_of_packets("workqueue")
def packets_arrive_as_sent(
    row: Passage, contents: tuple[int, ...], recorded: EndsRecorded, so_far: Followed
) -> Outcome:
    """What arrives was put on the link. Clients give up, so nothing is in flight when a run is over."""
    return follow(row, contents, True, False, recorded, so_far)


@check(
    "PREMISE",
    kinds=(Kind.CALLED,),
    order=Order.NODE,
    ways=(
        "{node} makes call {found}, which the queue has only with leases; give parameter leased = 1",
        "{node} makes call {found}, which the queue has only without leases; give parameter leased = 0",
    ),
)
def calls_are_of_the_queue(call: int, leased: int) -> Outcome:
    """Calls from put_message on are those of a queue with leases, and the others of one without."""
    if (call >= PUT) == (leased == 1):
        return HOLDS
    return violated(int(leased == 1), -1, call, -1)


PREMISES = with_common("workqueue", packets_arrive_as_sent, calls_are_of_the_queue)
