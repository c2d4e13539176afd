"""Online monitor, compiled kernel and oracles say the same of every trace, conforming or damaged, however it is cut."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from scatterproof.conformance.judge import judge, judge_by_oracles, judge_compiled
from scatterproof.conformance.pubsub.tests.runs import NAMES, RULES_BY_NAME, run
from scatterproof.conformance.tests.agreement import Judges, beginning, damaged_rows
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec.clauses import Layer, load
from scatterproof.spec.trace import Kind, Order, Row, Trace, schema

COLUMNS = schema("pubsub").columns
NODE, KIND = COLUMNS.index("node"), COLUMNS.index("kind")
TIED = (Kind.CALLED, Kind.RETURNED, Kind.DELIVERED)


def arcs(rows: list[Row], order: Order) -> list[tuple[int, int]]:
    """Pairs of positions whose order every linearisation must keep: rows of one node; with the order of links rows of
    calls and deliveries, whose times are compared."""
    kept: list[tuple[int, int]] = []
    last_of: dict[tuple[object, ...], int] = {}
    for position, row in enumerate(rows):
        if row[KIND] == Kind.ENDED:
            kept += [(earlier, position) for earlier in range(position)]
            continue
        ties: list[tuple[object, ...]] = [("node", row[NODE])]
        if order is not Order.NODE and row[KIND] in TIED:
            ties += [("call",)]
        for tie in ties:
            if tie in last_of:
                kept.append((last_of[tie], position))
            last_of[tie] = position
    return kept


JUDGES = Judges("pubsub", arcs)


@pytest.mark.parametrize("name", NAMES)
def test_reference_run_passes_and_all_three_judges_agree(name: str) -> None:
    trace = run(name)
    results = judge(trace)
    assert {result.clause for result in results if result.verdict is Verdict.FAIL} == set()
    assert judge_compiled(trace) == results
    assert [result.verdict for result in judge_by_oracles(trace)] == [result.verdict for result in results]
    JUDGES.assert_agreement(beginning(trace, 160, cut=True), [1, 7, 40])


def test_every_clause_is_at_stake_in_some_run() -> None:
    passed = {result.clause for name in NAMES for result in judge(run(name)) if result.verdict is Verdict.PASS}
    with_cases = {clause.id for clause in load("pubsub").clauses if Layer.CASE in clause.layers}
    # In the reference nobody comes back, and what is PS-ORDER is PS-PER-PUBLISHER.
    assert passed == {*with_cases, "PS-PER-PUBLISHER"}


@pytest.mark.parametrize("rules", RULES_BY_NAME)
def test_runs_of_other_rules_are_judged_alike_by_all_three(rules: str) -> None:
    for name in NAMES:
        JUDGES.assert_agreement(run(name, rules), [5, 60])


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_run_is_judged_alike_by_all_three(data: st.DataObject) -> None:
    """Where there is anything to judge: calls that return twice, say, are no calls."""
    trace = run(data.draw(st.sampled_from(NAMES)), data.draw(st.sampled_from(list(RULES_BY_NAME))))
    damaged = Trace(trace.header, data.draw(damaged_rows(beginning(trace, 200), 2)))
    _, broken = JUDGES.online(damaged.header, damaged.rows)
    assume(all(found.check < len(JUDGES.plugin.checks) for found in broken))
    JUDGES.assert_agreement(damaged, data.draw(st.lists(st.integers(0, 200), max_size=4)))


@pytest.mark.parametrize("order", [Order.NODE, Order.LINK])
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(data=st.data(), seed=st.integers(0, 1 << 32))
def test_every_linearisation_that_agrees_with_a_checks_order_has_its_verdict(
    order: Order, data: st.DataObject, seed: int
) -> None:
    trace = run(data.draw(st.sampled_from(NAMES)), data.draw(st.sampled_from(list(RULES_BY_NAME))))
    JUDGES.assert_same_verdicts(trace, order, seed)
