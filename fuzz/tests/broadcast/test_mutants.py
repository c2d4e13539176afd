"""Mutants of the broadcast stack: runs without end are cut, and Z3 is asked of rules in the terms of its claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from scatterproof.fuzz.fuzzer import RUN_ENDS, violations_of
from scatterproof.fuzz.kill_matrix import equivalence_of, kill_matrix, subjects_of
from scatterproof.fuzz.layers import KillOutcome, Subject
from scatterproof.fuzz.protocol import load
from scatterproof.models.claim import first_refuted, prove_under
from scatterproof.models.z3_claims import claims_of
from scatterproof.spec import schedule as schedules
from scatterproof.spec.trace import Kind, schema

PLUGIN = load("broadcast")
KIND = schema("broadcast").index("kind")


def named(name: str) -> Subject:
    return next(subject for subject in subjects_of(PLUGIN) if subject.name == name)


def test_bc_urb_gc_a_mutant_that_floods_its_network_is_cut_and_killed(tmp_path: Path) -> None:
    (row,) = kill_matrix("broadcast", ("fuzz",), folder=tmp_path, only="enters_pending/drop-not").rows
    assert {"BC-URB-GC", RUN_ENDS} <= set(row.cells["fuzz"].clauses)
    trace = named(row.mutant).iut.run(schedules.read(Path(row.cells["fuzz"].instance)))
    assert [note.endswith(f"after {PLUGIN.max_events} events") for note in trace.notes] == [True]
    handled = {Kind.ARRIVED, Kind.SUBMITTED}
    assert sum(row[KIND] in handled for row in trace.rows) <= PLUGIN.max_events
    assert RUN_ENDS in violations_of(trace)


@pytest.mark.slow
def test_a_rule_in_the_terms_of_the_claims_refutes_none_and_a_mutant_of_it_does(tmp_path: Path) -> None:
    rules = {rule.__name__: rule for rule in PLUGIN.rules}
    for name in PLUGIN.on_claims:
        claimed = PLUGIN.as_claimed({name: rules[name]})
        asked = [claim for claim in claims_of("broadcast") if claimed.keys() & claim.rules.keys()]
        assert asked
        for claim in asked:
            assert first_refuted(prove_under(claim, claimed)) is None, f"{name} in {claim.name}"
        cells = [row.cells["z3"] for row in kill_matrix("broadcast", ("z3",), folder=tmp_path, only=f"{name}/").rows]
        assert any(cell.outcome is KillOutcome.KILLED for cell in cells), name


@pytest.mark.parametrize(
    ("mutant", "proof"),
    [
        # Their arguments are sets and slices, on which the plain comparison of the two functions does not run.
        ("heard_first/swap-own-forwarder", "heard_first_alike_on_sets"),
        ("attached/drop-last-of-dependency_clock", "attached_alike_in_its_place"),
        ("heard_first/own-for-forwarder", ""),
        ("attached/own-for-begun", ""),
        ("acceptable/le-to-lt", ""),
    ],
)
def test_an_equivalence_of_its_own_is_asked_where_plain_equality_cannot_be(mutant: str, proof: str) -> None:
    assert equivalence_of(PLUGIN, named(mutant)).partition(":")[0] == proof
