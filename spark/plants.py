"""What is planted in runs of a corpus, so that it is known what mining must find there.

A planted run is the run that the corpus would have anyhow, made by cores that are wrong in one way, or with one of its
rows altered. Only the manifest tells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, Protocol

from scatterproof.conformance.network.run import MakeNode, simulate
from scatterproof.conformance.network.simulator import MAX_EVENTS
from scatterproof.conformance.protocol import load
from scatterproof.spark.layout import ROW, Expected
from scatterproof.spec.core import AnyCore
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.trace import ABSENT, Kind, Row, Trace, rows_of_packet, schema

IUT = "reference core"
MakeCore = Callable[..., AnyCore]
# Rows of what the harness itself did: with one altered, the trace would not be of that schedule.
_HARNESS = frozenset({Kind.SUBMITTED, Kind.ENDED, Kind.CRASHED, Kind.RESTARTED, Kind.PAUSED, Kind.RESUMED})
# Columns that are never changed: the row would be ignored or refused, rather than be wrong.
_KEPT = frozenset({"time_ns", "node", "kind", "link", "link_seq", "packet"})
_TIMES = 2  # columns that come first in every trace: time_ns, clock_ns
_WAYS = ("change", "change", "change", "leave out", "move")


class Spoiling(Protocol):
    """name: as in the manifest.
    expected: what the oracles find in the run; empty where they were not asked.
    """

    @property
    def name(self) -> str: ...

    @property
    def expected(self) -> tuple[Expected, ...]: ...

    def play(self, schedule: Schedule, make_core: MakeCore, max_events: int = MAX_EVENTS) -> Trace:
        """The run as it is planted."""
        ...


@dataclass(frozen=True, slots=True)
class Plant:
    """Rules that a run's cores get in place of the right ones: whatever the protocol's `make_core` takes as rules."""

    name: str
    rules: Any
    expected: tuple[Expected, ...] = ()

    def play(self, schedule: Schedule, make_core: MakeCore, max_events: int = MAX_EVENTS) -> Trace:
        return simulate(schedule, partial(make_core, rules=self.rules), iut=IUT, max_events=max_events)


@dataclass(frozen=True, slots=True)
class Mutant:
    """nodes: gives the factory of the mutant's nodes, in any process; a compiled mutant itself cannot be sent to
    one."""

    name: str
    nodes: Callable[[], MakeNode]
    expected: tuple[Expected, ...] = ()

    def play(self, schedule: Schedule, make_core: MakeCore, max_events: int = MAX_EVENTS) -> Trace:
        return simulate(schedule, self.nodes(), iut=IUT, max_events=max_events)


@dataclass(frozen=True, slots=True)
class AlteredRow:
    """One row of a right run altered.

    number: of the alteration, among those that the run may get.
    clause: the one at whose rows it aims, or empty.
    """

    name: str
    number: int
    clause: str = ""
    expected: tuple[Expected, ...] = ()

    def play(self, schedule: Schedule, make_core: MakeCore, max_events: int = MAX_EVENTS) -> Trace:
        return altered(right_run(schedule, make_core, max_events), self.number, self.clause)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What shall be planted.

    wanted: in how many runs; a float is a share of all, and at least one run.
    nodes: of a mutant; None asks for one altered row that breaks `clause` once and nothing else, or any one clause
        where that is empty.
    """

    name: str
    wanted: int | float
    nodes: Callable[[], MakeNode] | None = None
    clause: str = ""

    def count(self, runs: int) -> int:
        return self.wanted if isinstance(self.wanted, int) else max(1, round(self.wanted * runs))

    def plant(self, number: int = 0, expected: tuple[Expected, ...] = ()) -> Mutant | AlteredRow:
        if self.nodes is None:
            return AlteredRow(self.name, number, self.clause, expected)
        return Mutant(self.name, self.nodes, expected)


def row_wish(clause: str, wanted: int | float) -> Wish:
    """An altered row that breaks this clause alone; any clause when it is empty."""
    return Wish(name=f"{ROW}{clause or 'any'}", wanted=wanted, clause=clause)


def right_run(schedule: Schedule, make_core: MakeCore, max_events: int = MAX_EVENTS) -> Trace:
    return simulate(schedule, make_core, iut=IUT, max_events=max_events)


def altered(trace: Trace, number: int, clause: str = "") -> Trace:
    """The trace with one row changed in one value, left out, or moved behind the node's next row of its kind; the same
    for the same number. A packet is changed wherever it is on its link, as judges would refuse the trace otherwise.
    clause: only rows of kinds that its checks read are altered. Returns the trace unchanged where no row can be
    altered."""
    draw = Random(f"{trace.header.seed} altered row {number} {clause}")
    columns = schema(trace.header.protocol).columns
    kinds = _kinds_of(trace.header.protocol, clause)
    places = [place for place, row in enumerate(trace.rows) if row[columns.index("kind")] in kinds]
    if not places:
        return trace
    rows = list(trace.rows)
    number = columns.index("link_seq")
    how = draw.choice(_WAYS)
    alone = [place for place in places if rows[place][number] == ABSENT] if how != "change" else []
    at = draw.choice(alone or places)
    match how if rows[at][number] == ABSENT else "change":
        case "change":
            column, value = _change(draw, columns, rows[at], rows[draw.choice(places)])
            for place in rows_of_packet(columns, rows, at) if column > number else [at]:
                rows[place] = (*rows[place][:column], value, *rows[place][column + 1 :])
        case "leave out":
            del rows[at]
        case _:
            _move(columns, rows, at)
    return Trace(trace.header, rows)


def _kinds_of(protocol: str, clause: str) -> set[int]:
    read = {kind for check in load(protocol).checks if clause in ("", check.clause) for kind in check.kinds}
    return {int(kind) for kind in read - _HARNESS}


def _change(draw: Random, columns: Sequence[str], row: Row, other: Row) -> tuple[int, int]:
    """A column, and its new value: one more or less, or what another row has there; unchanged where that is absent."""
    free = [at for at, name in enumerate(columns) if name not in _KEPT and row[at] != ABSENT]
    if not free:
        return 0, row[0]
    column = draw.choice(free)
    value = draw.choice((row[column] - 1, row[column] + 1, other[column]))
    return column, row[column] if value == ABSENT else value


def _move(columns: Sequence[str], rows: list[Row], at: int) -> None:
    """The row and the next one of its kind at its node change places; the times stay where they are."""
    node, kind = columns.index("node"), columns.index("kind")
    for place in range(at + 1, len(rows)):
        if (rows[place][node], rows[place][kind]) == (rows[at][node], rows[at][kind]):
            one, other = rows[at], rows[place]
            rows[at], rows[place] = one[:_TIMES] + other[_TIMES:], other[:_TIMES] + one[_TIMES:]
            return
