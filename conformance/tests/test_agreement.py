"""Online monitor, compiled kernel and oracles say the same of every trace, conforming or damaged, however it is cut."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.checks.online import Broken, Monitor
from conformance.checks.rows import columns_of_rows
from conformance.judge import all_checks, judge, judge_by_oracles, judge_compiled, kernel, refuse
from conformance.protocol import load
from conformance.tests.runs import (
    COLUMNS,
    UNDER_LOSS,
    WITH_CHOICES,
    WITHOUT_LOSS,
    beginning,
    conforming,
    damaged_rows,
    value,
)
from conformance.verdict import Verdict
from spec.errors import BadInput
from spec.totalorder.messages import PacketKind
from spec.trace import Header, Kind, Order, Row, Trace

PLUGIN = load("totalorder")
CHECKS = all_checks(PLUGIN)
RUNS = [*WITHOUT_LOSS, *UNDER_LOSS, *WITH_CHOICES]


def online(header: Header, rows: list[Row]) -> tuple[list[int], list[Broken]]:
    monitor = Monitor(CHECKS, PLUGIN.columns, PLUGIN.surroundings(header))
    for position, row in enumerate(rows):
        monitor.observe(position, row)
    return applicable(header, monitor.held, monitor.broken)


def applicable(header: Header, held: list[int], broken: list[Broken]) -> tuple[list[int], list[Broken]]:
    """Of what was found, that which says something under the run's parameters."""
    without = [PLUGIN.not_applicable(check.clause, header.parameters) is not None for check in CHECKS]
    return (
        [0 if idle else count for count, idle in zip(held, without, strict=True)],
        [found for found in broken if not without[found.check]],
    )


def compiled(header: Header, rows: list[Row], cuts: list[int]) -> tuple[list[int], list[Broken]]:
    run = kernel("totalorder").run(PLUGIN.surroundings(header))
    columns = columns_of_rows(rows, COLUMNS)
    ends = sorted(cut % (len(rows) + 1) for cut in cuts)
    for start, stop in zip([0, *ends], [*ends, len(rows)], strict=True):
        run.feed({name: np.ascontiguousarray(column[start:stop]) for name, column in columns.items()})
    return applicable(header, run.held.tolist(), run.broken)


def assert_agreement(trace: Trace, cuts: list[int]) -> None:
    held, broken = online(trace.header, trace.rows)
    assert compiled(trace.header, trace.rows, cuts) == (held, broken)
    if any(violation.check >= len(PLUGIN.checks) for violation in broken):
        with pytest.raises(BadInput):
            judge(trace)
        return
    for number, check in enumerate(PLUGIN.checks):
        if PLUGIN.not_applicable(check.clause, trace.header.parameters) is None:
            found = {violation.position for violation in broken if violation.check == number}
            assert found == PLUGIN.oracles[check.name](trace), check.name


# What a little run need not put at stake: PART needs ingress links that do not reach, RESTART a restart, and the rest
# losses at the right moment.
_AT_STAKE_NOW_AND_THEN = {
    *("TO-BAR-PART", "TO-RESTART", "TO-RETX", "TO-RETX-BAR", "TO-FLAG-HOST", "TO-SWLOSS", "TO-LOSSCTR", "TO-FLAG-SW"),
    *("TO-FLAG-BEACON", "TO-LASTHOP", "TO-FLAG-RX", "TO-CAUSAL", "TO-BAR-HOST"),
}


@pytest.mark.parametrize(("network", "variant"), RUNS)
def test_reference_run_passes_and_all_three_judges_agree(network: str, variant: str) -> None:
    trace = conforming(network, variant)
    results = judge(trace)
    assert {result.verdict for result in results} <= {Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE}
    idle = {result.clause for result in results if result.verdict is Verdict.INCONCLUSIVE}
    without_beacons = {"TO-DELIVER", "TO-ORDER", "TO-ONCE", "TO-COMPLETE", "TO-LOSS-SAFE"} if variant == "D5" else set()
    assert idle <= _AT_STAKE_NOW_AND_THEN | without_beacons
    assert judge_compiled(trace) == results
    start = beginning(trace, 600)
    assert_agreement(start, [1, 7, 40])
    assert judge_by_oracles(start) == judge(start)


@pytest.mark.parametrize("runs", [WITHOUT_LOSS, UNDER_LOSS, WITH_CHOICES], ids=["without loss", "loss", "choices"])
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_damaged_run_is_judged_alike_by_all_three(runs: list[tuple[str, str]], data: st.DataObject) -> None:
    network, variant = data.draw(st.sampled_from(runs))
    trace = beginning(conforming(network, variant))
    rows = data.draw(damaged_rows(trace))
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=4))
    damaged = Trace(trace.header, rows)
    refuse(damaged)
    assert_agreement(damaged, cuts)


def arcs(rows: list[Row], order: Order) -> list[tuple[int, int]]:
    """Pairs of positions whose order every linearisation must keep."""
    kept: list[tuple[int, int]] = []
    last_at: dict[int, int] = {}
    sent_at: dict[tuple[int, int], int] = {}
    spoken_of: dict[tuple[int, ...], int] = {}
    for position, row in enumerate(rows):
        node, kind = value(row, "node"), value(row, "kind")
        if kind == Kind.ENDED:
            kept += [(earlier, position) for earlier in range(position)]
            continue
        if node in last_at:
            kept.append((last_at[node], position))
        last_at[node] = position
        if order is Order.NODE:
            continue
        packet = (value(row, "link"), value(row, "link_seq"))
        if kind == Kind.SENT:
            sent_at[packet] = position
        elif kind == Kind.ARRIVED and packet in sent_at:
            kept.append((sent_at[packet], position))
        # A message's delivery and its sender's rows about it are causally tied, in whichever order they come.
        message = tuple(value(row, column) for column in ("sender", "receiver", "number"))
        own = kind == Kind.SENT and value(row, "packet") == PacketKind.DATA and node == value(row, "sender")
        if kind in (Kind.SUBMITTED, Kind.DELIVERED) or own:
            if message in spoken_of:
                kept.append((spoken_of[message], position))
            spoken_of[message] = position
    return kept


def linearisation(rows: list[Row], order: Order, seed: int) -> list[int]:
    """Another order of the rows that agrees with `order`: the old positions, in the new order."""
    after: dict[int, list[int]] = {}
    waiting = [0] * len(rows)
    for earlier, later in arcs(rows, order):
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


@pytest.mark.parametrize("order", [Order.NODE, Order.LINK])
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data(), seed=st.integers(0, 1 << 32))
def test_every_linearisation_that_agrees_with_a_checks_order_has_its_verdict(
    order: Order, data: st.DataObject, seed: int
) -> None:
    network, variant = data.draw(st.sampled_from(RUNS))
    trace = beginning(conforming(network, variant))
    rows = data.draw(damaged_rows(trace))
    new = linearisation(rows, order, seed)
    held, broken = online(trace.header, rows)
    if any(violation.check >= len(PLUGIN.checks) for violation in broken):
        return  # judges refuse it: its submissions are not counted
    new_held, new_broken = online(trace.header, [rows[position] for position in new])
    for number, check in enumerate(CHECKS):
        if order.includes(check.order):
            assert held[number] == new_held[number], check.name
            events = {(violation.position, violation.code) for violation in broken if violation.check == number}
            new_events = {
                (new[violation.position], violation.code) for violation in new_broken if violation.check == number
            }
            assert events == new_events, check.name
