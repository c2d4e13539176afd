"""The refutations of claims that matter, told step by step, and checked by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import z3

from scatterproof.models.claim import ClaimVerdict, prove_steps, prove_under
from scatterproof.models.tests.refuting import refuted
from scatterproof.models.totalorder.barriers.aggregation import conjuncts, steps
from scatterproof.models.totalorder.barriers.equivalences import PARAMETERS, prove_rule_equivalent
from scatterproof.models.totalorder.barriers.network import LINK, any_state, any_topology
from scatterproof.models.totalorder.barriers.rules import RULES
from scatterproof.models.totalorder.barriers.runs import TO_A, BarrierRun
from scatterproof.models.totalorder.barriers.vectors import FILE, boundaries, document, precedes
from scatterproof.models.z3_claims import claims_of, refutations
from scatterproof.spec.errors import BadInput

CLAIMS = {claim.name: claim for claim in claims_of("totalorder")}
_refuted = partial(refuted, "totalorder")


@pytest.mark.parametrize("run", ["run_in_environment_a", "run_in_environments_b_and_c"])
def test_to_deliver_at_the_barrier_is_overtaken_in_every_environment(run: str) -> None:
    told = _refuted("delivered_in_total_order", "at_the_barrier", run)

    assert told["barrier of receiver A"] == told["delivered"] == told["arrives later"]


def test_to_env_a_overtaking_needs_two_messages_of_one_scattering_on_a_link() -> None:
    told = _refuted(
        "at_the_barrier_is_safe_for_single_messages", "two_messages_of_one_scattering", "run_in_environment_a"
    )

    assert told["delivered"] == told["arrives later"]


@pytest.mark.parametrize("name", ["barrier_promise_holds", "barriers_never_fall"])
def test_to_bar_link_induction_fails_with_max_for_min(name: str) -> None:
    """The steps themselves bite, not only the runs."""
    claim = CLAIMS[name]
    rules = next(m.rules for m in CLAIMS["barrier_promise_holds"].mutants if m.name == "max_for_min")
    verdicts = {result.name: result.verdict for result in prove_steps(claim, rules)}

    failing = {step for step, verdict in verdicts.items() if verdict is ClaimVerdict.REFUTED}
    if name == "barrier_promise_holds":
        assert {"switch_forwards_data", "switch_sends_beacon"} <= failing
        assert verdicts["link_loses_message"] is ClaimVerdict.PROVED
    else:
        # The greatest of rising registers rises, too.
        assert failing == set()


def test_to_bar_min_stale_register_is_safe_but_not_the_minimum() -> None:
    assert "stale_barrier_is_safe" in CLAIMS
    assert _refuted("switch_barrier_is_minimum", "stale_register", "any_larger_value_can_be_broken")


def test_to_bar_host_beacon_of_last_plus_one_is_honoured_but_ahead() -> None:
    results = prove_under(
        CLAIMS["host_barrier_is_its_promise"], {"beacon_barrier": lambda clock, last: max(clock, last + 1)}
    )
    verdicts = {result.name: result.verdict for result in results}

    assert verdicts["stamp_honours_the_beacon"] is ClaimVerdict.PROVED
    assert verdicts["beacon_no_further_than_reached"] is ClaimVerdict.REFUTED


def test_run_can_end_with_a_delivery_below_the_barrier() -> None:
    """Companion of the runs: a message does become deliverable in one."""
    run = BarrierRun(RULES)
    told = [run.scatter(link, carries=True) for link in (z3.IntVal(1), z3.IntVal(2))]
    for link in (z3.IntVal(1), z3.IntVal(2)):
        run.forward_data(link, TO_A, carries=True)
        run.arrive(TO_A)
    solver = z3.Solver()
    solver.add(*run.guards, told[0] < run.state.newest(TO_A))

    assert solver.check() == z3.unsat

    run.scatter(z3.IntVal(1), carries=True)
    run.forward_data(z3.IntVal(1), TO_A, carries=True)
    run.arrive(TO_A)
    solver = z3.Solver()
    solver.add(*run.guards, told[0] < run.state.newest(TO_A))

    assert solver.check() == z3.sat


@pytest.mark.parametrize(
    ("rule", "mutant", "expected"),
    [
        ("deliverable", lambda timestamp, barrier: timestamp <= barrier, "delivered_in_total_order"),
        ("stamp", lambda clock, last, promised: max(clock, last + 1), "barrier_promise_holds"),
        ("aggregate", max, "barrier_promise_holds"),
        ("counted", lambda reaching, ingress: ingress, "only_reaching_links_count"),
        ("precedence", lambda timestamp, sender: (timestamp,), "precedence_is_a_strict_total_order"),
        ("register", lambda held, arrived: held, "switch_barrier_is_minimum"),
        ("data_barrier", lambda timestamp: timestamp + 1, "host_barrier_is_its_promise"),
        ("beacon_due", lambda clock, last, interval: True, "beacons_only_when_idle"),
    ],
)
def test_mutant_of_a_rule_alone_is_refuted_by_a_claim(rule: str, mutant: Callable[..., Any], expected: str) -> None:
    assert expected in refutations("totalorder", {rule: mutant})


def test_corrected_rules_are_refuted_by_no_claim() -> None:
    assert refutations("totalorder", {"deliverable": lambda timestamp, barrier: barrier > timestamp}) == {}


@pytest.mark.parametrize("rule", PARAMETERS)
def test_each_rule_equals_itself_on_terms(rule: str) -> None:
    assert prove_rule_equivalent(rule, RULES[rule]).counts


def test_to_order_sort_keys_are_equal_when_their_orders_are() -> None:
    shifted = prove_rule_equivalent("precedence", lambda timestamp, sender: (timestamp, sender + 1))
    reversed_ties = prove_rule_equivalent("precedence", lambda timestamp, sender: (timestamp, -sender))

    assert shifted.counts
    assert reversed_ties.verdict is ClaimVerdict.REFUTED


def test_equivalence_of_a_rule_without_terms_is_bad_input() -> None:
    with pytest.raises(BadInput, match="counted"):
        prove_rule_equivalent("counted", RULES["counted"])


def test_to_bar_link_invariant_holds_in_a_busy_network() -> None:
    """Companion of the induction: its hypotheses admit data behind a barrier, a spoken register, and a step that
    forwards.
    """
    topology, state = any_topology(), any_state()
    guard, after = steps(CLAIMS["barrier_promise_holds"].rules, topology, state)["switch_forwards_data"]
    link, egress = z3.Consts("link some_egress", LINK)
    head = state.head(link)
    solver = z3.Solver()
    solver.add(*topology.assumptions(), *conjuncts(topology, state).values(), guard)
    solver.add(state.tail(link) >= head + 2, state.has_barrier(link, head), state.newest(link) > 0)
    solver.add(state.is_data(link, head + 1), state.barrier(link, head) > state.newest(link))
    solver.add(after.tail(egress) == state.tail(egress) + 1, after.said(egress) > state.said(egress))

    assert solver.check() == z3.sat


def test_boundary_vectors_regenerate_identically() -> None:
    assert document() == document() == FILE.read_text()


def test_boundary_vectors_answer_as_the_rules_do_and_are_named_once() -> None:
    vectors = json.loads(FILE.read_text())

    assert len({v["name"] for v in vectors}) == len(vectors) == len(boundaries())
    for v in vectors:
        rule = precedes if v["rule"] == "precedes" else RULES[v["rule"]]
        assert rule(**v["inputs"]) == v["expected"], v["name"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("message_at_the_barrier", False),
        ("message_one_below_the_barrier", True),
        ("worked_example_1", 1),
        ("one_link_has_not_spoken", 0),
        ("tie_with_smaller_sender", True),
        ("one_and_the_same_scattering", False),
        ("packed_key_would_wrap", False),
        ("last_one_below_largest", 2**63 - 1),
    ],
)
def test_boundary_vector_has_the_answer_that_the_clause_demands(name: str, expected: int | bool) -> None:
    assert next(v["expected"] for v in json.loads(FILE.read_text()) if v["name"] == name) == expected
