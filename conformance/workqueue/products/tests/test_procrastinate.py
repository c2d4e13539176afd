"""What is drawn for jobs of procrastinate, and what is said where it is not installed."""

from __future__ import annotations

import importlib.util

import pytest

from scatterproof.conformance.workqueue.products import procrastinate_jobs
from scatterproof.conformance.workqueue.products.procrastinate_jobs import PRODUCT, Move, Shape, Step, drawn
from scatterproof.spec.schedule import Call


def test_every_move_and_call_and_a_queueing_lock_are_drawn() -> None:
    steps = [step for seed in range(30) for step in drawn(seed)]
    assert {step.move for step in steps if isinstance(step, Step)} == set(Move)
    assert {step.call for step in steps if isinstance(step, Call)} == {"put_message", "delete", "give_back"}
    assert {step.arguments.get("dedup", 0) for step in steps if isinstance(step, Call)} == {0, 1, 2}


def test_a_quiet_run_has_nothing_of_what_its_shape_leaves_out() -> None:
    for seed in range(30):
        steps = drawn(seed, Shape(pauses=False, queueing=False))
        assert {step.move for step in steps if isinstance(step, Step)} <= {Move.START, Move.KILL, Move.STALLED}
        assert {step.arguments.get("dedup", 0) for step in steps if isinstance(step, Call)} == {0}
        assert PRODUCT.steps(seed, True) == steps
        assert PRODUCT.steps(seed, False) == drawn(seed)


def test_without_the_server_or_the_library_a_sentence_says_how_to_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(procrastinate_jobs, "programs", lambda: None)
    reason = PRODUCT.why_not()
    assert reason is not None
    assert reason.startswith("there is no PostgreSQL and no procrastinate; install procrastinate==3.10.0 of PyPI")
    assert "apt-get install postgresql" in reason
