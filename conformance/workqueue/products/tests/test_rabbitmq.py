"""What is drawn for queues of RabbitMQ, and what is said where it is not installed."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from scatterproof.conformance.adapters.products import Product
from scatterproof.conformance.workqueue.cases.building import gives_back, puts, receives, receives_aside
from scatterproof.conformance.workqueue.products import rabbitmq_node
from scatterproof.conformance.workqueue.products.rabbitmq_node import QUORUM, TYPES, QueueType, product
from scatterproof.conformance.workqueue.products.rabbitmq_steps import LEASE_NS, Move, Shape, Step, Steps, drawn
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Call


def test_every_move_and_call_is_drawn() -> None:
    steps = [step for seed in range(60) for step in drawn(seed)]
    assert {step.move for step in steps if isinstance(step, Step)} == set(Move)
    assert {step.call for step in steps if isinstance(step, Call)} == {
        *("put_message", "receive", "receive_aside", "delete", "give_back")
    }


def test_a_quiet_run_has_nothing_of_what_its_shape_leaves_out() -> None:
    for seed in range(60):
        steps = drawn(seed, Shape(leaves=False, finishes=False, any_order=False))
        if Step(Move.ASIDE) in steps:
            continue
        assert {step.move for step in steps if isinstance(step, Step)} <= {Move.SINGLE, Move.JOIN, Move.RESTART}
        calls = [step.arguments for step in steps if isinstance(step, Call)]
        assert {one["newest"] for one in calls if "newest" in one} == {0}
        assert len({one["most"] for one in calls if "most" in one}) == 1


@pytest.mark.parametrize("kind", TYPES, ids=lambda one: one.name)
def test_a_shape_of_quiet_runs_leaves_something_out(kind: QueueType) -> None:
    assert Shape() not in kind.quiet
    assert any(kind.steps(seed, True) != kind.steps(seed, False) == drawn(seed) for seed in range(5))


# What a broker with the mistake would do.
_NOWHERE = {"x-delivery-limit": 1, "x-dead-letter-routing-key": "nowhere"}
_AT_ONCE = {"x-delivery-limit": 1, "x-max-length": 1, "x-overflow": "drop-head"}


@pytest.mark.slow
@pytest.mark.parametrize("product", [product(QUORUM)], ids=lambda one: one.name)
def test_dead_letters_that_are_lost_or_come_too_early_are_found_out(product: Product, tmp_path: Path) -> None:
    twice = [receives(0, 2, 2, LEASE_NS), *[gives_back(0, 2)] * 2] * 2
    asks = [receives(0, 2, 1, LEASE_NS), receives_aside(0, 3, 1, LEASE_NS)]
    steps: Steps = [Step(Move.ASIDE), puts(0, 1), puts(0, 1), *twice, *asks]
    node = rabbitmq_node.RabbitNode(tmp_path)
    try:
        for limit, mistake in ((_NOWHERE, "nothing is handed out of what"), (_AT_ONCE, "was handed out 0 times")):
            of = replace(QUORUM, limits=(limit,))
            found = product.judged(node.play(of, mistake, steps))
            (sentence,) = (one.violations[0].sentence for one in found if one.clause == "Q-DEADLETTER")
            assert mistake in sentence
    finally:
        node.end()


def test_without_the_server_or_the_client_a_sentence_says_how_to_have_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(rabbitmq_node, "_program", lambda name: None)
    with pytest.raises(CannotRun, match=r"no rabbitmq-server and no pika; install pika .* \(apt-get install rabbitmq-"):
        rabbitmq_node.RabbitNode(tmp_path)
