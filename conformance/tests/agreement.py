"""What the agreement tests of all protocols share: the three judges of one trace, damages, and other linearisations."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from scatterproof.conformance.checks.online import Broken, Monitor
from scatterproof.conformance.checks.rows import columns_of_rows
from scatterproof.conformance.judge import all_checks, judge, judge_by_oracles, judge_compiled, kernel
from scatterproof.conformance.protocol import load
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import Topology
from scatterproof.spec.trace import ABSENT, Domain, Header, Kind, Order, Row, Trace, rows_of_packet, schema

# Pairs of positions whose order every linearisation must keep.
Arcs = Callable[[list[Row], Order], list[tuple[int, int]]]

_PLACES = ("time_ns", "node", "kind", "link")


def beginning(trace: Trace, most: int = 260, *, cut: bool = False) -> Trace:
    """The trace's first rows, and its end, as it is or as that of a run that was cut: whole-trace predicates take long
    for long ones."""
    if len(trace.rows) <= most:
        return trace
    end = _change(schema(trace.header.protocol).columns, trace.rows[-1], flags=0) if cut else trace.rows[-1]
    return Trace(trace.header, [*trace.rows[: most - 1], end])


class Judges:
    """Online monitor, compiled kernel and oracles of one protocol. `arcs`: see there."""

    def __init__(self, protocol: str, arcs: Arcs) -> None:
        self.plugin = load(protocol)
        self.checks = all_checks(self.plugin)
        self._arcs = arcs

    def online(self, header: Header, rows: list[Row]) -> tuple[list[int], list[Broken]]:
        monitor = Monitor(self.checks, self.plugin.columns, self.plugin.surroundings(header))
        for position, row in enumerate(rows):
            monitor.observe(position, row)
        return self._applicable(header, monitor.held, monitor.broken)

    def compiled(self, header: Header, rows: list[Row], cuts: list[int]) -> tuple[list[int], list[Broken]]:
        run = kernel(self.plugin.name).run(self.plugin.surroundings(header))
        columns = columns_of_rows(rows, self.plugin.columns)
        ends = sorted(cut % (len(rows) + 1) for cut in cuts)
        for start, stop in zip([0, *ends], [*ends, len(rows)], strict=True):
            run.feed({name: np.ascontiguousarray(column[start:stop]) for name, column in columns.items()})
        return self._applicable(header, run.held.tolist(), run.broken)

    def _applicable(self, header: Header, held: list[int], broken: list[Broken]) -> tuple[list[int], list[Broken]]:
        """Of what was found, that which says something under the run's parameters, as premises always do."""
        applicable = {check.name for check in (*self.plugin.applicable(header), *self.plugin.premises)}
        without = [check.name not in applicable for check in self.checks]
        return (
            [0 if idle else count for count, idle in zip(held, without, strict=True)],
            [found for found in broken if not without[found.check]],
        )

    def assert_agreement(self, trace: Trace, cuts: list[int]) -> None:
        held, broken = self.online(trace.header, trace.rows)
        assert self.compiled(trace.header, trace.rows, cuts) == (held, broken)
        if any(violation.check >= len(self.plugin.checks) for violation in broken):
            with pytest.raises(BadInput):
                judge(trace)
        # Oracles rest on submissions alone; of other traces that no judge would look at they say what checks say.
        if self._miscounted(broken):
            return
        for number, check in enumerate(self.plugin.checks):
            if self.plugin.not_applicable(check.clause, trace.header.parameters) is None:
                found = {violation.position for violation in broken if violation.check == number}
                assert found == self.plugin.oracles[check.name](trace), check.name

    def _miscounted(self, broken: list[Broken]) -> bool:
        """Whether submissions are not numbered as they come."""
        return any(self.checks[violation.check].name == "submissions_are_counted" for violation in broken)

    def assert_same_verdicts(self, trace: Trace, order: Order, seed: int) -> None:
        """Of another linearisation of the trace, by the checks to which `order` is enough."""
        rows = trace.rows
        new = linearisation(rows, self._arcs(rows, order), seed)
        held, broken = self.online(trace.header, rows)
        if self._miscounted(broken):
            return
        new_held, new_broken = self.online(trace.header, [rows[position] for position in new])
        for number, check in enumerate(self.plugin.checks):
            if order.includes(check.order):
                assert held[number] == new_held[number], check.name
                events = {(found.position, found.code) for found in broken if found.check == number}
                again = {(new[found.position], found.code) for found in new_broken if found.check == number}
                assert events == again, check.name


