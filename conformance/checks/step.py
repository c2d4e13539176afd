"""What a check is: a scalar step over integer columns and array state, written in the subset that numba compiles.

The step's parameter names say what it reads, and it is called with just that:

- a trace column (`kind`, `node`, `timestamp`, ...), or `position`, the row's index in its run;
- an array or number that describes the run (`conformance.checks.surroundings`);
- its own state, declared with the check: `PerNode`, `PerLink`, `Cell` or `Table`.

It returns an Outcome: SILENT (this row is not the clause's business), HOLDS (the clause was at stake, and holds), or
`violated(...)`. It compares integers and never adds to them: in machine arithmetic a sum wraps, in Python it does not.
Helpers that steps call are decorated with `numba.extending.register_jitable`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, MutableSequence, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from numba.extending import register_jitable

from spec.trace import Kind, Order

# (code, expected, found, witness): code 0 silent, 1 holds, 2 and above violated in that check's way number code - 2.
# The witness is the position of the earlier row that the violation contradicts, or -1.
Outcome: TypeAlias = tuple[int, int, int, int]
Ints: TypeAlias = Sequence[int]
State: TypeAlias = MutableSequence[int]
TableState: TypeAlias = dict[tuple[int, ...], tuple[int, ...]]

NO_WITNESS = -1
SILENT: Outcome = (0, 0, 0, NO_WITNESS)
HOLDS: Outcome = (1, 0, 0, NO_WITNESS)


def _violated(way: int, expected: int, found: int, witness: int) -> Outcome:
    return (way + 2, expected, found, witness)


violated: Callable[[int, int, int, int], Outcome] = register_jitable(_violated)


@dataclass(frozen=True, slots=True)
class PerNode:
    """One integer a node."""

    initial: int


@dataclass(frozen=True, slots=True)
class PerLink:
    """One integer a link."""

    initial: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One integer, as an array of length 1."""

    initial: int


@dataclass(frozen=True, slots=True)
class Table:
    """A dictionary from tuples of `keys` integers to tuples of `values` integers. Entries must leave it again, so that
    memory is bounded by what is in flight."""

    keys: int
    values: int


StateKind: TypeAlias = PerNode | PerLink | Cell | Table


class Step(Protocol):
    __name__: str
    __module__: str

    def __call__(self, *arguments: object) -> Outcome: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One clause's step, and what it needs of a trace.

    kinds: the event kinds whose rows it is called with; the trace must record them completely. order: the least order
    that it needs; its verdict is the same for every linearisation that agrees with it. ways: what each way of violation
    means, as a sentence with {expected}, {found}, {node}, {link}, {sender}, {receiver}, {number}.
    """

    clause: str
    name: str
    step: Callable[..., Outcome]
    parameters: tuple[str, ...]
    kinds: tuple[Kind, ...]
    order: Order
    ways: tuple[str, ...]
    state: dict[str, StateKind]


def check(
    clause: str, *, kinds: tuple[Kind, ...], order: Order, ways: tuple[str, ...], **state: StateKind
) -> Callable[[Callable[..., Outcome]], Check]:
    """Declare the decorated step to be the check of `clause`; keyword arguments declare its state."""

    def declare(step: Callable[..., Outcome]) -> Check:
        parameters = tuple(inspect.signature(step).parameters)
        idle = set(state) - set(parameters)
        if idle:
            raise TypeError(f"{step.__name__}: state {sorted(idle)} is declared and not used")
        return Check(
            clause=clause,
            name=step.__name__,
            step=step,
            parameters=parameters,
            kinds=kinds,
            order=order,
            ways=ways,
            state=state,
        )

    return declare
