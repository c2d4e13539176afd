"""What a check is: a scalar step over integer columns and array state, written in the subset that numba compiles.

The step's parameter names say what it reads, and it is called with just that:

- a trace column (`kind`, `node`, `timestamp`, ...), or `position`, the row's index in its run;
- an array or number that describes the run (`scatterproof.conformance.checks.surroundings`);
- its own state, declared with the check: `PerNode`, `PerLink`, `PerPair`, `Cell`, `Table` or `Bins`;
- what a `Derived` step, which several checks share, found out about the row, or keeps as its state;
- a record of these, where a parameter's type is a `NamedTuple`: its fields are found by their names, and those that
  neither the step nor a function that it calls names count as not read;
- a tuple of these, where the check says of which.

It returns an Outcome: SILENT (this row is not the clause's business), HOLDS (the clause was at stake, and holds), or
`violated(...)`. It compares column values and never adds to them: a sum wraps in machine arithmetic, and does not in
Python. Counters of its own may count. Helpers that steps call are decorated with `numba.extending.register_jitable`.

`scatterproof.conformance.checks.rows` sees to it that nodes of all rows, and links of packets, are in range. Other
columns that name something may be ABSENT, and columns of numbers may hold any integer of 64 bits: a step looks before
it reaches into an array. An array has no length and no end to count from in machine code.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, MutableSequence, Sequence
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, TypeAlias

from numba.extending import register_jitable

from scatterproof.conformance.checks.tables import PlainTable
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import CLEAN, QUIESCENT, Order

# (code, expected, found, witness): code 0 is silent, 1 holds, from 2 on the check is violated in its way code - 2.
# The witness is the position of the earlier row that the violation contradicts, or -1.
Outcome: TypeAlias = tuple[int, int, int, int]
Ints: TypeAlias = Sequence[int]
State: TypeAlias = MutableSequence[int]
TableState: TypeAlias = PlainTable

NO_WITNESS = -1
SILENT: Outcome = (0, 0, 0, NO_WITNESS)
HOLDS: Outcome = (1, 0, 0, NO_WITNESS)


@register_jitable
def violated(way: int, expected: int, found: int, witness: int = NO_WITNESS) -> Outcome:
    return (way + 2, expected, found, witness)


_GREATEST = (1 << 63) - 1
_SETTLED = CLEAN | QUIESCENT


@register_jitable
def elapsed(since: int, now: int, interval: int) -> bool:
    """Whether now - since >= interval, all in ns, and now is later; no difference wraps."""
    return now > since and since <= _GREATEST - interval and now >= since + interval


@register_jitable
def settled(flags: int) -> bool:
    """Whether a run's last row says that it ended as planned with nothing in flight: liveness may be judged."""
    return flags >= 0 and flags & _SETTLED == _SETTLED


@dataclass(frozen=True, slots=True)
class PerNode:
    """One integer a node."""

    initial: int


@dataclass(frozen=True, slots=True)
class PerLink:
    """One integer a link."""

    initial: int


@dataclass(frozen=True, slots=True)
class PerPair:
    """One integer an ordered pair of nodes (a, b), at a * node_count + b."""

    initial: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One integer, as an array of length 1."""

    initial: int


@dataclass(frozen=True, slots=True)
class Table:
    """Entries of `fields` integers under keys of `keys` integers, for the functions of
    `scatterproof.conformance.checks.tables`. Entries must leave again, so that memory is bounded by what is in flight.

    at_once: how many entries a step makes in one row at the most.
    """

    keys: int
    fields: int
    at_once: int = 1


@dataclass(frozen=True, slots=True)
class Bins:
    """`size` integers, all 0 at first: for counts by something else than nodes and links."""

    size: int


StateKind: TypeAlias = PerNode | PerLink | PerPair | Cell | Table | Bins
# A NamedTuple: columns, state or other names of steps, as one parameter.
Record: TypeAlias = type[tuple[Any, ...]]
# What a step is called with: a value of that name; a record, or a tuple, of values by these names.
Arguments: TypeAlias = dict[str, Record | tuple[str, ...] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A step that several checks share. It runs ahead of the checks, once in each row of its kinds, and may read the
    names of derived steps that checks list in front of it.

    names: what it returns about a row, by name; 0 in rows of other kinds.
    state: its own, which checks may read.
    arguments, kinds, at: as for checks.
    """

    names: tuple[str, ...]
    step: Callable[..., tuple[int, ...] | None]
    arguments: Arguments
    kinds: tuple[int, ...]
    state: dict[str, StateKind]
    at: Role | None

    @property
    def parameters(self) -> tuple[str, ...]:
        """All that the step reads, by name, that of records too."""
        return _names_in(self.step, self.arguments)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Check:
    """One clause's step, and what it needs of a trace. It is made once, and equal to itself alone.

    kinds: the event kinds whose rows it is called with.
    at: the role of the nodes whose rows it judges, None for all; the trace must record `reads` completely there, and
        rows SENT elsewhere do not reach the step.
    order: the least order that it needs; its verdict is the same for every linearisation that agrees with it.
    ways: what each way of violation means, as a sentence with {expected}, {found}, {expected_node} (the node with that
        number), {node}, {link}, {sender}, {receiver}, {number}.
    derived: the steps that it shares with others.
    part: checks of one part are compiled together, and only where one applies.
    despite_gaps: the trace need not record all that it reads: no row that is missing could explain what it finds.
    doubt: its finding is no violation, but a row at which calls that overlap leave open whether the clause holds. The
        verdict is inconclusive then, and the way's sentence says what would decide it.
    """

    clause: str
    name: str
    step: Callable[..., Outcome]
    arguments: Arguments
    kinds: tuple[int, ...]
    order: Order
    ways: tuple[str, ...]
    state: dict[str, StateKind]
    derived: tuple[Derived, ...]
    at: Role | None
    part: str = ""
    despite_gaps: bool = False
    doubt: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """All that the step reads, by name, that of records too."""
        return _names_in(self.step, self.arguments)

    @property
    def reads(self) -> tuple[int, ...]:
        """Every kind on which the verdict rests. A derived step without state speaks only of its own row."""
        kept = (kind for derived in self.derived if derived.state for kind in derived.kinds)
        return tuple(sorted({*self.kinds, *kept}))


