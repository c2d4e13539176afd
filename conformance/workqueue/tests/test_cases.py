"""Each rule as the source document has it fails a case, by the clause that it breaks."""

from __future__ import annotations

import pytest

from scatterproof.conformance.case import cases, run_case
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.workqueue import make_core
from scatterproof.impl.workqueue.literal_rules import LITERAL
from scatterproof.spec.schedule import FailureKind

# Both are of figure 3. One breaks the order of a correlation; by the other a worker is handed what it may not read.
BROKEN = {"Q-NEXT-lit-priority": "Q-ORDER-CORR", "Q-NEXT-lit-send": "Q-CALL-ONCE"}


@pytest.mark.parametrize("literal", LITERAL)
def test_literal_rule_fails_a_case_by_its_clause(literal: str) -> None:
    clause = BROKEN.get(literal, literal.rpartition("-lit-")[0])
    iut = SimulatedIut(literal, lambda config: make_core(config, LITERAL[literal]))
    own = [case for case in cases("workqueue") if case.clause == clause]
    results = [found for case in own for found in run_case(case, iut).results]
    assert any(found.verdict is Verdict.FAIL for found in results if found.clause == clause)


def test_what_is_stored_outlives_the_store_in_every_case_with_its_crash() -> None:
    crashing = [
        case
        for case in cases("workqueue")
        if any(failure.kind is FailureKind.CRASH and failure.node == 0 for failure in case.schedule.failures)
    ]
    assert {case.clause for case in crashing} == {"Q-DEADLETTER", "Q-DURABLE", "Q-LEASE", "Q-POISON"}
