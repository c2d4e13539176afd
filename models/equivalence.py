"""Proves that a mutant of a rule equals the rule, for all arguments that meet stated hypotheses.

``prove_equivalent(rule, mutant, {"timestamp": "int", "barrier": "int"})`` takes plain Python functions, as they stand
in the implementation; they run on Z3 terms by `scatterproof.models.symbolic.lift`. The result is a `ClaimResult`:
PROVED means equivalent, REFUTED carries arguments on which the two differ. Arguments are integers of any size, not
below ``least``: overflow is another matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from scatterproof.models.claim import Claim, ClaimMutant, ClaimResult, Obligation, Rules, prove

if TYPE_CHECKING:
    import z3

ParameterKind: TypeAlias = Literal["int", "bool", "ints", "bits"]
"""``ints`` is a tuple of integers; it is tried at each length of `SIZES`. ``bits`` are a set of up to `BITS`."""
BITS = 64
SIZES = (1, 2, 3, 4)


def prove_equivalent(
    original: Callable[..., Any],
    mutant: Callable[..., Any],
    params: Mapping[str, ParameterKind],
    hypotheses: Callable[..., Any] | None = None,
    *,
    least: int = 0,
) -> ClaimResult:
    """Whether ``original(*params) == mutant(*params)`` wherever ``hypotheses(*params)``.

    Raises CannotRun when one of the two does not run on terms, or Z3 is missing.
    """
    claim = equivalence_claim(
        name=f"{getattr(original, '__name__', 'rule')}_equals_its_mutant",
        clauses=(),
        sentence="The mutant answers as the rule does.",
        original=original,
        mutant=mutant,
        params=params,
        hypotheses=hypotheses,
        least=least,
    )
    return prove(claim)


def prove_alike(
    name: str, hypothesis: str, mutant: Callable[..., Any], obligations: Callable[[Rules], Iterable[Obligation]]
) -> ClaimResult:
    """As `prove_equivalent`, for other arguments than scalars: ``obligations(using)`` state that ``using["mutant"]``
    answers as the rule does. They must not hold for a mutant that differs everywhere."""
    return prove(
        Claim(
            name=name,
            scope="one call of the rule",
            clauses=(),
            sentence="The mutant answers as the rule does.",
            hypotheses=(hypothesis,),
            rules={"mutant": mutant},
            obligations=obligations,
            normative=False,
            mutants=(_differs_everywhere(mutant),),
        )
    )


def equivalence_claim(
    *,
    name: str,
    clauses: tuple[str, ...],
    sentence: str,
    original: Callable[..., Any],
    mutant: Callable[..., Any],
    params: Mapping[str, ParameterKind],
    hypotheses: Callable[..., Any] | None = None,
    given: str = "",
    needed: bool = False,
    least: int = 0,
) -> Claim:
    """The equivalence as a claim. Its first mutant differs everywhere; with ``needed``, dropping the hypothesis is
    another.

    ``given`` is the hypothesis in words.
    """

    def state(using: Rules) -> Iterable[Obligation]:
        return _obligations(original, using["mutant"], params, using["hypotheses"], least)

    mutants = [_differs_everywhere(mutant)]
    if needed:
        mutants.append(
            ClaimMutant(name="without_hypothesis", sentence="The hypothesis dropped.", rules={"hypotheses": _always})
        )
    return Claim(
        name=name,
        scope="one call of the rule" + (f", up to {max(SIZES)} links" if "ints" in params.values() else ""),
        clauses=clauses,
        sentence=sentence,
        hypotheses=(f"All numbers are at or above {least}.", *((given,) if given else ())),
        rules={"mutant": mutant, "hypotheses": hypotheses or _always},
        obligations=state,
        normative=False,
        mutants=tuple(mutants),
    )


def _obligations(
    original: Callable[..., Any],
    mutant: Callable[..., Any],
    params: Mapping[str, ParameterKind],
    hypotheses: Callable[..., Any],
    least: int,
) -> Iterable[Obligation]:
    import z3

    from scatterproof.models.symbolic import lift

    sizes = SIZES if "ints" in params.values() else (0,)
    for size in sizes:
        arguments: list[Any] = []
        terms: dict[str, z3.ExprRef] = {}
        for parameter, kind in params.items():
            if kind == "ints":
                items = tuple(z3.Int(f"{parameter}_{k}") for k in range(size))
                arguments.append(items)
                terms |= {str(item): item for item in items}
            else:
                made = {"int": z3.Int, "bool": z3.Bool, "bits": lambda name: z3.BitVec(name, BITS)}
                term = made[kind](parameter)
                arguments.append(term)
                terms[parameter] = term
        expected, found = lift(original)(*arguments), lift(mutant)(*arguments)
        bounds = tuple(term >= least for term in terms.values() if z3.is_int(term))
        yield Obligation(
            f"equal_for_{size}" if size else "equal",
            (*bounds, lift(lambda *values: bool(hypotheses(*values)))(*arguments)),
            _equal(expected, found),
            show={**terms, **_named("original", expected), **_named("mutant", found)},
        )


def _equal(one: Any, other: Any) -> z3.BoolRef:
    """Equality of scalars and of tuples; values of different shapes differ."""
    import z3

    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return z3.And(*(_equal(mine, theirs) for mine, theirs in zip(one, other, strict=True)))
    if isinstance(one, tuple) or isinstance(other, tuple) or one.sort() != other.sort():
        return z3.BoolVal(False)
    equal: z3.BoolRef = one == other
    return equal


def _named(name: str, value: Any) -> dict[str, z3.ExprRef]:
    if isinstance(value, tuple):
        return {key: term for k, item in enumerate(value) for key, term in _named(f"{name}_{k}", item).items()}
    return {name: value}


def _always(*arguments: Any) -> bool:
    return True


def _differs_everywhere(mutant: Callable[..., Any]) -> ClaimMutant:
    sentence = "Another answer for all arguments."
    return ClaimMutant(name="differs_everywhere", sentence=sentence, rules={"mutant": _spoilt(mutant)})


def _spoilt(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule with every answer made wrong: a tuple one longer, a truth value negated, a number one greater."""

    def spoilt(*arguments: Any) -> Any:
        result = rule(*arguments)
        if isinstance(result, tuple):
            return (*result, 0)
        if isinstance(result, bool) or not hasattr(result, "__add__"):
            return not result
        return result + 1

    return spoilt
