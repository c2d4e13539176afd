"""A verdict says no more than the trace shows, and a trace that no check may look at is refused in one sentence."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import numpy as np
import pytest

from scatterproof.conformance.checks.compiled import Kernel
from scatterproof.conformance.checks.interpreted import Interpreted
from scatterproof.conformance.checks.online import Broken
from scatterproof.conformance.checks.rows import columns_of_rows
from scatterproof.conformance.checks.source import used_surroundings
from scatterproof.conformance.judge import (
    Judging,
    columns_of,
    conclude,
    judge,
    judge_by_oracles,
    judge_compiled,
    kernel,
    limits,
    shown_at,
)
from scatterproof.conformance.protocol import load
from scatterproof.conformance.tests.runs import COLUMNS, change, conforming, value
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Kind, Order, Row, Trace, schema

STAR = conforming("star", "C")
PLUGIN = load("totalorder")


def test_a_column_that_would_hide_what_a_step_makes_is_refused() -> None:
    name = next(derived.names[0] for check in PLUGIN.checks for derived in check.derived if derived.names)
    with pytest.raises(BadInput, match=f"has {name} of its own, and the protocol's trace.toml has a column {name}"):
        used_surroundings(PLUGIN.checks, (*PLUGIN.columns, name))


def verdicts(trace: Trace) -> dict[str, Verdict]:
    return {result.clause: result.verdict for result in judge(trace)}


def reasons(trace: Trace) -> dict[str, str]:
    return {result.clause: result.reason for result in judge(trace)}


def with_header(trace: Trace, **values: object) -> Trace:
    return Trace(msgspec.structs.replace(trace.header, **values), trace.rows)


def first(kind: Kind) -> int:
    return next(position for position, row in enumerate(STAR.rows) if value(row, "kind") == kind)


def with_row(position: int, **values: int) -> Trace:
    rows = list(STAR.rows)
    rows[position] = change(rows[position], **values)
    return Trace(STAR.header, rows)


def test_clauses_of_other_environments_are_not_applicable() -> None:
    assert verdicts(STAR)["TO-ENV-C"] is Verdict.PASS
    assert reasons(STAR)["TO-ENV-A"] == "the run is in environment C"


@pytest.mark.parametrize("kind", ["submitted", "sent", "arrived", "delivered"])
def test_clause_is_inconclusive_without_the_kinds_that_its_check_reads(kind: str) -> None:
    complete = {name: nodes for name, nodes in STAR.header.complete.items() if name != kind}
    found = judge(with_header(STAR, complete=complete))
    for check, result in zip(PLUGIN.checks, found, strict=True):
        if result.verdict is not Verdict.NOT_APPLICABLE and result.clause not in ("TO-BAR-PART", "TO-RESTART"):
            reads = Kind[kind.upper()] in check.reads
            assert (result.verdict is Verdict.INCONCLUSIVE) == reads, check.name
            assert reads == result.reason.startswith(f"the trace does not record every {kind} event of node ")


def test_clauses_of_switches_are_judged_where_only_switches_are_recorded() -> None:
    switch = len(STAR.header.topology.nodes) - 1
    found = verdicts(with_header(STAR, complete={"sent": (switch,), "arrived": (switch,)}))
    assert found["TO-BAR-MIN"] is Verdict.PASS
    assert found["TO-BAR-HOST"] is found["TO-DELIVER"] is found["TO-BAR-LINK"] is Verdict.INCONCLUSIVE


def test_violation_in_an_incomplete_trace_is_inconclusive_not_a_failure() -> None:
    """A barrier that was not recorded makes a good delivery look early."""
    rows = [row for row in STAR.rows if value(row, "kind") != Kind.ARRIVED]
    complete = {name: nodes for name, nodes in STAR.header.complete.items() if name != "arrived"}
    result = next(
        result
        for result in judge(Trace(msgspec.structs.replace(STAR.header, complete=complete), rows))
        if result.clause == "TO-DELIVER"
    )
    assert (result.verdict, result.violations, result.broken) == (Verdict.INCONCLUSIVE, (), 0)


def test_to_once_needs_more_than_the_order_of_each_node() -> None:
    found = with_header(STAR, order=Order.NODE)
    assert verdicts(found)["TO-ONCE"] is Verdict.INCONCLUSIVE
    assert "link order" in reasons(found)["TO-ONCE"]
    assert verdicts(found)["TO-ORDER"] is Verdict.PASS


def test_empty_trace_passes_nothing() -> None:
    assert Verdict.PASS not in verdicts(Trace(STAR.header, [])).values()


@pytest.mark.parametrize("flags", [0, 1, 2, -1])
def test_to_complete_is_inconclusive_when_the_run_did_not_settle(flags: int) -> None:
    found = with_row(len(STAR.rows) - 1, flags=flags)
    assert verdicts(found)["TO-COMPLETE"] is Verdict.INCONCLUSIVE
    assert "settled" in reasons(found)["TO-COMPLETE"]


def test_all_violations_are_counted_and_the_first_ones_shown() -> None:
    rows = [
        change(row, digest=value(row, "digest") ^ 1) if value(row, "kind") == Kind.DELIVERED else row
        for row in STAR.rows
    ]
    delivered = [position for position, row in enumerate(rows) if value(row, "kind") == Kind.DELIVERED]
    for judged in (judge, judge_compiled, judge_by_oracles):
        once = next(found for found in judged(Trace(STAR.header, rows), shown=3) if found.clause == "TO-ONCE")
        assert once.broken == len(delivered)
        assert [violation.position for violation in once.violations] == delivered[:3]


def test_violation_is_told_with_names_row_time_and_witness() -> None:
    position = first(Kind.DELIVERED)
    trace = with_row(position, digest=1)
    (violation,) = next(result for result in judge(trace) if result.clause == "TO-ONCE").violations
    row = trace.rows[position]
    node = STAR.header.topology.nodes[value(row, "node")].name
    assert violation.sentence.startswith(
        f"TO-ONCE, row {position} at {value(row, 'time_ns')} ns: node {node} delivered"
    )
    assert violation.sentence.endswith(
        f"with digest 1; {violation.expected} was submitted (see row {violation.witness})"
    )


def test_each_violation_is_told_in_the_words_of_its_way() -> None:
    """Together as alone, where a check is broken in several ways."""
    held = [1] * len(PLUGIN.checks)
    several = [number for number, check in enumerate(PLUGIN.checks) if len(check.ways) > 1 and not check.doubt]
    told = 0
    for number in several:
        broken = [Broken(number, way, way + 2, 0, 0, way - 1) for way in range(len(PLUGIN.checks[number].ways))]
        *alone, together = (
            conclude(PLUGIN, STAR.header, held, some, STAR.rows)[number].violations
            for some in (*([one] for one in broken), broken)
        )
        assert together == tuple(violation for some in alone for violation in some)
        told = max(told, len(together))
    assert told > 1


@pytest.mark.parametrize(
    ("position", "values", "said"),
    [
        (0, {"node": 99}, "row 0 has node 99; nodes are 0 to 3"),
        (0, {"node": -1}, "row 0 has node -1; nodes are 0 to 3"),
        (0, {"kind": max(Kind) + 1}, f"row 0 has kind {max(Kind) + 1}; the kinds are 1 submitted, "),
        (first(Kind.SENT), {"link": 6}, "has link 6; links are 0 to 5"),
        (first(Kind.SENT), {"link": -(1 << 63)}, "links are 0 to 5"),
        (first(Kind.SENT), {"link": 1}, "has link 1, which is no egress link of its node"),
        (first(Kind.ARRIVED), {"link": 1}, "has link 1, which is no ingress link of its node"),
        (0, {"kind": Kind.ENDED}, "rows follow the row 'ended'; put it last"),
        (0, {"number": 7}, "message number 7 was submitted where 1 is the next"),
        (0, {"scattering": 7}, "scattering 7 was submitted where 1 is the next"),
        (0, {"sender": 2}, "names sender h2 and receiver"),
        (0, {"receiver": 1 << 62}, f"row 0 has receiver {1 << 62}; nodes are 0 to 3"),
        (0, {"receiver": 3}, "receiver s0; name node itself, and a host"),
        (0, {"clock_ns": 1 << 63}, "row 0 has a number of more than 64 bits"),
        (0, {"time_ns": -(1 << 63)}, f"row 0 has time_ns {-(1 << 63)}; times are above that"),
    ],
)
def test_trace_that_cannot_be_is_refused_in_one_sentence_by_all_three(
    position: int, values: dict[str, int], said: str
) -> None:
    for judged, shown in ((judge, 9), (judge, 0), (judge_compiled, 9), (judge_by_oracles, 9)):
        with pytest.raises(BadInput) as refused:
            judged(with_row(position, **values), place="my.ndjson", shown=shown)
        assert str(refused.value).startswith("my.ndjson: ")
        assert said in str(refused.value)


PUB = "pubsub/conforming/PS-RETAIN.once-for-each-subscribe"
QUEUE, LEASES = "workqueue/conforming/Q-PRIORITY.higher-first", "workqueue/violating/Q-LEASE.second-first"


@pytest.mark.parametrize(
    ("name", "kind", "call", "said"),
    [
        (PUB, Kind.CALLED, -1, "has call -1; the calls are 1 publish, "),
        (PUB, Kind.RETURNED, -1, "has call -1; the calls are 1 publish, "),
        (QUEUE, Kind.RETURNED, -1, "has call -1; the calls are 1 open_group, "),
        (QUEUE, Kind.CALLED, 11, "makes call 11, which the queue has only with leases; give parameter leased = 1"),
        (LEASES, Kind.CALLED, 10, "makes call 10, which the queue has only without leases; give parameter leased = 0"),
    ],
)
def test_a_call_that_cannot_be_is_refused_in_one_sentence_by_all_three(
    name: str, kind: Kind, call: int, said: str
) -> None:
    trace = trace_ndjson.read(Path(__file__).parents[1] / "traces" / f"{name}.ndjson")
    rows, at = [*trace.rows], trace.column("kind").index(kind)
    columns = schema(trace.header.protocol).columns
    rows[at] = tuple(call if column == "call" else had for column, had in zip(columns, rows[at], strict=True))
    for judged in (judge, judge_compiled, judge_by_oracles):
        with pytest.raises(BadInput, match=rf"^my\.ndjson: .*row {at} .*{said}"):
            judged(Trace(trace.header, rows), place="my.ndjson")


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (STAR.rows[1][:-1], "row 1 has 17 columns; give the 18 of the schema"),
        ((1 << 63, *STAR.rows[1][1:]), "row 1 has a number of more than 64 bits"),
    ],
)
def test_row_that_is_none_of_the_schema_s_is_refused(row: Row, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        judge(Trace(STAR.header, [STAR.rows[0], row]))
    online = Judging(STAR.header)
    online.observe(STAR.rows[:1])
    with pytest.raises(BadInput, match=sentence):
        online.observe([row])


KERNEL = kernel("totalorder")
each_form = pytest.mark.parametrize("form", [KERNEL, KERNEL.interpreted], ids=["compiled", "interpreted"])


def test_compiled_checks_stay_inside_their_arrays_whatever_the_free_columns_hold() -> None:
    """Every column but kind, node and link is full of the edges of int64: any index made of them would be far out."""
    edges = (-(1 << 63), -1, 0, 1, (1 << 63) - 1)
    draw = random.Random(5)
    free = [name for name in COLUMNS if name not in ("kind", "node", "link")]
    rows: list[Row] = [change(row, **{name: draw.choice(edges) for name in free}) for row in STAR.rows[:-1]]
    run, plain = (form.run(PLUGIN.surroundings(STAR.header)) for form in (KERNEL, KERNEL.interpreted))
    run.feed(columns_of_rows(rows, COLUMNS))
    plain.feed(columns_of_rows(rows, COLUMNS))
    assert run.held.tolist() == plain.held.tolist()
    assert run.broken == plain.broken


def test_more_violations_than_there_is_room_for_are_handed_over_in_order() -> None:
    """Every packet of this long trace falls below the one before it, in two clauses a row."""
    sent = STAR.rows[first(Kind.SENT)]
    rows = [change(sent, timestamp=-position, barrier=-position - 2) for position in range(9_000)]
    run = kernel("totalorder").run(PLUGIN.surroundings(STAR.header))
    run.feed(columns_of_rows(rows, COLUMNS))
    online = Judging(STAR.header)
    online.observe(rows)
    assert len(run.broken) > 18_000
    assert run.broken == online.broken


def test_columns_of_a_trace_are_contiguous_int64_arrays() -> None:
    columns = columns_of(STAR)
    assert tuple(columns) == COLUMNS
    for name, column in columns.items():
        assert column.dtype == np.int64
        assert column.flags.c_contiguous
        assert column.tolist() == STAR.column(name)


def test_miscounted_submissions_of_a_trace_with_gaps_decide_nothing() -> None:
    """A complete trace would be refused. Here a row may be missing that explains it; but what reads submissions, even
    without what was sent, must say neither pass nor fail."""
    whole = conforming("star", "D9")
    at = next(position for position, row in enumerate(whole.rows) if value(row, "kind") == Kind.SUBMITTED)
    without = Trace(whole.header, [*whole.rows[:at], *whole.rows[at + 1 :]])
    with pytest.raises(BadInput, match="is the next of"):
        judge(without)
    without = with_header(without, complete={**whole.header.complete, "sent": ()})
    assert verdicts(whole)["TO-LOSS-SAFE"] is Verdict.PASS
    assert reasons(without)["TO-LOSS-SAFE"] == "the submitted events are not counted, and some are not recorded"


@each_form
def test_what_cannot_be_decided_keeps_no_violations(form: Kernel | Interpreted) -> None:
    """Every delivery is of a message that the trace does not show to be submitted."""
    rows = [row for row in STAR.rows if value(row, "kind") != Kind.SUBMITTED]
    bare = with_header(Trace(STAR.header, rows), complete={**STAR.header.complete, "submitted": (), "sent": ()})
    found = []
    for shown in (None, shown_at(bare.header)):
        run = form.run(PLUGIN.surroundings(bare.header), limits(bare.header, len(rows)), shown)
        run.feed(columns_of(bare))
        found.append(run)
    everything, kept = (run.broken for run in found)
    delivered = [number for number, check in enumerate(PLUGIN.checks) if check.clause == "TO-ONCE"]
    assert [one.check for one in everything].count(delivered[0]) == STAR.column("kind").count(Kind.DELIVERED)
    assert delivered[0] not in {one.check for one in kept}
    held = (run.held.tolist() for run in found)
    assert len({str(counts) for counts in held}) == 1
    judged = [conclude(PLUGIN, bare.header, found[0].held.tolist(), broken, bare.rows) for broken in (everything, kept)]
    assert judged[0] == judged[1]
    # Of a premise that gaps may explain, one violation says as much as many.
    numbers = with_header(Trace(STAR.header, STAR.rows[3:]), complete={**STAR.header.complete, "sent": ()})
    run = form.run(PLUGIN.surroundings(numbers.header), limits(numbers.header, 9))
    run.feed(columns_of(numbers))
    assert [one.check for one in run.broken if one.check >= len(PLUGIN.checks)] == [len(PLUGIN.checks)]


@each_form
def test_violations_beyond_a_limit_are_counted_and_not_kept(form: Kernel | Interpreted) -> None:
    twice = [row for row in STAR.rows for _ in range(1 + (value(row, "kind") == Kind.DELIVERED))]
    trace = Trace(STAR.header, twice)
    run = form.run(PLUGIN.surroundings(trace.header), limits(trace.header, 3))
    run.feed(columns_of(trace))
    found = conclude(PLUGIN, trace.header, run.held.tolist(), run.broken, twice, shown=3, counts=run.counts.tolist())
    assert found == judge(trace, shown=3)
    once = next(result for result in found if result.clause == "TO-ONCE")
    assert (once.broken, len(once.violations)) == (STAR.column("kind").count(Kind.DELIVERED), 3)


def test_what_one_log_shows_to_be_broken_fails_whatever_other_logs_lack() -> None:
    """Two deliveries of one host change places; of another host there is no log."""
    first_two = [
        at for at, row in enumerate(STAR.rows) if value(row, "kind") == Kind.DELIVERED and value(row, "node") == 0
    ]
    rows, (one, other) = list(STAR.rows), first_two[:2]
    for at, moved in ((one, other), (other, one)):
        rows[at] = (*STAR.rows[at][:2], *STAR.rows[moved][2:])  # at their times
    left = tuple(range(1, len(STAR.header.topology.nodes)))
    for without, verdict in ((2, Verdict.FAIL), (0, Verdict.INCONCLUSIVE)):
        there = [node for node in (0, *left) if node != without]
        partial = Trace(
            msgspec.structs.replace(STAR.header, complete=dict.fromkeys(STAR.header.complete, tuple(there))),
            [row for row in rows if value(row, "node") in (*there, -1)],
        )
        if without == 0:  # the rows are there, but not all of them are promised to be
            partial = Trace(partial.header, rows)
        for judged in (judge, judge_compiled, judge_by_oracles):
            found = {result.clause: result for result in judged(partial)}
            assert found["TO-ORDER"].verdict is verdict
            assert (found["TO-ORDER"].broken > 0) == (verdict is Verdict.FAIL)
            assert found["TO-COMPLETE"].verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("network", ["star", "chain", "pair"])
@pytest.mark.parametrize("variant", ["B", "C", "D7", "D9", "C adjusted"])
def test_logs_that_are_missing_make_nobody_guilty(network: str, variant: str) -> None:
    whole = conforming(network, variant)
    nodes = range(len(whole.header.topology.nodes))
    for kinds in (
        list(whole.header.complete),
        ["arrived"],
        ["sent"],
        ["submitted", "arrived"],
        ["delivered", "refused"],
    ):
        for missing in nodes:
            complete = {
                kind: tuple(node for node in recorded if node != missing or kind not in kinds)
                for kind, recorded in whole.header.complete.items()
            }
            rows = [
                row
                for row in whole.rows
                if value(row, "node") != missing or Kind(value(row, "kind")).name.lower() not in kinds
            ]
            for order in (Order.NODE, Order.LINK):
                header = msgspec.structs.replace(whole.header, complete=complete, order=order)
                assert Verdict.FAIL not in verdicts(Trace(header, rows)).values()
