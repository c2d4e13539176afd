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


def ask_one_that_needs_a_level(filters: Sequence[str], topics: Sequence[str]) -> set[tuple[int, int]]:
    """`#` for one level at least: a parent is not matched."""
    found = expected(GRAMMARS["mqtt"], filters, topics)
    return {
        (f, t) for f, t in found if not (filters[f].endswith("/#") and topics[t].count("/") < filters[f].count("/"))
    }


@contextmanager
def served(folder: Path) -> Iterator[Ask]:
    yield ask_one_that_needs_a_level


WRONG = replace(BROKERS[2], name="wrong", why_not=lambda: None, serve=served)


def test_ps_grammar_a_broker_that_does_not_match_parents_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["wrong", "--pairs", "60000"], [WRONG]) == 1
    told = capsys.readouterr().out.splitlines()
    assert "are judged otherwise" in told[0]
    assert all("/#', topic '" in line and line.endswith("otherwise, and alone") for line in told[1:])
    assert len(told) == 6


def test_what_is_not_installed_is_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], [replace(WRONG, why_not=lambda: "install it")]) == 3
    assert capsys.readouterr().err == "wrong: not run: install it\n"


def test_a_broker_that_is_not_known_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["rabbit"])
    assert "broker 'rabbit' is unknown; choose of nats, " in capsys.readouterr().err
