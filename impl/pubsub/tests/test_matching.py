"""PS-TOPIC, PS-MATCH, PS-GRAMMAR: what each grammar's filters match, and what it refuses, by its own document."""

from __future__ import annotations

import pytest

from scatterproof.impl.pubsub.filters import GRAMMARS, GrammarName
from scatterproof.impl.pubsub.matching import matches
from scatterproof.spec.errors import BadInput

DOCUMENT, MQTT, NATS, AMQP = GrammarName
FOUR, FIVE, SIX = "T1.T2a.T3.T4 T1.T2b.T3.T4", "T1.T2.T3.T4.T5", "T1.T2.T3.T4.T5.T6"
# Grammar, filter, the topics that it matches, and some that it does not.
EXAMPLES = [
    (DOCUMENT, "T1.*.T3.T4", FOUR, FIVE),
    (DOCUMENT, "T1.*.T3.T4.*", FIVE, FOUR),
    (DOCUMENT, "T1.*.T3.T4.[*]", f"{FOUR} {FIVE}", SIX),
    (DOCUMENT, "T1.T2*.T3.T4", FOUR, "T1.T5a.T3.T4"),
    (DOCUMENT, "T1.*.T3.T4.>", f"{FOUR} {FIVE} {SIX}", "T1.T2.T3"),
    # Ours: as printed; a token begins with itself; the ends alone; both ends of the document in one element.
    (DOCUMENT, "T1.*.T3.T4>", f"{FOUR} {FIVE} {SIX}", "T1.T2.T3 T1.T2.T3.T4a"),
    (DOCUMENT, "T2*", "T2 T2a", "T T1 T2.T2"),
    (DOCUMENT, ">", "T1 T1.T2", ""),
    (DOCUMENT, "[*]", "T1", "T1.T2"),
    (DOCUMENT, "T2*>", "T2 T2a T2a.T3", "T1"),
    (DOCUMENT, "T1", "T1", "T1a T1.T1"),
    # MQTT 3.1.1, sections 4.7.1.2, 4.7.1.3 and 4.7.2, with their examples.
    (MQTT, "sport/tennis/player1/#", "sport/tennis/player1 sport/tennis/player1/ranking", "sport/tennis/player2"),
    (MQTT, "sport/#", "sport sport/ sport/a/b", "sports"),
    (MQTT, "#", "a /a a/b", "$SYS $SYS/a"),
    (MQTT, "sport/tennis/+", "sport/tennis/player1", "sport/tennis/player1/ranking sport/tennis"),
    (MQTT, "sport/+", "sport/", "sport"),
    (MQTT, "+/+", "/finance", "finance"),
    (MQTT, "/+", "/finance", "finance"),
    (MQTT, "+", "finance", "/finance $SYS"),
    (MQTT, "+/monitor/Clients", "a/monitor/Clients", "$SYS/monitor/Clients"),
    (MQTT, "$SYS/#", "$SYS $SYS/a", "a"),
    (MQTT, "$SYS/monitor/+", "$SYS/monitor/Clients $SYS/monitor/$x", "a/monitor/Clients"),
    (MQTT, "ACCOUNTS", "ACCOUNTS", "Accounts"),
    (MQTT, "a/+/b", "a//b a/$c/b", "a/b"),
    # NATS, subject-based messaging.
    (NATS, "time.*.east", "time.us.east time.eu.east", "time.us.east.atlanta time.east"),
    (NATS, "time.us.>", "time.us.east time.us.east.atlanta", "time.us"),
    (NATS, ">", "a a.b", ""),
    (NATS, "a*", "a*", "ab a"),
    # AMQP 0-9-1, section 3.1.3.3; the empty words are RabbitMQ's.
    (AMQP, "*.stock.#", "usd.stock eur.stock.db", "stock.nasdaq"),
    (AMQP, "#", "a a.b", ""),
    (AMQP, "a.#.b", "a.b a.c.b a.c.d.b", "a a.b.c b"),
    (AMQP, "#.#", "a a.b", ""),
    (AMQP, "*.#", "a a.b", ""),
    (AMQP, "a.*", "a.b a.", "a a.b.c"),
    (AMQP, "a*", "a*", "ab"),
]


@pytest.mark.parametrize(("name", "text", "matched", "unmatched"), EXAMPLES, ids=lambda value: str(value))
def test_ps_match_a_filter_matches_what_its_document_says(
    name: GrammarName, text: str, matched: str, unmatched: str
) -> None:
    grammar = GRAMMARS[name]
    steps = grammar.filter(text)

    found = {topic: matches(steps, grammar.topic(topic), grammar.mark) for topic in f"{matched} {unmatched}".split()}
    assert found == dict.fromkeys(matched.split(), True) | dict.fromkeys(unmatched.split(), False)


def test_ps_grammar_an_empty_routing_key_is_matched_by_what_needs_no_word() -> None:
    grammar = GRAMMARS[AMQP]
    matched = [text for text in ("#", "#.#", "", "*", "a", "*.#") if matches(grammar.filter(text), grammar.topic(""))]
    assert matched == ["#", "#.#", ""]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (DOCUMENT, "", "empty"),
        (DOCUMENT, "T1..T2", "empty token"),
        (DOCUMENT, "T1.>.T2", "at the end"),
        (DOCUMENT, "T1.[*].T2", "at the end"),
        (DOCUMENT, "*T1", "no token"),
        (DOCUMENT, "T*1", "no token"),
        (DOCUMENT, "T1.[T2]", "no token"),
        (DOCUMENT, "T1.T2>a", "at the end"),
        (MQTT, "", "empty"),
        (MQTT, "sport/tennis#", "no level"),
        (MQTT, "sport/tennis/#/ranking", "no level"),
        (MQTT, "sport+", "no level"),
        (NATS, "a.>.b", "at the end"),
        (NATS, "a..b", "empty token"),
        (NATS, "a b.*", "space"),
    ],
)
def test_ps_match_a_filter_without_a_meaning_is_refused_in_a_sentence(name: GrammarName, text: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        GRAMMARS[name].filter(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (DOCUMENT, ""),
        (DOCUMENT, ".T1"),
        (DOCUMENT, "T1."),
        (DOCUMENT, "T1.*"),
        (DOCUMENT, "T1.T>"),
        (MQTT, ""),
        (MQTT, "a/+"),
        (MQTT, "a/#"),
        (MQTT, "a\0"),
        (NATS, "a.*"),
        (NATS, "a.>"),
        (NATS, "a b"),
        (NATS, "a."),
    ],
)
def test_ps_topic_what_is_no_topic_is_refused(name: GrammarName, text: str) -> None:
    with pytest.raises(BadInput, match="topic"):
        GRAMMARS[name].topic(text)
