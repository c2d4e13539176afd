"""What is drawn for jobs of BullMQ, what a history forgets, and what is said where BullMQ is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scatterproof.conformance.workqueue.cases.building import puts
from scatterproof.conformance.workqueue.products import bullmq
from scatterproof.conformance.workqueue.products.bullmq import PRODUCT, Move, Shape, Step, drawn
from scatterproof.conformance.workqueue.products.history import History
from scatterproof.spec.core import Outcome
from scatterproof.spec.schedule import Call
from scatterproof.spec.trace import schema


def test_every_move_and_call_is_drawn() -> None:
    steps = [step for seed in range(20) for step in drawn(seed)]
    assert {step.move for step in steps if isinstance(step, Step)} == set(Move)
    assert {step.call for step in steps if isinstance(step, Call)} == {"put_message", "receive", "delete", "give_back"}


def test_in_a_quiet_run_a_job_that_fails_fails_for_good() -> None:
    for seed in range(20):
        steps = PRODUCT.steps(seed, True)
        assert steps == drawn(seed, Shape(fails=False, retries=False))
        assert {step.move for step in steps if isinstance(step, Step)} == {Move.GIVE_UP}
        assert "give_back" not in {step.call for step in steps if isinstance(step, Call)}
        assert PRODUCT.steps(seed, False) == drawn(seed)


def test_a_put_that_was_replaced_may_have_done_nothing() -> None:
    history, outcome = History(), schema("workqueue").columns.index("outcome")
    for _ in range(2):
        history.called(puts(0, 1))
        history.returned(1)
    history.forget(1)
    assert [row[outcome] for row in history.rows] == [-1, Outcome.UNKNOWN, -1, Outcome.OK]
    assert history.last() == 3


def test_without_what_it_needs_a_sentence_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bullmq, "MODULES", tmp_path)
    monkeypatch.setattr(bullmq, "program", lambda name: None)
    monkeypatch.setattr(bullmq, "node_program", lambda major: None)
    reason = PRODUCT.why_not()
    assert reason is not None
    assert reason.startswith("there is no redis-server and no Node.js 18 and no bullmq and no ioredis; install redis-")
    assert "npm install --prefix " in reason
