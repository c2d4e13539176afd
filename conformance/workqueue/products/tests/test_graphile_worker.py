"""What is drawn for jobs of Graphile Worker, and what is said where it is not installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scatterproof.conformance.workqueue.products import graphile_worker
from scatterproof.conformance.workqueue.products.graphile_worker import PRODUCT, Move, Step, drawn
from scatterproof.spec.schedule import Call


def test_every_move_and_call_is_drawn() -> None:
    steps = [step for seed in range(30) for step in drawn(seed)]
    assert {step.move for step in steps if isinstance(step, Step)} == set(Move)
    assert {step.call for step in steps if isinstance(step, Call)} == {"put_message", "delete"}


def test_in_a_quiet_run_no_lock_lapses() -> None:
    quiet = [PRODUCT.steps(seed, True) for seed in range(30)]
    moves = [{step.move for step in steps if isinstance(step, Step)} for steps in quiet]
    assert {Move.POOL} in moves
    assert {Move.START} in moves
    assert all(Move.LATER not in each for each in moves)


def test_without_what_it_needs_a_sentence_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(graphile_worker, "node_program", lambda major: None)
    monkeypatch.setattr(graphile_worker, "programs", lambda: None)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    reason = PRODUCT.at("0.1.0").why_not()
    assert reason is not None
    assert reason.startswith("there is no PostgreSQL and no Node.js 22 and no graphile-worker; install postgresql of")
    assert reason.endswith(f"npm install --prefix {tmp_path / 'graphile-worker-0.1.0'} graphile-worker@0.1.0")
