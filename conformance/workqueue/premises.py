"""What a trace must be so that anything can be said of it: calls that return once, and packets on links that are those
that were sent."""

from __future__ import annotations

from scatterproof.conformance.checks.premises import compiled_apart, follow, packet_fields, packet_ways
from scatterproof.conformance.checks.step import Ints, Outcome, PerLink, State, Table, TableState, check
from scatterproof.spec.trace import Kind, Order, schema

CONTENTS = schema("workqueue").columns[schema("workqueue").index("sender") :]


@check(
    "PREMISE",
    kinds=(Kind.SENT, Kind.ARRIVED, Kind.LOST, Kind.ENDED),
    order=Order.LINK,
    despite_gaps=True,
    ways=packet_ways(CONTENTS),
    sent=PerLink(0),
    latest=PerLink(-1),
    missing=PerLink(0),
    on_link=Table(2, packet_fields(CONTENTS)),
)
def packets_arrive_as_sent(
    position: int,
    kind: int,
    link: int,
    link_seq: int,
    sender: int,
    receiver: int,
    number: int,
    digest: int,
    flags: int,
    call: int,
    operation: int,
    outcome: int,
    packet: int,
    group: int,
    message: int,
    token: int,
    type: int,
    priority: int,
    correlation: int,
    server: int,
    retries: int,
    removed: int,
    released: int,
    senders_before: int,
    receivers_before: int,
    receipt: int,
    dedup: int,
    most: int,
    newest: int,
    lease_ns: int,
    link_count: int,
    both_ends_recorded: Ints,
    losses_recorded: Ints,
    sent: State,
    latest: State,
    missing: State,
    on_link: TableState,
) -> Outcome:
    """What arrives was put on the link. Clients give up, so that in a run that is over nothing is in flight."""
    about = (group, message, token, type, priority, correlation, server, retries, removed, released)
    limits = (senders_before, receivers_before, receipt, dedup, most, newest, lease_ns)
    contents = (sender, receiver, number, digest, flags, call, operation, outcome, packet, *about, *limits)
    return follow(
        position,
        kind,
        link,
        link_seq,
        flags,
        contents,
        True,
        False,
        link_count,
        both_ends_recorded,
        losses_recorded,
        sent,
        latest,
        missing,
        on_link,
    )


PREMISES = compiled_apart("workqueue", packets_arrive_as_sent)
