"""The rules of publish and subscribe: what the clauses argue about, as small pure functions.

Operations, serials and numbers count from 1. How filters match is in `match_rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scatterproof.spec.pubsub.messages import Packet


def is_new(operation: int, last: int) -> bool:
    """Whether a request is carried out, `last` being its client's last call that was."""
    return operation > last


def is_next(serial: int, taken: int) -> bool:
    """Whether what came on a link with this serial is taken, `taken` being the last that was (PS-ROUTE, PS-ORDER)."""
    return serial == taken + 1


def is_late(number: int, last: int) -> bool:
    """Whether a best-effort message is dropped, `last` being the last of its publisher and topic that came (PS-ORDER,
    PS-QOS-LEVEL)."""
    return number <= last


def is_guaranteed(level: int) -> bool:
    """Whether a message of this level is sent until it is acknowledged (PS-QOS-LEVEL)."""
    return level > 0


def delivered_level(published: int, subscribed: int) -> int:
    """The level at which a message is delivered (PS-QOS-LEVEL)."""
    return min(published, subscribed)


def level_of_all(levels: Sequence[int]) -> int:
    """The level of a subscriber of which several subscriptions match, of theirs (PS-ROUTE, PS-QOS-LEVEL)."""
    return max(levels)


def is_passed_on(neighbour: int, source: int) -> bool:
    """Whether a message from `source` goes to a neighbour that wants it (PS-ROUTE)."""
    return neighbour != source


def is_first(number: int, passed: int) -> bool:
    """Whether what comes is passed on where messages take all paths at once, `passed` being the last of its publisher
    and topic that was: copies of what was published earlier come earlier on each path (PS-MULTIPATH)."""
    return number > passed


def sent_again(unheard: tuple[Packet, ...]) -> tuple[Packet, ...]:
    """What is sent again where the way to a neighbour changes, of what it has not acknowledged (PS-NEIGHBOUR)."""
    return unheard


def counts_as_covered(contained: bool, part: bool) -> bool:
    """Whether a filter covers another one. contained: it matches all that the other does. part: the other's text is a
    part of its own (PS-COVER)."""
    return contained


def is_told(fresh: bool, uncovered: bool) -> bool:
    """Whether a neighbour is told of a filter that no other one covers and that it was not told of. fresh: it is newly
    wanted. uncovered: it was wanted before, and what covered it is not any more (PS-COVER)."""
    return fresh or uncovered


def stays_home(covered: bool, covers: bool, came_first: bool) -> bool:
    """Whether a filter is not propagated where another one is wanted. covered: by that one. covers: it covers that one.
    came_first: ahead of it (PS-COVER)."""
    return covered and not (covers and came_first)


def is_known(unheard: int) -> bool:
    """Whether all beyond a neighbour know of a filter, of which this many wants were not answered (PS-ROUTE)."""
    return unheard == 0


def in_order(wants: tuple[Packet, ...], drops: tuple[Packet, ...]) -> tuple[Packet, ...]:
    """What is sent of a change, in its order (PS-COVER)."""
    return wants + drops


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What nodes are handed: a literal rule or a mutant is another function."""

    is_new: Callable[[int, int], bool] = is_new
    is_next: Callable[[int, int], bool] = is_next
    is_late: Callable[[int, int], bool] = is_late
    is_guaranteed: Callable[[int], bool] = is_guaranteed
    delivered_level: Callable[[int, int], int] = delivered_level
    level_of_all: Callable[[Sequence[int]], int] = level_of_all
    is_passed_on: Callable[[Any, Any], bool] = is_passed_on
    is_first: Callable[[int, int], bool] = is_first
    sent_again: Callable[[tuple[Packet, ...]], tuple[Packet, ...]] = sent_again
    counts_as_covered: Callable[[bool, bool], bool] = counts_as_covered
    is_told: Callable[[bool, bool], bool] = is_told
    stays_home: Callable[[bool, bool, bool], bool] = stays_home
    is_known: Callable[[int], bool] = is_known
    in_order: Callable[[tuple[Packet, ...], tuple[Packet, ...]], tuple[Packet, ...]] = in_order


RULES = Rules()
