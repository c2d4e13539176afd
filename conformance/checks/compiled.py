"""Checks as machine code over columns: the same steps, compiled by numba into one pass, and kept on disk."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, lru_cache, partial
from itertools import compress
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from scatterproof.conformance.checks.interpreted import Found, Interpreted, Limits, Shown
from scatterproof.conformance.checks.online import Broken
from scatterproof.conformance.checks.source import (
    are_tables,
    compiled_source,
    records,
    state_place,
    units,
    used_columns,
    used_surroundings,
)
from scatterproof.conformance.checks.spread import Spread
from scatterproof.conformance.checks.step import Check
from scatterproof.conformance.checks.surroundings import Surroundings
from scatterproof.conformance.checks.tables import capacity_of, clear, grown, is_full
from scatterproof.spec.files import cache_folder, write_atomically

Column = npt.NDArray[np.int64]
Columns = Mapping[str, Column]

ROOM = 4096  # violations handed over at a time
NO_LIMIT = 1 << 62
_NONE_FOUND = np.empty((0, len(Broken._fields)), dtype=np.int64)
MOST_SPARE = 1 << 12  # buckets of a table that the next run is given


class Kernel:
    """The compiled passes for a list of checks, one for each part. Make it once a process; it holds no run's state. A
    part is compiled when it is first needed: in a run's surroundings, `applies` has one number a check, 0 where its
    clause does not apply.

    columns: the trace columns to feed a run with.
    interpreted: the same checks in plain Python, for runs with so few rows that compiling would take longer.
    """

    def __init__(self, checks: Sequence[Check], columns: Sequence[str]) -> None:
        self.checks = tuple(checks)
        self.columns = used_columns(checks, columns)
        groups: dict[str, list[int]] = {}
        for number, check in enumerate(checks):
            groups.setdefault(check.part, []).append(number)
        self.parts = tuple(CompiledPart(checks, numbers, columns) for numbers in groups.values())
        self.interpreted = Interpreted(checks, columns)

    def run(self, around: Surroundings, limits: Limits | None = None, shown: Shown | None = None) -> CompiledRun:
        """The state of one run.

        limits: of shape (checks,), how many of a check's violations are kept; None for all. All are counted.
        shown: of shape (checks, nodes), whether a violation of that check counts in rows of that node.
        """
        return self.prepared(around, limits, shown)()

    def prepared(
        self, around: Surroundings, limits: Limits | None = None, shown: Shown | None = None
    ) -> Callable[[], CompiledRun]:
        """Makes the state of one run after another with the same surroundings."""
        starts = [_Start(part, around, limits, shown) for part in self.parts if part.applies(around)]
        return partial(CompiledRun, self, starts)


class CompiledPart:
    """One compiled pass. numbers: the places of its checks among all."""

    def __init__(self, everything: Sequence[Check], numbers: Sequence[int], columns: Sequence[str]) -> None:
        self.numbers = tuple(numbers)
        self.places = np.array(numbers)
        self.checks = [everything[number] for number in numbers]
        self._schema = columns
        self.columns = used_columns(self.checks, columns)
        self.around = used_surroundings(self.checks, columns)
        self.judge: Callable[..., tuple[int, int]] = self._judge_first
        self._spare: list[_Tables] = []

    def applies(self, around: Surroundings) -> bool:
        applies = around.get("applies")
        return applies is None or isinstance(applies, int) or bool(applies[self.places].any())

    def tables(self) -> _Tables:
        """Empty tables, for one run."""
        return self._spare.pop() if self._spare else _Tables(self._empty, len(self.numbers))

    def take_back(self, tables: _Tables) -> None:
        """For the next run, whose tables then are as large as it may need: growing them breaks off a pass."""
        tables.clear()
        self._spare.append(tables)

    @cached_property
    def place_of(self) -> Callable[[str, str], int]:
        """`state_place` of its checks."""
        return cache(partial(state_place, self.checks))

    @cached_property
    def _empty(self) -> list[Column]:
        return list(compress(self.module.fresh(1, 1), are_tables(self.checks)))

    @cached_property
    def module(self) -> Any:
        return _load(self._path)

    @cached_property
    def _path(self) -> Path:
        return _written(compiled_source(self.checks, self._schema), self.checks)

    @property
    def is_compiled(self) -> bool:
        """Whether some process has compiled it on this machine, and left it in the cache."""
        return self._mark.exists()

    @property
    def is_at_hand(self) -> bool:
        """Whether this process has loaded it, or needs to do no more than that."""
        return "module" in vars(self) or self.is_compiled

    def _judge_first(self, *arguments: Any) -> tuple[int, int]:
        """Of processes that need it at once, one compiles it, and the others find it in the cache."""
        with self._path.open("rb") as held:
            with suppress(OSError):  # a file system without locks: each compiles
                fcntl.flock(held, fcntl.LOCK_EX)
            found: tuple[int, int] = self.module.judge(*arguments)
        self.judge = self.module.judge
        return found

    def compile(self, around: Surroundings) -> None:
        """Compile it, unless that has been done, and leave it in the cache: by judging a row of kind 0, which no check
        reads."""
        if not self.is_compiled:
            row = _read_only(np.zeros(1, dtype=np.int64))
            _PartRun(_Start(self, around, None, None)).feed(dict.fromkeys(self.columns, row), row)
            self._mark.touch()

    @property
    def _mark(self) -> Path:
        return self._path.with_suffix(".compiled")


class CompiledRun:
    """One run's state under a kernel; feed it the run's rows in order, in batches of any size."""

    def __init__(self, kernel: Kernel, starts: Sequence[_Start]) -> None:
        self._count = len(kernel.checks)
        self._columns = kernel.columns
        self._parts = [_PartRun(start) for start in starts]

    def feed(self, columns: Columns, *beside: CompiledRun, spread: Spread = map) -> Found:
        """Judge the next rows, and return those of their violations that are kept, in no order, of shape (violations,
        fields of `Broken`). columns: the kernel's, and `node`, as contiguous int64 arrays.

        beside: runs of other kernels, which are fed with the same rows. spread: calls a function for each of the parts,
        as `map` does; in threads they run at once, and find the same.
        """
        runs = (self, *beside)
        names = {name for run in runs for name in run._columns}
        read = {name: _read_only(columns[name]) for name in names}
        parts = [part for run in runs for part in run._parts]
        found = [one for own in spread(lambda part: part.feed(read, columns["node"]), parts) for one in own]
        return np.concatenate(found) if found else _NONE_FOUND

    @property
    def held(self) -> npt.NDArray[np.int64]:
        """How often each check held, by its number; 0 for a check whose part did not run."""
        held = np.zeros(self._count, dtype=np.int64)
        for part in self._parts:
            held[part.part.places] = part.held
        return held

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many violations each check found, kept or not, by its number."""
        counts = np.zeros(self._count, dtype=np.int64)
        for part in self._parts:
            counts[part.part.places] = part.counts
        return counts

    def state(self, check: str, name: str) -> npt.NDArray[np.int64]:
        """What a check of the first part keeps under this name; it changes with the next rows."""
        first = self._parts[0]
        return first.state(first.part.place_of(check, name))

    @property
    def broken(self) -> list[Broken]:
        """The violations that are kept, in the order of the rows, then of the checks."""
        found = (violation for part in self._parts for own in part.found for violation in own.tolist())
        return sorted(map(Broken._make, found), key=lambda violation: (violation.position, violation.check))


