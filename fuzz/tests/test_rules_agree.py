"""The rules that Z3 and TLC prove things about, and those that the reference core is built with, are the same rules.

Where the two are of one shape, Z3 proves them equal for all values. Where the model states a relation, as that a value
is the least of some others, it is proved to be the one that the rule answers, of up to four. What has no arithmetic is
tried on all that there is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import z3

from scatterproof import spec
from scatterproof.fuzz.mutations import Rule, rules_of_module
from scatterproof.impl.totalorder import adjustment_rules as built_for_adjustment
from scatterproof.impl.totalorder import failure_rules as built_for_failures
from scatterproof.impl.totalorder import loss_rules as built_for_loss
from scatterproof.impl.totalorder import rules as built
from scatterproof.models.claim import ClaimVerdict
from scatterproof.models.equivalence import ParameterKind, prove_equivalent
from scatterproof.models.symbolic import lift
from scatterproof.models.tlc import TlcOutcome, run_tlc
from scatterproof.models.totalorder.adjustment import safety as adjustment_safety
from scatterproof.models.totalorder.adjustment.rules import RULES as PROVED_FOR_ADJUSTMENT
from scatterproof.models.totalorder.adjustment.rules import Members
from scatterproof.models.totalorder.barriers.equivalences import PARAMETERS, prove_rule_equivalent
from scatterproof.models.totalorder.barriers.rules import RULES as PROVED
from scatterproof.models.totalorder.loss.rules import RUN_RULES as PROVED_UNDER_LOSS
from scatterproof.models.totalorder.loss.vectors import NOTHING_OUTSTANDING, OUTSTANDING
from scatterproof.models.totalorder.loss.vectors import PARAMETERS as UNDER_LOSS

SPEC = Path(spec.__file__).parent / "totalorder"
BUILT = rules_of_module(built)
Rules = Mapping[str, Callable[..., Any]]


def named(*modules: Any) -> dict[str, Rule]:
    return {rule.__name__: rule for module in modules for rule in rules_of_module(module)}


LOSS, ADJUSTMENT, FAILURES = named(built_for_loss), named(built_for_adjustment), named(built_for_failures)
LOSS_PARAMETERS: dict[str, dict[str, ParameterKind]] = {
    **UNDER_LOSS,
    "ack_barrier": OUTSTANDING,
    "greatest_with": {"before": "int", "timestamp": "int"},
    "judged_by": {"combined": "int", "own": "int"},
    "flag_on": {"kind": "int"},
    "counts": {"kind": "int"},
    "last_hop_watched": {},
}


def is_proved(one: Rule, other: Callable[..., Any], params: Mapping[str, ParameterKind]) -> bool:
    return prove_equivalent(one, other, params).verdict is ClaimVerdict.PROVED


def test_both_have_the_same_rules() -> None:
    assert {rule.__name__ for rule in BUILT} == set(PROVED)
    assert set(LOSS) == set(LOSS_PARAMETERS) <= set(PROVED_UNDER_LOSS)
    # `hold` is of the network: how late message 2 leaves, which the core subtracts.
    safe = {"beacon_reading", "adjusted_beacon"}
    assert set(ADJUSTMENT) == set(PROVED_FOR_ADJUSTMENT) - {"hold"} | safe


@pytest.mark.parametrize("rule", [rule for rule in BUILT if rule.__name__ in PARAMETERS], ids=lambda r: str(r.__name__))
def test_a_rule_of_the_core_answers_as_the_proved_one_for_all_values(rule: Rule) -> None:
    assert prove_rule_equivalent(rule.__name__, rule).verdict is ClaimVerdict.PROVED


def test_the_rule_on_links_answers_as_the_proved_one() -> None:
    (rule,) = (rule for rule in BUILT if rule.__name__ not in PARAMETERS)
    for reaching, ingress in (((), (1,)), ((1,), (1, 2)), ((2, 3), (1, 2, 3)), ((1, 2), (1, 2))):
        assert rule(reaching, ingress) == PROVED[rule.__name__](reaching, ingress)


# ---------------------------------------------------------------- loss


@pytest.mark.parametrize("name", LOSS)
def test_a_rule_under_loss_answers_as_the_proved_one_for_all_values(name: str) -> None:
    assert is_proved(PROVED_UNDER_LOSS[name], LOSS[name], LOSS_PARAMETERS[name])


def test_the_ack_barrier_answers_as_the_proved_one_with_nothing_outstanding() -> None:
    proved, ours = PROVED_UNDER_LOSS["ack_barrier"], LOSS["ack_barrier"]
    assert is_proved(lambda k, n: proved(None, k, n), lambda k, n: ours(None, k, n), NOTHING_OUTSTANDING)


@pytest.mark.parametrize("file", ["boundary_vectors", "loss_vectors"])
def test_the_rules_of_the_core_answer_as_every_boundary_vector_says(file: str) -> None:
    vectors = json.loads((SPEC / f"{file}.json").read_text())
    rules: dict[str, Callable[..., Any]] = {**named(built, built_for_loss)}
    key = rules["precedence"]
    rules["precedes"] = lambda timestamp_1, sender_1, timestamp_2, sender_2: (
        key(timestamp_1, sender_1) < key(timestamp_2, sender_2)
    )
    for vector in vectors:
        answer = rules[vector["rule"]](**vector["inputs"])
        assert (list(answer) if isinstance(answer, tuple) else answer) == vector["expected"], vector["name"]
    assert len({vector["rule"] for vector in vectors}) > 5


# ---------------------------------------------------------------- adjustment


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("first_timestamp", ("local", "in_force")),
        ("aligned", ("first", "arrival", "base")),
        ("difference", ("returned", "round_trip_time", "local")),
        ("in_force_next", ("in_force", "measured")),
    ],
)
def test_a_rule_of_adjustment_answers_as_the_proved_one_for_all_values(name: str, params: tuple[str, ...]) -> None:
    terms = [z3.Int(param) for param in params]
    assert is_valid(lift(ADJUSTMENT[name])(*terms) == PROVED_FOR_ADJUSTMENT[name](*terms))


@pytest.mark.parametrize("name", ["base_of", "returned_of", "adjustment_of"])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_rule_over_hosts_answers_the_one_value_of_the_proved_relation(name: str, size: int) -> None:
    values, answer = [z3.Int(f"v{at}") for at in range(size)], z3.Int("answer")
    members = Members(variable=z3.Int("member"), listed=tuple(range(size)))
    proved = PROVED_FOR_ADJUSTMENT[name](answer, lambda at: values[at], lambda at: z3.BoolVal(True), members)
    assert is_valid(proved == (answer == lift(ADJUSTMENT[name])(tuple(values))))


def test_the_round_trip_is_that_of_both_messages_however_long_the_first_was_held() -> None:
    sent, forward, held, back, earlier = z3.Ints("sent forward held back earlier")
    measured = lift(ADJUSTMENT["round_trip"])(sent, sent + forward + held + back, held)
    assert is_valid(measured == PROVED_FOR_ADJUSTMENT["round_trip"](forward, back, earlier))


def test_a_round_is_measured_over_the_same_hosts() -> None:
    for same in (False, True):
        proved = PROVED_FOR_ADJUSTMENT["measured_over"](z3.BoolVal(True), z3.BoolVal(same))
        assert ADJUSTMENT["measured_over"](same) == z3.is_true(z3.simplify(proved))


def test_beacons_of_an_adjusted_clock_are_those_that_are_proved_safe() -> None:
    clock, adjustment, last, promised = z3.Ints("clock adjustment last promised")
    reading = lift(ADJUSTMENT["beacon_reading"])(clock, clock + adjustment)
    assert is_valid(reading == adjustment_safety.beacon_reading(clock, adjustment))
    ours = lift(ADJUSTMENT["adjusted_beacon"])(reading, last, promised)
    assert is_valid(ours == lift(adjustment_safety.adjusted_beacon)(reading, last, promised))


def is_valid(goal: z3.BoolRef) -> bool:
    solver = z3.Solver()
    solver.add(z3.Not(goal))
    return bool(solver.check() == z3.unsat)


# ---------------------------------------------------------------- failures

FAILURE_VALUES = range(4)


def in_tla(module: Path, failures: Rules) -> TlcOutcome:
    """What TLC says of the failure rules, all values of them spelled out, against the operators of FailureRules.tla."""
    pairs = list(product(FAILURE_VALUES, repeat=2))
    cut_offs = " @@ ".join(f"<<{a}, {b}>> :> {failures['cut_off'](a, b)}" for a, b in pairs)
    passed = ", ".join(
        f"<<{t}, {a}, {b}>>" for t, (a, b) in product(FAILURE_VALUES, pairs) if failures["may_deliver"](t, a, b)
    )
    values = f"0 .. {FAILURE_VALUES[-1]}"
    module.write_text(
        f"---- MODULE {module.stem} ----\nEXTENDS FailureRules, TLC\nVARIABLE x\n"
        f"ASSUME \\A a, b \\in {values} : AckOfLink(a, b) = ({cut_offs})[<<a, b>>]\n"
        f"ASSUME \\A t, a, b \\in {values} : ByAckAlone(t, a, b) = (<<t, a, b>> \\in {{{passed}}})\n"
        "Spec == x = 0 /\\ [][x' = x]_x\n====\n"
    )
    (module.parent / "FailureRules.tla").write_text((SPEC / "modules" / "FailureRules.tla").read_text())
    return run_tlc(module, "SPECIFICATION Spec\n", timeout_s=120).outcome


@pytest.mark.slow
def test_failure_rules_answer_as_the_operators_that_tlc_checks(tmp_path: Path) -> None:
    assert in_tla(tmp_path / "Same.tla", FAILURES) is TlcOutcome.HOLDS
    one_more = {**FAILURES, "cut_off": lambda ack, barrier: ack + 1}
    assert in_tla(tmp_path / "Other.tla", one_more) is not TlcOutcome.HOLDS


def test_failure_rules_are_those_that_the_models_substitute() -> None:
    lines = [line.strip() for line in (SPEC / "instances" / "MCFailures.cfg").read_text().splitlines()]
    assert {"CutOff <- AckOfLink", "MayDeliver <- ByAckAlone"} <= set(lines)
    truth = {True: "TRUE", False: "FALSE"}
    assert f"ClosesBack = {truth[FAILURES['closes_back']()]}" in lines
    assert f"Recalls = {truth[FAILURES['recalls']()]}" in lines
    # RemovesAnswered: a link counts until all have answered. RestartWaits: 0 is what a link holds that is unheard.
    assert {"RemovesAnswered = TRUE", "RestartWaits = TRUE"} <= set(lines)
    assert [FAILURES["removes"](unanswered) for unanswered in range(3)] == [True, False, False]
    told = {
        (restarted, value): FAILURES["may_tell"](restarted, value) for restarted in (False, True) for value in (0, 1)
    }
    assert told == {(False, 0): True, (False, 1): True, (True, 0): False, (True, 1): True}
    assert set(FAILURES) == {"cut_off", "may_deliver", "closes_back", "recalls", "removes", "may_tell"}
