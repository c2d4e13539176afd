"""What is drawn for tubes of beanstalkd, and what is said where it is not installed."""

from __future__ import annotations

import importlib.util

import pytest

from scatterproof.conformance.workqueue.products import beanstalkd
from scatterproof.conformance.workqueue.products.beanstalkd import PRODUCT, Move, Step, drawn
from scatterproof.spec.schedule import Call

CALLS = {"put_message", "receive", "delete", "extend", "give_back"}


def test_every_move_and_call_is_drawn() -> None:
    steps = [step for seed in range(30) for step in drawn(seed)]
    assert {step.move for step in steps if isinstance(step, Step)} == set(Move)
    assert {step.call for step in steps if isinstance(step, Call)} == CALLS


def test_in_a_quiet_run_no_priority_changes_and_no_time_ends() -> None:
    steps = [step for seed in range(30) for step in PRODUCT.steps(seed, True)]
    assert {step.move for step in steps if isinstance(step, Step)} == set(Move) - {Move.RELEASED, Move.WAIT}
    assert PRODUCT.steps(7, False) == drawn(7)


def test_without_what_it_needs_a_sentence_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(beanstalkd, "program", lambda name: None)
    reason = PRODUCT.why_not()
    assert reason is not None
    assert reason.startswith("there is no beanstalkd and no greenstalk; install greenstalk of PyPI")
    assert "apt-get install beanstalkd" in reason
