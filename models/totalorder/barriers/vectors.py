"""Boundary vectors: inputs at the edges of the rules, found by Z3, with the answers that the corrected rules give.

``python -m scatterproof.models.totalorder.barriers.vectors`` writes ``spec/totalorder/boundary_vectors.json``: a list
of objects

    name      what is at the edge, unique in the file
    clause    the clause that the answer follows from
    rule      a rule's name, or ``precedes`` (whether scattering 1 comes before scattering 2 in the order of delivery)
    inputs    the arguments by name, in the rule's order; integers from 0 to 2**63 - 1, or lists of them
    expected  the answer: an integer, a truth value, or a list of integers

Each boundary is a condition on the inputs. Z3 solves it with every input as small as it can be, the first one first,
so that the file does not depend on chance; the answer is the model's value of the rule's term.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import z3

from scatterproof.models.equivalence import ParameterKind
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers.equivalences import PAIR, PARAMETERS
from scatterproof.models.totalorder.barriers.rules import RULES, precedence
from scatterproof.spec.clauses import SPEC
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.files import write_atomically

LARGEST = 2**63 - 1
FILE = SPEC / "totalorder" / "boundary_vectors.json"

Value: TypeAlias = int | bool | list[int]


def precedes(timestamp_1: int, sender_1: int, timestamp_2: int, sender_2: int) -> bool:
    """Whether scattering 1 precedes scattering 2 (TO-ORDER)."""
    return precedence(timestamp_1, sender_1) < precedence(timestamp_2, sender_2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """``condition`` takes the inputs as Z3 terms, in the rule's order; ``size`` is the number of barriers, where it
    applies.
    """

    name: str
    clause: str
    rule: str
    condition: Callable[..., Any]
    size: int = 2


def _deliverable() -> Iterator[Boundary]:
    def at(name: str, condition: Callable[[Any, Any], Any]) -> Boundary:
        return Boundary(name=name, clause="TO-DELIVER", rule="deliverable", condition=condition)

    yield at("message_at_the_barrier", lambda t, b: z3.And(t == b, t > 0))
    yield at("message_one_below_the_barrier", lambda t, b: z3.And(t + 1 == b, t > 0))
    yield at("message_one_above_the_barrier", lambda t, b: z3.And(t == b + 1, b > 0))
    yield at("no_link_has_spoken", lambda t, b: z3.And(b == 0, t > 0))
    yield at("message_and_barrier_largest", lambda t, b: z3.And(t == b, t == LARGEST))
    yield at("message_one_below_the_largest_barrier", lambda t, b: z3.And(t + 1 == b, b == LARGEST))
    yield at("message_largest_barrier_least", lambda t, b: z3.And(t == LARGEST, b == 1))


def _host() -> Iterator[Boundary]:
    def stamped(name: str, condition: Callable[[Any, Any, Any], Any], clause: str = "TO-MONO") -> Boundary:
        return Boundary(name=name, clause=clause, rule="stamp", condition=condition)

    yield stamped("first_scattering", lambda c, s, p: z3.And(c > 0, s == 0, p == 0))
    yield stamped("clock_stands_still", lambda c, s, p: z3.And(c == s, s > 0, p == s))
    yield stamped("clock_steps_back", lambda c, s, p: z3.And(c < s, c > 0, p == 0))
    yield stamped("clock_one_ahead_of_last", lambda c, s, p: z3.And(c == s + 1, s > 0, p <= s, p > 0))
    yield stamped("barrier_promised_ahead", lambda c, s, p: z3.And(p > c, p > s + 1, c > s, s > 0), "TO-BAR-HOST")
    yield stamped("barrier_promised_is_the_next", lambda c, s, p: z3.And(p == s + 1, c < p, s > 0), "TO-BAR-HOST")
    yield stamped("all_three_bounds_equal", lambda c, s, p: z3.And(c == p, p == s + 1, s > 0), "TO-BAR-HOST")
    yield stamped("last_one_below_largest", lambda c, s, p: z3.And(s == LARGEST - 1, c == 0, p == 0))
    yield stamped("clock_largest", lambda c, s, p: z3.And(c == LARGEST, s < c, p < c))

    def beacon(name: str, condition: Callable[[Any, Any], Any]) -> Boundary:
        return Boundary(name=name, clause="TO-BAR-HOST", rule="beacon_barrier", condition=condition)

    yield beacon("idle_host", lambda c, s: z3.And(c > s, s == 0))
    yield beacon("clock_behind_last", lambda c, s: z3.And(c < s, c > 0))
    yield beacon("clock_at_last", lambda c, s: z3.And(c == s, c > 0))
    yield beacon("clock_at_the_largest", lambda c, s: z3.And(c == LARGEST, s < c))
    yield Boundary(
        name="data_barrier_of_the_largest", clause="TO-BAR-HOST", rule="data_barrier", condition=lambda t: t == LARGEST
    )


def _switch() -> Iterator[Boundary]:
    def least(name: str, condition: Callable[[Any], Any], size: int = 2) -> Boundary:
        return Boundary(name=name, clause="TO-BAR-MIN", rule="aggregate", condition=condition, size=size)

    yield least("worked_example_1", lambda b: z3.And(b[0] == 1, b[1] == 4))
    yield least("one_link_only", lambda b: b[0] > 0, 1)
    yield least("one_link_has_not_spoken", lambda b: z3.And(b[0] > 0, b[1] > b[0], b[2] == 0), 3)
    yield least("no_link_of_two_has_spoken", lambda b: z3.And(b[0] == 0, b[1] == 0))
    yield least("equal_barriers", lambda b: z3.And(b[0] > 0, b[0] == b[1], b[1] == b[2]), 3)
    yield least("least_is_last", lambda b: z3.And(b[0] > b[1], b[1] > b[2], b[2] > 0), 3)
    yield least("largest_beside_least", lambda b: z3.And(b[0] == LARGEST, b[1] == 1))
    yield least("all_largest", lambda b: z3.And(*(x == LARGEST for x in b)), 3)
    for name, condition in (
        ("first_barrier_of_a_link", lambda h, a: z3.And(h == 0, a > 0)),
        ("same_barrier_again", lambda h, a: z3.And(h == a, h > 0)),
        ("barrier_rises_to_the_largest", lambda h, a: z3.And(a == LARGEST, h + 1 == a)),
    ):
        yield Boundary(name=name, clause="TO-BAR-MIN", rule="register", condition=condition)


def _order() -> Iterator[Boundary]:
    def pair(name: str, condition: Callable[[Any, Any, Any, Any], Any]) -> Boundary:
        return Boundary(name=name, clause="TO-ORDER", rule="precedes", condition=condition)

    yield pair("tie_with_smaller_sender", lambda t, s, u, r: z3.And(t == u, t > 0, s < r))
    yield pair("tie_with_greater_sender", lambda t, s, u, r: z3.And(t == u, t > 0, s > r))
    yield pair("one_and_the_same_scattering", lambda t, s, u, r: z3.And(t == u, t > 0, s == r))
    yield pair("earlier_with_greater_sender", lambda t, s, u, r: z3.And(t + 1 == u, t > 0, s > r))
    yield pair("tie_at_the_largest", lambda t, s, u, r: z3.And(t == u, t == LARGEST, s < r))
    # timestamp * 64 + sender, a packed key in 64 bits, wraps: the later scattering gets the smaller key.
    yield pair("packed_key_would_wrap", lambda t, s, u, r: z3.And(t == 2**58, u == 1, s == 0, r == 0))


def _carriers() -> Iterator[Boundary]:
    def due(name: str, condition: Callable[[Any, Any, Any], Any]) -> Boundary:
        return Boundary(name=name, clause="TO-ENV-C", rule="beacon_due", condition=condition)

    yield due("idle_for_the_interval", lambda c, d, i: z3.And(c - d == i, i > 1, d > 0))
    yield due("idle_for_one_less", lambda c, d, i: z3.And(c - d == i - 1, i > 1, d > 0))
    yield due("data_just_sent", lambda c, d, i: z3.And(c == d, i > 0, d > 0))


def boundaries() -> tuple[Boundary, ...]:
    return (*_deliverable(), *_host(), *_switch(), *_order(), *_carriers())


def _rule_of(boundary: Boundary) -> tuple[Callable[..., Any], Mapping[str, ParameterKind]]:
    if boundary.rule == "precedes":
        return precedes, PAIR
    return RULES[boundary.rule], PARAMETERS[boundary.rule]


def vector(boundary: Boundary) -> dict[str, Any]:
    """The boundary's smallest inputs and the rule's answer; raises CannotRun when no inputs meet the condition."""
    return vector_of(boundary, *_rule_of(boundary))


def vector_of(boundary: Boundary, rule: Callable[..., Any], params: Mapping[str, ParameterKind]) -> dict[str, Any]:
    """As `vector`, for a rule that is given with its parameters."""
    arguments: dict[str, Any] = {
        name: tuple(z3.Int(f"{name}_{k}") for k in range(boundary.size)) if kind == "ints" else z3.Int(name)
        for name, kind in params.items()
    }
    solver = z3.Optimize()
    solver.set("priority", "lex")
    for argument in arguments.values():
        for term in argument if isinstance(argument, tuple) else (argument,):
            solver.add(term >= 0, term <= LARGEST)
            solver.minimize(term)
    solver.add(boundary.condition(*arguments.values()))
    if solver.check() != z3.sat:
        raise CannotRun(f"boundary {boundary.name} has no inputs: correct its condition")
    model = solver.model()
    return {
        "name": boundary.name,
        "clause": boundary.clause,
        "rule": boundary.rule,
        "inputs": {name: _value(model, argument) for name, argument in arguments.items()},
        "expected": _value(model, lift(rule)(*arguments.values())),
    }


def _value(model: z3.ModelRef, term: Any) -> Value:
    if isinstance(term, tuple):
        return [int(model.eval(item, model_completion=True).as_long()) for item in term]
    value = model.eval(term, model_completion=True)
    return int(value.as_long()) if z3.is_int_value(value) else bool(z3.is_true(value))


def document() -> str:
    """The file's text: one vector a line, so that a change reads as one."""
    return document_of(vector(boundary) for boundary in boundaries())


def document_of(vectors: Iterable[dict[str, Any]]) -> str:
    lines = ",\n".join(f"  {json.dumps(one)}" for one in vectors)
    return f"[\n{lines}\n]\n"


if __name__ == "__main__":
    write_atomically(FILE, document().encode())
    print(f"wrote {len(boundaries())} vectors to {FILE.name}")