def check(
    clause: str,
    *,
    kinds: tuple[int, ...],
    order: Order,
    ways: tuple[str, ...],
    at: Role | None = None,
    tuples: dict[str, tuple[str, ...]] | None = None,
    derived: tuple[Derived, ...] = (),
    despite_gaps: bool = False,
    doubt: bool = False,
    **state: StateKind,
) -> Callable[[Callable[..., Outcome]], Check]:
    """Declare the decorated step to be the check of `clause`; further keyword arguments declare its state. tuples: for
    a parameter that is a tuple, the names of its values."""

    def declare(step: Callable[..., Outcome]) -> Check:
        return Check(
            clause=clause,
            name=step.__name__,
            step=step,
            arguments=_arguments(step, state, tuples or {}),
            kinds=kinds,
            order=order,
            ways=ways,
            state=state,
            derived=derived,
            at=at,
            despite_gaps=despite_gaps,
            doubt=doubt,
        )

    return declare


def derive(
    *names: str, kinds: tuple[int, ...], at: Role | None = None, **state: StateKind
) -> Callable[[Callable[..., tuple[int, ...] | None]], Derived]:
    """Declare the decorated step to find out `names`, none or at least two; keyword arguments declare its state."""

    def declare(step: Callable[..., tuple[int, ...] | None]) -> Derived:
        return Derived(names=names, step=step, arguments=_arguments(step, state, {}), kinds=kinds, state=state, at=at)

    return declare


def fields_of(record: Record) -> tuple[str, ...]:
    fields: tuple[str, ...] = record._fields  # type: ignore[attr-defined]
    return fields


def _record(step: Callable[..., object], annotation: str) -> Record | None:
    found = step.__globals__.get(annotation)
    return found if isinstance(found, type) and hasattr(found, "_fields") else None


def _names_in(step: Callable[..., object], arguments: Arguments) -> tuple[str, ...]:
    assert isinstance(step, FunctionType)
    named, found = names_in_code(step), list[str]()
    for name, of in arguments.items():
        found += (
            [name] if of is None else of if isinstance(of, tuple) else [one for one in fields_of(of) if one in named]
        )
    return tuple(found)


@cache
def names_in_code(step: FunctionType) -> frozenset[str]:
    """Every name in the code of a step and of the functions that it calls: other fields of a record are not read."""
    names, found, waiting = set[str](), set[FunctionType](), [step]
    while waiting:
        function = waiting.pop()
        found.add(function)
        named = function.__code__.co_names
        names.update(named)
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        reached = {one for one in [*map(function.__globals__.get, named), *cells] if isinstance(one, FunctionType)}
        waiting += reached - found
    return frozenset(names)


def _arguments(
    step: Callable[..., object], state: dict[str, StateKind], tuples: dict[str, tuple[str, ...]]
) -> Arguments:
    parameters = inspect.signature(step).parameters
    arguments = {name: tuples.get(name) or _record(step, one.annotation) for name, one in parameters.items()}
    idle = set(state) - set(_names_in(step, arguments))
    if idle:
        raise TypeError(f"{step.__qualname__}: state {sorted(idle)} is declared and not used")
    return arguments
