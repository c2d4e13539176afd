"""The compiled table keeps and forgets what a dictionary does, at every filling, and so does the plain one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from scatterproof.conformance.checks.tables import (
    PlainTable,
    capacity_of,
    change,
    clear,
    empty_table,
    field,
    find,
    grown,
    is_full,
    is_less,
    must_grow,
    opened,
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
WIDTH = 1 + 2 + 2


def compiled_at(work: Callable[..., int]) -> Callable[..., int]:
    """Work on an opened table, compiled; it takes the array."""
    inner = njit(**OPTIONS)(work)

    def at(address: int, *others: int) -> int:
        return int(inner(opened(address, WIDTH), *others))

    outer = njit(**OPTIONS)(at)
    return lambda table, *others: int(outer(table.ctypes.data, *others))


play_compiled, contents_compiled, must_grow_compiled = compiled_at(play), compiled_at(contents), compiled_at(must_grow)
least_compiled = compiled_at(least)


@settings(max_examples=100)
@given(steps=STEPS)
def test_both_tables_behave_as_a_dictionary(steps: list[tuple[bool, tuple[int, int], int]]) -> None:
    plain, compiled = PlainTable(), empty_table(2, 2, capacity=4)
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
        assert contents(plain) == contents_compiled(compiled) == len(expected)
        assert least(plain) == least_compiled(compiled) == min(expected.values(), default=0)
        assert must_grow_compiled(compiled) == is_full(compiled)


def test_table_that_grows_keeps_every_entry() -> None:
    compiled = empty_table(2, 2, capacity=4)
    for number in range(5000):
        if is_full(compiled):
            compiled = grown(compiled)
        play_compiled(compiled, True, number, -number, number + 1)
    assert [play_compiled(compiled, False, n, -n, 0) for n in range(5000)] == list(range(1, 5001))
    assert contents_compiled(compiled) == 0


def test_table_that_is_cleared_is_as_a_new_one() -> None:
    compiled = empty_table(2, 2, capacity=64)
    for number in range(30):
        play_compiled(compiled, True, number, 0, number + 1)
    clear(compiled)
    assert [play_compiled(compiled, False, number, 0, 0) for number in range(30)] == [0] * 30
    assert contents_compiled(compiled) == 0
    play_compiled(compiled, True, 7, 0, 5)
    assert (contents_compiled(compiled), play_compiled(compiled, False, 7, 0, 0)) == (1, 5)


def test_table_makes_room_for_all_that_a_row_enters() -> None:
    compiled = empty_table(2, 2, at_once=40, capacity=4)
    for number in range(100):
        if is_full(compiled):
            compiled = grown(compiled)
        assert capacity_of(compiled) // 2 - contents_compiled(compiled) >= 40
        play_compiled(compiled, True, number, 0, 1)


def enter_positive(table: Any, key: int) -> int:
    if key > 0:
        put(table, (key, key), (0, 0))
    return 0


def test_entry_under_a_key_that_is_surely_positive_is_found() -> None:
    """Products of signed numbers, which must not wrap in machine code, would lose their sign for such a key."""
    enter, compiled = compiled_at(enter_positive), empty_table(2, 2)
    for key in range(1, 20):
        enter(compiled, key)
    assert [play_compiled(compiled, False, key, key, 0) for key in range(1, 20)] == [0] * 19
    assert contents_compiled(compiled) == 0
