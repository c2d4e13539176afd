"""Z3 claims: a sentence about the rules, proved for every value, or refuted with a counterexample.

A claim counts only when three things hold (`ClaimResult.counts`): every obligation is PROVED, the hypotheses of every
obligation are satisfiable (else the proof says nothing), and the claim has mutants, each of which is REFUTED (else the
claim may say nothing). Rules are handed to the claim by name, so that a mutant is other rules, never another claim.

Nothing here knows a protocol; `scatterproof.models.z3_claims` finds the claims.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias

from scatterproof.spec.errors import BadInput
from scatterproof.spec.extras import left_out

if TYPE_CHECKING:
    import z3

Rules: TypeAlias = Mapping[str, Callable[..., Any]]
Value: TypeAlias = int | bool | str
TIMEOUT_MS = 5_000

INDUCTION = "any number of nodes, by induction"
"""The scope of a claim that is an invariant of all networks."""


class ClaimVerdict(StrEnum):
    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Obligation:
    """``hypotheses`` imply ``goal``, for all values of their free constants.

    show: the terms whose values a counterexample gives, by name, in order.
    """

    name: str
    hypotheses: tuple[z3.BoolRef, ...]
    goal: z3.BoolRef
    show: Mapping[str, z3.ExprRef] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimMutant:
    """The claim with some rules replaced; one of its obligations must then be refuted."""

    name: str
    sentence: str
    rules: Rules


def mutant(name: str, sentence: str, **rules: Callable[..., Any]) -> ClaimMutant:
    """A mutant of a claim. rules: those that replace the claim's own, by name."""
    return ClaimMutant(name=name, sentence=sentence, rules=rules)


def stated_in(module: str) -> Callable[..., dict[str, Callable[..., Any]]]:
    """A function from names to rules: those of these names that the module has defined so far."""
    stated = {name: found for name, found in vars(sys.modules[module]).items() if _is_stated(found, module)}
    return lambda *names: {name: stated[name] for name in names}