def linearisation(rows: Sequence[Row], arcs: Sequence[tuple[int, int]], seed: int) -> list[int]:
    """Another order of the rows that keeps the arcs: the old positions, in the new order."""
    after: dict[int, list[int]] = {}
    waiting = [0] * len(rows)
    for earlier, later in arcs:
        after.setdefault(earlier, []).append(later)
        waiting[later] += 1
    ready = [position for position, count in enumerate(waiting) if count == 0]
    draw = random.Random(seed)
    new: list[int] = []
    while ready:
        position = ready.pop(draw.randrange(len(ready)))
        new.append(position)
        for later in after.get(position, ()):
            waiting[later] -= 1
            if waiting[later] == 0:
                ready.append(later)
    return new


EXTREMES = (-(1 << 63), -(1 << 63) + 1, -2, -1, 0, 1, (1 << 62), (1 << 63) - 2, (1 << 63) - 1)


@st.composite
def damaged_rows(draw: st.DrawFn, trace: Trace, most: int = 4) -> list[Row]:
    """The trace's rows after up to `most` damages that leave it a trace: values changed, in one row or wherever a
    packet is, packets on other links of a node, deliveries at other nodes, rows swapped, deleted or doubled. The end
    stays at the end."""
    columns = schema(trace.header.protocol).columns
    rows = list(trace.rows[:-1])
    end = trace.rows[-1]
    places = st.integers(0, len(rows) - 1)
    for _ in range(draw(st.integers(1, most))):
        at = draw(places) % len(rows)
        what = draw(st.sampled_from(("value", "value", "value", "link", "node", "swap", "move", "delete", "double")))
        if what == "value":
            column, value = draw(_changed_value(trace.header, rows, at))
            same = rows_of_packet(columns, rows, at) if draw(st.booleans()) else [at]
            for place in same:
                rows[place] = _change(columns, rows[place], **{column: value})
        elif what in ("link", "node"):
            rows[at] = draw(_changed_place(columns, trace.header.topology, rows[at]))
        elif what == "swap":
            other = draw(places) % len(rows)
            rows[at], rows[other] = rows[other], rows[at]
        elif what == "move":
            rows.insert(draw(places) % len(rows), rows.pop(at))
        elif what == "delete":
            del rows[at]
        else:
            rows.insert(draw(places) % len(rows), rows[at])
    flags = draw(st.sampled_from((3, 3, 3, 2, 1, 0, -1)))
    return [*rows, _change(columns, end, flags=flags)]


@st.composite
def _changed_value(draw: st.DrawFn, header: Header, rows: list[Row], at: int) -> tuple[str, int]:
    """One column of a row takes an extreme, a neighbouring or another row's value; submissions keep their counts, and
    who is named exists."""
    row, names = rows[at], schema(header.protocol)
    columns = names.columns
    submitted = row[columns.index("kind")] == Kind.SUBMITTED
    free = ("clock_ns", "digest") if submitted else [name for name in columns if name not in _PLACES]
    column = draw(st.sampled_from(free))
    old = row[columns.index(column)]
    other = rows[draw(st.integers(0, len(rows) - 1))][columns.index(column)]
    # What the protocol itself adds stands behind `packet`.
    own = row[columns.index("packet") + 1 :]
    values = [other, other, old - 1, old + 1, *own, *EXTREMES]
    is_node = column in names.naming(Domain.NODE)
    least, end = (ABSENT, len(header.topology.nodes)) if is_node else (-(1 << 63), 1 << 63)
    inside = [new for new in values if least <= new < end]
    return column, draw(st.sampled_from(inside))


