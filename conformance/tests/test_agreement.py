"""Online monitor, compiled kernel and oracles say the same of every trace, conforming or damaged, however it is cut."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scatterproof.conformance.judge import judge, judge_by_oracles, judge_compiled
from scatterproof.conformance.tests.agreement import Judges, beginning, damaged_rows
from scatterproof.conformance.tests.runs import UNDER_LOSS, VARIANTS, WITH_CHOICES, WITHOUT_LOSS, conforming, value
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.trace import Kind, Order, Row, Trace

RUNS = [*WITHOUT_LOSS, *UNDER_LOSS, *WITH_CHOICES]


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


JUDGES = Judges("totalorder", arcs)

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
    # Under failures the loss state may last, and what a host sent be discarded.
    handled = {"TO-DELIVER", "TO-ORDER"} if "failure_timeout_ns" in VARIANTS[variant] else set()
    assert idle <= _AT_STAKE_NOW_AND_THEN | without_beacons | handled
    assert judge_compiled(trace) == results
    start = beginning(trace, 600, cut=True)
    JUDGES.assert_agreement(start, [1, 7, 40])
    assert judge_by_oracles(start) == judge(start)


@pytest.mark.slow
@pytest.mark.parametrize("runs", [WITHOUT_LOSS, UNDER_LOSS, WITH_CHOICES], ids=["without loss", "loss", "choices"])
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_damaged_run_is_judged_alike_by_all_three(runs: list[tuple[str, str]], data: st.DataObject) -> None:
    network, variant = data.draw(st.sampled_from(runs))
    trace = beginning(conforming(network, variant))
    rows = data.draw(damaged_rows(trace))
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=4))
    damaged = Trace(trace.header, rows)
    JUDGES.assert_agreement(damaged, cuts)


@pytest.mark.parametrize("order", [Order.NODE, Order.LINK])
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data(), seed=st.integers(0, 1 << 32))
def test_every_linearisation_that_agrees_with_a_checks_order_has_its_verdict(
    order: Order, data: st.DataObject, seed: int
) -> None:
    network, variant = data.draw(st.sampled_from(RUNS))
    trace = beginning(conforming(network, variant))
    JUDGES.assert_same_verdicts(Trace(trace.header, data.draw(damaged_rows(trace))), order, seed)
