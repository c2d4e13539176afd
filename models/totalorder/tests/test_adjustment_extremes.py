"""The smallest examples of adjustment gone wrong, computed again without Z3 from their delays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scatterproof.models.totalorder.adjustment.extremes import FILE, document, extremes, smallest

EXAMPLES: dict[str, dict[str, Any]] = {example["name"]: example for example in json.loads(FILE.read_text())}
SMALL = ("waiting_grows", "waiting_grows_by_twice_the_change", "timestamp_falls", "promise_is_broken", "other_sign")

Delays = list[list[int]]


def _delays(name: str, kind: str) -> Delays:
    example = EXAMPLES[name]
    senders, receivers = range(1, example["senders"] + 1), range(1, example["receivers"] + 1)
    return [[example["values"][f"{kind} S{s}-R{r}"] for r in receivers] for s in senders]


def _adjustments(delays: Delays) -> list[int]:
    """What is right: the least, over the receivers, of the own delay less the least delay to that receiver."""
    least = [min(column) for column in zip(*delays, strict=True)]
    return [min(own - nearest for own, nearest in zip(row, least, strict=True)) for row in delays]


def _told(name: str, kind: str) -> list[int]:
    example = EXAMPLES[name]
    return [example["values"][f"{kind} S{s}"] for s in range(1, example["senders"] + 1)]


def _wait(delays: Delays, adjustments: list[int], receiver: int = 0) -> int:
    arrivals = [row[receiver] - adjustment for row, adjustment in zip(delays, adjustments, strict=True)]
    return max(arrivals) - min(arrivals)


def test_file_has_every_example_once() -> None:
    assert list(EXAMPLES) == [extreme.name for extreme in extremes()]


@pytest.mark.parametrize("name", SMALL)
def test_example_is_found_again(name: str) -> None:
    assert smallest(next(e for e in extremes() if e.name == name)) == EXAMPLES[name]


@pytest.mark.slow
def test_examples_regenerate_identically() -> None:
    assert document() == FILE.read_text()


@pytest.mark.parametrize(("name", "growth"), [("waiting_grows", 1), ("waiting_grows_by_twice_the_change", 2)])
def test_to_adj_gain_changing_delays_make_waiting_grow(name: str, growth: int) -> None:
    before, after = _delays(name, "before"), _delays(name, "after")
    adjustments = _adjustments(before)

    assert adjustments == _told(name, "adjustment of")
    assert _wait(after, adjustments) - _wait(after, [0] * len(after)) == growth


def test_to_adj_gain_own_latency_grows_at_every_receiver_and_needs_three_senders() -> None:
    delays = _delays("own_latency_grows", "delay")
    adjustments = _adjustments(delays)
    columns = list(zip(*delays, strict=True))
    grown = [max(d - a for d, a in zip(c, adjustments, strict=True)) + adjustments[-1] - max(c) for c in columns]

    assert len(delays) == 3
    assert all(one > 0 for one in grown)


@pytest.mark.parametrize(("name", "first"), [("timestamp_falls", "timestamp"), ("promise_is_broken", "beacon")])
def test_to_adj_safe_adjusted_clock_falls_while_the_clock_rises(name: str, first: str) -> None:
    values = EXAMPLES[name]["values"]
    one, two = (_adjustments(_delays(name, kind))[0] for kind in ("before", "after"))

    assert values[first] == values["clock"] + one
    assert values["next timestamp"] == values["clock"] + 1 + two
    assert values["next timestamp"] < values[first]


@pytest.mark.parametrize(
    "name",
    ["other_sign", "twice_the_one_way_delay", "return_is_held", "greatest_difference", "earliest_arrival_is_the_base"],
)
def test_to_adj_2_literal_adjustment_makes_waiting_grow_under_constant_delays(name: str) -> None:
    delays, adjustments = _delays(name, "delay"), _told(name, "adjustment of")

    assert adjustments != _adjustments(delays)
    assert _wait(delays, adjustments) > _wait(delays, [0] * len(delays))


def test_to_adj_2_second_round_added_to_the_first_overshoots() -> None:
    delays = _delays("rounds_add_up", "first delay")
    once = _adjustments(delays)

    assert _told("rounds_add_up", "second adjustment of") == [2 * adjustment for adjustment in once]
    assert _wait(delays, [2 * a for a in once]) > _wait(delays, [0] * len(delays)) >= _wait(delays, once)


def test_to_adj_1_adjusted_first_timestamps_outlive_the_delays_that_they_came_from() -> None:
    name = "first_timestamps_are_adjusted"
    now = _delays(name, "second delay")

    assert _told(name, "second adjustment of") != _adjustments(now)
    assert _wait(now, _told(name, "second adjustment of")) > _wait(now, [0] * len(now))


def test_to_adj_2_hosts_that_count_themselves_are_never_adjusted() -> None:
    assert not any(_told("host_counts_itself", "adjustment of"))
    assert any(_told("host_counts_itself", "right adjustment of"))
