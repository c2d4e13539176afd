"""Delays and clocks: functions of what the schedule says, and of nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scatterproof.conformance.network.clocks import local_clocks
from scatterproof.conformance.network.delays import Delays, draws
from scatterproof.spec.schedule import MAX_TIME_NS, Clock, Delay, Redraw


@given(seed=st.integers(-(1 << 70), 1 << 70), link=st.integers(0, 2000), first=st.integers(0, 1000))
def test_a_draw_depends_on_seed_link_and_index_alone(seed: int, link: int, first: int) -> None:
    alone = draws(seed, [link], first, 1)[0, 0]

    assert draws(seed, [0, link, 5], 0, first + 3)[1, first] == alone
    assert draws(seed + 1, [link], first, 1)[0, 0] != alone
    assert draws(seed, [link + 1], first, 1)[0, 0] != alone


@given(base=st.integers(0, 1 << 30), jitter=st.integers(0, 1 << 30), index=st.integers(0, 300))
def test_a_delay_is_within_its_jitter_and_the_same_however_it_is_asked_for(base: int, jitter: int, index: int) -> None:
    delay = Delay(base, jitter)
    one, all_at_once = Delays(7, [Delay(1), delay]), Delays(7, [Delay(9, 9), delay])
    drawn = [all_at_once(1, at) for at in range(301)]

    assert one(1, index) == drawn[index]
    assert all(base <= value <= base + jitter for value in drawn)


def test_jitter_reaches_both_ends() -> None:
    delays = Delays(1, [Delay(10, 3)])

    assert {delays(0, at) for at in range(200)} == {10, 11, 12, 13}


@given(kept=st.tuples(st.integers(0, 90), st.integers(0, 90)))
def test_delays_that_are_drawn_anew_are_those_of_another_seed(kept: tuple[int, int]) -> None:
    links = [Delay(10, 1 << 40)] * 2
    own, others = Delays(1, links), Delays(2, links)
    for link in range(2):
        anew = Delays(1, links, Redraw(kept, 2))
        wanted = [(own if at < kept[link] else others)(link, at) for at in range(100)]
        assert [anew(link, at) for at in range(100)] == wanted


OFFSETS = st.integers(-MAX_TIME_NS, MAX_TIME_NS)
DRIFTS = st.integers(-499_999_999, 499_999_999)


@given(clocks=st.lists(st.builds(Clock, OFFSETS, DRIFTS), min_size=1, max_size=4))
def test_every_clock_reads_at_least_one_at_the_start(clocks: list[Clock]) -> None:
    assert all(clock.reading(0) >= 1 for clock in local_clocks(clocks))


@given(drift=DRIFTS, time=st.integers(0, 1 << 50), step=st.integers(0, 1 << 40))
def test_a_clock_never_falls(drift: int, time: int, step: int) -> None:
    (clock,) = local_clocks([Clock(0, drift)])

    assert clock.reading(time + step) >= clock.reading(time)


@given(offset=st.integers(-(1 << 40), 1 << 40), drift=DRIFTS, reading=st.integers(0, 1 << 41))
def test_when_is_the_first_instant_at_which_the_reading_is_reached(offset: int, drift: int, reading: int) -> None:
    clock, _ = local_clocks([Clock(offset, drift), Clock()])
    when = clock.when(reading)

    assert clock.reading(when) >= reading
    assert when == 0 or clock.reading(when - 1) < reading


@pytest.mark.parametrize(("drift", "expected"), [(0, 2_000_001), (1_000, 2_000_003), (-1_000, 1_999_999)])
def test_drift_is_parts_per_billion_of_true_time(drift: int, expected: int) -> None:
    (clock,) = local_clocks([Clock(0, drift)])

    assert clock.reading(2_000_000) == expected
