"""PS-COVER: a filter covers another one just when it matches all that the other matches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scatterproof.impl.pubsub.covering import covers, uncovered
from scatterproof.impl.pubsub.filters import GRAMMARS, GrammarName
from scatterproof.impl.pubsub.matching import matches
from scatterproof.impl.pubsub.tests.drawing import filters, topics

DOCUMENT, MQTT, NATS, AMQP = GrammarName


@pytest.mark.parametrize("name", GrammarName)
@given(data=st.data())
def test_ps_cover_what_is_covered_matches_nothing_else_and_what_is_not_matches_the_topic_that_is_named(
    name: GrammarName, data: st.DataObject
) -> None:
    grammar = GRAMMARS[name]
    wide, narrow = data.draw(filters(name)), data.draw(filters(name))
    found = uncovered(wide, narrow, grammar)
    if found is None:
        for topic in data.draw(st.lists(topics(name), min_size=1, max_size=8)):
            assert matches(wide, topic, grammar.mark) >= matches(narrow, topic, grammar.mark)
    else:
        assert grammar.topic(grammar.text(found)) == found
        assert matches(narrow, found, grammar.mark)
        assert not matches(wide, found, grammar.mark)


@pytest.mark.parametrize(
    ("name", "wide", "narrow", "topic"),
    [
        (DOCUMENT, "T1.*", "T1.T2", None),
        (DOCUMENT, "T1.*", "T1.T2*", None),
        (DOCUMENT, "T1.T2*", "T1.*", "T1.T1"),
        (DOCUMENT, "T1.T2*", "T1.T2a*", None),
        (DOCUMENT, "T1.[*]", "T1.*", None),
        (DOCUMENT, "T1.>", "T1.*.T3.[*]", None),
        (DOCUMENT, "T1.*.>", "T1.>", "T1"),
        # The document's part of the whole string (lit-part).
        (DOCUMENT, "T1.T2.T3", "T1.T2", "T1.T2"),
        (DOCUMENT, "T1.T2", "T1.T2.T3", "T1.T2.T3"),
        (MQTT, "#", "+/+", None),
        (MQTT, "#", "$SYS/#", "$SYS"),
        (MQTT, "a/#", "a", None),
        (MQTT, "+/#", "#", None),
        (MQTT, "a/+", "a/#", "a"),
        (NATS, "a.>", "a", "a"),
        (NATS, "a.>", "a.*.>", None),
        (AMQP, "#", "", None),
        (AMQP, "*.#", "#", ""),
        (AMQP, "#.a.#", "a.#.a", None),
        (AMQP, "*.#.*", "*.*.#", None),
    ],
)
def test_ps_cover_by_hand(name: GrammarName, wide: str, narrow: str, topic: str | None) -> None:
    grammar = GRAMMARS[name]
    found = uncovered(grammar.filter(wide), grammar.filter(narrow), grammar)
    assert (None if found is None else grammar.text(found)) == topic
    assert covers(grammar.filter(wide), grammar.filter(narrow), grammar) == (topic is None)
