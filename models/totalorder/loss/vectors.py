"""Boundary vectors of the rules under loss: the form is that of `barriers.vectors`, ``null`` is no outstanding message.

``python -m scatterproof.models.totalorder.loss.vectors`` writes ``spec/totalorder/loss_vectors.json``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import z3

from scatterproof.models.equivalence import ParameterKind
from scatterproof.models.totalorder.barriers.vectors import LARGEST, Boundary, document_of, vector_of
from scatterproof.models.totalorder.loss.rules import LOSS_RULES
from scatterproof.spec.clauses import SPEC
from scatterproof.spec.files import write_atomically

FILE = SPEC / "totalorder" / "loss_vectors.json"
PARAMETERS: dict[str, dict[str, ParameterKind]] = {
    "register_under_loss": {"held": "int", "arrived": "int"},
    "register_ack": {"held": "int", "arrived": "int"},
    "noticed_record": {"least": "int", "largest": "int", "greatest": "int"},
    "passed_record": {"carried": "int", "least": "int", "largest": "int", "greatest": "int"},
    "aggregate_ack": {"acks": "ints"},
    "aggregate_record": {"records": "ints"},
    "resent_barrier": {"timestamp": "int", "current": "int"},
    "deliverable_under_loss": {"timestamp": "int", "barrier": "int", "ack": "int", "record": "int"},
}
"""Parameters of each rule that runs on terms alone; `ack_barrier` takes no outstanding message as well."""
NOTHING_OUTSTANDING: dict[str, ParameterKind] = {"acknowledged": "int", "next_possible": "int"}
OUTSTANDING: dict[str, ParameterKind] = {"outstanding": "int", **NOTHING_OUTSTANDING}


def _deliverable() -> Iterator[Boundary]:
    def at(name: str, condition: Callable[[Any, Any, Any, Any], Any], clause: str = "TO-FLAG-RX") -> Boundary:
        return Boundary(name=name, clause=clause, rule="deliverable_under_loss", condition=condition)

    both = z3.And
    yield at("at_the_ack_barrier_in_the_loss_state", lambda t, b, a, r: both(t == a, a > 0, b > t, r > a))
    yield at("one_above_the_ack_barrier_in_the_loss_state", lambda t, b, a, r: both(t == a + 1, a > 0, b > t, r > t))
    yield at("ack_barrier_at_the_record", lambda t, b, a, r: both(r == a, a > 0, t == a + 1, b > t))
    yield at("no_record_at_the_barrier", lambda t, b, a, r: both(t == b, r == 0, a > 0, a < t), "TO-DELIVER")
    yield at("no_record_one_below_the_barrier", lambda t, b, a, r: both(t + 1 == b, r == 0, a > 0, a < t), "TO-DELIVER")
    yield at("at_the_record_below_the_barrier", lambda t, b, a, r: both(t == r, r == a + 1, a > 0, b == t + 1))
    yield at("acknowledged_at_the_barrier", lambda t, b, a, r: both(t == a, b == t, t > 0, r > a))
    yield at("no_link_has_said_anything", lambda t, b, a, r: both(t > 0, b == 0, a == 0, r == 0), "TO-DELIVER")
    yield at("acknowledged_up_to_the_largest", lambda t, b, a, r: both(t == LARGEST, a == t, r == 0))


def _records() -> Iterator[Boundary]:
    def gap(name: str, condition: Callable[[Any, Any, Any], Any]) -> Boundary:
        return Boundary(name=name, clause="TO-FLAG-SW", rule="noticed_record", condition=condition)

    yield gap("gap_with_all_values_equal", lambda x, y, g: z3.And(x == y, y == g, g > 0))
    yield gap("gap_far_above_the_minimum", lambda x, y, g: z3.And(x == 0, y == 1, g == y + 1))
    yield gap("gap_below_the_largest_barrier", lambda x, y, g: z3.And(x > 0, y > x, g == y - 1))
    yield gap("gap_before_anything_was_put", lambda x, y, g: z3.And(x > 0, y == x, g == 0))
    yield gap("gap_with_the_largest", lambda x, y, g: z3.And(x == 1, y == 1, g == LARGEST))
    yield Boundary(
        name="carried_record_below_the_minimum",
        clause="TO-SWLOSS",
        rule="passed_record",
        condition=lambda c, x, y, g: z3.And(c > 0, x == c + 1, y == x, g == y),
    )
    yield Boundary(
        name="one_link_in_the_loss_state",
        clause="TO-FLAG-SW",
        rule="aggregate_record",
        condition=lambda r: z3.And(r[0] == 0, r[1] > 0),
    )


def _acks() -> Iterator[Boundary]:
    def least(name: str, condition: Callable[[Any], Any], size: int = 2) -> Boundary:
        return Boundary(name=name, clause="TO-ACK-MIN", rule="aggregate_ack", condition=condition, size=size)

    yield least("one_link_has_acknowledged_nothing", lambda a: z3.And(a[0] > 0, a[1] == 0))
    yield least("equal_ack_barriers", lambda a: z3.And(a[0] > 0, a[0] == a[1], a[1] == a[2]), 3)
    yield least("least_ack_barrier_is_last", lambda a: z3.And(a[0] > a[1], a[1] > 0))
    for rule, clause in (("register_ack", "TO-ACK-MIN"), ("register_under_loss", "TO-RETX-BAR")):
        for name, condition in (
            ("lower_one_arrives", lambda h, a: z3.And(a > 0, h == a + 1)),
            ("same_one_arrives", lambda h, a: z3.And(a > 0, h == a)),
            ("higher_one_arrives", lambda h, a: z3.And(h > 0, a == h + 1)),
        ):
            yield Boundary(name=f"{rule}_{name}", clause=clause, rule=rule, condition=condition)
    yield Boundary(
        name="resent_long_after",
        clause="TO-RETX-BAR",
        rule="resent_barrier",
        condition=lambda t, c: z3.And(t > 0, c > t + 1),
    )


def _senders() -> Iterator[tuple[Boundary, dict[str, ParameterKind]]]:
    def waiting(name: str, condition: Callable[[Any, Any, Any], Any]) -> tuple[Boundary, dict[str, ParameterKind]]:
        return Boundary(name=name, clause="TO-ACK-INIT", rule="ack_barrier", condition=condition), OUTSTANDING

    def idle(name: str, condition: Callable[[Any, Any], Any]) -> tuple[Boundary, dict[str, ParameterKind]]:
        return Boundary(name=name, clause="TO-ACK-IDLE", rule="ack_barrier", condition=condition), NOTHING_OUTSTANDING

    yield waiting("first_message_outstanding", lambda o, k, n: z3.And(o == 1, k == 0, n == 2))
    yield waiting("later_message_acknowledged", lambda o, k, n: z3.And(o > 1, k == o + 1, n == k + 1))
    yield waiting("outstanding_and_acknowledged_equal", lambda o, k, n: z3.And(o > 0, k == o, n == k + 1))
    yield idle("nothing_ever_sent", lambda k, n: z3.And(k == 0, n == 1))
    yield idle("all_is_acknowledged", lambda k, n: z3.And(k > 0, n == k + 1))
    yield idle("idle_for_long", lambda k, n: z3.And(k > 0, n > k + 1))


def _idle(acknowledged: int, next_possible: int) -> int:
    answer: int = LOSS_RULES["ack_barrier"](None, acknowledged, next_possible)
    return answer


def vectors() -> Iterator[dict[str, Any]]:
    for boundary in (*_deliverable(), *_records(), *_acks()):
        yield vector_of(boundary, LOSS_RULES[boundary.rule], PARAMETERS[boundary.rule])
    for boundary, params in _senders():
        if params is OUTSTANDING:
            yield vector_of(boundary, LOSS_RULES["ack_barrier"], params)
        else:
            found = vector_of(boundary, _idle, params)
            yield {**found, "inputs": {"outstanding": None, **found["inputs"]}}


def document() -> str:
    return document_of(vectors())


if __name__ == "__main__":
    write_atomically(FILE, document().encode())
    print(f"wrote {sum(1 for _ in vectors())} vectors to {FILE.name}")
