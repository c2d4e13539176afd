"""Writes the loop that calls every check with just the columns, surroundings and state that its step names.

One list of checks gives two texts: a plain function for one row a call, and a compiled one for columns. Both call the
same step functions; neither has any rule of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

from scatterproof.conformance.checks.step import (
    Bins,
    Cell,
    Check,
    Derived,
    PerLink,
    PerNode,
    PerPair,
    Record,
    StateKind,
    Table,
    fields_of,
)
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import Kind

COUNTS = ("node_count", "link_count")

Unit: TypeAlias = Check | Derived
Names: TypeAlias = frozenset[str]
_Made: TypeAlias = tuple[Record, tuple[str, ...]]  # a record, and what stands for the values in it


def deriveds(checks: Sequence[Check]) -> tuple[Derived, ...]:
    """What the checks share, each once."""
    found: list[Derived] = []
    for check in checks:
        found += [derived for derived in check.derived if derived not in found]
    return tuple(found)


def units(checks: Sequence[Check]) -> tuple[Unit, ...]:
    """The checks, then what they share, in the order in which the loops number their steps."""
    return (*checks, *deriveds(checks))


def records(checks: Sequence[Check]) -> tuple[Record, ...]:
    """The records that steps are called with, each once."""
    given = (record for unit in units(checks) for record in unit.arguments.values())
    return tuple(dict.fromkeys(record for record in given if isinstance(record, type)))


@cache
def slotted(record: Record) -> type[object]:
    """What stands for a record in Python: an object with slots, filled anew for each row. Named tuples take three times
    as long to make and to read. All lists of checks share one class: several would slow the steps that they share."""
    return type(record.__name__, (), {"__slots__": fields_of(record)})


def used_columns(checks: Sequence[Check], columns: Sequence[str]) -> tuple[str, ...]:
    """The trace columns that the checks read, `kind` and `node` among them, in the order of the schema."""
    wanted = {"kind", "node"} | {name for unit in units(checks) for name in unit.parameters}
    return tuple(name for name in columns if name in wanted)


def used_surroundings(checks: Sequence[Check], columns: Sequence[str]) -> tuple[str, ...]:
    """The names that steps read and that are neither columns, position, derived, nor state of theirs, in a fixed order.
    Raises BadInput where a column has the name of something that a step makes: readers of that would be given the
    column."""
    for unit in units(checks):
        made = {*unit.state, *(unit.names if isinstance(unit, Derived) else ())}
        if hidden := sorted(made & {"position", *columns}):
            raise BadInput(
                f"{unit.step.__code__.co_filename}: {unit.step.__name__} has {hidden[0]} of its own, and the "
                f"protocol's trace.toml has a column {hidden[0]}: give one of them another name"
            )
    known = {"position", *columns, *(name for derived in deriveds(checks) for name in derived.names)}
    wanted = {"node_is_host", *(("node_is_client",) if _has_clients(columns) else ())}
    for unit in units(checks):
        shared = unit.derived if isinstance(unit, Check) else ()
        theirs = {name for derived in shared for name in derived.state}
        wanted |= {name for name in unit.parameters if name not in known | theirs and name not in unit.state}
    return tuple(sorted(wanted))


def plain_source(checks: Sequence[Check], columns: Sequence[str]) -> str:
    """Text of `make(steps, around, held, broken)`, which returns `observe(position, row)` and the state of all steps,
    as `state_place` numbers it."""
    around = used_surroundings(checks, columns)
    named = _Names(checks, columns, plain=True)

    def call(number: int, arguments: str) -> list[str]:
        return [
            f"_outcome = step_{number}({arguments})",
            "if _outcome is SILENT:",  # as most are
            "    pass",
            "elif _outcome[0] == 1:",
            f"    held[{number}] += 1",
            "elif _outcome[0]:",
            f"    broken.append(({number}, position, *_outcome))",
        ]

    calls = _dispatch(named, call, " " * 8)
    lines = ["from scatterproof.conformance.checks.source import slotted"]
    lines += ["from scatterproof.conformance.checks.step import SILENT"]
    lines += ["from scatterproof.conformance.checks.tables import PlainTable", *named.imports]
    lines += ["def make(steps, around, held, broken):"]
    lines += [f"    step_{number} = steps[{number}]" for number in range(len(units(checks)))]
    lines += [f"    {name} = around[{name!r}]" for name in dict.fromkeys((*around, *COUNTS))]
    lines += [f"    {name} = {_plain_state(kind)}" for name, kind in _states(checks)]
    lines += [f"    {line}" for line in named.lasting]
    lines += ["    def observe(position, row):", f"        {', '.join(columns)}, = row", *calls]
    lines += [f"    return observe, ({''.join(name + ', ' for name, _ in _states(checks))})"]
    return "\n".join(lines) + "\n"


def compiled_source(checks: Sequence[Check], columns: Sequence[str]) -> str:
    """Text of a module with `fresh(node_count, link_count)`, a run's state, and `judge(...)`, which goes over rows.

    judge(columns, start, stop, base, around, state, starts, tables, held, broken) returns (next row, violations
    written), early when `broken`, of shape (room, 6), has no room for those of one more row, or a table (by `tables`,
    their addresses) is full. starts: where in `state` each state begins.
    """
    modules = sorted({unit.step.__module__ for unit in units(checks)})
    states, shown = _states(checks), used_columns(checks, columns)
    named = _Names(checks, columns, plain=False)

    def call(number: int, arguments: str) -> list[str]:
        return [
            f"_outcome = step_{number}({arguments})",
            "if _outcome[0] == 1:",
            f"    held[{number}] += 1",
            "elif _outcome[0] > 1:",
            f"    broken[written, 0] = {number}",
            "    broken[written, 1] = position",
            *(f"    broken[written, {at + 2}] = _outcome[{at}]" for at in range(4)),
            "    written += 1",
        ]

    def guard(number: int, unit: Unit) -> list[str]:
        tables = [_named(number, name) for name, kind in unit.state.items() if isinstance(kind, Table)]
        return [line for table in tables for line in (f"if must_grow({table}):", "    return row, written")]

    calls = _dispatch(named, call, " " * 8, guard)
    lines = [
        "import numpy as np",
        "from numba import njit",
        "from scatterproof.conformance.checks.tables import bare, behind, empty_table, must_grow, opened",
    ]
    lines += [f"import {module}" for module in modules] + named.imports
    # Called by `judge` alone: what Python or C would call them by is a sixth of the time that compiling takes.
    lines.append("inner = njit(_nrt=False, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)")
    for number, unit in enumerate(units(checks)):
        lines.append(f"step_{number} = inner({unit.step.__module__}.{unit.step.__name__}.step)")
    lines += ["def fresh(node_count, link_count):", *(f"    {name} = {_compiled_state(kind)}" for name, kind in states)]
    lines += [f"    return ({''.join(name + ', ' for name, _ in states)})"]
    # Without numba's memory management: nothing is allocated here, and counting references would cost most of the time.
    lines += [
        "@njit(cache=True, nogil=True, _nrt=False)",
        "def judge(columns, start, stop, base, around, state, starts, tables, held, broken):",
        "    state = bare(state)",
    ]
    lines += [f"    {name} = bare(around[{at}])" for at, name in enumerate(used_surroundings(checks, columns))]
    lines += _opened(states)
    lines += [f"    column_{name} = bare(columns[{at}])" for at, name in enumerate(shown)]
    lines += [f"    {line}" for line in named.lasting]
    lines += [
        "    written = 0",
        f"    _last = broken.shape[0] - {len(checks)}",
        "    for row in range(start, stop):",
        "        if written > _last:",
        "            return row, written",
        "        position = base + row",
    ]
    lines += [*(f"        {name} = column_{name}[row]" for name in shown), *calls, "    return stop, written"]
    return "\n".join(lines) + "\n"


def _has_clients(columns: Sequence[str]) -> bool:
    """Whether some nodes are clients: in protocols with calls, whose rows have a number for each."""
    return "operation" in columns


class _Names:
    """What stands for the values that steps are called with, in the loops. plain: for Python, where a record is
    `slotted`."""

    def __init__(self, checks: Sequence[Check], columns: Sequence[str], *, plain: bool) -> None:
        self.columns = columns
        self.units = list(enumerate(units(checks)))
        self._plain = plain
        self._classes = {record: f"record_{number}" for number, record in enumerate(records(checks))}
        found = [name for derived in deriveds(checks) for name in derived.names]
        self._of_rows = {"position", *columns, *found}
        # Nobody reads a record's other fields: 0 stands for them.
        self._read = {"position", *used_columns(checks, columns), *found, *used_surroundings(checks, columns)}
        self._states = {id(unit): {name: _named(number, name) for name in unit.state} for number, unit in self.units}
        # By what is in them, the variables that hold records: states of one name may be of several units.
        self._holders: dict[_Made, str] = {}

    @property
    def imports(self) -> list[str]:
        return [f"from {one.__module__} import {one.__name__} as {name}" for one, name in self._classes.items()]

    @property
    def lasting(self) -> list[str]:
        """Lines that make the records that last for a run: of state, which changes within them, and of surroundings.
        Ask for them after all arguments."""
        made = [f"{name} = slotted({self._classes[one[0]]})()" for one, name in self._holders.items() if self._plain]
        return made + [line for one in self._holders if self._lasts(one) for line in self._filled(one)]

    def of_row(self, unit: Unit, absent: Names) -> list[str]:
        """Lines that make the records of a row that the unit reads."""
        made = self._records(unit, absent).values()
        return [line for one in made if not self._lasts(one) for line in self._filled(one)]

    def arguments(self, unit: Unit, absent: Names) -> str:
        """What the unit's step is called with: records, tuples, its own state, that of its derived steps, or values.
        absent: the names that nothing is found out about in rows of this kind; 0 stands for them."""
        held = {name: self._held(one) for name, one in self._records(unit, absent).items()}
        for name, of in unit.arguments.items():
            if isinstance(of, tuple):
                held[name] = f"({''.join(self._value(unit, one, absent) + ', ' for one in of)})"
        return ", ".join(held.get(name) or self._value(unit, name, absent) for name in unit.arguments)

    def _records(self, unit: Unit, absent: Names) -> dict[str, _Made]:
        """The records that the unit's step is called with, by parameter."""
        given = {name: record for name, record in unit.arguments.items() if isinstance(record, type)}
        return {
            name: (one, tuple(self._value(unit, of, absent) for of in fields_of(one))) for name, one in given.items()
        }

    def _held(self, made: _Made) -> str:
        return self._holders.setdefault(made, f"held_{len(self._holders)}")

    def _lasts(self, made: _Made) -> bool:
        return self._of_rows.isdisjoint(made[1])

    def _filled(self, made: _Made) -> list[str]:
        record, values = made
        if self._plain:
            return [f"{self._held(made)}.{name} = {of}" for name, of in zip(fields_of(record), values, strict=True)]
        return [f"{self._held(made)} = {self._classes[record]}({', '.join(values)})"]

    def _value(self, unit: Unit, name: str, absent: Names) -> str:
        owners: tuple[Unit, ...] = (unit, *unit.derived) if isinstance(unit, Check) else (unit,)
        own = next((self._states[id(owner)][name] for owner in owners if name in owner.state), "")
        return own or (name if name in self._read - absent else "0")


