"""What a trace must be so that anything can be said of it: submissions are the recorder's own rows, counted by it; and
the packets on links are those that were sent."""

from __future__ import annotations

from scatterproof.conformance.checks.kinds import SENT
from scatterproof.conformance.checks.premises import (
    EndsRecorded,
    Followed,
    Passage,
    follow,
    premise_of_packets,
    with_common,
)
from scatterproof.conformance.checks.step import HOLDS, SILENT, Ints, Outcome, PerNode, PerPair, State, check, violated
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.trace import Kind, Order

DATA = int(PacketKind.DATA)


@check(
    "PREMISE",
    kinds=(Kind.SUBMITTED, Kind.SENT),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "a submission at {node} names sender {sender} and receiver {receiver}; name node itself, and a host; have the "
        "harness record submissions",
        "message number {found} was submitted where {expected} is the next of sender and receiver; count from 1; "
        "have the harness record submissions",
        "scattering {found} was submitted where {expected} is the next of the node; count from 1, each in one "
        "go; have the harness record submissions",
        "scattering {found} was submitted with two messages for {receiver}; give each receiver one",
    ),
    submitted=PerPair(0),
    scatterings=PerNode(0),
    going_on=PerNode(0),
    last_for=PerPair(0),
)
def submissions_are_counted(
    kind: int,
    node: int,
    sender: int,
    receiver: int,
    number: int,
    scattering: int,
    node_count: int,
    node_is_host: Ints,
    submitted: State,
    scatterings: State,
    going_on: State,
    last_for: State,
) -> Outcome:
    """A submission's messages are numbered per sender and receiver, scatterings per sender, both from 1 without gaps;
    the rows of a scattering are not mixed with others of its sender, and no two are for one receiver.

    last_for: by sender and receiver, the last scattering with a message.
    """
    if kind == SENT:
        going_on[node] = 0
        return SILENT
    if sender != node or not 0 <= receiver < node_count or not (node_is_host[node] and node_is_host[receiver]):
        return violated(0, node, sender, -1)
    pair = node * node_count + receiver
    submitted[pair] += 1
    if number != submitted[pair]:
        return violated(1, submitted[pair], number, -1)
    repeated, last_for[pair] = scattering == last_for[pair], scattering
    if going_on[node] and scattering == scatterings[node]:
        return violated(3, 0, scattering, -1) if repeated else HOLDS
    scatterings[node] += 1
    going_on[node] = 1
    if scattering != scatterings[node]:
        return violated(2, scatterings[node], scattering, -1)
    return HOLDS


@premise_of_packets("totalorder")
def packets_arrive_as_sent(
    row: Passage, contents: tuple[int, ...], recorded: EndsRecorded, so_far: Followed
) -> Outcome:
    """Packets arrive as they were put on the link, in that order; data packets that were sent arrived or were lost."""
    return follow(row, contents, row.packet == DATA, True, recorded, so_far)


PREMISES = (submissions_are_counted, *with_common("totalorder", packets_arrive_as_sent))
