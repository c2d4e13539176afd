"""Checks of the barriers on links: TO-BAR-MIN, TO-BAR-PART, TO-BAR-LINK, TO-BAR-RISE. Operators of the same names in
CamelCase: BarrierClauses.tla.

A switch's barrier equals the minimum over the ingress links that reach the egress link. Any other value breaks exactly
one of two clauses: TO-BAR-PART when it is below that minimum, but waiting for the switch's other ingress links explains
it; TO-BAR-MIN when nothing explains it.
"""

from __future__ import annotations

from scatterproof.conformance.checks.step import HOLDS, SILENT, Ints, Outcome, PerLink, PerNode, State, check, violated
from scatterproof.conformance.totalorder.ingress_barriers import (
    UNKEPT,
    kept_lowest,
    lowest_at,
    lowest_barrier,
    newest_barriers,
)
from scatterproof.conformance.totalorder.packets import is_resent
from scatterproof.conformance.totalorder.rows import Net, NewestBarriers, Row, SilentLinks
from scatterproof.conformance.totalorder.silent_links import live_lowest, silences
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NO_BARRIER, NOT_SPOKEN, PacketKind
from scatterproof.spec.trace import Kind, Order

DATA = int(PacketKind.DATA)


@check(
    "TO-BAR-MIN",
    kinds=(Kind.SENT,),
    at=Role.SWITCH,
    order=Order.NODE,
    ways=(
        "node {node} sent barrier {found} on link {link}, above {expected}, the least of the links that reach it",
        "node {node} sent barrier {found} on link {link}, below {expected}, the least of all its ingress links",
    ),
    derived=(newest_barriers, silences),
    kept_at=PerLink(UNKEPT),
    kept_link=PerLink(0),
)
def switch_barrier_is_minimum(
    row: Row, net: Net, barriers: NewestBarriers, silent: SilentLinks, kept_at: State, kept_link: State
) -> Outcome:
    """A switch's barrier is at or below the minimum over the ingress links that reach the egress link. It is at or
    above the minimum over all its ingress links, unless switches may be late. Where failures are handled, links that
    the switch may have given up need not count, or may count as they did then."""
    first, last = net.feeds_first[row.link], net.feeds_first[row.link + 1]
    if row.barrier == NO_BARRIER or first == last:
        return SILENT
    if net.failure_timeout_ns:
        bound = live_lowest(barriers.newest, silent.live, net.feeds_links, first, last)
        if bound != NO_BARRIER and row.barrier > bound:
            return violated(
                0,
                bound,
                row.barrier,
                lowest_at(barriers.newest, barriers.newest_at, net.feeds_links, first, last, bound),
            )
        first, last = net.ingress_first[row.node], net.ingress_first[row.node + 1]
        least = lowest_barrier(silent.low_barrier, net.ingress_links, first, last)
        if row.barrier < least:
            return violated(
                1,
                least,
                row.barrier,
                lowest_at(barriers.newest, barriers.newest_at, net.ingress_links, first, last, least),
            )
        return SILENT if bound == NO_BARRIER else HOLDS
    minimum = kept_lowest(
        barriers.newest, barriers.newest_at, net.feeds_links, first, last, kept_at, kept_link, net.feeds_group[row.link]
    )
    if row.barrier == minimum:
        return HOLDS
    if row.barrier > minimum:
        return violated(
            0,
            minimum,
            row.barrier,
            lowest_at(barriers.newest, barriers.newest_at, net.feeds_links, first, last, minimum),
        )
    if net.late:
        return HOLDS
    first, last = net.ingress_first[row.node], net.ingress_first[row.node + 1]
    least = lowest_barrier(barriers.newest, net.ingress_links, first, last)
    if row.barrier < least:
        return violated(
            1, least, row.barrier, lowest_at(barriers.newest, barriers.newest_at, net.ingress_links, first, last, least)
        )
    return SILENT


