"""Appliances in a ring, where messages take all paths at once: the first copy of each counts (PS-MULTIPATH)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scatterproof.impl.pubsub.rules import RULES, Rules
from scatterproof.impl.pubsub.running import paths
from scatterproof.impl.pubsub.running.core import Core
from scatterproof.impl.pubsub.running.ledger import Ledger
from scatterproof.impl.pubsub.running.paths import Paths
from scatterproof.impl.pubsub.running.store import Store
from scatterproof.impl.pubsub.running.tests.joined import Joined, Taker
from scatterproof.impl.pubsub.translation.messages import Message

NAMES = ("a", "b", "c")


def ring(rules: Rules = RULES) -> tuple[Joined, dict[str, Taker]]:
    """A ring of appliances, with a receiver of everything at each."""
    made = Joined(*NAMES, all_paths=True, rules=rules)
    for one, other in (("a", "b"), ("b", "c"), ("c", "a")):
        made.join(one, other)
    takers = {name: Taker(core) for name, core in made.cores.items()}
    for taker in takers.values():
        taker.subscribe(">")
        assert taker.in_force == [">"]
    return made, takers


def got(rules: Rules, level: int) -> dict[str, list[bytes]]:
    """What each taker has of three messages, two of them at once, when packets have been carried some rounds long."""
    made, takers = ring(rules)
    for texts in (("1", "2"), ("3",)):
        for text in texts:
            made.cores["a"].publish(Message("t", text.encode(), level))
        made.run(20)
    return {name: [payload for payload, _ in taker.got] for name, taker in takers.items()}


@pytest.mark.parametrize("level", range(3))
def test_each_gets_each_once_and_in_order(level: int) -> None:
    assert got(RULES, level) == {name: [b"1", b"2", b"3"] for name in NAMES}


@pytest.mark.parametrize("level", range(3))
@pytest.mark.parametrize(
    "is_first", [lambda number, passed: True, lambda number, passed: number >= passed, lambda number, passed: False]
)
def test_another_rule_is_told(is_first: Callable[[int, int], bool], level: int) -> None:
    assert got(replace(RULES, is_first=is_first), level) != got(RULES, level)


def test_while_a_link_is_cut_all_go_the_other_way_and_what_waited_is_dropped() -> None:
    made, takers = ring()
    made.cut("a", "b")
    for number in range(4):
        made.cores["a"].publish(Message("t", b"%d" % number, number % 3))
        made.run()
    expected = [b"0", b"1", b"2", b"3"]
    assert [payload for payload, _ in takers["b"].got] == expected
    made.join("a", "b")
    assert [payload for payload, _ in takers["b"].got] == expected
    assert made.cores["b"].counts["copies dropped"] >= 2


def test_one_that_is_killed_knows_from_its_store_what_it_has_passed_on(tmp_path: Path) -> None:
    made, _ = ring()
    store = Store(tmp_path / "c")
    kept = store.load()
    made.begin_anew("c", Core("c", kept, kept.incarnation, all_paths=True))
    for peer in ("a", "b"):
        made.join("c", peer)
    made.cut("b", "c")
    made.cores["a"].publish(Message("t", b"1", 2))
    made.run()
    store.apply(made.cores["c"].ledger.changes)
    store.close()
    store = Store(tmp_path / "c")
    kept = store.load()
    store.close()
    again = Core("c", kept, kept.incarnation, all_paths=True)
    made.begin_anew("c", again)
    taker = Taker(again)
    taker.subscribe(">")
    made.join("b", "c")  # where it has waited
    assert taker.got == []
    assert again.counts["copies dropped"] == 1


def test_all_or_none_take_all_paths() -> None:
    made = Joined("a", all_paths=True)
    made.cores["b"] = Core("b", None, "life of b")
    made.join("a", "b")
    assert not made.ends
    assert any("--all-paths" in text for texts in made.said.values() for text in texts)


def test_what_is_forgotten_of_best_effort_is_not_taken_for_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "_KEPT", 2)
    tried = Paths("a/1", {}, Ledger(is_kept=False), RULES)
    messages = [Message(topic, b"", 0, made_ns=stamp, origin="b/1") for stamp, topic in enumerate("uvw", 1)]
    assert [tried.is_first(one) for one in messages] == [True] * 3
    assert not any(tried.is_first(one) for one in messages)
    assert tried.is_first(Message("u", b"", 0, made_ns=4, origin="b/1"))
    assert tried.begin(Message("u", b"")).made_ns < tried.begin(Message("u", b"")).made_ns
