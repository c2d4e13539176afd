"""Emulators of SQS, driven and judged: what they keep, and the mistakes of docs/reports, each 1-minimal."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from scatterproof.conformance.judge import judge_by_oracles
from scatterproof.conformance.verdict import Verdict
from scatterproof.conformance.workqueue.cases.leases import deletes, gives_back, puts, receives
from scatterproof.conformance.workqueue.products import emulators, sqs
from scatterproof.conformance.workqueue.products.emulators import EMULATORS, LOCAL_AWS_SQS, MOTO, Emulator, Server
from scatterproof.conformance.workqueue.products.sqs import Shape
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Call
from scatterproof.spec.trace import Trace

S = sqs.SECOND_NS
Steps = list[Call | float]


def _receives(client: int, most: int = 1, seconds: int = 30) -> Call:
    return receives(0, client, most, seconds * S)


_GIVES_BACK: Steps = [puts(0, 1), _receives(2), gives_back(0, 2), _receives(3), deletes(0, 3)]
KEEPS: list[tuple[Emulator, str, Steps]] = [
    (MOTO, "Q-LEASE", [puts(0, 1), _receives(2), puts(0, 1), _receives(3), deletes(0, 2), _receives(3)]),
    (MOTO, "Q-RECEIPT", _GIVES_BACK),
    (MOTO, "Q-DEDUP", [puts(0, 1, dedup=5), puts(0, 2, dedup=5), _receives(3, 5), deletes(0, 3), _receives(3)]),
    (
        LOCAL_AWS_SQS,
        "Q-LEASE",
        [puts(0, 1), puts(0, 1), _receives(2, 2), gives_back(0, 2), gives_back(0, 2), _receives(3)],
    ),
    (LOCAL_AWS_SQS, "Q-RECEIPT", _GIVES_BACK),
    (
        LOCAL_AWS_SQS,
        "Q-DEDUP",
        [puts(0, 1, dedup=5), puts(0, 2, dedup=5), _receives(3, 5), deletes(0, 3), _receives(3)],
    ),
]
_HOLDS = "holds a message of its group"
_COPY = "with its deduplication id was, put within the window"
_PUT_AGAIN: Steps = [puts(0, 1, dedup=5), _receives(2), deletes(0, 2), puts(0, 1, dedup=5), _receives(2)]
BREAKS: list[tuple[Emulator, str, str, Steps]] = [
    (
        *(MOTO, "Q-LEASE", "put into its group before it"),
        [puts(0, 1), puts(0, 1), _receives(2, 3, 1), 1.3, _receives(1, 1, 1)],
    ),
    (
        *(MOTO, "Q-LEASE", _HOLDS),
        [puts(0, 1), _receives(3, 1, 1), 1.3, _receives(2), gives_back(0, 3), _receives(1)],
    ),
    (MOTO, "Q-DEDUP", _COPY, _PUT_AGAIN),
    (LOCAL_AWS_SQS, "Q-LEASE", _HOLDS, [puts(0, 1), puts(0, 1), _receives(2), _receives(3)]),
    (LOCAL_AWS_SQS, "Q-DEDUP", _COPY, _PUT_AGAIN),
]


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(request.param, tmp_path_factory.mktemp(request.param.name))
    yield made
    made.end()


def _failed(server: Server, trace: Trace) -> list[str]:
    of = next(emulator for emulator in EMULATORS if server.iut.startswith(f"{emulator.name} "))
    results = emulators.product(of).judged(trace)
    return [result.violations[0].sentence for result in results if result.verdict is Verdict.FAIL]


@pytest.mark.slow
@pytest.mark.parametrize(("server", "clause", "steps"), KEEPS, indirect=["server"], scope="module")
def test_what_is_kept_passes(server: Server, clause: str, steps: Steps) -> None:
    trace = server.play(f"keeps-{clause}", steps)
    results = emulators.product(MOTO).judged(trace)
    assert {result.clause: result.verdict for result in results}[clause] is Verdict.PASS
    assert _failed(server, trace) == []


@pytest.mark.slow
@pytest.mark.parametrize(("server", "clause", "mistake", "steps"), BREAKS, indirect=["server"], scope="module")
def test_a_mistake_is_found_by_checks_and_oracles(server: Server, clause: str, mistake: str, steps: Steps) -> None:
    trace = server.play(f"breaks-{clause}-{len(steps)}", steps)
    (sentence,) = _failed(server, trace)
    assert sentence.startswith(clause)
    assert mistake in sentence
    assert {result.clause for result in judge_by_oracles(trace) if result.verdict is Verdict.FAIL} == {clause}


@pytest.mark.slow
@pytest.mark.parametrize(("server", "clause", "mistake", "steps"), BREAKS, indirect=["server"], scope="module")
def test_without_any_one_step_nothing_is_broken(server: Server, clause: str, mistake: str, steps: Steps) -> None:
    for left_out in range(len(steps)):
        rest = [step for number, step in enumerate(steps) if number != left_out]
        assert _failed(server, server.play(f"less-{clause}-{len(steps)}-{left_out}", rest)) == []


@pytest.mark.slow
@pytest.mark.parametrize("server", EMULATORS, indirect=True, ids=lambda one: one.name)
def test_a_run_names_the_product_and_its_version(server: Server) -> None:
    assert server.play("named", []).header.iut == server.iut
    assert server.iut.rpartition(" ")[2][0].isdigit()


def test_every_kind_of_step_is_drawn() -> None:
    steps = [step for seed in range(20) for step in sqs.drawn(seed)]
    assert {step.call for step in steps if isinstance(step, Call)} == {
        *("put_message", "receive", "delete", "extend", "give_back")
    }
    assert any(isinstance(step, float) for step in steps)


def test_a_quiet_run_has_nothing_of_what_its_shape_leaves_out() -> None:
    less = Shape(apart=True, ends=False, deletes=False, ids=False)
    for seed in range(20):
        steps = sqs.drawn(seed, less)
        calls = [step for step in steps if isinstance(step, Call)]
        assert len(calls) == len(steps)
        assert "delete" not in {call.call for call in calls}
        assert {call.arguments["lease_ns"] for call in calls if "lease_ns" in call.arguments} <= {30 * S}
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
    monkeypatch.setattr(emulators, "_program", lambda name: None)
    reason = LOCAL_AWS_SQS.why_not()
    assert reason is not None
    assert "there is no node and no local-aws-sqs; install " in reason
    assert "npm install --prefix " in reason
