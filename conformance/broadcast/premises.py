"""What a trace must be so that anything can be said of it: submissions are the recorder's own rows, counted by it; and
the packets on links are those that were sent."""

from __future__ import annotations

from scatterproof.conformance.broadcast.parameters import PL
from scatterproof.conformance.broadcast.recording import RESENT
from scatterproof.conformance.broadcast.rows import DATA
from scatterproof.conformance.checks.premises import (
    EndsRecorded,
    Followed,
    Passage,
    follow,
    premise_of_packets,
    with_common,
)
from scatterproof.conformance.checks.step import HOLDS, Outcome, PerPair, State, check, violated
from scatterproof.spec.schedule import EVERYBODY
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import Kind, Order


@check(
    "PREMISE",
    kinds=(Kind.SUBMITTED,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "a submission at {node} names sender {sender} and receiver {receiver}; name node itself, and another process "
        "at level pl, -1 for everybody above it; have the harness record submissions",
        "message number {found} was submitted where {expected} is the next of sender and receiver; count from 1; "
        "have the harness record submissions",
    ),
    counted=PerPair(0),
)
def submissions_are_counted(
    node: int, sender: int, receiver: int, number: int, level: int, node_count: int, counted: State
) -> Outcome:
    """Messages are numbered per sender and receiver, from 1 without gaps."""
    apt = 0 <= receiver < node_count and receiver != node if level == PL else receiver == EVERYBODY
    if sender != node or not apt:
        return violated(0, node, sender)
    pair = node * node_count + max(receiver, 0)
    counted[pair] += 1
    return HOLDS if number == counted[pair] else violated(1, counted[pair], number)


@premise_of_packets("broadcast")
def packets_arrive_as_sent(
    row: Passage, contents: tuple[int, ...], recorded: EndsRecorded, so_far: Followed
) -> Outcome:
    """Packets arrive as they were put on the link; data sent for the first time arrived, or were lost. Packets sent
    again do not keep a run from being over: to a process that has crashed they are sent for ever."""
    return follow(row, contents, row.packet == DATA and row.flags & RESENT == 0, False, recorded, so_far)


PREMISES = (submissions_are_counted, *with_common("broadcast", packets_arrive_as_sent))
