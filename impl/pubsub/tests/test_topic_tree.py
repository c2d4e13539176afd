"""PS-TRIE: the tree finds what a scan of all filters finds, and looks at what can match alone."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scatterproof.impl.pubsub.filters import GRAMMARS, Filter, GrammarName
from scatterproof.impl.pubsub.matching import matches
from scatterproof.impl.pubsub.tests.drawing import filters, topics
from scatterproof.impl.pubsub.topic_tree import TopicIndex, TopicTree


@pytest.mark.parametrize("name", GrammarName)
@given(data=st.data())
def test_ps_trie_the_tree_finds_what_a_scan_finds_while_subscriptions_come_and_go(
    name: GrammarName, data: st.DataObject
) -> None:
    mark, subscribers = GRAMMARS[name].mark, st.integers(0, 2)
    tree, listed = TopicTree[int, int](mark), dict[tuple[Filter, int], int]()
    steps = st.lists(st.tuples(st.booleans(), filters(name), subscribers), max_size=12)
    for number, (goes, one, subscriber) in enumerate(data.draw(steps)):
        if goes:
            assert tree.remove(one, subscriber) == listed.pop((one, subscriber), None)
        else:
            tree.put(one, subscriber, number)
            listed[one, subscriber] = number
    topic = data.draw(topics(name))

    scanned = [(who, value) for (one, who), value in listed.items() if matches(one, topic, mark)]
    assert Counter(tree.find(topic)) == Counter(scanned)


@pytest.mark.parametrize("name", GrammarName)
@given(data=st.data())
def test_ps_trie_what_is_removed_leaves_nothing(name: GrammarName, data: st.DataObject) -> None:
    drawn = data.draw(st.lists(filters(name), max_size=8))
    tree = TopicTree[int, None]()
    for subscriber, one in enumerate(drawn):
        tree.put(one, subscriber, None)
    for subscriber, one in data.draw(st.permutations(list(enumerate(drawn)))):
        tree.remove(one, subscriber)

    assert len(tree) == 0


def test_ps_trie_an_inner_node_lists_subscribers_as_in_the_worked_figure() -> None:
    """Figure 5: T1.T2.T3 leads to channel 4, T1.T2.T3.T4.T5 to 1, 2 and 3, and so on."""
    grammar, tree = GRAMMARS[GrammarName.DOCUMENT], TopicTree[int, None]()
    figure = {
        "T1.T2.T3.T4.T5": [1, 2, 3],
        "T1.T2.T3": [4],
        "T1.T6.T7.T8.T9": [1, 4, 5],
        "T1.T6.T7.T8.T10": [5],
    }
    for text, channels in figure.items():
        for channel in channels:
            tree.put(grammar.filter(text), channel, None)

    assert {text: sorted(who for who, _ in tree.find(grammar.topic(text))) for text in figure} == figure


def test_ps_trie_a_lookup_costs_the_same_however_many_others_there_are() -> None:
    grammar, tree = GRAMMARS[GrammarName.DOCUMENT], TopicTree[int, None]()
    for text in ("T1.*.T3", "T1.T2*.T3", "T1.>"):
        tree.put(grammar.filter(text), 0, None)
    topic, looked_at = grammar.topic("T1.T2a.T3"), []
    for others in (0, 100, 10_000):
        for number in range(others):
            for text in (f"T1.X{number}.T3", f"Y{number}.>", f"T1.X{number}*.T3"):
                tree.put(grammar.filter(text), number, None)
        tree.find(topic)
        looked_at.append(tree.looked_at)

    assert len(set(looked_at)) == 1


@pytest.mark.parametrize("name", GrammarName)
@given(data=st.data())
def test_ps_cover_a_filter_finds_the_topics_that_it_matches_while_they_come_and_go(
    name: GrammarName, data: st.DataObject
) -> None:
    index, kept = TopicIndex[int](), dict[int, tuple[str, ...]]()
    for number, topic in enumerate(data.draw(st.lists(topics(name), max_size=10))):
        index.put(topic, number)
        kept[number] = topic
    for number in data.draw(st.lists(st.sampled_from(sorted(kept)), unique=True)) if kept else ():
        index.remove(kept.pop(number), number)
    steps = data.draw(filters(name))

    assert sorted(index.find(steps)) == [number for number, topic in kept.items() if matches(steps, topic)]
