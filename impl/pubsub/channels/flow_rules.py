"""The rules of channels and flow, as small pure functions. Numbers count from 1.

Clauses: PS-FLOW, PS-RING, PS-PRIO, PS-SLOW, PS-QOS-CONF. TLA+: `ChannelFlow`, `MessageRing`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def is_on(was_on: bool, size: int, high: int, low: int) -> bool:
    """Whether flow control is on: from the high mark, until below the low one, and in between as it was (PS-FLOW)."""
    return size >= low if was_on else size >= high


def is_dropped(seen: int, one_in: int, full: bool, guaranteed: bool) -> bool:
    """Whether a message is dropped while flow control is on, the seen-th since then. full: nothing more fits
    (PS-FLOW)."""
    return not guaranteed and (full or seen % one_in == 0)


def conflates(new: int, old: int) -> bool:
    """Whether the message with the one number takes the place of the other, of one topic (PS-QOS-CONF)."""
    return new > old


def is_there(number: int, in_slot: int) -> bool:
    """Whether a reference to a message leads to it, the slot having that number now (PS-RING)."""
    return number == in_slot


def goes_first(again: bool, priority: int, other_again: bool, other_priority: int) -> bool:
    """Whether a channel is served strictly ahead of another one: what is asked for again first, then the highest
    priority, which is the lowest number (PS-PRIO)."""
    return (not again, priority) < (not other_again, other_priority)


def is_slow(behind: int, most: int) -> bool:
    """Whether a consumer that is this far behind leaves the shared channel (PS-SLOW)."""
    return behind > most


def is_back(taken: int, next_shared: int) -> bool:
    """Whether a consumer may come back to the shared channel: it has all that was put there (PS-SLOW)."""
    return taken + 1 == next_shared


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowRules:
    """What channels are handed: a mutant is another function."""

    is_on: Callable[[bool, int, int, int], bool] = is_on
    is_dropped: Callable[[int, int, bool, bool], bool] = is_dropped
    conflates: Callable[[int, int], bool] = conflates
    is_there: Callable[[int, int], bool] = is_there
    goes_first: Callable[[bool, int, bool, int], bool] = goes_first
    is_slow: Callable[[int, int], bool] = is_slow
    is_back: Callable[[int, int], bool] = is_back


FLOW_RULES = FlowRules()
