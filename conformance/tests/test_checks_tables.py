"""The compiled table keeps and forgets what a dictionary does, at every filling, and so does the plain one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from scatterproof.conformance.checks.tables import (
    PlainTable,
    change,
    empty_slots,
    field,
    find,
    grown,
    is_full,
    is_less,
    put,
    remove,
    room,
    used,
)

# Few keys that collide often, and the edges of int64, where the mixing products wrap.
KEYS = st.tuples(*[st.sampled_from([0, 1, 2, 3, -1, (1 << 63) - 1, -(1 << 63)])] * 2)
STEPS = st.lists(st.tuples(st.booleans(), KEYS, st.integers(-(1 << 63), (1 << 63) - 1)), max_size=60)


def play(table: Any, entering: bool, first: int, second: int, content: int) -> int:
    """One step on either form; the content that was there, or 0."""
    slot = find(table, (first, second))
    before = field(table, slot, 1) if slot >= 0 else 0
    if entering and slot >= 0 and content % 2:
        change(table, slot, 1, content)
    elif entering:
        put(table, (first, second), (0, content))
    elif slot >= 0:
        remove(table, slot)
    return before


def contents(table: Any) -> int:
    """How many entries a walk over the slots meets."""
    count = 0
    for slot in range(room(table)):
        if used(table, slot):
            count += 1
    return count


def least(table: Any) -> int:
    """The least content that a walk over the slots meets, or 0."""
    found = -1
    for slot in range(room(table)):
        if used(table, slot) and is_less(table, slot, found, 1):
            found = slot
    return field(table, found, 1) if found >= 0 else 0


# As kernels are compiled; the option is none of numba's public ones.
OPTIONS: dict[str, Any] = {"_nrt": False}
play_compiled = njit(**OPTIONS)(play)
contents_compiled = njit(**OPTIONS)(contents)
least_compiled = njit(**OPTIONS)(least)


@settings(max_examples=100)
@given(steps=STEPS)
def test_both_tables_behave_as_a_dictionary(steps: list[tuple[bool, tuple[int, int], int]]) -> None:
    plain, compiled = PlainTable(), empty_slots(2, 2, capacity=4)
    expected: dict[tuple[int, int], int] = {}
    for entering, key, content in steps:
        if is_full(compiled):
            compiled = grown(compiled)
        before = expected.get(key, 0)
        assert play(plain, entering, *key, content) == before
        assert play_compiled(compiled, entering, *key, content) == before
        if entering:
            expected[key] = content
        else:
            expected.pop(key, None)
        assert contents(plain) == contents_compiled(compiled) == int(compiled[-1, 0]) == len(expected)
        assert least(plain) == least_compiled(compiled) == min(expected.values(), default=0)


def test_table_that_grows_keeps_every_entry() -> None:
    compiled: npt.NDArray[np.int64] = empty_slots(2, 2, capacity=4)
    for number in range(5000):
        if is_full(compiled):
            compiled = grown(compiled)
        play_compiled(compiled, True, number, -number, number + 1)
    assert [play_compiled(compiled, False, n, -n, 0) for n in range(5000)] == list(range(1, 5001))
    assert contents_compiled(compiled) == 0
