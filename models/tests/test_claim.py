"""What a Z3 claim must show before it counts, tried on claims small enough to judge by eye."""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import msgspec
import pytest
import z3

from scatterproof.models.claim import Claim, ClaimMutant, ClaimVerdict, Obligation, Rules, prove
from scatterproof.models.equivalence import prove_equivalent
from scatterproof.models.symbolic import lift
from scatterproof.models.z3_claims import check_claims, claims_of, main
from scatterproof.spec.errors import BadInput, CannotRun

X, Y = z3.Ints("x y")


def _claim(
    rule: Callable[[int], int],
    *,
    premise: z3.BoolRef | None = None,
    wrong: tuple[Callable[[int], int], ...] = (lambda x: x - 1,),
    as_induction: bool = False,
) -> Claim:
    """The rule's answer is above its argument, for arguments that meet the premise."""

    def obligations(rules: Rules) -> Iterable[Obligation]:
        yield Obligation("above", () if premise is None else (premise,), lift(rules["rule"])(X) > X, show={"x": X})

    return Claim(
        name="rule_rises",
        scope="one number",
        clauses=("TO-MONO",),
        sentence="The answer is above the argument.",
        hypotheses=(),
        rules={"rule": rule},
        obligations=(lambda _: ()) if as_induction else obligations,
        induction=obligations if as_induction else None,
        mutants=tuple(
            ClaimMutant(name=f"wrong_{k}", sentence="Not above.", rules={"rule": rule}) for k, rule in enumerate(wrong)
        ),
    )


def test_claim_that_is_proved_and_bites_counts() -> None:
    result = prove(_claim(lambda x: x + 1, premise=X > 3))

    assert result.verdict is ClaimVerdict.PROVED
    assert result.hypotheses_satisfiable
    assert result.counts
    assert result.mutants[0].verdict is ClaimVerdict.REFUTED
    assert result.mutants[0].obligation == "above"


def test_vacuous_claim_is_proved_but_does_not_count() -> None:
    result = prove(_claim(lambda x: x - 1, premise=z3.And(X > 3, X < 3)))

    assert result.verdict is ClaimVerdict.PROVED
    assert not result.hypotheses_satisfiable
    assert not result.counts


def test_wrong_claim_gives_a_counterexample_that_breaks_it() -> None:
    result = prove(_claim(lambda x: x if x == 7 else x + 1))

    assert result.verdict is ClaimVerdict.REFUTED
    assert not result.counts
    assert result.obligations[0].counterexample == {"x": 7}


def test_claim_without_mutants_does_not_count() -> None:
    assert not prove(_claim(lambda x: x + 1, wrong=())).counts


def test_claim_whose_mutant_survives_does_not_count() -> None:
    result = prove(_claim(lambda x: x + 1, wrong=(lambda x: x - 1, lambda x: x + 2)))

    assert [mutant.verdict for mutant in result.mutants] == [ClaimVerdict.REFUTED, ClaimVerdict.PROVED]
    assert not result.counts


def test_step_of_an_invariant_kills_no_mutant() -> None:
    result = prove(_claim(lambda x: x + 1, as_induction=True))

    assert result.verdict is ClaimVerdict.PROVED
    assert result.mutants[0].verdict is ClaimVerdict.UNKNOWN
    assert not result.counts


def test_claim_without_obligations_does_not_count() -> None:
    empty = Claim(
        name="nothing",
        scope="nothing",
        clauses=(),
        sentence="",
        hypotheses=(),
        rules={},
        obligations=lambda _: (),
        mutants=(),
    )
    result = prove(empty)

    assert result.verdict is ClaimVerdict.UNKNOWN
    assert not result.counts


def test_a_claim_that_does_not_say_its_scope_is_refused_by_name() -> None:
    with pytest.raises(BadInput, match="claim 'rule_rises' does not say its scope"):
        dataclasses.replace(_claim(lambda x: x + 1), scope=" ")


def test_the_result_tells_the_scope_of_the_claim() -> None:
    assert prove(_claim(lambda x: x + 1)).scope == "one number"


def test_time_out_is_unknown() -> None:
    n, a, b, c = z3.Ints("n a b c")
    fermat = Obligation("fermat", (n > 2, a > 0, b > 0, c > 0), a * a * a + b * b * b + c * c * c != 42 * n)
    claim = Claim(
        name="hard",
        scope="four numbers",
        clauses=(),
        sentence="",
        hypotheses=(),
        rules={},
        obligations=lambda _: (fermat,),
        mutants=(),
    )

    assert prove(claim, timeout_ms=1).verdict is ClaimVerdict.UNKNOWN


