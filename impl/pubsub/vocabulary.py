"""The topics and filters of a run, which calls and packets name by their places, from 1 (PS-TOPIC).

The document has the provisioning machine keep such a table of topics and keys, and send it to all appliances.
"""

from __future__ import annotations

from scatterproof.impl.pubsub.covering import covers
from scatterproof.impl.pubsub.filters import GRAMMARS, Filter, Topic
from scatterproof.impl.pubsub.match_rules import MatchRules
from scatterproof.impl.pubsub.rules import Rules
from scatterproof.spec.errors import BadInput
from scatterproof.spec.parameters import Parameters


class Vocabulary:
    """BadInput for what is no topic or filter, and for one that is there twice."""

    def __init__(self, given: Parameters, rules: Rules, match_rules: MatchRules) -> None:
        self._grammar, self._rules, self._match_rules = GRAMMARS[str(given["grammar"])], rules, match_rules
        topics, filters = (str(given[name]).split("\n") for name in ("topics", "filters"))
        for name, texts in (("topics", topics), ("filters", filters)):
            if len(set(texts)) < len(texts):
                raise BadInput(f"parameter {name} has a line twice; give each line once")
        self._topics = tuple(map(self._grammar.topic, topics))
        self._filters = tuple(map(self._grammar.filter, filters))
        self._texts = filters
        self._covers: dict[tuple[int, int], bool] = {}

    @property
    def mark(self) -> str:
        return self._grammar.mark

    def has(self, topic: int, filter_: int) -> bool:
        """Whether there are these, -1 being none that is named."""
        return topic in (-1, *range(1, len(self._topics) + 1)) and filter_ in (-1, *range(1, len(self._filters) + 1))

    def topic(self, number: int) -> Topic:
        return self._topics[number - 1]

    def filter(self, number: int) -> Filter:
        return self._filters[number - 1]

    def covers(self, wide: int, narrow: int) -> bool:
        """Whether the filter with the one number matches all that that with the other does (PS-COVER)."""
        if (wide, narrow) not in self._covers:
            contained = covers(self.filter(wide), self.filter(narrow), self._grammar, self._match_rules)
            part = self._texts[narrow - 1] in self._texts[wide - 1]
            self._covers[wide, narrow] = self._rules.counts_as_covered(contained, part)
        return self._covers[wide, narrow]