def _dispatch(
    named: _Names,
    call: Callable[[int, str], list[str]],
    indent: str,
    guard: Callable[[int, Unit], list[str]] = lambda number, unit: [],
) -> list[str]:
    """One branch a kind, so that a row costs only the checks that read its kind; and for packets sent, one a role.
    Guards come first: they may leave the row for later, before any step has seen it.

    call: the lines that run a check, by its number and its step's arguments.
    """
    lines: list[str] = []
    for kind in sorted({kind for _, unit in named.units for kind in unit.kinds}):
        lines.append(f"{indent}{'elif' if lines else 'if'} kind == {int(kind)}:")
        reading = [(number, unit) for number, unit in named.units if kind in unit.kinds]
        inner = indent + "    "
        if kind != Kind.SENT:
            lines += [inner + line for line in _calls(named, reading, call, guard)]
            continue
        heads = {"if node_is_host[node] == 1:": Role.HOST}
        heads |= {"elif node_is_client[node] == 1:": Role.CLIENT} if _has_clients(named.columns) else {}
        for head, role in (heads | {"else:": Role.SWITCH}).items():
            here = [(number, unit) for number, unit in reading if unit.at in (None, role)]
            lines.append(inner + head)
            lines += [inner + "    " + line for line in [*_calls(named, here, call, guard), "pass"]]
    return lines


