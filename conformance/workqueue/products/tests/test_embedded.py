"""The driver of queues that are libraries, held to ones that are broken; what is drawn; and what is said where one is
not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from scatterproof.conformance.judge import judge
from scatterproof.conformance.verdict import Verdict
from scatterproof.conformance.workqueue.products import embedded, redis_queues
from scatterproof.conformance.workqueue.products.embedded import Driver, Library, Move, Step, drawn
from scatterproof.conformance.workqueue.products.polled import GROUPS
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId


class Kept(Library):
    """In memory, and as it should be: what is given back comes to its place."""

    module, keeps = "builtins", False

    def open(self, group: int) -> list[tuple[int, str]]:
        return sorted(self.queues[group] + self.hands[group]) if self.opened else []

    def open_all(self) -> dict[int, Any]:
        found = {group: self.open(group) for group in GROUPS}
        self.hands: dict[int, list[tuple[int, str]]] = {group: [] for group in GROUPS}
        self.opened, self.count = [True], getattr(self, "count", 0)
        return found

    def put(self, group: int, body: str) -> None:
        self.count += 1
        self.queues[group].append((self.count, body))

    def take(self, group: int, node: NodeId) -> tuple[str, Any] | None:
        if not self.queues[group]:
            return None
        taken = self.queues[group].pop(0)
        self.hands[group].append(taken)
        return taken[1], taken

    def delete(self, group: int, handle: Any) -> bool:
        self.hands[group].remove(handle)
        return True

    def give_back(self, group: int, handle: Any) -> bool:
        self.delete(group, handle)
        self.queues[group] = sorted([*self.queues[group], handle])
        return True


class ToTheBack(Kept):
    def give_back(self, group: int, handle: Any) -> bool:
        self.delete(group, handle)
        self.queues[group].append(handle)
        return True


class Forgets(Kept):
    def open(self, group: int) -> list[tuple[int, str]]:
        return self.queues[group] if self.opened else []


class Revives(Kept):
    def delete(self, group: int, handle: Any) -> bool:
        self.queues[group].insert(0, handle)
        return super().delete(group, handle)


class Refuses(Kept):
    def delete(self, group: int, handle: Any) -> bool:
        return False


def _broken(made: type[Library], tmp_path: Path) -> set[str]:
    found = set()
    for seed in range(6):
        driver = Driver(made(tmp_path, 1.0))
        for step in drawn(seed, has_leases=False):
            driver.make(step)
        found |= {one.clause for one in judge(driver.history.trace(seed, "toy 1")) if one.verdict is Verdict.FAIL}
    return found


@pytest.mark.parametrize(
    ("made", "clauses"),
    [
        (Kept, set[str]()),
        (ToTheBack, {"Q-LEASE"}),
        (Forgets, {"Q-LEASE", "Q-LEASE-ALL"}),
        (Revives, {"Q-RECEIPT"}),
        (Refuses, {"Q-LEASE", "Q-RECEIPT"}),
    ],
)
def test_a_library_that_is_broken_is_told(made: type[Library], clauses: set[str], tmp_path: Path) -> None:
    assert _broken(made, tmp_path) == clauses


def test_every_move_and_call_is_drawn() -> None:
    steps = [step for seed in range(20) for step in drawn(seed, has_leases=True)]
    assert {step.move for step in steps if isinstance(step, Step)} == set(Move)
    calls = {"put_message", "receive", "delete", "extend", "give_back"}
    assert {step.call for step in steps if isinstance(step, Call)} == calls


def test_what_has_no_leases_and_fences_nothing_is_asked_for_neither() -> None:
    steps = [step for seed in range(20) for step in drawn(seed, has_leases=False)]
    assert {step.move for step in steps if isinstance(step, Step)} == {Move.OPEN}
    assert "extend" not in {step.call for step in steps if isinstance(step, Call)}
    steps = [step for seed in range(20) for step in drawn(seed, has_leases=True, is_fenced=False)]
    assert {step.move for step in steps if isinstance(step, Step)} == {Move.OPEN, Move.WAIT}


def test_without_the_library_a_sentence_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(redis_queues, "program", lambda name: None)
    for product in embedded.PRODUCTS:
        name = product.name
        assert product.why_not() == f"there is no {name}; install {name} of PyPI into this environment"
    for product in redis_queues.PRODUCTS:
        reason = product.why_not()
        assert reason is not None
        assert reason.startswith("there is no redis-server and no redis; install redis of PyPI")
