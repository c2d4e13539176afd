"""The mutants by which the others are measured: there are as many as there were, and every clause has one to break it.

That none of them is open, and that each clause is broken by one, is what the layer `mutants` of the main job says.
"""

from __future__ import annotations

from collections import Counter

import pytest

from fuzz.kill_matrix import subjects_of
from fuzz.layers import LAYERS
from fuzz.protocol import load
from spec.clauses import protocols

# The least number of mutants, by protocol and group of rules.
LEAST = {"totalorder": {0: 100, 1: 140, 2: 95, 3: 2, 4: 2, 5: 5}, "broadcast": {0: 180}}


@pytest.mark.parametrize("protocol", protocols())
def test_there_are_mutants_of_every_group_of_rules(protocol: str) -> None:
    counted = Counter(subject.group for subject in subjects_of(load(protocol)))
    assert counted.keys() == LEAST[protocol].keys()
    assert all(counted[group] >= least for group, least in LEAST[protocol].items()), counted


@pytest.mark.parametrize("protocol", protocols())
def test_what_must_be_seen_names_layers_and_mutants(protocol: str) -> None:
    plugin = load(protocol)
    names = [subject.name for subject in subjects_of(plugin)]
    for layer, beginnings in plugin.seen_in.items():
        assert layer in LAYERS
        assert [start for start in beginnings if not any(name.startswith(start) for name in names)] == []
