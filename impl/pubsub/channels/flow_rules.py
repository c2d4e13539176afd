"""The rules of channels and flow, as small pure functions. Numbers count from 1.

Clauses: PS-FLOW, PS-RING, PS-PRIO, PS-SLOW, PS-QOS-CONF. TLA+: `ChannelFlow`, `MessageRing`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def is_on(was_on: bool, size: int, high: int, low: int) -> bool:
    """Whether flow control is on: from the high mark, until below the low one, and in between as it was (PS-FLOW)."""
    return size >= low if was_on else size >= high


def is_dropped(seen: int, one_in: int) -> bool:
    """Whether a best-effort message is dropped while flow control is on, the seen-th since then (PS-FLOW)."""
    return seen % one_in == 0


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
    """Whether a consumer that this much is on its way to gets what is new on a channel of its own (PS-SLOW)."""
    return behind >= most


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowRules:
    """What channels are handed: a mutant is another function."""

    is_on: Callable[[bool, int, int, int], bool] = is_on
    is_dropped: Callable[[int, int], bool] = is_dropped
    conflates: Callable[[int, int], bool] = conflates
    is_there: Callable[[int, int], bool] = is_there
    goes_first: Callable[[bool, int, bool, int], bool] = goes_first
    is_slow: Callable[[int, int], bool] = is_slow


FLOW_RULES = FlowRules()
