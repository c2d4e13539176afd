"""Who gets a message: the tree of subscriptions, and its answers for recent topics.

Clauses: PS-ROUTE, PS-TRIE, PS-SHARED, PS-QOS-LEVEL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from scatterproof.impl.pubsub.match_rules import MATCH_RULES, MatchRules
from scatterproof.impl.pubsub.matching import matches
from scatterproof.impl.pubsub.rules import Rules
from scatterproof.impl.pubsub.running.messages import Want
from scatterproof.impl.pubsub.topic_tree import TopicTree
from scatterproof.impl.pubsub.translation.messages import Carried
from scatterproof.impl.pubsub.translation.names import NATIVE

_MARK = "$"  # of MQTT: topics that begin with it are not for filters that begin with a wildcard
_KEPT = 1 << 14


class Receiver(Protocol):
    """A session that messages are given to.

    is_there: whether its client is connected.
    revoked: called when one of its subscriptions is no longer allowed; the session has to end that one.
    """

    @property
    def is_there(self) -> bool: ...

    @property
    def user(self) -> str: ...

    def revoked(self, one: Subscription) -> None: ...

    def give(self, carried: Carried, level: int, key: str, group: str = "") -> None: ...


@dataclass(frozen=True, slots=True, eq=False)
class Subscription:
    """key: the receiver's own name for it.
    each: whether the receiver gets one copy for each subscription that matches, and not one for all.
    hides: whether topics that begin with $ are kept from it.
    """

    receiver: Receiver
    key: str
    filter: str
    level: int
    group: str = ""
    each: bool = False
    hides: bool = False


@dataclass(slots=True)
class Shared:
    """Who can serve a group.

    here: members of this appliance.
    there: neighbours with members behind them.
    """

    here: list[Subscription] = field(default_factory=list)
    there: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Plan:
    """What is done with messages of a topic.

    copies: receivers, each with level and key.
    plain: neighbours that want it without a group.
    groups: by name.
    urgent, conflates: how slow consumers get it.
    """

    copies: list[tuple[Receiver, int, str]] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)
    groups: dict[str, Shared] = field(default_factory=dict)
    urgent: bool = False
    conflates: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Treatment:
    """How slow consumers get best effort, by native filters (PS-PRIO, PS-QOS-CONF).

    urgent: topics that go ahead of everything else.
    conflated: topics whose newest message takes the place of the one that waits.
    """

    urgent: tuple[str, ...] = ()
    conflated: tuple[str, ...] = ()


class Table:
    """What clients subscribed to, and what neighbours want."""

    def __init__(self, rules: Rules, treatment: Treatment, match_rules: MatchRules = MATCH_RULES) -> None:
        """Raises BadInput for a filter of the treatment that is none."""
        self._rules = rules
        self._urgent = tuple(map(NATIVE.filter, treatment.urgent))
        self._conflated = tuple(map(NATIVE.filter, treatment.conflated))
        self._tree: TopicTree[tuple[object, str, str], Subscription | str] = TopicTree("", match_rules)
        self._plans: dict[str, Plan] = {}

    def put(self, one: Subscription) -> None:
        """Add a subscription, in place of one with the same receiver, key, group and filter."""
        self._tree.put(NATIVE.filter(one.filter), (one.receiver, one.key, one.group), one)
        self._plans.clear()

    def remove(self, one: Subscription) -> None:
        self._tree.remove(NATIVE.filter(one.filter), (one.receiver, one.key, one.group))
        self._plans.clear()

    def want(self, peer: str, want: Want) -> None:
        self._tree.put(NATIVE.filter(want[0]), (None, peer, want[1]), peer)
        self._plans.clear()

    def drop(self, peer: str, want: Want) -> None:
        self._tree.remove(NATIVE.filter(want[0]), (None, peer, want[1]))
        self._plans.clear()

    def plan(self, topic: str) -> Plan:
        found = self._plans.get(topic)
        if found is None:
            if len(self._plans) >= _KEPT:
                self._plans.clear()
            found = self._plans[topic] = self._planned(topic)
        return found

    def _planned(self, topic: str) -> Plan:
        tokens = tuple(topic.split("."))
        urgent, conflates = (any(matches(one, tokens) for one in of) for of in (self._urgent, self._conflated))
        plan = Plan(urgent=urgent, conflates=conflates)
        merged: dict[Receiver, list[int]] = {}
        for (_, _, group), one in self._tree.find(tokens):
            if isinstance(one, str):
                there = plan.groups.setdefault(group, Shared()).there if group else plan.plain
                if one not in there:
                    there.append(one)
            elif one.hides and topic.startswith(_MARK):
                continue
            elif group:
                plan.groups.setdefault(group, Shared()).here.append(one)
            elif one.each:
                plan.copies.append((one.receiver, one.level, one.key))
            else:
                merged.setdefault(one.receiver, []).append(one.level)
        plan.copies += [(receiver, self._level(levels), "") for receiver, levels in merged.items()]
        return plan

    def _level(self, levels: Sequence[int]) -> int:
        return self._rules.level_of_all(levels)