@st.composite
def _changed_place(draw: st.DrawFn, columns: Sequence[str], network: Topology, row: Row) -> Row:
    node, kind = row[columns.index("node")], row[columns.index("kind")]
    if kind == Kind.SENT:
        return _change(columns, row, link=draw(st.sampled_from(network.egress(node))))
    if kind == Kind.ARRIVED:
        return _change(columns, row, link=draw(st.sampled_from(network.ingress(node))))
    if kind == Kind.DELIVERED:
        return _change(columns, row, node=draw(st.integers(0, len(network.nodes) - 1)))
    return row


def _change(columns: Sequence[str], row: Row, **values: int) -> Row:
    named = dict(zip(columns, row, strict=True)) | values
    return tuple(named[column] for column in columns)


def arcs_of_calls(protocol: str, tied: Sequence[Kind]) -> Arcs:
    """Pairs of positions whose order every linearisation must keep: rows of one node; with the order of links also rows
    of one packet, and rows of the kinds that are `tied`, whose times are compared."""
    columns = schema(protocol).columns
    node, kind, link, number = (columns.index(name) for name in ("node", "kind", "link", "link_seq"))

    def arcs(rows: list[Row], order: Order) -> list[tuple[int, int]]:
        kept: list[tuple[int, int]] = []
        last_of: dict[tuple[object, ...], int] = {}
        for position, row in enumerate(rows):
            if row[kind] == Kind.ENDED:
                kept += [(earlier, position) for earlier in range(position)]
                continue
            ties: list[tuple[object, ...]] = [("node", row[node])]
            if order is not Order.NODE and row[kind] in tied:
                ties += [("call",)]
            if order is not Order.NODE and row[number] >= 0:
                ties += [("packet", row[link], row[number])]
            for tie in ties:
                if tie in last_of:
                    kept.append((last_of[tie], position))
                last_of[tie] = position
        return kept

    return arcs


def agreement_of_calls(
    judges: Judges, names: Sequence[str], rules: Sequence[str], run: Callable[[str, str], Trace]
) -> list[Any]:
    """The tests of a protocol that is called, on runs by name and rules: of the reference's runs; of those of other
    rules; of damaged ones; and of their linearisations."""
    drawn = st.builds(run, st.sampled_from(names), st.sampled_from(rules))
    of, of_calls = judges.plugin.columns, set(schema(judges.plugin.name).calls.values())

    @pytest.mark.parametrize("name", names)
    def reference_run(name: str) -> None:
        trace = run(name, "reference")
        results = judge(trace)
        assert {result.clause for result in results if result.verdict is Verdict.FAIL} == set()
        assert judge_compiled(trace) == results
        assert [result.verdict for result in judge_by_oracles(trace)] == [result.verdict for result in results]
        judges.assert_agreement(beginning(trace, 160, cut=True), [1, 7, 40])

    @pytest.mark.parametrize("other", rules)
    def runs_of_other_rules(other: str) -> None:
        for name in names:
            judges.assert_agreement(run(name, other), [5, 60])

    @settings(max_examples=60, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def damaged_run(data: st.DataObject) -> None:
        """Where there is anything to judge: calls that return twice, say, are no calls."""
        trace = data.draw(drawn)
        damaged = Trace(trace.header, data.draw(damaged_rows(beginning(trace, 200), 2)))
        _, broken = judges.online(damaged.header, damaged.rows)
        assume(all(found.check < len(judges.plugin.checks) for found in broken))
        # A call that is none is refused where a trace is read.
        called = (row for row in damaged.rows if row[of.index("kind")] == Kind.CALLED)
        assume(all(row[of.index("call")] in of_calls for row in called))
        judges.assert_agreement(damaged, data.draw(st.lists(st.integers(0, 200), max_size=4)))

    @pytest.mark.parametrize("order", [Order.NODE, Order.LINK])
    @settings(max_examples=40, suppress_health_check=list(HealthCheck))
    @given(data=st.data(), seed=st.integers(0, 1 << 32))
    def linearisations(order: Order, data: st.DataObject, seed: int) -> None:
        judges.assert_same_verdicts(data.draw(drawn), order, seed)

    return [reference_run, runs_of_other_rules, damaged_run, linearisations]