def _is_stated(found: object, module: str) -> bool:
    return isinstance(found, FunctionType) and found.__module__ == module


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence about rules, with its proof and its mutants.

    scope: what it is proved for: any number of nodes, one link, runs of a fixed network. Reports print it with the
        verdict.
    hypotheses: the premises, in words.
    obligations: state the claim for the rules that they are given.
    induction: states the steps of an inductive proof, where there is one. The proof needs them, but they kill no
        mutant: a refuted step may begin in a state that is never reached.
    normative: False where a right rule need not keep the claim, as it says what is equivalent, or what else would be
        safe.
    """

    name: str
    scope: str
    clauses: tuple[str, ...]
    sentence: str
    hypotheses: tuple[str, ...]
    rules: Rules
    obligations: Callable[[Rules], Iterable[Obligation]]
    induction: Callable[[Rules], Iterable[Obligation]] | None = None
    mutants: tuple[ClaimMutant, ...]
    normative: bool = True

    def __post_init__(self) -> None:
        if not self.scope.strip():
            raise BadInput(
                f"claim {self.name!r} does not say its scope: say of how many nodes, links or runs it is proved"
            )


def claim(
    *,
    scope: str,
    clauses: tuple[str, ...],
    rules: Rules,
    mutants: tuple[ClaimMutant, ...],
    hypotheses: tuple[str, ...] = (),
    normative: bool = True,
) -> Callable[[Callable[[Rules], Iterable[Obligation]]], Claim]:
    """Declare that the decorated function states the obligations of the claim of its name; its docstring is the claim's
    sentence."""

    def declare(obligations: Callable[[Rules], Iterable[Obligation]]) -> Claim:
        return Claim(
            name=obligations.__name__,
            scope=scope,
            clauses=clauses,
            sentence=" ".join((obligations.__doc__ or "").split()),
            hypotheses=hypotheses,
            rules=rules,
            obligations=obligations,
            mutants=mutants,
            normative=normative,
        )

    return declare


@dataclass(frozen=True, slots=True, kw_only=True)
class ObligationResult:
    """satisfiable: whether Z3 finds an instance of the hypotheses alone.
    counterexample: values by name; None unless REFUTED.
    """

    name: str
    verdict: ClaimVerdict
    milliseconds: float
    satisfiable: bool
    step_of_invariant: bool = False
    counterexample: dict[str, Value] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantResult:
    """``obligation`` is the first one refuted; None when none is."""

    name: str
    sentence: str
    verdict: ClaimVerdict
    milliseconds: float
    obligation: str | None = None
    counterexample: dict[str, Value] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimResult:
    name: str
    scope: str
    clauses: tuple[str, ...]
    sentence: str
    hypotheses: tuple[str, ...]
    verdict: ClaimVerdict
    hypotheses_satisfiable: bool
    counts: bool
    milliseconds: float
    obligations: tuple[ObligationResult, ...]
    mutants: tuple[MutantResult, ...]


def prove(claim: Claim, *, timeout_ms: int = TIMEOUT_MS) -> ClaimResult:
    """Proves the claim under its own rules, and tries each of its mutants; raises CannotRun without Z3."""
    start = time.perf_counter()
    results = tuple(prove_under(claim, {}, timeout_ms=timeout_ms)) + prove_steps(claim, {}, timeout_ms=timeout_ms)
    mutants = tuple(_try_mutant(claim, mutant, timeout_ms) for mutant in claim.mutants)
    verdict = _worst(result.verdict for result in results)
    satisfiable = bool(results) and all(result.satisfiable for result in results)
    bites = bool(mutants) and all(mutant.verdict is ClaimVerdict.REFUTED for mutant in mutants)
    return ClaimResult(
        name=claim.name,
        scope=claim.scope,
        clauses=claim.clauses,
        sentence=claim.sentence,
        hypotheses=claim.hypotheses,
        verdict=verdict,
        hypotheses_satisfiable=satisfiable,
        counts=verdict is ClaimVerdict.PROVED and satisfiable and bites,
        milliseconds=_since(start),
        obligations=results,
        mutants=mutants,
    )


def prove_under(claim: Claim, rules: Rules, *, timeout_ms: int = TIMEOUT_MS) -> Iterator[ObligationResult]:
    """Results of the obligations, with ``rules`` in place of the claim's own of the same names. Each is proved when it
    is asked for. CannotRun without Z3."""
    _require_z3()
    for obligation in claim.obligations({**claim.rules, **rules}):
        yield _discharge(obligation, timeout_ms)


def prove_steps(claim: Claim, rules: Rules, *, timeout_ms: int = TIMEOUT_MS) -> tuple[ObligationResult, ...]:
    """The steps of the inductive proof under ``rules``; none when the claim has no such proof."""
    _require_z3()
    steps = claim.induction({**claim.rules, **rules}) if claim.induction else ()
    return tuple(_discharge(step, timeout_ms, step_of_invariant=True) for step in steps)


def first_refuted(results: Iterable[ObligationResult]) -> ObligationResult | None:
    """The first refuted result, or None; results behind it are not proved at all."""
    return next((result for result in results if result.verdict is ClaimVerdict.REFUTED), None)


def _try_mutant(claim: Claim, mutant: ClaimMutant, timeout_ms: int) -> MutantResult:
    start = time.perf_counter()
    seen: list[ObligationResult] = []
    refuted = None
    for result in prove_under(claim, mutant.rules, timeout_ms=timeout_ms):
        seen.append(result)
        refuted = first_refuted([result])
        if refuted:
            break
    return MutantResult(
        name=mutant.name,
        sentence=mutant.sentence,
        verdict=_worst(result.verdict for result in seen),
        milliseconds=_since(start),
        obligation=refuted.name if refuted else None,
        counterexample=refuted.counterexample if refuted else None,
    )


def _discharge(obligation: Obligation, timeout_ms: int, *, step_of_invariant: bool = False) -> ObligationResult:
    """Asks Z3 for a counterexample, and for an instance of the hypotheses; a time-out of either proves nothing."""
    import z3

    start = time.perf_counter()
    solver = z3.Solver()
    solver.set("timeout", timeout_ms)
    solver.add(*obligation.hypotheses)
    satisfiable = solver.check() == z3.sat
    solver.add(z3.Not(obligation.goal))
    answer = solver.check()
    counterexample = None
    verdict = ClaimVerdict.UNKNOWN
    if answer == z3.unsat:
        verdict = ClaimVerdict.PROVED
    elif answer == z3.sat:
        verdict = ClaimVerdict.REFUTED
        model = solver.model()
        counterexample = {name: _readable(model, term) for name, term in obligation.show.items()}
    return ObligationResult(
        name=obligation.name,
        verdict=verdict,
        milliseconds=_since(start),
        satisfiable=satisfiable,
        step_of_invariant=step_of_invariant,
        counterexample=counterexample,
    )


def _readable(model: z3.ModelRef, term: z3.ExprRef) -> Value:
    import z3

    value = model.eval(term, model_completion=True)
    if z3.is_int_value(value):
        return int(value.as_long())
    if z3.is_true(value) or z3.is_false(value):
        return bool(z3.is_true(value))
    return str(value)


def _worst(verdicts: Iterable[ClaimVerdict]) -> ClaimVerdict:
    """REFUTED if any is, else UNKNOWN if any is; no obligation at all proves nothing."""
    seen = set(verdicts)
    if not seen:
        return ClaimVerdict.UNKNOWN
    return next(v for v in (ClaimVerdict.REFUTED, ClaimVerdict.UNKNOWN, ClaimVerdict.PROVED) if v in seen)


def _require_z3() -> None:
    try:
        import z3  # noqa: F401
    except ImportError as error:
        raise left_out("z3") or error from error


def _since(start: float) -> float:
    return round((time.perf_counter() - start) * 1000, 3)
