"""Who does many pieces of work: `map`, a pool of threads, or the tasks of a Spark session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Spread(Protocol):
    def __call__(self, work: Callable[[_Item], _Result], items: Sequence[_Item], /) -> Iterable[_Result]:
        """work(item) for each item, in the order of the items."""
