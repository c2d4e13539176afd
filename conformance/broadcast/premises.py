"""What a trace must be so that anything can be said of it: submissions are the recorder's own rows, counted by it."""

from __future__ import annotations

from conformance.broadcast.parameters import PL
from conformance.checks.step import HOLDS, Outcome, PerNode, PerPair, State, check, violated
from spec.schedule import EVERYBODY
from spec.topology import Role
from spec.trace import Kind, Order


@check(
    "PREMISE",
    kinds=(Kind.SUBMITTED,),
    at=Role.HOST,
    order=Order.NODE,
    ways=(
        "a submission at {node} names sender {sender} and receiver {receiver}; name node itself, and another process "
        "at level pl, -1 for everybody above it",
        "message number {found} was submitted where {expected} is the next of sender and receiver; count from 1",
    ),
    for_one=PerPair(0),
    for_all=PerNode(0),
)
def submissions_are_counted(
    node: int, sender: int, receiver: int, number: int, level: int, node_count: int, for_one: State, for_all: State
) -> Outcome:
    """Messages are numbered per sender and receiver, from 1 without gaps."""
    if level == PL:
        if sender != node or not 0 <= receiver < node_count or receiver == node:
            return violated(0, node, sender, -1)
        pair = node * node_count + receiver
        for_one[pair] += 1
        expected = for_one[pair]
    else:
        if sender != node or receiver != EVERYBODY:
            return violated(0, node, sender, -1)
        for_all[node] += 1
        expected = for_all[node]
    return HOLDS if number == expected else violated(1, expected, number, -1)


PREMISES = (submissions_are_counted,)
