"""Which wants a neighbour is told, kept up to date change by change (PS-COVER).

`spreading` computes the same from all wants at every change; here a change looks only at the filters that may cover the
changed one, or be covered by it.

Clauses: PS-COVER, PS-ROUTE. TLA+: `Kept`, `InOrder`, `Missing`.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from scatterproof.impl.pubsub.covering import covers
from scatterproof.impl.pubsub.filters import Filter, Topic
from scatterproof.impl.pubsub.match_rules import Count
from scatterproof.impl.pubsub.rules import RULES, Rules
from scatterproof.impl.pubsub.running.messages import Dropped, Want, Wanted
from scatterproof.impl.pubsub.topic_tree import TopicIndex, TopicTree
from scatterproof.impl.pubsub.translation.names import NATIVE

_OTHER = "\0"  # in no filter: a token that ends with it equals no token of a filter


@lru_cache(1 << 14)
def _steps(filter_: str) -> Filter:
    return NATIVE.filter(filter_)


@lru_cache(1 << 16)
def _contains(wide: str, narrow: str) -> bool:
    return covers(_steps(wide), _steps(narrow), NATIVE)


def covers_want(wide: Want, narrow: Want) -> bool:
    """Whether the wide want covers the narrow one; wants of different groups never do."""
    return wide[1] == narrow[1] and (wide == narrow or _contains(wide[0], narrow[0]))


def example(steps: Filter) -> Topic:
    """A topic that a filter matches. Another filter matches it only if it matches whatever the wildcards stand for."""
    tokens = tuple(one.text if one.whole else one.text + _OTHER for one in steps if one.count is Count.ONE)
    return tokens or (_OTHER,)


class Propagation:
    """wanted: all that is wanted of the neighbour.
    told: the wants that it was told.
    unheard: by want, how often it was told and has not answered.
    """

    def __init__(self, rules: Rules = RULES) -> None:
        self._rules = rules
        self.wanted: set[Want] = set()
        self.told: dict[Want, None] = {}
        self.unheard: Counter[Want] = Counter()
        self._tree: TopicTree[Want, None] = TopicTree()
        self._examples: TopicIndex[Want] = TopicIndex()  # of all that is wanted

    def add(self, want: Want) -> list[Wanted | Dropped]:
        """Add a want; returns what has to be said to the neighbour."""
        if want in self.wanted:
            return []
        self.wanted.add(want)
        self._examples.put(example(_steps(want[0])), want)
        if any(self._stays(want, one, first=False) for one in _around(want, self._tree)):
            return []
        below = (one for one in self._below(want) if one in self.told)
        drops = [one for one in below if self._stays(one, want, first=True)]
        return self._say([want], drops)

    def remove(self, want: Want) -> list[Wanted | Dropped]:
        if want not in self.wanted:
            return []
        self.wanted.remove(want)
        self._examples.remove(example(_steps(want[0])), want)
        if want not in self.told:
            return []
        self._forget(want)
        out = {one: place for place, one in enumerate(sorted(self._below(want))) if not self._is_covered(one)}
        among: TopicTree[Want, None] = TopicTree()
        for one in out:
            among.put(_steps(one[0]), one, None)
        kept = [
            one
            for one, place in out.items()
            if not any(
                self._stays(one, other, first=place < out[other]) for other in _around(one, among) if other != one
            )
        ]
        return self._say(kept, [want])

    @property
    def looked_at(self) -> int:
        """How many places of topics and filters the last lookups went through."""
        return self._examples.looked_at + self._tree.looked_at

    def had(self, want: Want) -> None:
        self.unheard[want] -= 1
        if not self.unheard[want]:
            del self.unheard[want]

    def again(self) -> list[Wanted]:
        """All that was told, to be told and answered again on a new connection."""
        self.unheard = Counter(list(self.told))
        return [Wanted(*one) for one in self.told]

    def is_known(self, want: Want) -> bool:
        """Whether all beyond the neighbour know of it, or of one that covers it."""
        known = (one for one in _around(want, self._tree) if self._rules.is_known(self.unheard[one]))
        return any(covers_want(one, want) for one in known)

    def _stays(self, one: Want, other: Want, *, first: bool) -> bool:
        """Whether one want is not told, as the other is wanted. first: whether it is the first of the two in order."""
        return self._rules.stays_home(covers_want(other, one), covers_want(one, other), first)

    def _is_covered(self, want: Want) -> bool:
        return any(covers_want(one, want) for one in _around(want, self._tree))

    def _below(self, want: Want) -> list[Want]:
        """The other wants that this one covers: their examples are among its topics."""
        return [one for one in self._examples.find(_steps(want[0])) if one != want and covers_want(want, one)]

    def _say(self, wants: list[Want], drops: list[Want]) -> list[Wanted | Dropped]:
        for one in wants:
            self.told[one] = None
            self.unheard[one] += 1
            self._tree.put(_steps(one[0]), one, None)
        for one in drops:
            if one in self.told:
                self._forget(one)
        return [*(Wanted(*one) for one in wants), *(Dropped(*one) for one in drops)]

    def _forget(self, want: Want) -> None:
        del self.told[want]
        self._tree.remove(_steps(want[0]), want)


def _around(want: Want, among: TopicTree[Want, None]) -> list[Want]:
    """The wants that may cover this one: only such filters match its example."""
    return [one for one, _ in among.find(example(_steps(want[0])))]
