"""Each rule as the source document has it fails a case, by the clause that it breaks."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scatterproof.conformance.case import cases, run_case
from scatterproof.conformance.judge import judge
from scatterproof.conformance.network.run import SimulatedIut, simulate
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.pubsub import make_core
from scatterproof.impl.pubsub.literal_rules import LITERAL
from scatterproof.spec.errors import BadInput

# What is forgotten is seen by its subscriber alone: nothing is propagated that should not be.
BROKEN = {"PS-COVER-lit-forgotten": "PS-ROUTE"}


@pytest.mark.parametrize("literal", LITERAL)
def test_literal_rule_fails_a_case_by_its_clause(literal: str) -> None:
    clause = BROKEN.get(literal, literal.rpartition("-lit-")[0])
    iut = SimulatedIut(literal, lambda config: make_core(config, LITERAL[literal]))
    results = [found for case in cases("pubsub") for found in run_case(case, iut).results]
    assert any(found.verdict is Verdict.FAIL for found in results if found.clause == clause)


@pytest.mark.parametrize("paths", ["one", "all"])
def test_several_links_between_two_are_refused_where_messages_do_not_take_the_best(paths: str) -> None:
    case = next(case for case in cases("pubsub") if case.clause == "PS-NEIGHBOUR")
    schedule = replace(case.schedule, parameters={**case.schedule.parameters, "paths": paths})
    with pytest.raises(BadInput, match="joined more than once"):
        judge(simulate(schedule, make_core))