def _calls(
    named: _Names,
    reading: Sequence[tuple[int, Unit]],
    call: Callable[[int, str], list[str]],
    guard: Callable[[int, Unit], list[str]],
) -> list[str]:
    """Of the units that read this kind: the guards, the derived steps, then the checks. A record is made ahead of its
    first reader."""
    lines = [line for number, unit in reading for line in guard(number, unit)]
    shared = [unit for _, unit in named.units if isinstance(unit, Derived)]
    absent = frozenset(name for unit in shared if unit not in [one for _, one in reading] for name in unit.names)
    for number, unit in sorted(reading, key=lambda one: isinstance(one[1], Check)):
        arguments = named.arguments(unit, absent)
        lines += [line for line in named.of_row(unit, absent) if line not in lines]
        if isinstance(unit, Check):
            lines += call(number, arguments)
        else:
            names = f"{', '.join(unit.names)} = " if unit.names else ""
            lines.append(f"{names}step_{number}({arguments})")
    return lines


def _named(number: int, state: str) -> str:
    """The name of a unit's state in the loops, where all units' states stand side by side."""
    return f"c{number}_{state}"


def are_tables(checks: Sequence[Check]) -> tuple[bool, ...]:
    """Which of the states are tables, in the order of `fresh`."""
    return tuple(isinstance(kind, Table) for _, kind in _states(checks))


