"""moto's server, driven and judged: what it keeps, and the two mistakes of docs/reports/moto-sqs-fifo.md."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from scatterproof.conformance.judge import judge_by_oracles
from scatterproof.conformance.verdict import Verdict
from scatterproof.conformance.workqueue.cases.leases import deletes, gives_back, puts, receives
from scatterproof.conformance.workqueue.products import sqs
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Call

S = sqs.SECOND_NS
KEEPS: dict[str, list[Call | float]] = {
    "Q-LEASE": [puts(0, 1), receives(0, 2, lease_ns=30 * S), puts(0, 1), receives(0, 3), deletes(0, 2), receives(0, 3)],
    "Q-RECEIPT": [puts(0, 1), receives(0, 2, lease_ns=30 * S), gives_back(0, 2), receives(0, 3), deletes(0, 3)],
    "Q-DEDUP": [puts(0, 1, dedup=5), puts(0, 2, dedup=5), receives(0, 3, 5), deletes(0, 3), receives(0, 3)],
}
# Each 1-minimal: without any one step nothing is broken.
BREAKS: dict[str, list[Call | float]] = {
    "put into its group before it": [puts(0, 1), puts(0, 1), receives(0, 2, 3, S), 1.3, receives(0, 1, 1, S)],
    "holds a message of its group": [
        *(puts(0, 1), receives(0, 3, 1, S), 1.3),
        *(receives(0, 2, 1, 30 * S), gives_back(0, 3), receives(0, 1, 1, 30 * S)),
    ],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqs.Server]:
    made = sqs.Server(tmp_path_factory.mktemp("moto"))
    yield made
    made.end()


@pytest.mark.slow
@pytest.mark.parametrize("clause", KEEPS)
def test_what_is_kept_passes(server: sqs.Server, clause: str) -> None:
    results = sqs.PRODUCT.judged(sqs.play(server, f"keeps-{clause}", KEEPS[clause]))
    assert {result.clause: result.verdict for result in results}[clause] is Verdict.PASS
    assert Verdict.FAIL not in {result.verdict for result in results}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", BREAKS)
def test_a_mistake_is_found_by_checks_and_oracles(server: sqs.Server, mistake: str) -> None:
    trace = sqs.play(server, f"breaks-{list(BREAKS).index(mistake)}", BREAKS[mistake])
    (failed,) = (result for result in sqs.PRODUCT.judged(trace) if result.verdict is Verdict.FAIL)
    assert failed.clause == "Q-LEASE"
    assert mistake in failed.violations[0].sentence
    by_oracles = {result.clause for result in judge_by_oracles(trace) if result.verdict is Verdict.FAIL}
    assert by_oracles == {"Q-LEASE"}


def test_every_kind_of_step_is_drawn() -> None:
    steps = [step for seed in range(20) for step in sqs.drawn(seed)]
    assert {step.call for step in steps if isinstance(step, Call)} == {
        *("put_message", "receive", "delete", "extend", "give_back")
    }
    assert any(isinstance(step, float) for step in steps)


def test_without_the_server_a_sentence_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CannotRun, match="boto3 and moto"):
        sqs.Server(tmp_path)
