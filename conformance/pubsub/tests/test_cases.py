"""Each rule as the source document has it fails a case, by the clause that it breaks."""

from __future__ import annotations

import pytest

from scatterproof.conformance.case import cases, run_case
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.pubsub import make_core
from scatterproof.impl.pubsub.literal_rules import LITERAL

# What is forgotten is seen by its subscriber alone: nothing is propagated that should not be.
BROKEN = {"PS-COVER-lit-forgotten": "PS-ROUTE"}


@pytest.mark.parametrize("literal", LITERAL)
def test_literal_rule_fails_a_case_by_its_clause(literal: str) -> None:
    clause = BROKEN.get(literal, literal.rpartition("-lit-")[0])
    iut = SimulatedIut(literal, lambda config: make_core(config, LITERAL[literal]))
    results = [found for case in cases("pubsub") for found in run_case(case, iut).results]
    assert any(found.verdict is Verdict.FAIL for found in results if found.clause == clause)
