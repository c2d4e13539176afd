"""What is drawn for jobs of pg-boss, and what is said where it is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scatterproof.conformance.workqueue.products import pg_boss
from scatterproof.conformance.workqueue.products.pg_boss import PRODUCT, Move, Shape, Step, drawn
from scatterproof.spec.schedule import Call


def test_every_move_and_call_is_drawn() -> None:
    steps = [step for seed in range(30) for step in drawn(seed)]
    assert {step.move for step in steps if isinstance(step, Step)} == set(Move)
    assert {step.call for step in steps if isinstance(step, Call)} == {"put_message", "receive", "delete", "give_back"}


def test_a_quiet_run_sends_each_job_by_itself() -> None:
    for seed in range(30):
        steps = PRODUCT.steps(seed, True)
        assert steps == drawn(seed, Shape(several=False))
        assert {step.move for step in steps if isinstance(step, Step)} <= {Move.EXPIRE, Move.BOTH}
        assert PRODUCT.steps(seed, False) == drawn(seed)


def test_without_what_it_needs_a_sentence_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pg_boss, "MODULES", tmp_path)
    monkeypatch.setattr(pg_boss, "node_program", lambda major: None)
    monkeypatch.setattr(pg_boss, "programs", lambda: None)
    reason = PRODUCT.why_not()
    assert reason is not None
    assert reason.startswith("there is no PostgreSQL and no Node.js 22 and no pg-boss; install postgresql of Debian")
    assert "npm install --prefix " in reason