class _Start:
    """What runs begin with under one part.

    left: of shape (checks,), how many violations may yet be kept.
    state, starts: as of `_first_state`.
    """

    def __init__(self, part: CompiledPart, around: Surroundings, limits: Limits | None, shown: Shown | None) -> None:
        self.part = part
        self.shown = None if shown is None else shown[part.places]
        self.left = np.full(len(part.numbers), NO_LIMIT) if limits is None else limits[part.places]
        applies = around.get("applies")
        if not (applies is None or isinstance(applies, int)):
            # Violations of a clause that does not apply are of no use to anybody.
            self.left[applies[part.places] == 0] = 0
        self.around = tuple([around[name] for name in part.around])
        counts: Any = (around["node_count"], around["link_count"])
        self.state, self.starts = _first_state(part, *counts)


class _PartRun:
    """One run's state under one part."""

    def __init__(self, start: _Start) -> None:
        self.part, self._tables, self._shown = start.part, start.part.tables(), start.shown
        self._around, self._starts = start.around, start.starts
        self._left, self._state = start.left.copy(), start.state.copy()
        self._rows = 0
        self.held, self.counts = np.zeros((2, len(start.left)), dtype=np.int64)
        self.found: list[Found] = []

    def __del__(self) -> None:
        self.part.take_back(self._tables)

    def state(self, place: int) -> Column:
        return self._state[self._starts[place] : self._starts[place + 1]]

    def feed(self, columns: Columns, nodes: npt.NDArray[np.int64]) -> list[Found]:
        before = len(self.found)
        arrays = tuple(columns[name] for name in self.part.columns)
        count, row = len(arrays[0]), 0
        run, room = (self._around, self._state, self._starts, self._tables.addresses, self.held), self._tables.room
        while True:
            row, written = self.part.judge(arrays, row, count, self._rows, *run, room)
            if written:
                found = room[:written]
                if self._shown is not None:
                    found = found[self._shown[found[:, 0], nodes[found[:, 1] - self._rows]]]
                self.found.append(self._kept(found))
            if row == count:
                break
            self._tables.grow()
        self._rows += count
        return self.found[before:]

    def _kept(self, found: Found) -> Found:
        """Those of the violations for which there is room left, with the number of their check among all; all are
        counted. Memory stays bounded where every row breaks a clause."""
        counts = np.bincount(found[:, 0], minlength=len(self.counts))
        self.counts += counts
        kept = np.ones(len(found), dtype=np.bool_)
        for number in np.flatnonzero(counts > self._left).tolist():
            own = np.flatnonzero(found[:, 0] == number)
            kept[own[self._left[number] :]] = False
        self._left -= np.minimum(counts, self._left)
        found = found[kept]
        found[:, 0] = self.part.places[found[:, 0]]
        return found


