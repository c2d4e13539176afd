"""Whole networks of cores under random loss: no clause breaks, all is delivered once loss is over, and the loss state
ends; and every literal or damaged rule of environment D is seen to break something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from scatterproof.impl.totalorder.rules import RULES
from scatterproof.impl.totalorder.tests.lossy import Run, broken, play, random_scenario, short_scenario, undelivered
from scatterproof.impl.totalorder.tests.network import Sent
from scatterproof.impl.totalorder.tests.nodes import DATA

STRUCTURES = ("D6", "D7", "D8", "D9")
SHAPES = ("star", "row")
SEEDS = range(6)


@cache
def played(shape: str, environment: str, seed: int) -> Run:
    return play(random_scenario(shape, environment, seed))


@pytest.mark.parametrize("environment", ["D5", *STRUCTURES])
@pytest.mark.parametrize("shape", SHAPES)
def test_to_loss_safe_no_clause_breaks_and_nothing_is_refused(shape: str, environment: str) -> None:
    for seed in SEEDS:
        run = played(shape, environment, seed)
        assert run.lost > 0
        assert broken(run) == set(), f"seed {seed}"
        assert run.refused == [], f"seed {seed}"


@pytest.mark.parametrize("environment", STRUCTURES)
@pytest.mark.parametrize("shape", SHAPES)
def test_to_loss_safe_all_is_delivered_once_loss_is_over(shape: str, environment: str) -> None:
    for seed in SEEDS:
        assert undelivered(played(shape, environment, seed)) == set(), f"seed {seed}"


@pytest.mark.parametrize("environment", STRUCTURES)
@pytest.mark.parametrize("shape", SHAPES)
def test_to_ack_idle_an_idle_network_leaves_the_loss_state(shape: str, environment: str) -> None:
    flagged = 0
    for seed in SEEDS:
        run = played(shape, environment, seed)
        packets = [(time, e.packet) for time, e in zip(run.times, run.log, strict=True) if isinstance(e, Sent)]
        flagged += sum(packet.loss_record > 0 for _, packet in packets)
        late = [packet for time, packet in packets if time > 3900]
        assert late, "there are beacons still"
        assert all(packet.loss_record == 0 for packet in late), f"seed {seed}"
    assert flagged > 0, "no run was in the loss state"


@pytest.mark.parametrize("environment", ["D5", *STRUCTURES])
def test_to_flag_host_hosts_that_say_what_they_lost_change_nothing_but_when(environment: str) -> None:
    for seed in range(3):
        run = play(random_scenario("star", environment, seed, host_flags=1))
        assert broken(run) == set(), f"seed {seed}"
        assert run.refused == [], f"seed {seed}"
        assert environment == "D5" or undelivered(run) == set(), f"seed {seed}"


# The damage; a clause that it breaks; and where to look: each is seen within some of the first hundred runs there.
DAMAGES: dict[str, tuple[dict[str, Callable[..., Any]], str, str, str]] = {
    "literal: the largest acknowledged timestamp is the ack barrier": (
        {"ack_barrier": lambda outstanding, acknowledged, next_possible: acknowledged},
        "TO-ORDER",
        "star",
        "D9",
    ),
    "an ack barrier at what is outstanding": (
        {
            "ack_barrier": lambda outstanding, acknowledged, next_possible: (
                next_possible - 1 if outstanding is None else outstanding
            )
        },
        "TO-ACK-MEAN",
        "star",
        "D9",
    ),
    "literal: the least barrier is the record": (
        {"noticed_record": lambda least, largest, greatest: least},
        "TO-ORDER",
        "row",
        "D7",
    ),
    "the losing link's largest barrier is the record": (
        {"noticed_record": lambda least, largest, greatest: largest},
        "TO-ORDER",
        "row",
        "D8",
    ),
    "a record one below what is greatest": (
        {"noticed_record": lambda least, largest, greatest: greatest - 1},
        "TO-ORDER",
        "row",
        "D8",
    ),
    "a record is not passed on": (
        {"passed_record": lambda carried, least, largest, greatest: 0},
        "TO-ORDER",
        "star",
        "D8",
    ),
    "a record passed on one too low": (
        {"passed_record": lambda carried, least, largest, greatest: carried - 1},
        "TO-ORDER",
        "row",
        "D8",
    ),
    "literal: data alone carry the flag": ({"flag_on": lambda kind: kind == DATA}, "TO-ORDER", "star", "D8"),
    "literal: data alone are counted": ({"counts": lambda kind: kind == DATA}, "TO-ORDER", "row", "D9"),
    "literal: the last hop is not watched": ({"last_hop_watched": lambda: False}, "TO-ORDER", "row", "D9"),
    "literal: a resent message has its old barrier": (
        {"resent_barrier": lambda timestamp, current: timestamp},
        "TO-BAR-RISE",
        "star",
        "D9",
    ),
    "literal: each message's own flag counts": ({"judged_by": lambda combined, own: own}, "TO-ORDER", "star", "D9"),
    "the barrier alone counts": (
        {"deliverable_under_loss": lambda timestamp, barrier, ack, record: timestamp <= ack or timestamp < barrier},
        "TO-ORDER",
        "star",
        "D9",
    ),
    "the greatest ack barrier counts": ({"aggregate_ack": max}, "TO-ACK-MEAN", "star", "D9"),
    "the least record counts": ({"aggregate_record": min}, "TO-ORDER", "star", "D7"),
    "what is greatest leaves the message itself out": (
        {"greatest_with": lambda before, timestamp: before},
        "TO-SWLOSS",
        "star",
        "D9",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_rule_breaks_its_clause_where_the_correct_one_does_not(name: str) -> None:
    damage, clause, shape, environment = DAMAGES[name]
    for seed in range(100):
        scenario = short_scenario(shape, environment, seed)
        if clause in broken(play(replace(scenario, rules=replace(RULES, **damage)))):
            assert broken(play(scenario)) == set()
            return
    pytest.fail(f"no run of {name!r} broke {clause}")


STUCK: dict[str, dict[str, Callable[..., Any]]] = {
    "literal: an idle host keeps its last ack barrier": {
        "ack_barrier": lambda outstanding, acknowledged, next_possible: (
            acknowledged if outstanding is None else outstanding - 1
        )
    },
    "literal: in the loss state what is strictly below the ack barrier is delivered, and nothing else after it": {
        "deliverable_under_loss": lambda timestamp, barrier, ack, record: (
            timestamp < ack if record > ack else timestamp < barrier
        )
    },
}


@pytest.mark.parametrize("name", STUCK)
def test_to_complete_a_rule_that_waits_too_long_leaves_messages_undelivered(name: str) -> None:
    rules = replace(RULES, **STUCK[name])
    assert any(
        undelivered(play(random_scenario(shape, environment, seed, rules)))
        for seed in range(4)
        for shape in SHAPES
        for environment in STRUCTURES
    )
