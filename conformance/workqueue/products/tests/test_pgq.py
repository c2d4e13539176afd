"""What is drawn for queues of PgQ, and what is said where it is not installed."""

from __future__ import annotations

import pytest

from scatterproof.conformance.workqueue.products import pgq
from scatterproof.conformance.workqueue.products.pgq import PRODUCT, Move, Step, drawn
from scatterproof.spec.schedule import Call


def test_every_move_and_call_is_drawn() -> None:
    steps = [step for seed in range(30) for step in drawn(seed)]
    assert {step.move for step in steps if isinstance(step, Step)} == set(Move) - {Move.EARLY}
    assert {step.call for step in steps if isinstance(step, Call)} == {"put_message", "receive", "give_back"}


def test_in_a_quiet_run_no_consumer_stops_after_it_has_put_an_event_back() -> None:
    steps = [step for seed in range(30) for step in PRODUCT.steps(seed, True)]
    assert {step.move for step in steps if isinstance(step, Step)} == set(Move) - {Move.STOP}
    assert PRODUCT.steps(7, False) == drawn(7)


def test_without_the_server_a_sentence_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgq, "programs", lambda: None)
    reason = PRODUCT.why_not()
    assert reason is not None
    assert reason.startswith("there is no PostgreSQL and no PgQ; install psycopg of PyPI")
    assert "apt-get install postgresql postgresql-15-pgq3" in reason
