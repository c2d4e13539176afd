"""What is drawn for queues of RabbitMQ, and what is said where it is not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from scatterproof.conformance.workqueue.products import rabbitmq_node
from scatterproof.conformance.workqueue.products.rabbitmq import Move, Shape, Step, drawn
from scatterproof.conformance.workqueue.products.rabbitmq_node import TYPES, QueueType
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Call


def test_every_move_and_call_is_drawn() -> None:
    steps = [step for seed in range(60) for step in drawn(seed)]
    assert {step.move for step in steps if isinstance(step, Step)} == set(Move)
    assert {step.call for step in steps if isinstance(step, Call)} == {"put_message", "receive", "delete", "give_back"}


def test_a_quiet_run_has_nothing_of_what_its_shape_leaves_out() -> None:
    for seed in range(60):
        steps = drawn(seed, Shape(leaves=False, finishes=False, any_order=False))
        assert {step.move for step in steps if isinstance(step, Step)} <= {Move.SINGLE, Move.JOIN, Move.RESTART}
        calls = [step.arguments for step in steps if isinstance(step, Call)]
        assert {one["newest"] for one in calls if "newest" in one} == {0}
        assert len({one["most"] for one in calls if "most" in one}) == 1


@pytest.mark.parametrize("kind", TYPES, ids=lambda one: one.name)
def test_a_shape_of_quiet_runs_leaves_something_out(kind: QueueType) -> None:
    assert Shape() not in kind.quiet
    assert any(kind.steps(seed, True) != kind.steps(seed, False) == drawn(seed) for seed in range(5))


def test_without_the_server_or_the_client_a_sentence_says_how_to_have_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(rabbitmq_node, "_program", lambda name: None)
    with pytest.raises(CannotRun, match=r"no rabbitmq-server and no pika; install pika .* \(apt-get install rabbitmq-"):
        rabbitmq_node.RabbitNode(tmp_path)
