"""Checks of what a receiver does: TO-DELIVER. Operators of the same names in CamelCase: BarrierOrder.tla."""

from __future__ import annotations

from numba.extending import register_jitable

from conformance.checks.step import HOLDS, SILENT, Ints, Outcome, PerLink, State, check, violated
from spec.totalorder.messages import NO_BARRIER, NOT_SPOKEN
from spec.trace import Kind, Order

ARRIVED, DELIVERED = int(Kind.ARRIVED), int(Kind.DELIVERED)


@register_jitable
def lowest_barrier(newest: Ints, links: Ints, first: int, last: int) -> int:
    """The least of `newest` over links[first:last], at least one: a link that has not spoken holds it at NOT_SPOKEN."""
    lowest = newest[links[first]]
    for at in range(first, last):
        lowest = min(lowest, newest[links[at]])
    return lowest


@check(
    "TO-DELIVER",
    kinds=(Kind.ARRIVED, Kind.DELIVERED),
    order=Order.NODE,
    ways=("node {node} delivered timestamp {found}, which is not strictly below its barrier {expected}",),
    newest=PerLink(NOT_SPOKEN),
    newest_at=PerLink(-1),
)
def deliver_below_barrier(
    position: int,
    kind: int,
    node: int,
    link: int,
    timestamp: int,
    barrier: int,
    ingress_first: Ints,
    ingress_links: Ints,
    newest: State,
    newest_at: State,
) -> Outcome:
    """A receiver delivers only what is strictly below the least newest barrier of its ingress links."""
    if kind == ARRIVED:
        if barrier != NO_BARRIER:
            newest[link] = barrier
            newest_at[link] = position
        return SILENT
    first, last = ingress_first[node], ingress_first[node + 1]
    if first == last:
        return violated(0, NOT_SPOKEN, timestamp, -1)
    bound = lowest_barrier(newest, ingress_links, first, last)
    if timestamp < bound:
        return HOLDS
    witness = -1
    for at in range(first, last):
        if newest[ingress_links[at]] == bound:
            witness = max(witness, newest_at[ingress_links[at]])
    return violated(0, bound, timestamp, witness)


CHECKS = (deliver_below_barrier,)
