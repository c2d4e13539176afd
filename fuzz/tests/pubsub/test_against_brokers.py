"""Matchers and real brokers, held against each other."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from scatterproof.conformance.pubsub.brokers.broker import Ask, Broker
from scatterproof.conformance.pubsub.brokers.known import BROKERS
from scatterproof.conformance.pubsub.vocabulary import Vocabulary
from scatterproof.fuzz.pubsub import against_brokers
from scatterproof.fuzz.pubsub.against_brokers import differences, expected, main
from scatterproof.impl.pubsub.filters import GRAMMARS

NOT_HERE = {broker.name: reason for broker in BROKERS if (reason := broker.why_not()) is not None}
for name, reason in NOT_HERE.items():
    warnings.warn(pytest.PytestWarning(f"not run: the matcher against {name}: {reason}"), stacklevel=1)


@pytest.mark.slow
@pytest.mark.parametrize("broker", [one for one in BROKERS if one.name not in NOT_HERE], ids=lambda broker: broker.name)
def test_ps_grammar_broker_and_matcher_agree_on_twenty_thousand_pairs(broker: Broker, tmp_path: Path) -> None:
    matching, differing = differences(broker, 20_000, 1, tmp_path)
    assert differing == []
    assert 200 < matching < 19_000


def of_a_level_at_least(filters: Sequence[str], topics: Sequence[str]) -> set[tuple[int, int]]:
    """`#` of MQTT for one level at least: a parent is not matched."""
    found = expected(GRAMMARS["mqtt"], filters, topics)
    return {
        (f, t) for f, t in found if not (filters[f].endswith("/#") and topics[t].count("/") < filters[f].count("/"))
    }


def of_no_token(filters: Sequence[str], topics: Sequence[str]) -> set[tuple[int, int]]:
    """`>` of NATS for no token, too."""
    parents = {(f, t) for f, one in enumerate(filters) for t, topic in enumerate(topics) if one == f"{topic}.>"}
    return expected(GRAMMARS["nats"], filters, topics) | parents


def of_a_word_at_least(filters: Sequence[str], topics: Sequence[str]) -> set[tuple[int, int]]:
    """`#` of AMQP for one word at least."""
    found = expected(GRAMMARS["amqp"], filters, topics)
    return {
        (f, t) for f, t in found if not (filters[f].endswith(".#") and topics[t].count(".") < filters[f].count("."))
    }


def wrong(name: str, ask: Ask) -> Broker:
    """A broker with a mistake, in place of this one."""

    @contextmanager
    def served(folder: Path) -> Iterator[Ask]:
        yield ask

    found = next(broker for broker in BROKERS if broker.name == name)
    return replace(found, name="wrong", why_not=lambda: None, serve=served)


WRONG = wrong("mosquitto", of_a_level_at_least)


@pytest.mark.parametrize(
    ("broker", "ending"),
    [(WRONG, "/#"), (wrong("nats", of_no_token), ".>"), (wrong("rabbitmq", of_a_word_at_least), ".#")],
    ids=["mqtt", "nats", "amqp"],
)
def test_ps_grammar_a_broker_that_matches_otherwise_is_told(
    broker: Broker, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["wrong", "--pairs", "60000"], [broker]) == 1
    told = capsys.readouterr().out.splitlines()
    assert "are judged otherwise" in told[0]
    assert all(f"{ending}', topic '" in line and line.endswith("otherwise, and alone") for line in told[1:])
    assert 1 < len(told) <= 6


@pytest.mark.parametrize("grammar", ["mqtt", "nats", "amqp"])
def test_ps_grammar_a_matcher_with_a_mistake_is_told(
    grammar: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the judge; the reference's, and the broker, are right."""

    class Wrong(Vocabulary):
        def matches(self, filter_: int, topic: int) -> bool:
            return super().matches(filter_, topic) or topic == 7

    monkeypatch.setattr(against_brokers, "Vocabulary", Wrong)
    broker = next(one for one in BROKERS if one.grammar == grammar)
    right = wrong(broker.name, lambda filters, topics: expected(GRAMMARS[grammar], filters, topics))
    assert main(["wrong", "--pairs", "20000"], [right]) == 1
    assert "seed 1: 0 are judged otherwise" not in capsys.readouterr().out


def test_what_is_not_installed_is_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], [replace(WRONG, why_not=lambda: "install it")]) == 3
    assert capsys.readouterr().err == "wrong: not run: install it\n"


def test_a_broker_that_is_not_known_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["rabbit"])
    assert "broker 'rabbit' is unknown; choose of nats, " in capsys.readouterr().err