class _Tables:
    """The tables of one part, which one run has after another; and room for violations.

    addresses: where the tables are.
    """

    def __init__(self, empty: Sequence[Column], checks: int) -> None:
        self._empty, self._every = empty, list(empty)
        self.addresses = np.zeros(len(empty), np.int64)
        self.room = np.empty((max(ROOM, checks), 6), dtype=np.int64)
        for number, table in enumerate(empty):
            self._place(number, table.copy())

    def grow(self) -> None:
        """Those that are full."""
        for number, table in enumerate(self._every):
            if is_full(table):
                self._place(number, grown(table))

    def clear(self) -> None:
        for number, table in enumerate(self._every):
            if capacity_of(table) > MOST_SPARE:
                self._place(number, self._empty[number].copy())
            else:
                clear(table)

    def _place(self, number: int, table: Column) -> None:
        self._every[number] = table
        self.addresses[number] = table.ctypes.data


@lru_cache(maxsize=256)
def _first_state(part: CompiledPart, nodes: int, links: int) -> tuple[Column, Column]:
    """The state of every run in a network of this size before its first row, but for tables, in one array: one copy
    takes a quarter of the time of making each. And where each begins in it, and the last one ends."""
    made, tables = part.module.fresh(nodes, links), are_tables(part.checks)
    arrays = [one[:0] if is_table else one for one, is_table in zip(made, tables, strict=True)]
    return np.concatenate(arrays), np.cumsum([0, *map(len, arrays)])


def _read_only(column: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The column, read-only. The kernels are compiled for such columns, so that those of a file need no copy."""
    if not column.flags.writeable:
        return column
    view = column.view()
    view.flags.writeable = False
    return view


def _written(text: str, checks: Sequence[Check]) -> Path:
    """Write the text to a file of the cache, and return its path. numba's own cache does not notice a change in a
    called step, so the file's name is a digest of the text, of everything that the steps compile, and of numba's
    version."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}\n{text}".encode())
    steps = {unit.step.__module__ for unit in units(checks)}
    for name in sorted(steps | {record.__module__ for record in records(checks)}):
        digest.update(_compiled_from(sys.modules[name]).encode())
    path = cache_folder() / "kernels" / f"kernel_{digest.hexdigest()[:24]}.py"
    if not path.is_file():
        write_atomically(path, text.encode())
    return path


def _load(path: Path) -> ModuleType:
    name = path.stem
    if name in sys.modules:
        return sys.modules[name]
    found = importlib.util.spec_from_file_location(name, path)
    if found is None or found.loader is None:
        raise RuntimeError(f"{path}: not importable")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    found.loader.exec_module(module)
    return module


def _compiled_from(module: ModuleType) -> str:
    """The source of a step's module and of the modules that its helpers come from, and the numbers frozen into it."""
    names = vars(module)
    sources = {value.__module__ for value in names.values() if inspect.isfunction(value)} | {module.__name__}
    texts = [inspect.getsource(sys.modules[name]) for name in sorted(sources)]
    return "\n".join([*texts, *sorted(f"{name} = {int(value)}" for name, value in names.items() if type(value) is int)])
