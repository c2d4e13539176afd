"""The boundary vectors of the rules under loss."""

from __future__ import annotations

import json

import pytest

from scatterproof.models.totalorder.loss.rules import LOSS_RULES
from scatterproof.models.totalorder.loss.vectors import FILE, document

VECTORS = json.loads(FILE.read_text())


def test_loss_vectors_regenerate_identically() -> None:
    assert document() == FILE.read_text()


def test_loss_vectors_answer_as_the_rules_do_and_are_named_once() -> None:
    assert len({v["name"] for v in VECTORS}) == len(VECTORS)
    for v in VECTORS:
        assert LOSS_RULES[v["rule"]](**v["inputs"]) == v["expected"], v["name"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("at_the_ack_barrier_in_the_loss_state", True),
        ("one_above_the_ack_barrier_in_the_loss_state", False),
        ("ack_barrier_at_the_record", True),
        ("at_the_record_below_the_barrier", False),
        ("no_record_at_the_barrier", False),
        ("acknowledged_at_the_barrier", True),
        ("gap_far_above_the_minimum", 2),
        ("first_message_outstanding", 0),
        ("later_message_acknowledged", 1),
        ("nothing_ever_sent", 0),
        ("register_under_loss_lower_one_arrives", 2),
    ],
)
def test_loss_vector_has_the_answer_that_the_clause_demands(name: str, expected: int | bool) -> None:
    assert next(v["expected"] for v in VECTORS if v["name"] == name) == expected