def test_results_serialise_to_json() -> None:
    result = prove(_claim(lambda x: x, premise=X > 3))
    read = msgspec.json.decode(msgspec.json.encode(result))

    assert read["verdict"] == "refuted"
    assert read["obligations"][0]["counterexample"] == {"x": 4}


def test_missing_z3_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = _claim(lambda x: x + 1)
    real = builtins.__import__

    def without_z3(name: str, *arguments: Any, **rest: Any) -> ModuleType:
        if name == "z3":
            raise ModuleNotFoundError("No module named 'z3'", name="z3")
        return real(name, *arguments, **rest)

    monkeypatch.setattr(builtins, "__import__", without_z3)
    with pytest.raises(CannotRun, match="z3-solver"):
        prove(claim)


@pytest.mark.parametrize("protocol", ["no_such_protocol", "../spec", "tests", ""])
def test_protocol_without_claims_is_bad_input(protocol: str) -> None:
    with pytest.raises(BadInput, match="protocol"):
        check_claims(protocol)


def test_command_line_without_a_protocol_is_bad_input() -> None:
    with pytest.raises(BadInput, match="PROTOCOL"):
        main([])


def test_claims_are_found_by_their_modules_and_named_once() -> None:
    names = [claim.name for claim in claims_of("totalorder")]

    assert {"barrier_promise_holds", "barriers_never_fall", "deliver_below_barrier"} <= set(names)
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("rule", "arguments"),
    [
        (lambda a, b, c: max(a, b + 1, c), (3, 3, 2)),
        (lambda a, b, c: sorted((a, b, c))[1], (5, 9, 7)),
        (lambda a, b, c: (a, b) < (b, c), (4, 4, 5)),
        (lambda a, b, c: a if b == c else -b, (1, 2, 2)),
        (lambda a, b, c: a < b < c, (1, 2, 3)),
        (lambda a, b, c: not (a < b or c), (2, 2, 0)),
    ],
)
def test_lifted_rule_answers_as_the_rule_does(rule: Callable[..., Any], arguments: tuple[int, ...]) -> None:
    terms = z3.Ints("a b c")
    solver = z3.Solver()
    solver.add(*(term == value for term, value in zip(terms, arguments, strict=True)))
    assert solver.check() == z3.sat

    found = solver.model().eval(lift(rule)(*terms), model_completion=True)

    assert str(found) == str(rule(*arguments))


def test_rule_that_does_not_run_on_terms_cannot_run() -> None:
    with pytest.raises(CannotRun, match="does not run on terms"):
        lift(lambda x: [10, 20][x])(X)
    with pytest.raises(CannotRun, match="two shapes"):
        lift(lambda x: (x, x) if x > 0 else x)(X)


def test_rule_with_too_many_paths_cannot_run() -> None:
    numbers = tuple(z3.Int(f"n_{k}") for k in range(11))

    with pytest.raises(CannotRun, match="paths"):
        lift(max)(numbers)


def test_equal_rules_are_proved_equivalent_and_the_proof_bites() -> None:
    result = prove_equivalent(lambda x, y: x < y, lambda x, y: not y <= x, {"x": "int", "y": "int"})

    assert result.counts


def test_different_rules_are_told_apart_by_arguments() -> None:
    result = prove_equivalent(lambda x, y: x < y, lambda x, y: x <= y, {"x": "int", "y": "int"})
    found = result.obligations[0].counterexample

    assert result.verdict is ClaimVerdict.REFUTED
    assert found is not None
    assert found["x"] == found["y"]
    assert (found["original"], found["mutant"]) == (False, True)


def test_equivalence_under_an_impossible_hypothesis_does_not_count() -> None:
    params: dict[str, Any] = {"x": "int", "y": "int"}
    result = prove_equivalent(lambda x, y: x < y, lambda x, y: x <= y, params, lambda x, y: x < y and y < x)

    assert result.verdict is ClaimVerdict.PROVED
    assert not result.counts


def test_equivalence_over_lists_looks_at_each_length() -> None:
    result = prove_equivalent(min, max, {"barriers": "ints"})

    assert [obligation.verdict for obligation in result.obligations] == [
        ClaimVerdict.PROVED,
        *[ClaimVerdict.REFUTED] * 3,
    ]
