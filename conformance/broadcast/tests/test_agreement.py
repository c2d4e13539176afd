"""Online monitor, compiled kernel and oracles say the same of every trace, conforming or damaged, however it is cut."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scatterproof.conformance.broadcast.tests.runs import LEVELS, RUNS, conforming
from scatterproof.conformance.judge import judge, judge_by_oracles, judge_compiled
from scatterproof.conformance.tests.agreement import Judges, beginning, damaged_rows
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec.trace import ABSENT, Kind, Order, Row, Trace, schema

COLUMNS = schema("broadcast").columns
NODE, KIND, LINK, SEQ, SENDER, PSEQ = (
    COLUMNS.index(name) for name in ("node", "kind", "link", "link_seq", "sender", "pseq")
)


def arcs(rows: list[Row], order: Order) -> list[tuple[int, int]]:
    """Pairs of positions whose order every linearisation must keep."""
    kept: list[tuple[int, int]] = []
    last_of: dict[tuple[object, ...], int] = {}
    for position, row in enumerate(rows):
        kind = row[KIND]
        if kind == Kind.ENDED:
            kept += [(earlier, position) for earlier in range(position)]
            continue
        ties: list[tuple[object, ...]] = [("node", row[NODE])]
        if order is not Order.NODE:
            # Sendings and arrivals of one number on a link, and all that is said of one creator's messages, are tied
            # causally, in whichever order they come.
            if kind in (Kind.SENT, Kind.ARRIVED):
                ties += [("packet", row[LINK], row[SEQ]), ("number", row[LINK], row[PSEQ])]
            if kind in (Kind.SUBMITTED, Kind.BEGUN, Kind.ARRIVED, Kind.DELIVERED):
                ties += [("creator", row[NODE] if kind == Kind.BEGUN else row[SENDER])]
        for tie in ties:
            if tie in last_of:
                kept.append((last_of[tie], position))
            last_of[tie] = position
    return kept


JUDGES = Judges("broadcast", arcs)
# What a little run need not put at stake, beside what a missing majority takes away.
_NOW_AND_THEN = {"BC-URB-MINORITY", "BC-LCB-CAUSAL", "BC-LCB-LOCAL", "BC-LCB-CHECK", "BC-URB-GC", "BC-PL-RESEND"}
_BY_A_MAJORITY = {f"BC-{name}" for name in ("URB-VALID", "URB-ONCE", "URB-REAL", "URB-AGREE", "URB-SELF", "URB-MAJ")}
_BY_A_MAJORITY |= {"BC-FIFO-ORDER", "BC-LCB-FIFO", "BC-PL-MEMORY", "BC-PL-ONCE", "BC-PL-REAL"}


@pytest.mark.parametrize(("level", "shape", "processes"), RUNS)
def test_reference_run_passes_and_all_three_judges_agree(level: str, shape: str, processes: int) -> None:
    trace = conforming(level, shape, processes)
    results = judge(trace)
    assert {result.clause for result in results if result.verdict is Verdict.FAIL} == set()
    idle = {result.clause for result in results if result.verdict is Verdict.INCONCLUSIVE}
    assert idle <= _NOW_AND_THEN | (_BY_A_MAJORITY if shape == "no majority" else set())
    assert judge_compiled(trace) == results
    start = beginning(trace, 500, cut=True)
    JUDGES.assert_agreement(start, [1, 7, 40])
    assert [result.verdict for result in judge_by_oracles(start)] == [result.verdict for result in judge(start)]


def test_every_clause_is_at_stake_in_some_run() -> None:
    passed = {
        result.clause
        for run in RUNS
        for seed in range(3)
        for result in judge(conforming(*run, seed))
        if result.verdict is Verdict.PASS
    }
    assert passed == {check.clause for check in JUDGES.plugin.checks}


@pytest.mark.parametrize("level", LEVELS)
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_damaged_run_is_judged_alike_by_all_three(level: str, data: st.DataObject) -> None:
    trace = beginning(conforming(*data.draw(st.sampled_from([run for run in RUNS if run[0] == level]))))
    rows = data.draw(damaged_rows(trace))
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=4))
    damaged = Trace(trace.header, rows)
    JUDGES.assert_agreement(damaged, cuts)


@pytest.mark.parametrize("order", [Order.NODE, Order.LINK])
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data(), seed=st.integers(0, 1 << 32))
def test_every_linearisation_that_agrees_with_a_checks_order_has_its_verdict(
    order: Order, data: st.DataObject, seed: int
) -> None:
    trace = beginning(conforming(*data.draw(st.sampled_from(RUNS))))
    JUDGES.assert_same_verdicts(Trace(trace.header, data.draw(damaged_rows(trace))), order, seed)


def row(kind: Kind, node: int, **values: int) -> Row:
    given = dict.fromkeys(COLUMNS, ABSENT) | {"time_ns": 0, "clock_ns": 0, "node": node, "kind": kind} | values
    return tuple(given[name] for name in COLUMNS)


def begun(node: int, number: int) -> Row:
    return row(Kind.BEGUN, node, sender=node, number=number, digest=7, count=1)


def arrived(node: int, link: int, creator: int, number: int) -> Row:
    sums = {"clock_sum": 0, "clock_weighted": 0}
    message = {"sender": creator, "receiver": node, "number": number, "digest": 7, "flags": 0}
    return row(Kind.ARRIVED, node, link=link, link_seq=number - 1, packet=1, pseq=number, count=1, **message, **sums)


def delivered(node: int, creator: int, number: int) -> Row:
    return row(Kind.DELIVERED, node, sender=creator, receiver=node, number=number, digest=7)


def of_three(dependencies: str, *rows: Row) -> Trace:
    """A trace of three processes; link 1 leads from 0 to 2, link 3 from 1 to 2. What arrives was sent just before."""
    header = conforming("lcb", "plain", 3).header
    assert [(header.topology.links[link].source, header.topology.links[link].target) for link in (1, 3)] == [
        (0, 2),
        (1, 2),
    ]
    parameters = {**header.parameters, "dependencies": dependencies}
    put = [
        ((*arrival[:NODE], header.topology.links[arrival[LINK]].source, int(Kind.SENT), *arrival[LINK:]), arrival)
        if arrival[KIND] == Kind.ARRIVED
        else (arrival,)
        for arrival in rows
    ]
    told = [one for some in put for one in some]
    return Trace(msgspec.structs.replace(header, parameters=parameters), [*told, row(Kind.ENDED, ABSENT, flags=3)])


def failing(trace: Trace) -> set[str]:
    """What online checks and oracles both say is broken."""
    JUDGES.assert_agreement(trace, [3])
    return {result.clause for result in judge(trace) if result.verdict is Verdict.FAIL}


def test_what_came_before_its_creator_began_with_it_was_never_ready_in_any_order() -> None:
    came, begins = arrived(2, 3, 1, 1), begun(1, 1)
    other = (begun(0, 1), arrived(2, 1, 0, 1), delivered(2, 0, 1))
    assert "BC-LCB-LOCAL" in failing(of_three(";;", begins, came, *other))
    # Nothing ties when 1 begins to what comes from 0 to 2.
    orders = [(*other[:place], begins, *other[place:]) for place in range(4)]
    assert {"BC-LCB-LOCAL" in failing(of_three(";;", came, *order)) for order in orders} == {False}


def test_who_has_crashed_is_asked_no_more_what_could_have_been_delivered() -> None:
    """The others have all delivered what 1 depends on, so that nobody remembers that it does."""
    crash = row(Kind.CRASHED, 2)
    everywhere = (begun(0, 1), delivered(0, 0, 1), delivered(1, 0, 1), begun(1, 1))
    at_last = (arrived(2, 3, 1, 1), begun(2, 1), delivered(2, 2, 1))
    assert "BC-LCB-LOCAL" not in failing(of_three(";0;", crash, *everywhere, *at_last))
    assert "BC-LCB-LOCAL" in failing(of_three(";;", *everywhere, *at_last))
