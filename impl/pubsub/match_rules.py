"""The rules of matching, as small pure functions: what one step of a filter does with one token of a topic.

Clauses: PS-MATCH, PS-GRAMMAR, PS-TRIE. TLA+: none; the claims of `models/pubsub` have them over integers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum


class Count(IntEnum):
    """How many tokens a step stands for."""

    ONE = 1
    UP_TO_ONE = 2
    MANY = 3  # any number, none included


def fits(token: str, text: str, whole: bool) -> bool:
    """Whether a step takes a token: `text` itself, or what begins with it (PS-MATCH)."""
    return token == text if whole else token.startswith(text)


def may_pass(count: Count) -> bool:
    """Whether a step may stand for no token (PS-MATCH)."""
    return count != Count.ONE


def may_stay(count: Count) -> bool:
    """Whether a step that has taken a token may take one more (PS-MATCH)."""
    return count == Count.MANY


def is_hidden(token: str, mark: str, wild: bool) -> bool:
    """Whether a topic is kept from a filter by its first token, which begins with the grammar's mark; an empty mark
    marks nothing. wild: the filter begins with a wildcard (PS-GRAMMAR)."""
    return wild and mark != "" and token.startswith(mark)


def beginnings(token: str) -> tuple[str, ...]:
    """The texts that a token begins with, from the empty one to itself: a step that takes what begins with a text is
    found under one of them, however many steps there are (PS-TRIE)."""
    return tuple(token[:length] for length in range(len(token) + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRules:
    """What matching is handed: a mutant is another function."""

    fits: Callable[[str, str, bool], bool] = fits
    may_pass: Callable[[Count], bool] = may_pass
    may_stay: Callable[[Count], bool] = may_stay
    is_hidden: Callable[[str, str, bool], bool] = is_hidden
    beginnings: Callable[[str], tuple[str, ...]] = beginnings


MATCH_RULES = MatchRules()
