"""What a trace must be so that anything can be said of it: submissions are the recorder's own rows, counted by it."""

from __future__ import annotations

from conformance.checks.step import HOLDS, SILENT, Ints, Outcome, PerNode, PerPair, State, check, violated
from spec.topology import Role
from spec.trace import Kind, Order

SENT = int(Kind.SENT)


@check(
    "PREMISE",
    kinds=(Kind.SUBMITTED, Kind.SENT),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "a submission at {node} names sender {sender} and receiver {receiver}; name node itself, and a host",
        "message number {found} was submitted where {expected} is the next of sender and receiver; count from 1",
        "scattering {found} was submitted where {expected} is the next of the node; count from 1, each in one go",
    ),
    submitted=PerPair(0),
    scatterings=PerNode(0),
    going_on=PerNode(0),
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
) -> Outcome:
    """A submission's messages are numbered per sender and receiver, scatterings per sender, both from 1 without gaps;
    the rows of a scattering are not mixed with others of its sender."""
    if kind == SENT:
        going_on[node] = 0
        return SILENT
    if sender != node or not 0 <= receiver < node_count or not (node_is_host[node] and node_is_host[receiver]):
        return violated(0, node, sender, -1)
    pair = node * node_count + receiver
    submitted[pair] += 1
    if number != submitted[pair]:
        return violated(1, submitted[pair], number, -1)
    if going_on[node] and scattering == scatterings[node]:
        return HOLDS
    scatterings[node] += 1
    going_on[node] = 1
    if scattering != scatterings[node]:
        return violated(2, scatterings[node], scattering, -1)
    return HOLDS


PREMISES = (submissions_are_counted,)
