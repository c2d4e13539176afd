"""Whether one filter covers another one: whether it matches every topic that the other matches.

There is no end of topics, and a few tokens decide for all of them. Two filters see no more of a token than the longest
of their texts that it begins with, and whether it is that text. So these stand for all tokens: the texts, each of them
with a character behind it that none of them has, and such a character alone.

Clauses: PS-COVER. The claim `tokens_are_told_by_texts` of `models/pubsub` says why these tokens are enough.
"""

from __future__ import annotations

from collections import deque

from scatterproof.impl.pubsub.filters import Filter, Grammar, Topic
from scatterproof.impl.pubsub.match_rules import MATCH_RULES, MatchRules
from scatterproof.impl.pubsub.matching import passed, taken

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def covers(wide: Filter, narrow: Filter, grammar: Grammar, rules: MatchRules = MATCH_RULES) -> bool:
    """Whether `wide` matches all that `narrow` matches."""
    return uncovered(wide, narrow, grammar, rules) is None


def uncovered(wide: Filter, narrow: Filter, grammar: Grammar, rules: MatchRules = MATCH_RULES) -> Topic | None:
    """A shortest topic that `narrow` matches and `wide` does not; None where there is none."""
    tokens = told_apart(wide, narrow, grammar)
    begun = frozenset(passed(wide, {0}, rules)), frozenset(passed(narrow, {0}, rules))
    if grammar.empty_topics and len(narrow) in begun[1] and len(wide) not in begun[0]:
        return ()
    # What is seen behind the first token, where nothing is hidden any more, says all that matters of the topic so far.
    seen, left = set[tuple[frozenset[int], frozenset[int]]](), deque([(begun, Topic())])
    while left:
        (wide_places, narrow_places), topic = left.popleft()
        for token in tokens:
            after = (
                _after(wide, wide_places, token, grammar, topic, rules),
                _after(narrow, narrow_places, token, grammar, topic, rules),
            )
            # One empty token alone is no topic: written down, it is the one without any.
            if len(narrow) in after[1] and len(wide) not in after[0] and (topic or token):
                return (*topic, token)
            if after[1] and after not in seen:
                seen.add(after)
                left.append((after, (*topic, token)))
    return None


def told_apart(wide: Filter, narrow: Filter, grammar: Grammar) -> tuple[str, ...]:
    """Tokens that stand for all: none is like any other token to both filters that is not like one of these."""
    texts = sorted({"", grammar.mark, *(step.text for step in (*wide, *narrow))})
    used = set("".join(texts))
    other = next((letter for letter in _LETTERS if letter not in used), None) or chr(max(map(ord, used)) + 1)
    tokens = [*texts, *(text + other for text in texts)]
    return tuple(token for token in tokens if token or grammar.empty_tokens)


def _after(
    steps: Filter, places: frozenset[int], token: str, grammar: Grammar, topic: Topic, rules: MatchRules
) -> frozenset[int]:
    wild = bool(steps) and steps[0].is_wild
    if not topic and rules.is_hidden(token, grammar.mark, wild):
        return frozenset()
    return frozenset(taken(steps, places, token, rules))
