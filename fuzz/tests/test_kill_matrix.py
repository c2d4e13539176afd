"""The kill matrix: what its rows and cells say. Whether a mutant is open: see test_open_mutants.py."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from scatterproof.fuzz.kill_matrix import (
    KillMatrix,
    MutantStanding,
    equivalence_of,
    kill_matrix,
    matrix_of,
    subjects_of,
    tried,
    with_models,
)
from scatterproof.fuzz.layers import LAYERS, Bench, KillOutcome
from scatterproof.fuzz.protocol import load
from scatterproof.models.expected import models_of
from scatterproof.spec import schedule as schedules
from scatterproof.spec.clauses import protocols
from scatterproof.spec.errors import BadInput

pytestmark = pytest.mark.slow  # one long preparation, which whatever test comes first pays for

WITHOUT_TLC = tuple(layer for layer in LAYERS if layer != "tlc")


@pytest.fixture(scope="module")
def ties(tmp_path_factory: pytest.TempPathFactory) -> KillMatrix:
    """Few of them survive: such a one is tried on every case."""
    names = [f"precedence/{change}" for change in ("drop-sender", "sender-plus-one", "sender-falling", "newest-first")]
    rows = tried("totalorder", names, WITHOUT_TLC, folder=tmp_path_factory.mktemp("mutants"))
    return matrix_of("totalorder", 1, WITHOUT_TLC, rows, 0.0)


def test_a_killed_mutant_names_what_killed_it(ties: KillMatrix) -> None:
    (row,) = [row for row in ties.rows if row.mutant == "precedence/drop-sender"]
    assert row.standing is MutantStanding.KILLED
    assert row.cells["fuzz"].clauses == ("TO-ORDER",)
    schedules.read(Path(row.cells["fuzz"].instance))
    assert all(cell.instance for cell in row.cells.values() if cell.outcome is KillOutcome.KILLED)


def test_an_equivalent_mutant_names_its_proof_and_survives_every_layer(ties: KillMatrix) -> None:
    (row,) = [row for row in ties.rows if row.mutant == "precedence/sender-plus-one"]
    assert row.standing is MutantStanding.EQUIVALENT
    assert row.proof.startswith("precedence_compares_alike")
    assert not any(cell.outcome is KillOutcome.KILLED for cell in row.cells.values())


def test_checks_and_oracles_kill_the_same_mutants(ties: KillMatrix) -> None:
    for row in ties.rows:
        assert row.cells["check"].outcome == row.cells["oracle"].outcome, row.mutant


def test_score_counts_every_row_once(ties: KillMatrix) -> None:
    assert sum(ties.score.values()) == len(ties.rows)
    assert ties.open == ()


def test_matrix_survives_json(ties: KillMatrix) -> None:
    assert msgspec.json.decode(msgspec.json.encode(ties), type=KillMatrix) == ties


def test_no_mutant_that_a_run_can_tell_is_proved_equivalent() -> None:
    plugin = load("totalorder")
    telling = {"precedence/drop-sender", "deliverable/lt-to-le", "stamp/drop-1", "register/least-ever"}
    subjects = [subject for subject in subjects_of(plugin) if subject.name in telling]
    assert len(subjects) == len(telling)
    assert [equivalence_of(plugin, subject) for subject in subjects] == ["", "", "", ""]


def test_an_unknown_layer_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match=r"layer 'guess' is unknown; choose from: .*check"):
        kill_matrix("totalorder", ("guess",))


@pytest.mark.parametrize("protocol", protocols())
def test_every_mutant_on_a_model_names_an_operator_that_some_model_substitutes(protocol: str) -> None:
    plugin = load(protocol)
    substituted = [model.set for model in models_of(protocol)]
    names = {subject.name for subject in subjects_of(plugin)}
    assert plugin.on_model
    for mutant, (constant, operator) in plugin.on_model.items():
        assert mutant in names
        assert {constant: operator} in substituted, f"no model has {constant} <- {operator}"


def test_tlc_kills_by_the_model_with_the_same_change_and_keeps_known_results(tmp_path: Path) -> None:
    plugin = load("totalorder")
    (subject,) = [subject for subject in subjects_of(plugin) if subject.name == "precedence/drop-sender"]
    bench = Bench(plugin, 1, tmp_path)
    cell = LAYERS["tlc"](bench, subject)
    assert (cell.outcome, cell.clauses) == (KillOutcome.KILLED, ("TO-ORDER",))
    model, _, violated = cell.instance.partition(": ")
    assert violated in ("DeliveredInTotalOrder", "ReceiversAgree")
    assert [*bench.models] == [model]

    # The same once more, for a matrix that was made without TLC, of results that are there; it runs no model itself.
    (without,) = kill_matrix("totalorder", ("check",), folder=tmp_path, only=subject.name).rows
    (added,) = with_models("totalorder", [without], [bench.models[model]])
    assert (added.cells["tlc"], added.standing) == (cell, MutantStanding.KILLED)
    (added,) = with_models("totalorder", [without], [])
    assert added.cells["tlc"].outcome is KillOutcome.NOT_ASKED


def test_a_mutant_that_is_killed_is_shown_to_no_further_layer_where_that_is_enough(tmp_path: Path) -> None:
    names = ("precedence/drop-sender", "precedence/sender-plus-one")
    tries = tried("totalorder", names, ("fuzz", "check"), folder=tmp_path, until_killed=True)
    found = {row.mutant: row for row in tries}
    rows = [found[name] for name in names]
    assert [[row.cells[layer].outcome for layer in ("fuzz", "check")] for row in rows] == [
        [KillOutcome.KILLED, KillOutcome.NOT_ASKED],
        [KillOutcome.NOT_ASKED, KillOutcome.NOT_ASKED],
    ]
    assert [row.standing for row in rows] == [MutantStanding.KILLED, MutantStanding.EQUIVALENT]
