"""Online monitor, compiled kernel and oracles say the same of every trace, conforming or damaged, however it is cut."""

from __future__ import annotations

from scatterproof.conformance.judge import judge
from scatterproof.conformance.pubsub.tests.runs import NAMES, RULES_BY_NAME, run
from scatterproof.conformance.tests.agreement import Judges, agreement_of_calls, arcs_of_calls
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec.clauses import Layer, load
from scatterproof.spec.trace import Kind

JUDGES = Judges("pubsub", arcs_of_calls("pubsub", (Kind.CALLED, Kind.RETURNED, Kind.DELIVERED)))
(
    test_reference_run_passes_and_all_three_judges_agree,
    test_runs_of_other_rules_are_judged_alike_by_all_three,
    test_damaged_run_is_judged_alike_by_all_three,
    test_every_linearisation_that_agrees_with_a_checks_order_has_its_verdict,
) = agreement_of_calls(JUDGES, NAMES, list(RULES_BY_NAME), run)


def test_every_clause_is_at_stake_in_some_run() -> None:
    passed = {result.clause for name in NAMES for result in judge(run(name)) if result.verdict is Verdict.PASS}
    with_cases = {clause.id for clause in load("pubsub").clauses if Layer.CASE in clause.layers}
    # In the reference nobody comes back, and what is PS-ORDER is PS-PER-PUBLISHER.
    assert passed == {*with_cases, "PS-PER-PUBLISHER"}