def state_place(checks: Sequence[Check], check: str, state: str) -> int:
    """The place of a check's own state among the state of all steps."""
    number = [check.name for check in checks].index(check)
    return _state_places(tuple(checks))[_named(number, state)]


@cache
def _state_places(checks: tuple[Check, ...]) -> dict[str, int]:
    return {name: place for place, (name, _) in enumerate(_states(checks))}


def _states(checks: Sequence[Check]) -> list[tuple[str, StateKind]]:
    return [(_named(n, name), kind) for n, unit in enumerate(units(checks)) for name, kind in unit.state.items()]


def _plain_state(kind: StateKind) -> str:
    match kind:
        case PerNode(initial):
            return f"[{initial}] * node_count"
        case PerLink(initial):
            return f"[{initial}] * link_count"
        case PerPair(initial):
            return f"[{initial}] * (node_count * node_count)"
        case Cell(initial):
            return f"[{initial}]"
        case Table():
            return "PlainTable()"
        case Bins(size):
            return f"[0] * {size}"


def _compiled_state(kind: StateKind) -> str:
    match kind:
        case PerNode(initial):
            return _filled("node_count", initial)
        case PerLink(initial):
            return _filled("link_count", initial)
        case PerPair(initial):
            return _filled("node_count * node_count", initial)
        case Cell(initial):
            return _filled("1", initial)
        case Table(keys, fields, at_once):
            return f"empty_table({keys}, {fields}, {at_once})"
        case Bins(size):
            return f"np.zeros({size}, np.int64)"


def _opened(states: Sequence[tuple[str, StateKind]]) -> list[str]:
    """Lines by which `judge` finds them."""
    lines, tables = [], 0
    for at, (name, kind) in enumerate(states):
        if isinstance(kind, Table):
            lines.append(f"    {name} = opened(tables[{tables}], {1 + kind.keys + kind.fields})")
            tables += 1
        else:
            lines.append(f"    {name} = behind(state, starts[{at}])")
    return lines


def _filled(size: str, initial: int) -> str:
    """Most states begin with 0: an array of zeros is made four times as quickly, and a run has a hundred and more."""
    return f"np.full({size}, {initial}, np.int64)" if initial else f"np.zeros({size}, np.int64)"
