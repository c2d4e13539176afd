"""Topics and filters to draw: few tokens, so that they meet often."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from scatterproof.impl.pubsub.filters import GRAMMARS, Filter, GrammarName, Topic

_TOKENS = {
    GrammarName.DOCUMENT: ("T1", "T2", "T2a", "T"),
    GrammarName.MQTT: ("a", "b", "", "$s", "$"),
    GrammarName.NATS: ("a", "b", "a*", "ab"),
    GrammarName.AMQP: ("a", "b", "", "#"),
}
_ELEMENTS = {
    GrammarName.DOCUMENT: ("*", "T2*", "T*"),
    GrammarName.MQTT: ("+",),
    GrammarName.NATS: ("*",),
    GrammarName.AMQP: ("*", "#"),
}
_LAST = {
    GrammarName.DOCUMENT: ("[*]", ">", "T2>", "T2*>"),
    GrammarName.MQTT: ("#",),
    GrammarName.NATS: (">",),
    GrammarName.AMQP: (),
}


def topics(name: GrammarName) -> SearchStrategy[Topic]:
    grammar = GRAMMARS[name]
    tokens = st.lists(st.sampled_from(_TOKENS[name]), min_size=1, max_size=5)
    return tokens.map(grammar.separator.join).filter(lambda text: bool(text) or grammar.empty_topics).map(grammar.topic)


def filters(name: GrammarName) -> SearchStrategy[Filter]:
    grammar, usual = GRAMMARS[name], (*_TOKENS[name], *_ELEMENTS[name])
    ends = st.sampled_from((*usual, *_LAST[name]))
    elements = st.tuples(st.lists(st.sampled_from(usual), max_size=3), ends).map(lambda parts: [*parts[0], parts[1]])
    return (
        elements.map(grammar.separator.join).filter(lambda text: bool(text) or grammar.empty_topics).map(grammar.filter)
    )
