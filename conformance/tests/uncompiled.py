"""All checks of a protocol as what is compiled, but run by Python: over the arrays of machine code, and with tables in
arrays, on hostile runs. NumPy looks at bounds, as numba would where it is told to; such kernels take a minute to
compile.

Run it as a program, with NUMBA_DISABLE_JIT=1, as it changes what other modules import. It prints how many rows it has
judged."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from scatterproof.conformance.checks import tables

RUNS = 100


class _FromItsFront(np.ndarray[Any, Any]):
    """An array that nobody may count in from its end: machine code has its memory alone."""

    def __getitem__(self, at: Any) -> Any:
        assert at >= 0, f"{at} is in front of all"
        return super().__getitem__(at)

    def __setitem__(self, at: Any, value: Any) -> None:
        assert at >= 0, f"{at} is in front of all"
        super().__setitem__(at, value)


def bare(value: Any) -> Any:
    is_array = isinstance(value, np.ndarray) and value.ndim == 1
    return value.view(_FromItsFront) if is_array else value


class _Memory:
    """A part of an array, from `first` on, which reaches back to what is in front of it and no further than `count`."""

    def __init__(self, array: Any, first: int, count: int) -> None:
        self._array, self._first, self._count = array, first, count

    def _at(self, at: int) -> int:
        assert -tables._HEAD <= at < self._count, f"{at} is outside"
        return int(self._first + at)

    def __getitem__(self, at: int) -> Any:
        return self._array[self._at(at)]

    def __setitem__(self, at: int, value: Any) -> None:
        self._array[self._at(at)] = value


def _behind(memory: Any, count: int) -> Any:
    return memory.view(np.ndarray)[int(count) :].view(_FromItsFront)


def opened(address: int, width: int) -> Any:
    """As that of tables, of memory whose bounds are looked at."""
    head = np.ctypeslib.as_array((ctypes.c_int64 * tables._HEAD).from_address(int(address)))
    mask = int(head[tables._MASK])
    assert head[tables._WIDTH] == width
    slots, buckets = (mask + 1) // 2 * width, mask + 1
    whole = np.ctypeslib.as_array((ctypes.c_int64 * (tables._HEAD + slots + buckets)).from_address(int(address)))
    return _Memory(whole, tables._HEAD, slots), whole[tables._HEAD + slots :].view(_FromItsFront), mask, width


def take_arrays() -> None:
    """Let all functions of tables be those that are compiled."""

    def of_arrays(form: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
        return lambda *given: form(*given)(*given)

    for name in ("change", "field", "find", "put", "remove", "room", "used"):
        setattr(tables, name, of_arrays(getattr(tables, f"_{name}")))
    digest = tables._digest

    def wrapping(key: Any, keys: int) -> int:
        """Python's own integers do not wrap."""
        return int(digest([np.int64(number) for number in key], keys))

    own = {"bare": bare, "opened": opened, "behind": _behind, "_digest": wrapping}
    for name, function in own.items():
        setattr(tables, name, function)
    np.seterr(all="ignore")


def judged(protocol: str) -> int:
    """How many rows were judged."""
    # They take the functions of tables as they are when they are imported.
    from scatterproof.conformance.judge import columns_of, kernel
    from scatterproof.conformance.protocol import load
    from scatterproof.conformance.tests.test_extremes import hostile

    plugin, rows = load(protocol), 0
    for seed in range(RUNS):
        trace = hostile(protocol, Random(seed))
        around = plugin.surroundings(trace.header)
        kernel(protocol).run({**around, "applies": around["applies"] * 0 + 1}).feed(columns_of(trace))
        rows += len(trace.rows)
    return rows


if __name__ == "__main__":
    take_arrays()
    print(judged(sys.argv[1]))
