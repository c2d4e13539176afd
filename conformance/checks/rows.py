"""What every row of a trace must be before a check may look at it: all that it names exists, so that no step, compiled
or not, reaches outside its arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from scatterproof.spec.errors import BadInput
from scatterproof.spec.protocol import refuse_network
from scatterproof.spec.topology import Topology, validate
from scatterproof.spec.trace import ABSENT, Domain, Header, Kind, Row, TraceSchema, schema

Columns: TypeAlias = Mapping[str, npt.NDArray[np.int64]]
# Where a row of some kind, with some link, must be, if not at a node.
_ANYWHERE, _NOWHERE = -2, -3
_KEPT = 1 << 14  # of what rows named and may name
_NEVER = -(1 << 63)  # to checks: no time


def columns_of_rows(
    rows: Sequence[Row], names: Sequence[str], place: str = "trace", *, base: int = 0
) -> dict[str, npt.NDArray[np.int64]]:
    """The rows, counted from `base`, as one contiguous int64 array a column. BadInput for a row that is no row of
    integers of 64 bits."""
    count, width = len(rows), len(names)
    if any(found != width for found in set(map(len, rows))):
        at, found = next((n, len(row)) for n, row in enumerate(rows) if len(row) != width)
        raise BadInput(f"{place}: row {base + at} has {found} columns; give the {width} of the schema")
    try:
        # Nothing takes as long as this: an array of the rows themselves would half as long again.
        values = np.fromiter(chain.from_iterable(rows), np.int64, count * width)
    except OverflowError:
        at = next(n for n, row in enumerate(rows) if any(not -(1 << 63) <= value < 1 << 63 for value in row))
        raise BadInput(
            f"{place}: row {base + at} has a number of more than 64 bits; times are ns in signed 64 bits"
        ) from None
    return dict(zip(names, np.ascontiguousarray(values.reshape(count, width).T), strict=True))


class RowRules:
    """What each row of a run must be; made by `row_rules`. A column that names something (`TraceSchema.domains`) names
    one that exists, or is ABSENT. The kind never is ABSENT, the node only in the last row, and the call of none that is
    called or returns. A packet is at an end of its link."""

    def __init__(self, names: TraceSchema, topology: Topology) -> None:
        self._names = names
        coded = (Domain.KIND, Domain.PACKET, Domain.CALL, Domain.OUTCOME)
        counts = {Domain.NODE: len(topology.nodes), Domain.LINK: len(topology.links)}
        self._known: list[_Known] = []
        for column in names.naming(*coded, *counts):
            domain, at, free = names.domains[column], names.index(column), column != "kind"
            if domain in coded:
                codes = names.codes(domain)
                listed = ", ".join(f"{code} {name}" for name, code in codes.items())
                self._known.append(_Known(column, at, 1, len(codes), free, f"the {domain}s are {listed}"))
            else:
                last = counts[domain] - 1
                self._known.append(_Known(column, at, 0, last, free, f"{domain}s are 0 to {last}"))
        # All that flaws depend on; many rows name the same, and each is looked at once.
        self._named = itemgetter(*(known.at for known in self._known))
        self._sound: set[tuple[int, ...]] = set()
        self._at = tuple(names.index(name) for name in ("kind", "node", "link"))
        self._time_at = names.index("time_ns")
        self._call_at = names.index("call") if names.calls else None
        # By kind and link, from -1: the node at which such a row is.
        self._width = len(topology.links) + 1
        due = np.full((len(names.kinds) + 1, self._width), _ANYWHERE, dtype=np.int64)
        due[[Kind.SENT, Kind.LOST]] = [_NOWHERE, *(link.source for link in topology.links)]
        due[Kind.ARRIVED] = [_NOWHERE, *(link.target for link in topology.links)]
        self._due_list: list[int] = due.ravel().tolist()
        self._due_behind = due.ravel()[1:]  # links begin at -1

    def flaw(self, row: Row) -> str | None:
        """What is wrong with the row, in words that follow 'row 7 has'; None for nothing."""
        if row[self._time_at] == _NEVER:
            return f"time_ns {_NEVER}; times are above that"
        for known in self._known:
            if row[known.at] not in known.values:
                return f"{known.column} {row[known.at]}; {known.duty}"
        kind, node, link = (row[at] for at in self._at)
        if self._call_at is not None and kind in (Kind.CALLED, Kind.RETURNED) and row[self._call_at] == ABSENT:
            return f"call {ABSENT}; {self._duty('call')}"
        due = self._due_list[kind * self._width + 1 + link]
        if due == node or (due == _ANYWHERE and (node != ABSENT or kind == Kind.ENDED)):
            return None
        if due == _ANYWHERE:
            return f"node {node}; {self._duty('node')}"
        if link == ABSENT:
            return f"link {link}; {self._duty('link')}"
        return f"link {link}, which is no {'ingress' if kind == Kind.ARRIVED else 'egress'} link of its node"

    def first_naming_nothing(self, rows: Sequence[Row]) -> int | None:
        """The position of the first row in which a column names what does not exist; None for none."""
        allowed = [known.values for known in self._known]
        wrong = {
            values
            for values in set(map(self._named, rows))
            if not all(value in known for value, known in zip(values, allowed, strict=True))
        }
        never = _NEVER in set(map(itemgetter(self._time_at), rows))
        if not (wrong or never):
            return None
        return next(at for at, row in enumerate(rows) if self._named(row) in wrong or row[self._time_at] == _NEVER)

    def refuse_row(self, position: int, row: Row, place: str = "trace") -> None:
        """Raise BadInput for a row that has a flaw."""
        named = self._named(row)
        if named in self._sound and row[self._time_at] != _NEVER:
            return
        flaw = self.flaw(row)
        if flaw is not None:
            raise BadInput(f"{place}: row {position} has {flaw}")
        if len(self._sound) < _KEPT:
            self._sound.add(named)

    def refuse(self, columns: Columns, *, base: int = 0, place: str = "trace") -> None:
        """Raise BadInput for the first row, counted from `base`, that has a flaw. columns: kind, node, link, and all
        others that a check reads."""
        first = count = len(columns["kind"])
        for known in self._known:
            if known.column in columns:
                first = min(first, known.first_outside(columns[known.column]))
        if "time_ns" in columns:
            times = columns["time_ns"]
            if count and int(np.minimum.reduce(times)) == _NEVER:
                first = min(first, _first(times == _NEVER))
        first = self._first_elsewhere(*(columns[name][:first] for name in ("kind", "node", "link")))
        if "call" in columns:
            kind, call = columns["kind"][:first], columns["call"][:first]
            first = _first((call == ABSENT) & ((kind == Kind.CALLED) | (kind == Kind.RETURNED)))
        if first < count:
            row = tuple(int(columns[name][first]) if name in columns else ABSENT for name in self._names.columns)
            self.refuse_row(base + first, row, place)

    def _first_elsewhere(
        self, kind: npt.NDArray[np.int64], node: npt.NDArray[np.int64], link: npt.NDArray[np.int64]
    ) -> int:
        """The first row that is not at its node, of rows without a flaw otherwise; the number of rows for none."""
        if not len(kind):
            return 0
        at = kind * self._width
        at += link
        due = self._due_behind.take(at)
        wrong = due != node
        wrong &= due != _ANYWHERE
        if int(np.minimum.reduce(node)) == ABSENT:
            wrong |= (node == ABSENT) & (kind != Kind.ENDED)
        return _first(wrong)

    def _duty(self, column: str) -> str:
        return next(known.duty for known in self._known if known.column == column)


def refuse_header(header: Header) -> None:
    """Raise BadInput for a header that names kinds or nodes that do not exist."""
    kinds, nodes = schema(header.protocol).kinds, range(len(header.topology.nodes))
    for kind, recorded in header.complete.items():
        if kind not in kinds:
            raise BadInput(f"header: complete names kind {kind!r}; the kinds are {', '.join(kinds)}")
        strange = [node for node in recorded if node not in nodes]
        if strange:
            raise BadInput(f"header: complete names node {strange[0]} of {kind!r}; nodes are 0 to {len(nodes) - 1}")


@lru_cache(maxsize=64)
def row_rules(protocol: str, topology: Topology) -> RowRules:
    """What the rows of a run in this network must be. Raises BadInput for one that cannot be."""
    validate(topology)
    refuse_network(protocol, topology)
    return RowRules(schema(protocol), topology)


class _Known:
    """A column whose values name something.

    least, greatest: the values that it may have.
    free: whether it may be ABSENT, too.
    duty: that in words.
    """

    def __init__(self, column: str, at: int, least: int, greatest: int, free: bool, duty: str) -> None:
        self.column, self.at, self.duty = column, at, duty
        self.values = frozenset({*range(least, greatest + 1), *((ABSENT,) if free else ())})
        self._least, self._greatest, self._free = least, greatest, free

    def first_outside(self, values: npt.NDArray[np.int64]) -> int:
        """The place of the first value that it may not have; the number of values for none, which takes two passes
        without a copy."""
        if not len(values):
            return 0
        if int(np.maximum.reduce(values)) <= self._greatest:
            lowest = int(np.minimum.reduce(values))
            # Where 0 names nothing it lies between ABSENT and the least.
            if lowest >= self._least or (self._free and lowest == ABSENT and self._has_no_gap(values)):
                return len(values)
        wrong = (values < self._least) | (values > self._greatest)
        if self._free:
            wrong &= values != ABSENT
        return _first(wrong)

    def _has_no_gap(self, values: npt.NDArray[np.int64]) -> bool:
        return self._least == 0 or int(np.count_nonzero(values)) == len(values)


def _first(wrong: npt.NDArray[np.bool_]) -> int:
    return int(wrong.argmax()) if wrong.any() else len(wrong)


def refuse_rows_after_end(columns: Columns, *, ended: bool, place: str = "trace") -> bool:
    """Whether the run ended in these rows, or in front of them (`ended`). Raises BadInput when rows follow the end."""
    kinds = columns["kind"]
    ends = int(np.count_nonzero(kinds == Kind.ENDED))
    if (ended and len(kinds)) or ends > (ends > 0 and kinds[-1] == Kind.ENDED):
        raise BadInput(f"{place}: rows follow the row 'ended'; put it last, and one run into a trace")
    return ended or ends > 0
