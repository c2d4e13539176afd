"""Delays are the same however many are drawn at once, and for whichever links."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scatterproof.conformance.network.delays import Delays
from scatterproof.spec.schedule import Delay, Redraw

DELAYS = (Delay(1_000, 700), Delay(500), Delay(20, 3), Delay(1, 2**40))


@given(seed=st.integers(0, 2**64 - 1), used=st.lists(st.integers(0, 32), min_size=4, max_size=4), anew=st.booleans())
def test_links_that_are_drawn_together_have_the_delays_that_they_have_alone(
    seed: int, used: list[int], anew: bool
) -> None:
    redraw = Redraw(seed=9, kept=(0, 40, 33, 64)) if anew else None
    together = Delays(seed, DELAYS, redraw)
    together.draw_more(3)
    together.draw_more(3)
    together.draw_more(0, used)
    assert [len(drawn) for drawn in together.drawn] == [64, *(64 if count > 16 else 32 for count in used[1:3]), 128]
    for link, drawn in enumerate(together.drawn):
        alone = Delays(seed, DELAYS, redraw)
        assert drawn == [alone(link, index) for index in range(len(drawn))]
