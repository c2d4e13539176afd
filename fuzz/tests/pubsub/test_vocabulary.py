"""The readings of filters of the judge, of the reference and of the models: each in its own way, and they agree on all
that is drawn."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scatterproof.conformance.pubsub.vocabulary import Vocabulary
from scatterproof.fuzz.tests.pubsub.test_match_mutants import texts
from scatterproof.impl.pubsub.covering import covers
from scatterproof.impl.pubsub.filters import GRAMMARS, GrammarName
from scatterproof.impl.pubsub.matching import matches
from scatterproof.models.pubsub import words
from scatterproof.spec.errors import BadInput


def is_read(name: GrammarName, text: str, *, by_judge: bool, as_topic: bool) -> bool:
    try:
        if by_judge:
            Vocabulary(name, [text] if as_topic else [], [] if as_topic else [text])
        elif as_topic:
            GRAMMARS[name].topic(text)
        else:
            GRAMMARS[name].filter(text)
    except BadInput:
        return False
    return True


@pytest.mark.parametrize("name", GrammarName)
def test_ps_grammar_judge_and_reference_read_the_same_texts(name: GrammarName) -> None:
    odd = ["", ".", "T1.", "T1*2", "*T", "T>", "T*>", "[*]", "T[*]", "a#", "#a", "a+", "//", "$", "a b", "a.>.b", "a*"]
    for text in [*odd, *texts(name)]:
        for as_topic in (True, False):
            read = [is_read(name, text, by_judge=by_judge, as_topic=as_topic) for by_judge in (True, False)]
            assert len(set(read)) == 1, (text, as_topic, read)


@pytest.mark.parametrize("name", GrammarName)
def test_ps_match_all_three_agree_on_all_small_filters_and_topics(name: GrammarName) -> None:
    grammar, every = GRAMMARS[name], [*texts(name), *([""] if name is GrammarName.AMQP else [])]
    filters = [text for text in every if is_read(name, text, by_judge=True, as_topic=False)]
    topics = [text for text in every if is_read(name, text, by_judge=True, as_topic=True)]
    judge = Vocabulary(name, topics, filters)
    for (one, filter_), (at, topic) in product(enumerate(filters), enumerate(topics)):
        expected = matches(grammar.filter(filter_), grammar.topic(topic), grammar.mark)
        assert judge.matches(one, at) == expected, (filter_, topic)
        assert words.matches(name, filter_, topic) == expected, (filter_, topic)


def disagreements(name: GrammarName, filters: list[str]) -> list[tuple[str, str]]:
    """Pairs of which not all three say alike whether the one covers the other; of AMQP's the judge may not know it."""
    grammar, judge = GRAMMARS[name], Vocabulary(name, [], filters)
    read = [grammar.filter(text) for text in filters]
    places = product(range(len(filters)), repeat=2)
    knows_all = name is not GrammarName.AMQP
    return [
        (filters[one], filters[other])
        for one, other in places
        for covered in [covers(read[one], read[other], grammar)]
        if words.covers(name, filters[one], filters[other]) != covered
        or (judge.covers(one, other) != covered and (knows_all or not covered))
    ]


def readable(name: GrammarName) -> list[str]:
    return [text for text in texts(name) if is_read(name, text, by_judge=True, as_topic=False)]


@pytest.mark.parametrize("name", GrammarName)
def test_ps_cover_all_three_agree_on_all_filters_of_two_elements(name: GrammarName) -> None:
    short = [text for text in readable(name) if text.count(GRAMMARS[name].separator) < 2]
    assert disagreements(name, short) == []


@pytest.mark.parametrize("name", GrammarName)
@given(data=st.data())
def test_ps_cover_all_three_agree_on_longer_filters(name: GrammarName, data: st.DataObject) -> None:
    drawn = data.draw(st.lists(st.sampled_from(readable(name)), min_size=2, max_size=4, unique=True))
    assert disagreements(name, drawn) == []
