"""What is said where PgQueuer is not installed, and what its quiet runs leave out."""

from __future__ import annotations

import importlib.util

import pytest

from scatterproof.conformance.workqueue.products import pgqueuer_jobs
from scatterproof.conformance.workqueue.products.embedded import Move, Step
from scatterproof.conformance.workqueue.products.pgqueuer_jobs import PRODUCT


def test_in_a_quiet_run_nobody_is_late() -> None:
    for quiet, moves in ((False, set(Move)), (True, {Move.OPEN, Move.WAIT})):
        steps = [step for seed in range(30) for step in PRODUCT.steps(seed, quiet)]
        assert {step.move for step in steps if isinstance(step, Step)} == moves


def test_without_what_it_needs_a_sentence_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(pgqueuer_jobs, "programs", lambda: None)
    reason = PRODUCT.why_not()
    assert reason is not None
    assert reason.startswith(
        "there is no PostgreSQL and no pgqueuer and no psycopg; install pgqueuer==1.6.0 and psycopg of PyPI"
    )
    assert "apt-get install postgresql" in reason
