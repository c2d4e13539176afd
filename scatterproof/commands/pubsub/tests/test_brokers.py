"""`scatterproof brokers`: one matrix of brokers and clauses, with what is broken and what is not run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scatterproof.commands.pubsub import brokers
from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.pubsub.products.drawing import CLIENTS, Shape, drawn, words
from scatterproof.conformance.pubsub.products.driving import Steps, play
from scatterproof.conformance.pubsub.products.servers import PROFILE
from scatterproof.conformance.pubsub.products.tests.toy import KINDS
from scatterproof.spec.trace import Trace
from scatterproof.tests.test_console import Console


def toy(kind: str, why_not: str | None = None) -> Product:
    def run(name: str, steps: Steps, seed: int) -> Trace:
        return play(KINDS[kind], words(name), CLIENTS, steps, seed, kind, patience_s=0.0)

    @contextmanager
    def serve(folder: Path) -> Iterator[Play]:
        yield run

    def steps(seed: int, _: bool) -> Steps:
        return drawn(seed, Shape())

    return Product(name=kind, text=kind, profile=PROFILE, why_not=lambda: why_not, serve=serve, steps=steps)


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    kinds = (toy("Toy"), toy("SendsBackwards"), toy("MarksAll", "it is not here; install it"))
    monkeypatch.setattr(brokers, "PRODUCTS", kinds)
    return Console(monkeypatch, capsys)


def test_a_broker_that_breaks_a_clause_is_red_in_it_and_the_other_is_green(console: Console, tmp_path: Path) -> None:
    code, told = console.json("brokers", "matrix", "--seconds", "0", "--seed", "1", "--results", str(tmp_path))
    assert code == 1
    lines = {line["broker"]: line for line in told}
    assert lines["Toy"]["broken"] == {}
    assert lines["Toy"]["stakes"]["PS-PER-PUBLISHER"] > 0
    assert lines["SendsBackwards"]["broken"]["PS-PER-PUBLISHER"] > 0
    assert lines["SendsBackwards"]["first"]["PS-PER-PUBLISHER"].startswith("seed ")
    assert lines["MarksAll"]["not_run"] == "it is not here; install it"
    assert (tmp_path / "Toy" / "run-1.ndjson").is_file()


def test_what_is_not_installed_is_said_and_is_no_pass(console: Console, tmp_path: Path) -> None:
    code, shown, complaint = console(
        "brokers", "matrix", "Toy", "MarksAll", "--seconds", "0", "--results", str(tmp_path)
    )
    assert code == 3
    assert "MarksAll: not run: it is not here; install it" in complaint
    assert "MarksAll" not in shown
    assert "Toy" in shown


def test_an_unknown_broker_is_refused(console: Console) -> None:
    code, _, complaint = console("brokers", "matrix", "rabbit")
    assert code == 2
    assert "broker 'rabbit' is unknown; choose of Toy, SendsBackwards, MarksAll" in complaint
