"""Clocks near 2^62 and links of thousands of packets: nodes that keep fewer bits fail, and all that reads a trace takes
such numbers as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from scatterproof.conformance.adapters.real_time import stretched
from scatterproof.conformance.case import run_case
from scatterproof.conformance.judge import judge, judge_by_oracles, judge_compiled
from scatterproof.conformance.network.run import SimulatedIut, simulate
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.totalorder.cases import BY_FILE
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.totalorder import make_core
from scatterproof.impl.totalorder.p4.builds import DEFAULT
from scatterproof.impl.totalorder.p4.core import with_p4_switches
from scatterproof.models.trace_validation import Judgement, validate_all
from scatterproof.spec import trace_ndjson
from scatterproof.spec.core import Effect, Event, NodeConfig, Send
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import MAX_OFFSET_NS, Clock, validate
from scatterproof.spec.totalorder.messages import Packet
from scatterproof.spec.trace import Kind, Trace, schema
from scatterproof.spec.trace_parquet import read_runs, write_runs

COLUMNS = schema("totalorder").columns
CASES = BY_FILE["numbers"]
BY_ID = {case.id: case for case in CASES}
WRAP = 2_000


@dataclass(frozen=True, slots=True)
class Narrow:
    """A node whose clock, or the number that it puts on packets of a link, has too few bits."""

    inner: Any
    clock: Callable[[int], int] = int
    number: Callable[[int], int] = int

    def handle(self, event: Event[Packet]) -> list[Effect[Packet, Any]]:
        effects = self.inner.handle(msgspec.structs.replace(event, now=self.clock(event.now)))
        return [self._narrowed(effect) for effect in effects]

    def _narrowed(self, effect: Effect[Packet, Any]) -> Effect[Packet, Any]:
        if not isinstance(effect, Send):
            return effect
        number = self.number(effect.packet.link_seq)
        return Send(effect.link, msgspec.structs.replace(effect.packet, link_seq=number))

    def next_deadline(self) -> int | None:
        deadline: int | None = self.inner.next_deadline()
        return deadline


NARROW: dict[str, tuple[dict[str, Callable[[int], int]], str]] = {
    "clocks in floats of 32 bits": ({"clock": lambda now: int(np.float32(now))}, "clocks-near"),
    "clocks in floats of 64 bits": ({"clock": lambda now: int(float(now))}, "clocks-near"),
    "link numbers that wrap": ({"number": lambda number: number % WRAP}, "more-than"),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
@pytest.mark.parametrize("narrow", NARROW)
def test_a_node_of_too_few_bits_fails_each_case_that_is_of_its_numbers(narrow: str, case: Case) -> None:
    bits, word = NARROW[narrow]

    def make_node(config: NodeConfig) -> Any:
        return Narrow(make_core(config), **bits)

    found = run_case(case, SimulatedIut(narrow, make_node))
    assert (found.verdict is not Verdict.PASS) == (word in case.id), found.reason


@cache
def left_by_reference(name: str) -> Trace:
    return simulate(BY_ID[name].schedule, make_core)


def test_the_numbers_are_as_large_as_the_cases_say() -> None:
    for name in BY_ID:
        trace = left_by_reference(name)
        clocks = {clock for clock in trace.column("clock_ns") if clock >= 0}
        if "clocks-near" in name:
            assert min(clocks) > 1 << 60
            assert len({clock % 4 for clock in clocks}) == 4
            assert max(clocks) - min(clocks) < 1 << 24  # apart by less than a float of 32 bits could tell
        else:
            assert max(trace.column("link_seq")) > 2_100 > WRAP


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_switches_on_the_p4_target_keep_all_bits(case: Case) -> None:
    found = run_case(case, SimulatedIut("p4", with_p4_switches(DEFAULT)))
    assert (found.verdict, found.reason) == (Verdict.PASS, "")


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_ID)
def test_files_and_judges_take_such_numbers_as_they_are(tmp_path: Path, name: str) -> None:
    trace = left_by_reference(name)
    assert trace_ndjson.decode(trace_ndjson.encode(trace), name) == trace
    write_runs(tmp_path / "events", tmp_path / "runs", [trace])
    assert list(read_runs(tmp_path / "events", tmp_path / "runs")) == [trace]
    results = judge(trace)
    assert judge_compiled(trace) == results
    if len(trace.rows) < 1_500:  # oracles take time with the square of the rows
        assert [one.verdict for one in judge_by_oracles(trace)] == [one.verdict for one in results]


@pytest.mark.slow
def test_tlc_reads_renumbered_what_its_integers_cannot_hold() -> None:
    names = ["TO-MONO/clocks-near-2-to-the-62", "TO-ADJ-2/clocks-near-2-to-the-60"]
    traces = [left_by_reference(name) for name in names]
    kind, number = COLUMNS.index("kind"), COLUMNS.index("link_seq")
    at = next(at for at, row in enumerate(traces[0].rows) if row[kind] == Kind.SENT)
    rows = list(traces[0].rows)
    rows[at] = (*rows[at][:number], 1 << 40, *rows[at][number + 1 :])
    *accepted, refused = validate_all([*traces, Trace(traces[0].header, rows)])
    assert [one.judgement for one in accepted] == [Judgement.ACCEPTED] * 2
    assert refused.judgement is Judgement.CANNOT_RUN
    said = f"row {at} has {1 << 40} in a column that is no time; TLC's integers have 32 bits"
    assert said in refused.reason


def test_slow_motion_leaves_where_clocks_begin() -> None:
    case = BY_ID["TO-MONO/clocks-near-2-to-the-62"]
    clocks = stretched(case.schedule, 40_000).clocks
    assert {clock.offset_ns for clock in clocks[:1]} == {case.schedule.clocks[0].offset_ns}
    assert clocks[1].offset_ns - clocks[0].offset_ns == 40_000 * 37
    assert max(clock.offset_ns for clock in clocks) < MAX_OFFSET_NS


def test_clocks_that_could_wrap_are_refused() -> None:
    schedule = BY_ID["TO-MONO/clocks-near-2-to-the-62"].schedule
    nodes = len(schedule.topology.nodes)
    for first, sentence in ((MAX_OFFSET_NS + 1, r"clocks\[0\] is out of range"), (0, "clocks are up to .* ns apart")):
        clocks = (Clock(first), *(Clock(MAX_OFFSET_NS) for _ in range(nodes - 1)))
        with pytest.raises(BadInput, match=sentence):
            validate(msgspec.structs.replace(schedule, clocks=clocks))
