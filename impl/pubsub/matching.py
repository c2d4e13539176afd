"""Whether a filter matches a topic, one filter at a time: the plain form that the tree is held to.

Clauses: PS-MATCH, PS-GRAMMAR.
"""

from __future__ import annotations

from collections.abc import Iterable

from scatterproof.impl.pubsub.filters import Filter, Topic
from scatterproof.impl.pubsub.match_rules import MATCH_RULES, MatchRules


def matches(steps: Filter, topic: Topic, mark: str = "", rules: MatchRules = MATCH_RULES) -> bool:
    """mark: of the grammar."""
    if topic and rules.is_hidden(topic[0], mark, bool(steps) and steps[0].is_wild):
        return False
    places = passed(steps, {0}, rules)
    for token in topic:
        places = taken(steps, places, token, rules)
    return len(steps) in places


def passed(steps: Filter, places: Iterable[int], rules: MatchRules) -> set[int]:
    """These places and those behind them that need no token. A place is how many steps are done."""
    found = set(places)
    for place in range(len(steps)):
        if place in found and rules.may_pass(steps[place].count):
            found.add(place + 1)
    return found


def taken(steps: Filter, places: Iterable[int], token: str, rules: MatchRules) -> set[int]:
    """Where a token leads from these places."""
    ahead = [place for place in places if place < len(steps)]
    fit = [place for place in ahead if rules.fits(token, steps[place].text, steps[place].whole)]
    return passed(steps, (place if rules.may_stay(steps[place].count) else place + 1 for place in fit), rules)
