"""Each literal rule that TLC refutes, on the core: its counterexample fails with that rule, and passes without."""

from __future__ import annotations

import pytest

from conformance.network.run import SimulatedIut
from fuzz.fuzzer import violations_of
from fuzz.kill_matrix import subjects_of
from fuzz.protocol import load
from models.expected import SPEC_FOLDER, Kind, Model, models_of
from spec import schedule as schedules
from spec.clauses import protocols

FINDINGS = [
    (protocol, model)
    for protocol in protocols()
    for model in models_of(protocol)
    if model.kind is Kind.FINDING and model.violates is not None
]


def test_there_are_findings() -> None:
    assert FINDINGS


@pytest.mark.parametrize(("protocol", "model"), FINDINGS, ids=[model.name for _, model in FINDINGS])
def test_a_finding_s_counterexample_fails_with_the_literal_rule_and_passes_without(protocol: str, model: Model) -> None:
    schedule = schedules.read(SPEC_FOLDER / protocol / "findings" / f"{model.name}.json")
    plugin = load(protocol)
    named = [mutant for mutant, said in plugin.on_model.items() if model.set == {said[0]: said[1]}]
    literal = [subject for subject in subjects_of(plugin) if subject.name in named]
    assert literal, f"no mutant of the core is {model.set}"

    assert violations_of(SimulatedIut("corrected", plugin.node_with({})).run(schedule)) == {}
    for subject in literal:
        broken = violations_of(subject.iut.run(schedule))
        assert broken, f"{subject.name} passes the counterexample of {model.name}"
