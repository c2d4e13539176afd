"""Traces that name what is not there: refused with run and row by every way in, and harmless to the checks even so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scatterproof.conformance.broadcast.tests import runs as broadcast
from scatterproof.conformance.case import cases, run_case
from scatterproof.conformance.checks.rows import columns_of_rows, row_rules
from scatterproof.conformance.judge import Judging, judge, judge_by_oracles, judge_compiled, refuse
from scatterproof.conformance.network.run import SimulatedIut, simulate
from scatterproof.conformance.tests import runs as totalorder
from scatterproof.conformance.tests.agreement import beginning
from scatterproof.conformance.tests.strict import strict_monitor
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.totalorder import make_core
from scatterproof.spec.core import Deliver, Effect, Event, NodeConfig, Send
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import IMPORTED_FROM
from scatterproof.spec.trace import ABSENT, Domain, Kind, Trace, schema

TOTALORDER = [*totalorder.WITHOUT_LOSS, *totalorder.UNDER_LOSS, *totalorder.WITH_CHOICES]
FAILURES = [case.schedule for case in cases("totalorder") if case.clause in ("TO-FAIL", "TO-ATOMIC", "TO-RESTART")]
LONGEST = 1500


@cache
def with_failures(number: int) -> Trace:
    return simulate(FAILURES[number % len(FAILURES)], make_core)


RUNS: dict[str, Callable[[int], Trace]] = {
    "broadcast": lambda number: broadcast.conforming(*broadcast.RUNS[number % len(broadcast.RUNS)]),
    "totalorder": lambda number: (
        with_failures(number // 2) if number % 2 else totalorder.conforming(*TOTALORDER[number // 2 % len(TOTALORDER)])
    ),
}
LEAST, GREATEST = -(1 << 63), (1 << 63) - 1
# The recorder's own words; the rest of a row is what a node has said.
PLACES = ("kind", "node", "link")


def changed(trace: Trace, position: int, column: str, value: int) -> Trace:
    rows = list(trace.rows)
    row = dict(zip(schema(trace.header.protocol).columns, rows[position], strict=True))
    rows[position] = tuple((row | {column: value}).values())
    return Trace(trace.header, rows)


def count_of(trace: Trace, column: str) -> int:
    """How many there are of what the column names."""
    names, topology = schema(trace.header.protocol), trace.header.topology
    things: dict[Domain, Sequence[object]] = {
        Domain.NODE: topology.nodes,
        Domain.LINK: topology.links,
        Domain.KIND: [0, *names.kinds.values()],
        Domain.PACKET: [0, *names.packets.values()],
    }
    return len(things[names.domains[column]])


def hostile(protocol: str, draw: Random) -> Trace:
    """A run with extremes in what nodes have said, and with a node that crashes or begins anew."""
    trace = beginning(RUNS[protocol](draw.randrange(100)), LONGEST)
    names = schema(protocol)
    said = [name for name in names.columns if name not in PLACES]
    of_kind: dict[int, list[int]] = {}
    for position, row in enumerate(trace.rows):
        of_kind.setdefault(row[names.index("kind")], []).append(position)
    count = len(trace.header.topology.nodes)
    extremes = [LEAST, LEAST + 1, -2, -1, 0, 1, count, count + 1, 1 << 32, GREATEST - 1, GREATEST]
    for _ in range(draw.randint(1, 8)):
        position = draw.choice(of_kind[draw.choice(sorted(of_kind))])
        # What names something, half of the time.
        column = draw.choice(said if draw.random() < 0.5 else ["sender", "receiver"])
        trace = changed(trace, position, column, draw.choice(extremes))
    kind, node = draw.choice([Kind.CRASHED, Kind.RESTARTED]), draw.randrange(count)
    befell = {"time_ns": 1, "clock_ns": 1, "kind": int(kind), "node": node}
    row = tuple(befell.get(name, ABSENT) for name in names.columns)
    at = draw.randrange(2 * len(trace.rows))  # behind the end half of the time: nowhere
    return trace if at >= len(trace.rows) else Trace(trace.header, [*trace.rows[:at], row, *trace.rows[at:]])


@pytest.mark.slow
@pytest.mark.parametrize("protocol", RUNS)
@pytest.mark.parametrize("seeds", [range(at, at + 50) for at in (0, 50, 100)], ids=str)
def test_no_check_reaches_outside_its_arrays(protocol: str, seeds: range) -> None:
    for seed in seeds:
        trace = hostile(protocol, Random(seed))
        observe = strict_monitor(trace.header)
        for position, row in enumerate(trace.rows):
            observe(position, row)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", RUNS)
def test_no_kernel_reaches_outside_its_arrays(protocol: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "scatterproof.conformance.tests.uncompiled", protocol],
        # A cache of its own: it must not wait for those who compile.
        env={**os.environ, "SCATTERPROOF_CACHE": str(tmp_path), "NUMBA_DISABLE_JIT": "1"},
        cwd=IMPORTED_FROM,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert int(ran.stdout) > 1000


NAMING = [(protocol, name) for protocol in RUNS for name in schema(protocol).naming(*set(Domain) - {Domain.NUMBER})]


@pytest.mark.parametrize(("protocol", "column"), NAMING)
@pytest.mark.parametrize("extreme", [LEAST, GREATEST, -2, -1, 0, 1])
def test_what_is_not_there_is_refused_with_its_row(protocol: str, column: str, extreme: int) -> None:
    """-1 is for nothing, where that can be; 0 and 1 are added to how many there are."""
    trace = beginning(RUNS[protocol](0), 120)
    value = extreme if extreme < 0 or extreme == GREATEST else count_of(trace, column) + extreme
    if value == ABSENT and column not in ("kind", "node"):
        return
    names = schema(protocol).columns
    for position in (0, 1, len(trace.rows) - 1):
        if value == ABSENT and column == "node" and position == len(trace.rows) - 1:
            continue  # the end is nowhere
        damaged = changed(trace, position, column, value)
        sentence = re.escape(f"here: row {position} has {column} {value}; ")
        for way_in in (judge, judge_compiled, judge_by_oracles):
            with pytest.raises(BadInput, match=sentence):
                way_in(damaged, place="here")
        online = Judging(trace.header, "here")
        online.observe(damaged.rows[:position])
        with pytest.raises(BadInput, match=sentence):
            online.observe(damaged.rows[position:])
        columns = columns_of_rows(damaged.rows, names)
        with pytest.raises(BadInput, match=f"row {position + 7} has {column}"):
            row_rules(protocol, trace.header.topology).refuse(columns, base=7)
    refuse(trace)


@pytest.mark.parametrize("protocol", RUNS)
@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_rows_are_refused_alike_one_by_one_and_in_columns(protocol: str, data: st.DataObject) -> None:
    trace = beginning(RUNS[protocol](data.draw(st.integers(0, 99))), 60)
    naming = [column for of, column in NAMING if of == protocol]
    for _ in range(data.draw(st.integers(1, 3))):
        column, position = data.draw(st.sampled_from(naming)), data.draw(st.integers(0, len(trace.rows) - 1))
        some = [LEAST, -2, -1, 0, 1, 2, 3, count_of(trace, column) - 1, count_of(trace, column), GREATEST]
        trace = changed(trace, position, column, data.draw(st.sampled_from(some)))
    rules, columns = row_rules(protocol, trace.header.topology), columns_of_rows(trace.rows, schema(protocol).columns)
    flaws = [f"trace: row {at} has {flaw}" for at, row in enumerate(trace.rows) if (flaw := rules.flaw(row))]
    if flaws:
        with pytest.raises(BadInput, match=f"^{re.escape(flaws[0])}$"):
            rules.refuse(columns)
    else:
        rules.refuse(columns)


class Liar:
    """A reference node that delivers, or sends, in the name of nobody."""

    def __init__(self, config: NodeConfig, lies: type[Send[Any]] | type[Deliver[Any]], column: str, value: int) -> None:
        self._core, self._lies, self._change = make_core(config), lies, {column: value}
        self.next_deadline = self._core.next_deadline

    def handle(self, event: Event[Any]) -> list[Effect[Any, Any]]:
        return [self._lie(effect) for effect in self._core.handle(event)]

    def _lie(self, effect: Effect[Any, Any]) -> Effect[Any, Any]:
        if not isinstance(effect, self._lies):
            return effect
        said = "packet" if isinstance(effect, Send) else "message"
        return msgspec.structs.replace(effect, **{said: msgspec.structs.replace(getattr(effect, said), **self._change)})


@pytest.mark.parametrize(
    ("lies", "field", "column"), [(Send, "sender", "sender"), (Send, "kind", "packet"), (Deliver, "sender", "sender")]
)
@pytest.mark.parametrize("value", [99, GREATEST, LEAST])
def test_node_that_names_nothing_ends_its_run(lies: type[Any], field: str, column: str, value: int) -> None:
    case = next(case for case in cases("totalorder") if case.clause == "TO-DELIVER")
    result = run_case(case, SimulatedIut("liar", lambda config: Liar(config, lies, field, value)))
    assert result.trace is not None
    refuse(result.trace)
    (note,) = result.trace.notes
    assert f"what it sent or delivered has {column} {value}; " in note
    assert result.verdict in (Verdict.INCONCLUSIVE, Verdict.FAIL)
    assert result.trace.column("flags")[-1] == 0


@pytest.mark.parametrize(
    ("network", "sentence"),
    [
        ({"links": [{"source": 0, "target": 9}]}, "here: topology: link 0 joins 0 and 9"),
        ({"nodes": []}, "here: topology: "),
    ],
)
@pytest.mark.parametrize("protocol", RUNS)
def test_network_that_cannot_be_is_refused(protocol: str, network: dict[str, Any], sentence: str) -> None:
    trace = RUNS[protocol](0)
    topology = msgspec.convert({**msgspec.to_builtins(trace.header.topology), **network}, type(trace.header.topology))
    damaged = Trace(msgspec.structs.replace(trace.header, topology=topology), trace.rows)
    with pytest.raises(BadInput, match=sentence):
        refuse(damaged, "here")


@pytest.mark.parametrize("protocol", RUNS)
def test_codes_of_kinds_and_packets_have_no_gaps(protocol: str) -> None:
    names = schema(protocol)
    for codes in (names.kinds, names.packets):
        assert sorted(codes.values()) == [*range(1, len(codes) + 1)]
    assert set(names.domains) == set(names.columns)
