"""The refutations of claims that matter, checked by hand."""

from __future__ import annotations

from functools import partial

from scatterproof.models.tests.refuting import refuted

_refuted = partial(refuted, "workqueue")


def test_q_priority_by_position_a_lower_group_goes_first() -> None:
    told = _refuted("highest_priority_first", "by_position")

    assert int(told["priority of found"]) > int(told["priority of ready"])
    assert int(told["place of found"]) < int(told["place of ready"])


def test_q_crash_dead_held_against_its_server_an_earlier_worker_of_it_is_heard() -> None:
    told = _refuted("dead_holder_is_fenced", "by_server")

    assert told["its server"] == told["present server"]
    assert int(told["token"]) < int(told["present"])


def test_q_crash_dead_a_token_that_stays_is_not_above_the_earlier_one() -> None:
    told = _refuted("tokens_rise", "same_token")

    assert told["next"] == told["earlier"]
