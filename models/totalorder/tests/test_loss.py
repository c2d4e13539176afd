"""What the claims about loss refute, and that their proof is not empty; that each claim counts is tested with all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import z3

from scatterproof.models.claim import Claim, ClaimVerdict, Rules, prove_under
from scatterproof.models.totalorder.loss import ack_barrier
from scatterproof.models.totalorder.loss import delivery as loss_delivery
from scatterproof.models.totalorder.loss import record as loss_record
from scatterproof.models.totalorder.loss import rules as loss_rules
from scatterproof.models.totalorder.loss import safety as loss_safety
from scatterproof.models.totalorder.loss.actions import ACTING, LINKS, TAKEN, steps
from scatterproof.models.totalorder.loss.invariant import assumed, covered, kept
from scatterproof.models.totalorder.loss.network import any_state
from scatterproof.models.totalorder.loss.rules import RUN_RULES
from scatterproof.models.totalorder.loss.runs import LossRun

MODULES = (ack_barrier, loss_delivery, loss_record, loss_safety)
CLAIMS: dict[str, Claim] = {claim.name: claim for module in MODULES for claim in module.CLAIMS}


def _refuted(claim: str, mutant: str) -> set[str]:
    said = CLAIMS[claim]
    rules = next(m.rules for m in said.mutants if m.name == mutant)
    return {result.name for result in prove_under(said, rules) if result.verdict is ClaimVerdict.REFUTED}


@pytest.mark.parametrize(
    ("mutant", "run"),
    [
        ("least_is_record", "run_first_link"),
        ("largest_of_losing_link_is_record", "run_last_link"),
        ("largest_of_losing_link_or_one_is_record", "run_last_link_after_all_have_spoken"),
        ("flag_of_the_message_alone", "run_two_ingress_links"),
        ("greatest_of_earlier_messages", "run_gap_shown_by_another_host"),
    ],
)
def test_to_loss_safe_literal_rule_lets_a_lost_message_be_overtaken(mutant: str, run: str) -> None:
    assert run in _refuted("order_survives_loss", mutant)


def test_to_flag_sw_largest_barrier_of_the_losing_link_is_enough_where_a_host_is_at_its_other_end() -> None:
    refuted = _refuted("order_survives_loss", "largest_of_losing_link_is_record")

    assert refuted.isdisjoint({"run_first_link", "run_beacons_follow", "run_two_ingress_links", "run_two_receivers"})


def test_to_ack_init_largest_acknowledged_needs_two_receivers_to_fail() -> None:
    assert _refuted("order_survives_loss", "largest_acknowledged") == {"run_two_receivers"}


@pytest.mark.parametrize(
    ("rules", "failing"),
    [
        (loss_rules.LEAST_IS_RECORD.rules, "switch_forwards"),
        (loss_rules.LARGEST_IS_RECORD.rules, "packet_ends_at_a_node"),
        (loss_rules.RECORD_NOT_PASSED.rules, "receiver_gets_a_message"),
        (loss_rules.AT_OUTSTANDING.rules, "host_scatters"),
        ({"stamp": lambda clock, last, promised: max(clock, last + 1)}, "host_scatters"),
    ],
)
def test_to_loss_safe_induction_fails_with_a_wrong_rule(rules: Rules, failing: str) -> None:
    """The steps themselves bite, not only the runs."""
    _, step = kept({**RUN_RULES, **rules}, failing)
    solver = z3.Solver()
    solver.add(*step.hypotheses, z3.Not(step.goal))

    assert solver.check() == z3.sat


def test_to_flag_rx_receiver_that_heeds_no_record_does_more_than_the_induction_allows() -> None:
    receiver, _ = covered({**RUN_RULES, **loss_rules.BARRIER_ALONE.rules})
    solver = z3.Solver()
    solver.add(*receiver.hypotheses, z3.Not(receiver.goal))

    assert solver.check() == z3.sat


def test_to_loss_safe_invariant_admits_a_loss_that_a_switch_notices() -> None:
    """Companion of the induction: a message is passed over, the record rises, and another message goes on."""
    state = any_state()
    step = steps(RUN_RULES, state)["switch_forwards"]
    link, egress = LINKS
    lost = z3.Const("some_message", ACTING.sort())
    solver = z3.Solver()
    solver.add(*assumed(RUN_RULES, state), step.guard, state.put(lost, link), z3.Not(state.received(lost)))
    solver.add(state.at(lost, link) >= state.expected(link), state.at(lost, link) < TAKEN, state.barrier(link) > 0)
    solver.add(step.after.record(link) > state.record(link), state.withheld(link) > state.ack(link) + 1)
    solver.add(step.after.tail(egress) > state.tail(egress), step.after.said_barrier(egress, state.tail(egress)) > 0)

    assert solver.check() == z3.sat


def _resent(run: LossRun) -> tuple[Any, Any]:
    missing = run.scatter(1, lost="first link")
    run.beacon(1)
    message = run.scatter(2)
    run.resend(missing)
    run.learn(missing)
    run.learn(message)
    for host in (1, 2):
        run.beacon(host)
    run.switch_beacon()
    return missing, message


@pytest.mark.parametrize("which", [0, 1])
def test_to_complete_run_under_loss_ends_with_both_deliverable(which: int) -> None:
    run = LossRun(RUN_RULES)
    goal = run.deliverable(_resent(run)[which])
    solver = z3.Solver()
    solver.add(*run.guards, goal)

    assert solver.check() == z3.sat


Scenario = Callable[[LossRun], z3.BoolRef]


@pytest.mark.parametrize("scenario", loss_safety.BY_SWITCH)
def test_every_run_has_numbers_with_which_the_lost_message_precedes(scenario: Scenario) -> None:
    """Companion of the runs: without the record the very same run overtakes, so that none is empty."""
    run = LossRun({**RUN_RULES, **loss_rules.BARRIER_ALONE.rules})
    goal = scenario(run)
    solver = z3.Solver()
    solver.add(*run.guards, goal)

    assert solver.check() == z3.sat


def _counterexample(claim: str, mutant: str, obligation: str) -> dict[str, Any]:
    said = CLAIMS[claim]
    rules = next(m.rules for m in said.mutants if m.name == mutant)
    result = next(r for r in prove_under(said, rules) if r.name == obligation)
    assert result.verdict is ClaimVerdict.REFUTED
    assert result.counterexample is not None
    return result.counterexample


def test_to_flag_rx_strictly_below_the_ack_barrier_refuses_the_message_at_it() -> None:
    told = _counterexample(
        "flagged_deliver_at_ack_barrier", "strictly_below_the_ack_barrier", "what_is_refused_may_be_overtaken"
    )

    assert told["timestamp"] <= told["ack barrier"]


def test_to_flag_rx_combining_the_registers_first_refuses_what_every_link_lets_pass() -> None:
    told = _counterexample(
        "delivery_asked_of_every_link_is_the_weakest", "combined_first", "what_is_refused_may_be_overtaken_with_2"
    )
    links = [tuple(told[f"{name}_{k}"] for name in ("barrier", "ack", "record")) for k in (1, 2)]

    assert all(loss_rules.deliverable_under_loss(told["timestamp"], *link) for link in links)


def test_to_ack_init_largest_acknowledged_passes_what_is_outstanding() -> None:
    told = _counterexample("ack_barrier_below_outstanding", "largest_acknowledged", "at_or_below_is_acknowledged")

    assert told["waiting"]
    assert told["least outstanding"] <= told["ack barrier"]


def test_to_ack_mean_ack_barrier_that_is_no_promise_is_broken_by_a_clock_that_steps_back() -> None:
    told = _counterexample(
        "ack_barrier_below_outstanding", "ack_barrier_is_no_promise", "later_timestamps_strictly_above"
    )

    assert told["later clock"] < told["clock"]
    assert told["next timestamp"] <= told["ack barrier"]


def test_to_flag_sw_largest_barrier_misses_a_message_far_above_the_minimum() -> None:
    told = _counterexample(
        "switch_sets_loss_flag", "largest_of_losing_link_is_record", "at_or_above_all_that_may_be_lost"
    )

    assert told["lost"] > max(told["barrier held"], told["packet's barrier"])
