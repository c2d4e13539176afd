"""Checks as an online monitor: plain Python, one row a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from scatterproof.conformance.checks.source import plain_source, units
from scatterproof.conformance.checks.step import Check, names_in_code
from scatterproof.conformance.checks.surroundings import Surroundings
from scatterproof.spec.trace import Row

Made: TypeAlias = tuple[Callable[[int, Row], None], tuple[Any, ...]]


class Broken(NamedTuple):
    """One violation, in integers.

    check: the check's place in the list.
    position: the row.
    code, expected, found, witness: as in the step's `Outcome`.
    """

    check: int
    position: int
    code: int
    expected: int
    found: int
    witness: int


class Monitor:
    """Judges one run as it happens.

    observe: called with the position and the row, for each row in turn.
    held: by check, at how many rows it was at stake and held.
    state: the state of all steps, as `state_place` numbers it.
    """

    def __init__(self, checks: Sequence[Check], columns: Sequence[str], around: Surroundings) -> None:
        self.held = [0] * len(checks)
        self._broken: list[tuple[int, ...]] = []
        make = _maker(tuple(checks), tuple(columns))
        plain = {name: value if isinstance(value, int) else value.tolist() for name, value in around.items()}
        self.observe, self.state = make([unit.step for unit in units(checks)], plain, self.held, self._broken)

    @property
    def broken(self) -> list[Broken]:
        return [Broken(*violation) for violation in self._broken]

    def taken(self) -> list[Broken]:
        """The violations found since the last call. They are not kept any longer."""
        found = self.broken
        self._broken.clear()
        return found


@lru_cache(maxsize=64)
def _maker(checks: tuple[Check, ...], columns: tuple[str, ...]) -> Callable[..., Made]:
    """`make` of `plain_source`. Writing its text and compiling it takes longer than judging a short run."""
    namespace: dict[str, Any] = {}
    exec(compile(plain_source(checks, columns), "<checks>", "exec"), namespace)
    make: Callable[..., Made] = namespace["make"]
    return make


def columns_read_anew() -> None:
    """Find out anew which columns steps read, and call them with these: the code of one has changed."""
    names_in_code.cache_clear()
    _maker.cache_clear()
