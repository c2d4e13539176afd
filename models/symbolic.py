"""Runs a plain Python rule on Z3 terms, path by path, so that one text of a rule serves machines and proofs.

``lift(rule)`` takes a pure function over integers, booleans and tuples of them, and gives a function over Z3 terms.
Each time the rule asks for the truth of a comparison (``if``, ``max``, ``min``, ``sorted``, comparing tuples) the run
forks; the results of all paths are joined with ``z3.If``. Nothing in the rule need know of Z3.

Bounds: the rule must end on every path, and must have at most `PATH_LIMIT` paths.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3

from scatterproof.spec.errors import CannotRun

PATH_LIMIT = 512


class Condition:
    """A truth value that is not known yet; asking for it forks the run."""

    __slots__ = ("expression", "path")

    def __init__(self, expression: z3.BoolRef, path: Path) -> None:
        self.expression = expression
        self.path = path

    def __bool__(self) -> bool:
        return self.path.decide(self.expression)


class Term:
    """An integer that is not known yet."""

    __slots__ = ("expression", "path")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expression: z3.ArithRef, path: Path) -> None:
        self.expression = expression
        self.path = path

    def __add__(self, other: object) -> Term:
        return Term(self.expression + _bare(other), self.path)

    __radd__ = __add__

    def __sub__(self, other: object) -> Term:
        return Term(self.expression - _bare(other), self.path)

    def __rsub__(self, other: object) -> Term:
        return Term(_bare(other) - self.expression, self.path)

    def __mul__(self, other: object) -> Term:
        return Term(self.expression * _bare(other), self.path)

    __rmul__ = __mul__

    def __neg__(self) -> Term:
        return Term(-self.expression, self.path)

    def __lt__(self, other: object) -> Condition:
        return Condition(self.expression < _bare(other), self.path)

    def __le__(self, other: object) -> Condition:
        return Condition(self.expression <= _bare(other), self.path)

    def __gt__(self, other: object) -> Condition:
        return Condition(self.expression > _bare(other), self.path)

    def __ge__(self, other: object) -> Condition:
        return Condition(self.expression >= _bare(other), self.path)

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return Condition(self.expression == _bare(other), self.path)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return Condition(self.expression != _bare(other), self.path)

    def __bool__(self) -> bool:
        return self.path.decide(self.expression != 0)


class Path:
    """One run of a rule: the answers given so far, and the conditions under which it goes this way."""

    def __init__(self, answers: list[bool]) -> None:
        self.answers = answers
        self.asked = 0
        self.conditions: list[z3.BoolRef] = []

    def decide(self, expression: z3.BoolRef) -> bool:
        plain = z3.simplify(expression)
        if z3.is_true(plain) or z3.is_false(plain):
            return bool(z3.is_true(plain))
        if self.asked == len(self.answers):
            self.answers.append(True)
        answer = self.answers[self.asked]
        self.asked += 1
        self.conditions.append(plain if answer else z3.Not(plain))
        return answer


def lift(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule as a function over Z3 terms; arguments may be terms, integers, booleans and tuples of these.

    Raises CannotRun when the rule has more than `PATH_LIMIT` paths, answers on two paths in two shapes, or fails on
    terms.
    """

    def on_terms(*arguments: Any) -> Any:
        runs: list[tuple[z3.BoolRef, Any]] = []
        answers: list[bool] | None = []
        while answers is not None:
            if len(runs) == PATH_LIMIT:
                raise CannotRun(f"rule {_name(rule)} has more than {PATH_LIMIT} paths: shorten its arguments")
            path = Path(answers)
            try:
                result = rule(*(_wrap(argument, path) for argument in arguments))
            except (TypeError, ValueError, IndexError, AttributeError, z3.Z3Exception) as error:
                raise CannotRun(
                    f"rule {_name(rule)} does not run on terms ({error}): use + - * and comparisons"
                ) from error
            runs.append((z3.And(*path.conditions), _bare(result)))
            answers = _next_answers(path.answers)
        return _join(runs, _name(rule))

    return on_terms


def _next_answers(answers: list[bool]) -> list[bool] | None:
    """The next path in depth-first order, or None after the last."""
    kept = list(answers)
    while kept and not kept[-1]:
        kept.pop()
    if not kept:
        return None
    kept[-1] = False
    return kept


def _wrap(argument: Any, path: Path) -> Any:
    if isinstance(argument, tuple | list):
        return tuple(_wrap(item, path) for item in argument)
    if z3.is_bool(argument):
        return Condition(argument, path)
    return Term(argument, path) if z3.is_int(argument) else argument


def _bare(value: Any) -> Any:
    """The value with Z3 terms in place of the wrappers."""
    if isinstance(value, tuple | list):
        return tuple(_bare(item) for item in value)
    return value.expression if isinstance(value, Term | Condition) else value


def _join(runs: list[tuple[z3.BoolRef, Any]], name: str) -> Any:
    """One result out of all paths: a term for a scalar, a tuple of terms for a tuple."""
    first = runs[0][1]
    if isinstance(first, tuple):
        if any(not isinstance(result, tuple) or len(result) != len(first) for _, result in runs):
            raise CannotRun(f"rule {name} answers in two shapes: make every path answer in the same one")
        return tuple(_join([(when, result[k]) for when, result in runs], name) for k in range(len(first)))
    joined = _constant(runs[-1][1])
    for when, result in reversed(runs[:-1]):
        term = _constant(result)
        if term.sort() != joined.sort():
            raise CannotRun(f"rule {name} answers in two shapes: make every path answer in the same one")
        joined = z3.If(when, term, joined)
    return joined


def _constant(value: Any) -> Any:
    if isinstance(value, bool):
        return z3.BoolVal(value)
    return z3.IntVal(value) if isinstance(value, int) else value


def _name(rule: Callable[..., Any]) -> str:
    return str(getattr(rule, "__name__", repr(rule)))
