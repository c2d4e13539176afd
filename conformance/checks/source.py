"""Writes the loop that calls every check with just the columns, surroundings and state that its step names.

One list of checks gives two texts: a plain function for one row a call, and a compiled one for columns. Both call the
same step functions; neither has any rule of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from scatterproof.conformance.checks.step import Bins, Cell, Check, Derived, PerLink, PerNode, PerPair, StateKind, Table
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import Kind

COUNTS = ("node_count", "link_count")

Unit: TypeAlias = Check | Derived


def deriveds(checks: Sequence[Check]) -> tuple[Derived, ...]:
    """What the checks share, each once."""
    found: list[Derived] = []
    for check in checks:
        found += [derived for derived in check.derived if derived not in found]
    return tuple(found)


def units(checks: Sequence[Check]) -> tuple[Unit, ...]:
    """The checks, then what they share, in the order in which the loops number their steps."""
    return (*checks, *deriveds(checks))


def used_columns(checks: Sequence[Check], columns: Sequence[str]) -> tuple[str, ...]:
    """The trace columns that the checks read, `kind` and `node` among them, in the order of the schema."""
    wanted = {"kind", "node"} | {name for unit in units(checks) for name in unit.parameters}
    return tuple(name for name in columns if name in wanted)


def used_surroundings(checks: Sequence[Check], columns: Sequence[str]) -> tuple[str, ...]:
    """What the steps read that is neither column, position, derived, nor state of theirs, in a fixed order."""
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
    lines = ["from scatterproof.conformance.checks.tables import PlainTable"]
    lines += ["def make(steps, around, held, broken):"]
    lines += [f"    step_{number} = steps[{number}]" for number in range(len(units(checks)))]
    lines += [f"    {name} = around[{name!r}]" for name in dict.fromkeys((*around, *COUNTS))]
    lines += [f"    {name} = {_plain_state(kind)}" for name, kind in _states(checks)]
    lines += ["    def observe(position, row):", f"        {', '.join(columns)}, = row"]

    def call(number: int, check: Check) -> list[str]:
        return [
            f"_outcome = step_{number}({_arguments(checks, check)})",
            "if _outcome[0] == 1:",
            f"    held[{number}] += 1",
            "elif _outcome[0]:",
            f"    broken.append(({number}, position, *_outcome))",
        ]

    lines += _dispatch(checks, call, " " * 8, _has_clients(columns))
    lines += [f"    return observe, ({''.join(name + ', ' for name, _ in _states(checks))})"]
    return "\n".join(lines) + "\n"


def compiled_source(checks: Sequence[Check], columns: Sequence[str]) -> str:
    """Text of a module with `fresh(node_count, link_count)`, a run's state, and `judge(...)`, which goes over rows.

    judge(columns, start, stop, base, around, state, held, broken) returns (next row, violations written): it stops
    early when `broken`, of shape (room, 6), has no room for one more row's violations, or a table is full.
    """
    modules = sorted({unit.step.__module__ for unit in units(checks)})
    states, shown = _states(checks), used_columns(checks, columns)
    lines = [
        "import numpy as np",
        "from numba import njit",
        "from scatterproof.conformance.checks.tables import empty_slots",
    ]
    lines += [f"import {module}" for module in modules]
    # Called by `judge` alone: what Python or C would call them by is a sixth of the time that compiling takes.
    lines.append("inner = njit(_nrt=False, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)")
    for number, unit in enumerate(units(checks)):
        lines.append(f"step_{number} = inner({unit.step.__module__}.{unit.step.__name__}.step)")
    lines += ["def fresh(node_count, link_count):"]
    lines += [f"    {name} = {_compiled_state(kind)}" for name, kind in states]
    lines += [f"    return ({''.join(name + ', ' for name, _ in states)})"]
    # Without numba's memory management: nothing is allocated here, and counting references would cost most of the time.
    lines += ["@njit(cache=True, _nrt=False)", "def judge(columns, start, stop, base, around, state, held, broken):"]
    lines += [f"    {name} = around[{at}]" for at, name in enumerate(used_surroundings(checks, columns))]
    lines += [f"    {name} = state[{at}]" for at, (name, _) in enumerate(states)]
    lines += [f"    column_{name} = columns[{at}]" for at, name in enumerate(shown)]
    lines += [
        "    written = 0",
        f"    last = broken.shape[0] - {len(checks)}",
        "    for row in range(start, stop):",
        "        if written > last:",
        "            return row, written",
        "        position = base + row",
    ]
    lines += [f"        {name} = column_{name}[row]" for name in shown]

    def call(number: int, check: Check) -> list[str]:
        return [
            f"_outcome = step_{number}({_arguments(checks, check)})",
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
        return [line for table in tables for line in (f"if {_is_full(table)}:", "    return row, written")]

    lines += _dispatch(checks, call, " " * 8, _has_clients(columns), guard)
    lines += ["    return stop, written"]
    return "\n".join(lines) + "\n"


def _has_clients(columns: Sequence[str]) -> bool:
    """Whether some nodes are clients: in protocols with calls, whose rows have a number for each."""
    return "operation" in columns


def _is_full(table: str) -> str:
    """`scatterproof.conformance.checks.tables.is_full`, as text."""
    last = f"{table}.shape[0] - 1"
    return f"({table}[{last}, 0] + {table}[{last}, 2]) * 2 >= {last}"


def _dispatch(
    checks: Sequence[Check],
    call: Callable[[int, Check], list[str]],
    indent: str,
    clients: bool,
    guard: Callable[[int, Unit], list[str]] = lambda number, unit: [],
) -> list[str]:
    """One branch a kind, so that a row costs only the checks that read its kind; and for packets sent, one a role.
    Guards come first: they may leave the row for later, which no step may have seen by then."""
    lines: list[str] = []
    everything = list(enumerate(units(checks)))
    for kind in sorted({kind for _, unit in everything for kind in unit.kinds}):
        lines.append(f"{indent}{'elif' if lines else 'if'} kind == {int(kind)}:")
        reading = [(number, unit) for number, unit in everything if kind in unit.kinds]
        inner = indent + "    "
        if kind != Kind.SENT:
            lines += [inner + line for line in _calls(checks, kind, reading, call, guard)]
            continue
        heads = {"if node_is_host[node] == 1:": Role.HOST}
        heads |= {"elif node_is_client[node] == 1:": Role.CLIENT} if clients else {}
        for head, role in (heads | {"else:": Role.SWITCH}).items():
            here = [(number, unit) for number, unit in reading if unit.at in (None, role)]
            lines.append(inner + head)
            lines += [inner + "    " + line for line in [*_calls(checks, kind, here, call, guard), "pass"]]
    return lines


def _calls(
    checks: Sequence[Check],
    kind: int,
    reading: Sequence[tuple[int, Unit]],
    call: Callable[[int, Check], list[str]],
    guard: Callable[[int, Unit], list[str]],
) -> list[str]:
    """The guards, what is derived, then the checks, of those units that read this kind."""
    lines = [line for number, unit in reading for line in guard(number, unit)]
    for derived in deriveds([unit for _, unit in reading if isinstance(unit, Check)]):
        if kind not in derived.kinds and derived.names:
            lines.append(f"{' = '.join(derived.names)} = 0")
    for number, unit in reading:
        if isinstance(unit, Derived):
            names = f"{', '.join(unit.names)} = " if unit.names else ""
            lines.append(f"{names}step_{number}({_arguments(checks, unit)})")
    for number, unit in reading:
        if isinstance(unit, Check):
            lines += call(number, unit)
    return lines


def _arguments(checks: Sequence[Check], unit: Unit) -> str:
    """What the unit's step is called with: its own state, that of what it shares, or a value of that name."""
    everything = units(checks)
    owners: tuple[Unit, ...] = (unit, *unit.derived) if isinstance(unit, Check) else (unit,)
    given: list[str] = []
    for name in unit.parameters:
        owner = next((owner for owner in owners if name in owner.state), None)
        given.append(name if owner is None else _named(everything.index(owner), name))
    return ", ".join(given)


def _named(number: int, state: str) -> str:
    """A unit's state in the loops, where all units' states stand side by side."""
    return f"c{number}_{state}"


def are_tables(checks: Sequence[Check]) -> tuple[bool, ...]:
    """Which states, in the order of `fresh`, are tables."""
    return tuple(isinstance(kind, Table) for _, kind in _states(checks))


def state_place(checks: Sequence[Check], check: str, state: str) -> int:
    """Where a check's own state stands among the state of all steps."""
    number = [check.name for check in checks].index(check)
    return [name for name, _ in _states(checks)].index(_named(number, state))


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
            return f"np.full(node_count, {initial}, np.int64)"
        case PerLink(initial):
            return f"np.full(link_count, {initial}, np.int64)"
        case PerPair(initial):
            return f"np.full(node_count * node_count, {initial}, np.int64)"
        case Cell(initial):
            return f"np.full(1, {initial}, np.int64)"
        case Table(keys, fields, at_once):
            return f"empty_slots({keys}, {fields}, {at_once})"
        case Bins(size):
            return f"np.zeros({size}, np.int64)"
