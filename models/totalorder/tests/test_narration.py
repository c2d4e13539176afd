"""Counterexamples of the modules of totalorder in words."""

from __future__ import annotations

import pytest

from scatterproof.models.expected import check_model, models_of
from scatterproof.models.totalorder.telling.narration import narrate


def told(name: str) -> list[str]:
    """The sentences of a listed model, which must find what is expected of it."""
    (model,) = (one for one in models_of("totalorder") if one.name == name)
    found = check_model(model, "totalorder")
    assert found.result.differences == ()
    sentences = narrate(found.run)
    assert len(sentences) == len(found.run.trace) - 1
    return sentences


def test_to_adj_safe_the_falling_adjustment_is_told_with_the_numbers_of_the_finding() -> None:
    assert told("adjustment_clamped_to_rising") == [
        "The adjustment of host 1 is 5: its adjusted clock reads 25.",
        "Host 1 puts a beacon with barrier 25 on link 1-11.",
        "The clock of host 1 reads 26.",
        "The adjustment of host 1 is 0: its adjusted clock reads 21.",
        "Host 1 scatters 1@21 to 1 and 2.",
    ]


def test_to_adj_2_the_other_sign_is_told_with_what_is_returned_and_taken() -> None:
    sentences = told("adjustment_other_sign")
    assert "It returns 9." in " ".join(sentences)
    assert sentences[-1] == "S1 makes 29 at 20 for R1 and 25 at 20 for R2. Its adjustment is -9."


@pytest.mark.slow
def test_to_sw_path_an_overtaking_beacon_is_told_with_the_queue_that_it_passes() -> None:
    sentences = told("beacon_path_overtaking")
    assert sentences[-3] == "Switch 11 takes 1@1 for 1 from link 1-11 into the queue of link 11-1."
    assert sentences[-1].endswith("goes to the queue of link 11-1, ahead of what waits there.")


@pytest.mark.slow
def test_to_sw_6_a_beacon_is_told_on_its_way_to_the_proxy_and_past_another_switch() -> None:
    told_all = " ".join(told("aggregated_on_the_way_to_the_proxy"))
    assert "Switch 11 hands a beacon with barrier 2 from link 12-11 to its proxy." in told_all
    assert "Switch 12, on the way, takes it for one of link 11-12." in told_all


def test_to_beacon_min_a_forwarded_beacon_is_told_with_the_minimum_in_it() -> None:
    assert told("reach_beacon_forwarded_in_turn")[-1].startswith("Switch 11 takes a beacon with barrier 2 from link ")
