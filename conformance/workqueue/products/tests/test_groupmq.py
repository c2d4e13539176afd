"""What is drawn for jobs of GroupMQ, and what is said where it is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scatterproof.conformance.workqueue.products import groupmq
from scatterproof.conformance.workqueue.products.groupmq import PRODUCT, Move, Step, drawn
from scatterproof.spec.schedule import Call


def test_every_move_and_call_is_drawn() -> None:
    steps = [step for seed in range(30) for step in drawn(seed)]
    assert {step.move for step in steps if isinstance(step, Step)} == set(Move)
    assert {step.call for step in steps if isinstance(step, Call)} == {"put_message", "delete", "give_back"}


def test_in_a_quiet_run_workers_work_and_nothing_else_happens() -> None:
    for seed in range(30):
        steps = PRODUCT.steps(seed, True)
        assert {step.move for step in steps if isinstance(step, Step)} == {Move.START}
        assert PRODUCT.steps(seed, False) == drawn(seed)


def test_without_what_it_needs_a_sentence_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(groupmq, "MODULES", tmp_path)
    monkeypatch.setattr(groupmq, "program", lambda name: None)
    monkeypatch.setattr(groupmq, "node_program", lambda major: None)
    reason = PRODUCT.why_not()
    assert reason is not None
    assert reason.startswith("there is no redis-server and no Node.js 18 and no groupmq and no ioredis; install redis-")
    assert "npm install --prefix " in reason
