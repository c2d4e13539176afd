"""The state machine: the reference core walks with it, damaged ones part from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from scatterproof.fuzz.kill_matrix import subjects_of
from scatterproof.fuzz.layers import Bench, KillCell, KillOutcome, by_machine
from scatterproof.fuzz.machines import first_failure
from scatterproof.fuzz.mutations import mutants_of
from scatterproof.fuzz.protocol import load
from scatterproof.impl.totalorder import rules

PLUGIN = load("totalorder")


def test_reference_core_keeps_to_the_model() -> None:
    assert first_failure(PLUGIN.machines(PLUGIN.node_with({})), 6) is None


@pytest.mark.parametrize(
    ("rule", "change", "clause"),
    [
        (rules.aggregate, "min-to-max", "TO-BAR-MIN"),
        (rules.deliverable, "lt-to-le", "TO-DELIVER"),
        (rules.data_barrier, "timestamp-plus-one", "TO-BAR-HOST"),
        (rules.stamp, "drop-1", "TO-SCATTER"),
        (rules.beacon_due, "always", "TO-ENV-C"),
        (rules.beacon_due, "never", "TO-COMPLETE"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_damaged_rule_parts_from_the_model(rule: object, change: str, clause: str) -> None:
    assert callable(rule)
    (mutant,) = [mutant for mutant in mutants_of(rule) if mutant.name.endswith(f"/{change}")]
    failure = first_failure(PLUGIN.machines(PLUGIN.node_with({mutant.rule: mutant.function})), 4)
    assert failure is not None
    assert failure.startswith(clause)


def test_a_protocol_without_a_machine_expresses_no_mutant_there(tmp_path: Path) -> None:
    """Those of rules, and those of nodes."""
    plugin = load("broadcast")
    subjects = [
        next(one for one in subjects_of(plugin) if bool(one.functions) is of_rules) for of_rules in (True, False)
    ]
    for subject in subjects:
        cell = by_machine(Bench(plugin, 1, tmp_path), subject)
        assert cell == KillCell(KillOutcome.NOT_EXPRESSED, "the protocol has no state machine")
