"""A filter and a topic of some grammar show every generated mutant of the rules of matching."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from scatterproof.fuzz.mutations import RuleMutant, mutants_of_module
from scatterproof.impl.pubsub import match_rules
from scatterproof.impl.pubsub.filters import GRAMMARS, Filter, GrammarName, Topic
from scatterproof.impl.pubsub.match_rules import MATCH_RULES, MatchRules
from scatterproof.impl.pubsub.matching import matches
from scatterproof.impl.pubsub.topic_tree import TopicTree

MUTANTS = mutants_of_module(match_rules)
# Texts from which all filters and topics of up to this many are made: those that are refused are left out.
TOKENS = {
    GrammarName.DOCUMENT: ("T", "T2", "U", "*", "T*", "[*]", ">"),
    GrammarName.MQTT: ("a", "$a", "+", "#"),
    GrammarName.NATS: ("a", "b", "*", ">"),
    GrammarName.AMQP: ("a", "b", "*", "#"),
}
LONGEST = 3


def texts(name: GrammarName) -> list[str]:
    grammar = GRAMMARS[name]
    return [
        grammar.separator.join(tokens)
        for length in range(1, LONGEST + 1)
        for tokens in product(TOKENS[name], repeat=length)
    ]


def read(name: GrammarName) -> tuple[list[Filter], list[Topic]]:
    grammar = GRAMMARS[name]
    last = frozenset({"[*]", ">", "#"}) if name is not GrammarName.AMQP else frozenset[str]()
    filters = [text for text in texts(name) if not last & set(text.split(grammar.separator)[:-1])]
    topics = [text for text in texts(name) if not set(text) & set("*>[]+#")]
    return [grammar.filter(text) for text in filters], [grammar.topic(text) for text in topics]


def answers(name: GrammarName, rules: MatchRules) -> list[object]:
    """What a scan says of each pair, and the tree of all filters of each topic. A rule that fails shows there."""
    mark, (filters, topics) = GRAMMARS[name].mark, read(name)
    tree = TopicTree[int, None](mark, rules)
    for number, one in enumerate(filters):
        tree.put(one, number, None)
    try:
        scanned = [matches(one, topic, mark, rules) for topic in topics for one in filters]
        return [*scanned, *(sorted(who for who, _ in tree.find(topic)) for topic in topics)]
    except TypeError as error:
        return [str(error)]


RIGHT = {name: answers(name, MATCH_RULES) for name in GrammarName}


def test_ps_trie_the_tree_says_what_a_scan_says_of_all_small_filters_and_topics() -> None:
    for name in GrammarName:
        filters, topics = read(name)
        scanned, found = RIGHT[name][: -len(topics)], RIGHT[name][-len(topics) :]
        expected = [
            [number for number in range(len(filters)) if scanned[at * len(filters) + number]]
            for at in range(len(topics))
        ]
        assert found == expected


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_ps_match_every_mutant_of_a_rule_is_told(mutant: RuleMutant) -> None:
    rules = replace(MATCH_RULES, **{mutant.rule: mutant.function})
    assert any(answers(name, rules) != RIGHT[name] for name in GrammarName)
