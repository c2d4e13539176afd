"""What is drawn for emulators of SQS, and what is said where one is not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from scatterproof.conformance.workqueue.products import emulators, sqs
from scatterproof.conformance.workqueue.products.emulators import EMULATORS, LOCAL_AWS_SQS, Emulator, Server
from scatterproof.conformance.workqueue.products.history import SECOND_NS
from scatterproof.conformance.workqueue.products.sqs import Shape
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Call


def test_every_kind_of_step_is_drawn() -> None:
    steps = [step for seed in range(20) for step in sqs.drawn(seed)]
    assert {step.call for step in steps if isinstance(step, Call)} == {
        *("put_message", "receive", "delete", "extend", "give_back")
    }
    assert any(isinstance(step, float) for step in steps)


def test_where_messages_are_set_aside_these_are_received_too() -> None:
    steps = [step for seed in range(5) for step in sqs.drawn(seed, Shape(aside=True))]
    assert {"receive", "receive_aside"} <= {step.call for step in steps if isinstance(step, Call)}


def test_a_quiet_run_has_nothing_of_what_its_shape_leaves_out() -> None:
    less = Shape(apart=True, ends=False, deletes=False, ids=False)
    for seed in range(20):
        steps = sqs.drawn(seed, less)
        calls = [step for step in steps if isinstance(step, Call)]
        assert len(calls) == len(steps)
        assert "delete" not in {call.call for call in calls}
        assert {call.arguments["lease_ns"] for call in calls if "lease_ns" in call.arguments} <= {30 * SECOND_NS}
        given = [call.arguments for call in calls if call.call == "put_message"]
        assert len({one["group"] for one in given}) == len(given) > 1
        assert {one["dedup"] for one in given} == {0}


@pytest.mark.parametrize("emulator", EMULATORS, ids=lambda one: one.name)
def test_a_shape_of_quiet_runs_leaves_something_out(emulator: Emulator) -> None:
    assert Shape() not in emulator.quiet
    assert emulator.steps(3, quiet=True) != emulator.steps(3, quiet=False) == sqs.drawn(3)


@pytest.mark.parametrize("emulator", EMULATORS, ids=lambda one: one.name)
def test_without_the_server_a_sentence_says_how_to_have_it(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CannotRun, match=r"there is no .*; install boto3"):
        Server(emulator, tmp_path)


def test_without_node_or_the_module_both_are_said_to_be_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(emulators, "NODE_MODULE", tmp_path / "none")
    monkeypatch.setattr(emulators, "program", lambda name: None)
    reason = LOCAL_AWS_SQS.why_not()
    assert reason is not None
    assert "there is no node and no local-aws-sqs; install " in reason
    assert "npm install --prefix " in reason
