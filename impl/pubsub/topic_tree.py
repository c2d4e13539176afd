"""The subscription table: a tree over the steps of filters (document 001, figure 5).

A node is a beginning of a filter, and lists whoever subscribed to just that. A lookup goes down from the root by the
tokens of the topic, and looks only at nodes whose steps take them: those of other subscriptions cost nothing.
`TopicIndex` is the other way round: a tree over topics, in which a filter is looked up.

Clauses: PS-TRIE, PS-MATCH, PS-GRAMMAR, PS-COVER.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from scatterproof.impl.pubsub.filters import ANY_NUMBER, ANY_OR_NONE, Filter, Step, Topic
from scatterproof.impl.pubsub.match_rules import MATCH_RULES, Count, MatchRules

Subscriber = TypeVar("Subscriber")
Value = TypeVar("Value")


class _Node(Generic[Subscriber, Value]):
    """listed: what each subscriber subscribed with to the filter that ends here. step: the last of that filter."""

    __slots__ = ("children", "listed", "step")

    def __init__(self, step: Step | None) -> None:
        self.step = step
        self.children: dict[Step, _Node[Subscriber, Value]] = {}
        self.listed: dict[Subscriber, Value] = {}


class TopicTree(Generic[Subscriber, Value]):
    """mark: of the grammar whose filters it has. looked_at: how many nodes the last lookup came to."""

    def __init__(self, mark: str = "", rules: MatchRules = MATCH_RULES) -> None:
        self._mark, self._rules = mark, rules
        self._root: _Node[Subscriber, Value] = _Node(None)
        self.looked_at = 0

    def put(self, steps: Filter, subscriber: Subscriber, value: Value) -> None:
        """Subscribe, or take the value in place of the one before."""
        node = self._root
        for step in steps:
            node = node.children.setdefault(step, _Node(step))
        node.listed[subscriber] = value

    def remove(self, steps: Filter, subscriber: Subscriber) -> Value | None:
        """What the subscriber had subscribed with to just this filter; None where it had not. A node goes with the
        last that it lists and leads to."""
        way = [self._root]
        for step in steps:
            if step not in way[-1].children:
                return None
            way.append(way[-1].children[step])
        value = way[-1].listed.pop(subscriber, None)
        for parent, node in zip(reversed(way[:-1]), reversed(way[1:]), strict=True):
            if node.children or node.listed or node.step is None:
                break
            del parent.children[node.step]
        return value

    def find(self, topic: Topic) -> list[tuple[Subscriber, Value]]:
        """Whoever has a subscription that matches, once for each such subscription."""
        self.looked_at = 0
        nodes = self._passed([self._root])
        for number, token in enumerate(topic):
            hidden = number == 0 and self._rules.is_hidden(token, self._mark, True)
            nodes = self._passed(self._after(nodes, token, hidden=hidden))
        return [one for node in nodes.values() for one in node.listed.items()]

    def __len__(self) -> int:
        """How many nodes there are, the root left out."""
        return sum(1 for _ in self._all()) - 1

    def _all(self) -> Iterator[_Node[Subscriber, Value]]:
        left = [self._root]
        while left:
            node = left.pop()
            left += node.children.values()
            yield node

    def _passed(self, nodes: Iterable[_Node[Subscriber, Value]]) -> dict[int, _Node[Subscriber, Value]]:
        """These nodes and those below them that need no token, each once."""
        found: dict[int, _Node[Subscriber, Value]] = {}
        left = list(nodes)
        while left:
            node = left.pop()
            if id(node) not in found:
                found[id(node)] = node
                self.looked_at += 1
                left += self._children(node, [one for one in _ANY if self._rules.may_pass(one.count)])
        return found

    def _after(
        self, nodes: dict[int, _Node[Subscriber, Value]], token: str, *, hidden: bool
    ) -> Iterator[_Node[Subscriber, Value]]:
        """Where a token leads. hidden: from steps that are no wildcards alone."""
        named = Step(Count.ONE, token, whole=True)
        wild = () if hidden else (*(Step(Count.ONE, text) for text in self._rules.beginnings(token)), *_ANY)
        for node in nodes.values():
            if node.step is not None and self._rules.may_stay(node.step.count) and not hidden:
                yield node
            yield from self._children(node, (named, *wild))

    @staticmethod
    def _children(node: _Node[Subscriber, Value], steps: Iterable[Step]) -> list[_Node[Subscriber, Value]]:
        return [node.children[step] for step in steps if step in node.children]


_ANY = (ANY_OR_NONE, ANY_NUMBER)


class _Place(Generic[Value]):
    """A beginning of a topic. listed: what is kept of the topic that ends here."""

    __slots__ = ("children", "listed")

    def __init__(self) -> None:
        self.children: dict[str, _Place[Value]] = {}
        self.listed: dict[Value, None] = {}


class TopicIndex(Generic[Value]):
    """looked_at: how many places the last lookup came to."""

    def __init__(self, rules: MatchRules = MATCH_RULES) -> None:
        self._rules = rules
        self._root: _Place[Value] = _Place()
        self.looked_at = 0

    def put(self, topic: Topic, value: Value) -> None:
        place = self._root
        for token in topic:
            place = place.children.setdefault(token, _Place())
        place.listed[value] = None

    def remove(self, topic: Topic, value: Value) -> None:
        """KeyError where it was not put there. A place goes with the last that it lists and leads to."""
        way = [self._root]
        for token in topic:
            way.append(way[-1].children[token])
        del way[-1].listed[value]
        for token, parent, place in zip(reversed(topic), reversed(way[:-1]), reversed(way[1:]), strict=True):
            if place.children or place.listed:
                break
            del parent.children[token]

    def find(self, steps: Filter) -> list[Value]:
        """What is kept of the topics that the filter matches, in no order."""
        seen = set[tuple[int, int]]()
        found: list[Value] = []
        left = [(self._root, 0)]
        while left:
            place, number = left.pop()
            if (id(place), number) in seen:
                continue
            seen.add((id(place), number))
            if number == len(steps):
                found += place.listed
                continue
            step = steps[number]
            if self._rules.may_pass(step.count):
                left.append((place, number + 1))
            behind = number if self._rules.may_stay(step.count) else number + 1
            tokens = (step.text,) if step.whole else place.children
            fit = (token for token in tokens if self._rules.fits(token, step.text, step.whole))
            left += [(place.children[token], behind) for token in fit if token in place.children]
        self.looked_at = len(seen)
        return found
