"""What the checks of switches and receivers share: the newest barriers of ingress links, and their minimum."""

from __future__ import annotations

from numba.extending import register_jitable

from conformance.checks.step import Ints, PerLink, State, derive
from spec.totalorder.messages import NO_BARRIER, NOT_SPOKEN
from spec.trace import Kind


@derive(kinds=(Kind.ARRIVED,), newest=PerLink(NOT_SPOKEN), newest_at=PerLink(-1))
def newest_barriers(position: int, link: int, barrier: int, newest: State, newest_at: State) -> None:
    """The newest barrier to have arrived from each link, and where. One that falls breaks TO-BAR-RISE where it was
    sent, and is refused: it holds nothing down here, so that one fault is not charged to everyone behind it."""
    if barrier != NO_BARRIER and barrier > newest[link]:
        newest[link] = barrier
        newest_at[link] = position


@register_jitable
def lowest_barrier(newest: Ints, links: Ints, first: int, last: int) -> int:
    """The least of `newest` over links[first:last], at least one: a link that has not spoken holds it at NOT_SPOKEN."""
    lowest = newest[links[first]]
    for at in range(first + 1, last):
        lowest = min(lowest, newest[links[at]])
    return lowest


@register_jitable
def lowest_at(newest: Ints, newest_at: Ints, links: Ints, first: int, last: int, lowest: int) -> int:
    """The latest position at which one of links[first:last] got the barrier `lowest`; -1 when it has not spoken."""
    found = -1
    for at in range(first, last):
        if newest[links[at]] == lowest:
            found = max(found, newest_at[links[at]])
    return found


@register_jitable
def kept_lowest(newest: Ints, links: Ints, first: int, last: int, kept: State, kept_link: State, place: int) -> int:
    """The same as `lowest_barrier`, kept at `place` with a link that has it. Newest barriers never fall, so it is the
    least until that link's rises: a switch with many links need not look at all of them for every packet."""
    if kept[place] == newest[kept_link[place]]:
        return kept[place]
    lowest = newest[links[first]]
    lowest_link = links[first]
    for at in range(first + 1, last):
        if newest[links[at]] < lowest:
            lowest = newest[links[at]]
            lowest_link = links[at]
    kept[place] = lowest
    kept_link[place] = lowest_link
    return lowest
