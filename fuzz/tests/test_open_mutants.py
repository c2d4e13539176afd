"""The mutants by which the others are measured: there are as many as there were, and every clause has one to break it.

That none of them is open, and that each clause is broken by one, is what the layer `mutants` of the main job says.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from scatterproof.fuzz import kill_matrix
from scatterproof.fuzz.kill_matrix import broken, subjects_of
from scatterproof.fuzz.layers import KillOutcome
from scatterproof.fuzz.protocol import load
from scatterproof.spec.clauses import Layer, protocols
from scatterproof.spec.clauses import load as load_clauses

# The least number of mutants, by protocol and group of rules.
LEAST = {"totalorder": {0: 100, 1: 140, 2: 95, 3: 2, 4: 2, 5: 5}, "broadcast": {0: 180}, "workqueue": {0: 75, 1: 20}}


@pytest.mark.parametrize("protocol", LEAST)
def test_there_are_mutants_of_every_group_of_rules(protocol: str) -> None:
    counted = Counter(subject.group for subject in subjects_of(load(protocol)))
    assert counted.keys() == LEAST[protocol].keys()
    assert all(counted[group] >= least for group, least in LEAST[protocol].items()), counted


@pytest.mark.parametrize("protocol", protocols())
def test_every_clause_with_a_check_is_broken_by_a_mutant_in_a_case_about_it(protocol: str) -> None:
    every = load_clauses(protocol).clauses
    # Of some the reference has no case, and the catalogue says why.
    checked = {one.id for one in every if Layer.CHECK in one.layers and Layer.CASE not in one.not_yet}
    found = broken(protocol)
    assert found.keys() == checked
    assert {clause: cell for clause, cell in found.items() if cell.outcome is not KillOutcome.KILLED} == {}


def test_a_mutant_that_breaks_a_clause_no_longer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = replace(load("totalorder"), breaks={"TO-MONO": "host/changes-contents"})
    monkeypatch.setattr(kill_matrix, "load", lambda protocol: plugin)
    assert broken("totalorder")["TO-MONO"].outcome is KillOutcome.SURVIVED
