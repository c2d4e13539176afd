"""Ranks keep what a module that compares times, and adds 1 to them, can show of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scatterproof.models.ranks import ranks

TIMES = st.sets(st.one_of(st.integers(-1, 20), st.integers(10**18, 10**18 + 20), st.integers(-(2**63), 2**63 - 1)))


@given(TIMES)
def test_order_and_successors_are_kept(times: set[int]) -> None:
    rank = ranks(times)
    for x in rank:
        for y in rank:
            assert (x < y) == (rank[x] < rank[y])
            assert (x == y + 1) == (rank[x] == rank[y] + 1)
            assert (x > y + 1) == (rank[x] > rank[y] + 1)


@given(TIMES)
def test_absent_and_not_spoken_are_themselves(times: set[int]) -> None:
    rank = ranks(times)
    assert (rank[-1], rank[0]) == (-1, 0)


@given(TIMES)
def test_ranks_are_small(times: set[int]) -> None:
    assert all(abs(found) <= 2 * (len(times) + 1) for found in ranks(times).values())


def test_a_time_and_the_one_above_it_are_told_from_a_gap() -> None:
    rank = ranks([10**18, 10**18 + 1, 10**18 + 3])
    assert [rank[10**18 + more] - rank[10**18] for more in (1, 3)] == [1, 3]
