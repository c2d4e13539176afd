"""Topics and filters: native -> foreign -> native is the identity, and the other way round; a filter means the same."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scatterproof.impl.pubsub.filters import GRAMMARS, GrammarName
from scatterproof.impl.pubsub.matching import matches
from scatterproof.impl.pubsub.translation.escaping import Escaping
from scatterproof.impl.pubsub.translation.names import (
    NATIVE,
    filter_of_mqtt,
    filter_of_nats,
    mqtt_of_topic,
    nats_of_topic,
    topic_of_mqtt,
    topic_of_nats,
)
from scatterproof.spec.errors import BadInput

MQTT, NATS = GRAMMARS[GrammarName.MQTT], GRAMMARS[GrammarName.NATS]
# What is special anywhere, and parts of escapes.
LETTERS = "ab$/.+#*>[]% 250-AEF\t"
TEXTS = st.text(LETTERS, max_size=8)
IN_NATIVE, IN_NATS, IN_MQTT = (
    Escaping(".*>[]", alone=[""]),
    Escaping(". \t\r\n\0", alone=["", "*", ">"]),
    Escaping("/+#\0"),
)


@pytest.mark.parametrize("escaping", [IN_NATIVE, IN_NATS, IN_MQTT])
@given(text=st.one_of(TEXTS, st.text(max_size=6)))
def test_each_text_has_one_token_and_each_token_one_text(escaping: Escaping, text: str) -> None:
    assert escaping.read(escaping.spell(text)) == text
    if text == escaping.spell(escaping.read(text)):
        return
    # Only what no token may be is not the spelling of anything.
    assert set(text) & set(".*>[] \t\r\n\0/+#") or text == ""


def is_of(grammar_name: GrammarName, text: str) -> bool:
    try:
        GRAMMARS[grammar_name].topic(text)
    except BadInput:
        return False
    return True


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_ps_translate_native_to_foreign_to_native_is_the_identity(tokens: list[str]) -> None:
    assume(tokens != [""])
    native = ".".join(map(IN_NATIVE.spell, tokens))
    assert NATIVE.topic(native)
    mqtt, nats = mqtt_of_topic(native), nats_of_topic(native)
    assert is_of(GrammarName.MQTT, mqtt)
    assert is_of(GrammarName.NATS, nats)
    assert topic_of_mqtt(mqtt) == native
    assert topic_of_nats(nats) == native


@given(st.text(LETTERS, min_size=1, max_size=12))
def test_ps_translate_foreign_to_native_to_foreign_is_the_identity(text: str) -> None:
    if is_of(GrammarName.MQTT, text):
        assert mqtt_of_topic(topic_of_mqtt(text)) == text
    if is_of(GrammarName.NATS, text) and text != "%-":
        assert nats_of_topic(topic_of_nats(text)) == text


ELEMENTS = st.lists(st.sampled_from(["a", "b", "", "+", "#", "*", ">", "a*", "x y"]), min_size=1, max_size=4)
TOKENS = st.lists(st.sampled_from(["a", "b", "", "x y", "a*", "$a"]), min_size=1, max_size=4)


@given(ELEMENTS, TOKENS)
def test_ps_grammar_a_filter_matches_natively_what_it_matches_in_its_own_grammar(
    elements: list[str], tokens: list[str]
) -> None:
    for grammar, to_filter, to_topic in (
        (MQTT, filter_of_mqtt, topic_of_mqtt),
        (NATS, filter_of_nats, topic_of_nats),
    ):
        text, topic = grammar.separator.join(elements), grammar.separator.join(tokens)
        try:
            steps, there = grammar.filter(text), grammar.topic(topic)
        except BadInput:
            continue
        native = matches(NATIVE.filter(to_filter(text)), NATIVE.topic(to_topic(topic)))
        assert native == matches(steps, there)


def test_what_is_usual_is_spelled_as_it_is() -> None:
    assert topic_of_mqtt("sensors/7/heat") == "sensors.7.heat" == topic_of_nats("sensors.7.heat")
    assert filter_of_mqtt("sensors/+/#") == "sensors.*.>"
    assert filter_of_nats("sensors.*.>") == "sensors.*.*.>"
    assert nats_of_topic(topic_of_mqtt("/a b/c.d")) == "%-.a%20b.c%2Ed"


def test_the_topic_of_one_empty_token_is_refused() -> None:
    with pytest.raises(BadInput, match="empty token"):
        topic_of_nats("%-")
