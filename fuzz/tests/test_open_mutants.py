"""Every mutant of every protocol is killed or proved equivalent, and every clause has a mutant that breaks it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.kill_matrix import Standing, kill_matrix, subjects_of
from fuzz.protocol import load
from spec.clauses import load as load_clauses
from spec.clauses import protocols

# The cheapest first: a mutant that one of them has killed is shown to no other. The layers that are left out read the
# same runs once more; what only they could kill would be open here. `scatterproof fuzz --mutants` asks all of them.
CHEAPEST_FIRST = ("case", "fuzz", "machine", "z3")
# The least number of mutants killed, by protocol and group of rules; the others must be proved equivalent.
KILLED = {"totalorder": {0: 95, 1: 135, 2: 95, 3: 2, 4: 2, 5: 5}, "broadcast": {0: 170}}
# Mutants that break each clause between them, by the layer that shows it: hand-written ones, and the rules' own changes
# where a clause is about one rule alone.
BREAKING = {
    "totalorder": {
        "case": (
            *("host/", "switch/", "counted/ingress", "stamp/drop-1", "resent_barrier/own", "ack_barrier/largest"),
            *("flag_on/", "last_hop", "base_of/max", "difference/other", "adjusted_beacon/without", "cut_off/"),
        ),
        "fuzz": ("switch/sends-every-beacon", "host/leaves-numbers-out"),
    },
    "broadcast": {
        "case": (
            "literal/",
            "may_begin/always",
            "enters_pending/always",
            "link/",
            "uniform/",
            "application/",
            "ready/",
        ),
        "fuzz": ("order/", "link/delivers-copies", "in_turn/always", "majority/by-all"),
    },
}


@pytest.mark.parametrize("protocol", protocols())
def test_every_clause_has_a_mutant_that_breaks_it(protocol: str, tmp_path: Path) -> None:
    matrices = [
        kill_matrix(protocol, (layer,), folder=tmp_path, only=only)
        for layer, chosen in BREAKING[protocol].items()
        for only in chosen
    ]
    broken = {clause for matrix in matrices for clause in matrix.by_clause}
    checked = {clause.id for clause in load_clauses(protocol).clauses if "check" in clause.layers}
    assert checked - broken == set()


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("protocol", "group"), [(protocol, group) for protocol in KILLED for group in KILLED[protocol]]
)
def test_no_mutant_is_open(protocol: str, group: int, tmp_path: Path) -> None:
    matrix = kill_matrix(protocol, CHEAPEST_FIRST, folder=tmp_path, group=group, until_killed=True)
    assert matrix.open == ()
    assert matrix.score[Standing.KILLED] >= KILLED[protocol][group]


@pytest.mark.parametrize("protocol", protocols())
def test_every_mutant_is_of_one_group(protocol: str) -> None:
    assert {subject.group for subject in subjects_of(load(protocol))} == KILLED[protocol].keys()
