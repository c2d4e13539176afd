"""Paths that take every pair of actions of a state graph, as TLC prints it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from scatterproof.models.covering import Graph, covering_paths, models_to_cover, read_graph
from scatterproof.spec.errors import BadInput

# 1 -Up-> 2 -Up-> 3, 1 -Down-> 4 -Up-> 3, 3 -Down-> 5, and a step at 5 that changes nothing.
DOT = """strict digraph DiskGraph {
1 [label="/\\\\ x = 0\\n/\\\\ y = \\"a\\"",style = filled]
1 -> 2 [label="Up",color="black",fontcolor="black"];
2 [label="/\\\\ x = 1"];
1 -> -4 [label="Down",color="black",fontcolor="black"];
-4 [label="/\\\\ x = -1"];
2 -> 3 [label="Up",color="black",fontcolor="black"];
-4 -> 3 [label="Up",color="black",fontcolor="black"];
3 [label="/\\\\ x = 2"];
3 -> 5 [label="Down",color="black",fontcolor="black"];
5 [label="/\\\\ x = 3"];
5 -> 5 [label="Rest",color="black",fontcolor="black"];
}}
"""


@pytest.fixture(scope="module")
def graph() -> Graph:
    return read_graph(DOT.splitlines(keepends=True))


def test_a_graph_is_read_with_its_initial_state_and_without_steps_that_change_nothing(graph: Graph) -> None:
    assert graph.initial == [1]
    assert graph.steps == {1: [("Up", 2), ("Down", -4)], 2: [("Up", 3)], -4: [("Up", 3)], 3: [("Down", 5)]}
    assert set(graph.labels) == {1, 2, -4, 3, 5}


def test_the_pairs_are_those_that_can_follow_one_another(graph: Graph) -> None:
    assert graph.pairs() == {("Up", "Up"), ("Down", "Up"), ("Up", "Down")}


def test_paths_take_every_pair_and_begin_at_the_initial_state(graph: Graph) -> None:
    paths = covering_paths(graph)
    assert all(begin == 1 for begin, _ in paths)
    taken = {(one, other) for _, path in paths for (one, _), (other, _) in pairwise(path)}
    assert taken == graph.pairs()
    for begin, path in paths:
        at = begin
        for step in path:
            assert step in graph.steps[at]
            at = step[1]


def test_a_pair_that_no_path_reaches_is_refused() -> None:
    cut_off = Graph(initial=[1], labels={}, steps={7: [("Up", 8)], 8: [("Down", 9)]})
    with pytest.raises(BadInput, match="no path leads to"):
        covering_paths(cut_off)


def test_a_protocol_without_models_is_refused() -> None:
    with pytest.raises(BadInput, match="no models for protocol"):
        models_to_cover("gossip")
