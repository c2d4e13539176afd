"""The refutations of claims that matter, checked by hand."""

from __future__ import annotations

from functools import partial

from scatterproof.models.tests.refuting import refuted

_refuted = partial(refuted, "broadcast")


def test_bc_urb_maj_two_halves_share_nobody() -> None:
    told = _refuted("majority_has_it", "at_least_half")

    first, second, both = (told[f"{who}"] for who in ("heard by the first alone", "by the second alone", "by both"))
    assert both == 0
    assert 2 * int(first) >= int(told["n"]) <= 2 * int(second)


def test_bc_pl_pseq_one_counter_skips_a_number_of_the_destination() -> None:
    told = _refuted("link_numbers_apart", "one_for_all")

    assert int(told["number"]) != int(told["made for it"]) + 1


def test_bc_lcb_clocks_a_message_counted_first_waits_for_itself() -> None:
    told = _refuted("others_delay_nothing", "counted_first")

    assert told["own entry"] == told["number"]
    assert int(told["delivered of its creator"]) < int(told["number"])
