"""Each rule as the source document has it fails a case of its own clause."""

from __future__ import annotations

import pytest

from scatterproof.conformance.case import cases, run_case
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.broadcast import AnyCore, make_core
from scatterproof.impl.broadcast.literal_rules import LITERAL
from scatterproof.spec.core import NodeConfig


@pytest.mark.parametrize("literal", LITERAL)
def test_literal_rule_fails_a_case_of_its_clause_by_that_clause(literal: str) -> None:
    def make_node(config: NodeConfig) -> AnyCore:
        return make_core(config, LITERAL[literal])

    clause = literal.split()[0]
    own = [case for case in cases("broadcast") if case.clause == clause]
    results = [run_case(case, SimulatedIut(literal, make_node)) for case in own]
    assert any(
        found.verdict is Verdict.FAIL for result in results for found in result.results if found.clause == clause
    )