@check(
    "TO-BAR-PART",
    kinds=(Kind.SENT,),
    at=Role.SWITCH,
    order=Order.NODE,
    ways=(
        "node {node} sent barrier {found} on link {link}: it waited for ingress links that do not reach it; those that "
        "do give {expected}",
    ),
    derived=(newest_barriers, silences),
    kept_at=PerLink(UNKEPT),
    kept_link=PerLink(0),
    least_at=PerNode(UNKEPT),
    least_link=PerNode(0),
)
def only_reaching_links_count(
    row: Row,
    net: Net,
    barriers: NewestBarriers,
    low_barrier: Ints,
    kept_at: State,
    kept_link: State,
    least_at: State,
    least_link: State,
) -> Outcome:
    """An ingress link that cannot reach the egress link never holds the barrier there down. At stake when one of them
    is below all that can. A link that may have been given up may hold the barrier down where it was then (TO-FAIL)."""
    first, last = net.feeds_first[row.link], net.feeds_first[row.link + 1]
    all_first, all_last = net.ingress_first[row.node], net.ingress_first[row.node + 1]
    if first == last:
        return SILENT
    if net.failure_timeout_ns:
        minimum = lowest_barrier(low_barrier, net.feeds_links, first, last)
        least = lowest_barrier(low_barrier, net.ingress_links, all_first, all_last)
    else:
        minimum = kept_lowest(
            barriers.newest,
            barriers.newest_at,
            net.feeds_links,
            first,
            last,
            kept_at,
            kept_link,
            net.feeds_group[row.link],
        )
        least = kept_lowest(
            barriers.newest, barriers.newest_at, net.ingress_links, all_first, all_last, least_at, least_link, row.node
        )
    if least >= minimum or row.barrier < least:
        return SILENT
    if row.barrier >= minimum:
        return HOLDS
    return violated(
        0, minimum, row.barrier, lowest_at(barriers.newest, barriers.newest_at, net.feeds_links, first, last, minimum)
    )


@check(
    "TO-BAR-LINK",
    kinds=(Kind.SENT,),
    order=Order.NODE,
    ways=("a data message of timestamp {found} left on link {link} after barrier {expected}",),
    highest=PerLink(NOT_SPOKEN),
    highest_at=PerLink(-1),
)
def barrier_promise_holds(row: Row, net: Net, highest: State, highest_at: State) -> Outcome:
    """After a barrier, no data message strictly below it leaves on that link for the first time. Where links lose
    nothing, no message is sent again, whatever a packet says. A message's own barrier does not count as earlier."""
    outcome = SILENT
    if row.packet == DATA and highest_at[row.link] >= 0 and not (net.loses and is_resent(row.flags)):
        outcome = HOLDS
        if row.timestamp < highest[row.link]:
            outcome = violated(0, highest[row.link], row.timestamp, highest_at[row.link])
    if row.barrier != NO_BARRIER and (highest_at[row.link] < 0 or row.barrier > highest[row.link]):
        highest[row.link], highest_at[row.link] = row.barrier, row.position
    return outcome


@check(
    "TO-BAR-RISE",
    kinds=(Kind.SENT,),
    order=Order.NODE,
    ways=("barrier {found} left on link {link} after barrier {expected}",),
    highest=PerLink(NOT_SPOKEN),
    highest_at=PerLink(-1),
)
def barriers_never_fall(row: Row, highest: State, highest_at: State) -> Outcome:
    """No barrier sent on a link is below one sent on it earlier. At stake from the second one on."""
    if row.barrier == NO_BARRIER:
        return SILENT
    if highest_at[row.link] < 0:
        highest[row.link], highest_at[row.link] = row.barrier, row.position
        return SILENT
    if row.barrier < highest[row.link]:
        return violated(0, highest[row.link], row.barrier, highest_at[row.link])
    if row.barrier > highest[row.link]:
        highest[row.link], highest_at[row.link] = row.barrier, row.position
    return HOLDS
