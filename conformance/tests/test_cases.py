"""Cases: the reference implementation passes all, broken ones fail, and a run that shows nothing passes none."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from scatterproof.conformance.case import cases, run_case, select
from scatterproof.conformance.network.run import MakeNode, SimulatedIut, simulate
from scatterproof.conformance.protocol import Case, load
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.totalorder import RULES, Rules, make_core
from scatterproof.spec import clauses
from scatterproof.spec.core import NodeConfig
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.topology import route
from scatterproof.spec.trace import Header, Trace

PROTOCOLS = sorted(path.parent.name for path in Path(__file__).parents[1].glob("*/cases"))
CASES = [case for protocol in PROTOCOLS for case in cases(protocol)]
BY_ID = {case.id: case for case in CASES}


def reference(schedule: Schedule) -> Trace:
    """What the reference implementation of the schedule's protocol leaves."""
    core: MakeNode = importlib.import_module(f"scatterproof.impl.{schedule.protocol}").make_core
    return simulate(schedule, core, iut="reference")


class Made:
    """An implementation that leaves a trace made by a function of the schedule."""

    name = "made"

    def __init__(self, make: Callable[[Schedule], Trace]) -> None:
        self._make = make

    def run(self, schedule: Schedule) -> Trace:
        return self._make(schedule)


def with_rules(rules: Rules) -> SimulatedIut:
    def make_node(config: NodeConfig) -> object:
        return make_core(config, rules)

    return SimulatedIut("broken", make_node)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_reference_passes(case: Case) -> None:
    result = run_case(case, Made(reference))
    assert (result.verdict, result.reason) == (Verdict.PASS, "")
    checks = load(case.schedule.protocol).checks
    # A doubt is listed only where there is one.
    assert {check.name for check in checks if not check.doubt} <= {found.name for found in result.results}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_clause_with_a_check_has_a_case(protocol: str) -> None:
    """Or the catalogue says why not."""
    excused = {clause.id for clause in clauses.load(protocol).clauses if clauses.Layer.CASE in clause.not_yet}
    assert {case.clause for case in cases(protocol)} == {check.clause for check in load(protocol).checks} - excused


def test_case_ids_are_unique_and_begin_with_their_clause() -> None:
    assert len(BY_ID) == len(CASES)
    assert all(case.id.startswith(f"{case.clause}/") and case.clause in case.at_stake for case in CASES)


def test_two_links_case_gives_the_busy_host_an_idle_link_that_the_other_receiver_waits_for() -> None:
    """TO-ENV-C/one-busy-receiver kills a timer of the whole host only if that link leads to the waiting receiver."""
    schedule = BY_ID["TO-ENV-C/one-busy-receiver"].schedule
    links = route(schedule.topology)
    assert links.path(schedule.topology, 0, 2)[0] != links.path(schedule.topology, 0, 3)[0]
    busy = [submission for submission in schedule.submissions if submission.messages[0].receiver == 2]
    interval = schedule.parameters["beacon_interval_ns"]
    gaps = [later.time_ns - earlier.time_ns for earlier, later in pairwise(busy)]
    assert isinstance(interval, int)
    assert max(gaps) < interval


BROKEN: list[tuple[str, Rules, set[str]]] = [
    ("TO-DELIVER/at-the-barrier", replace(RULES, deliverable=lambda t, b: t <= b), {"TO-DELIVER"}),
    ("TO-ORDER/ties", replace(RULES, precedence=lambda t, s: (t,)), {"TO-ORDER"}),
    ("TO-MONO/one-instant", replace(RULES, stamp=lambda c, last, p: max(c, last, p)), {"TO-MONO"}),
    ("TO-MONO/one-instant", replace(RULES, stamp=lambda c, last, p: max(c, last + 2, p)), {"TO-MONO"}),
    ("TO-MONO/drifting-clocks", replace(RULES, stamp=lambda c, last, p: max(last + 1, p)), {"TO-MONO"}),
    ("TO-BAR-HOST/idle-host", replace(RULES, beacon_barrier=lambda c, last: last), {"TO-COMPLETE"}),
    ("TO-BAR-HOST/burst-ahead-of-the-clock", replace(RULES, beacon_barrier=lambda c, last: c), {"TO-BAR-HOST"}),
    ("TO-BAR-HOST/barrier-on-every-message", replace(RULES, data_barrier=lambda t: t + 1), {"TO-BAR-HOST"}),
    ("TO-BAR-MIN/example-1", replace(RULES, aggregate=max), {"TO-BAR-MIN"}),
    ("TO-BAR-PART/two-way-traffic", replace(RULES, counted=lambda reaching, ingress: ingress), {"TO-BAR-PART"}),
    ("TO-ENV-C/idle-then-busy", replace(RULES, beacon_due=lambda c, last, i: True), {"TO-ENV-C"}),
    # The rules of environment D as the document has them, then others.
    ("TO-ACK-MEAN/two-receivers", replace(RULES, ack_barrier=lambda out, acked, n: acked), {"TO-ACK-MEAN"}),
    ("TO-ACK-IDLE/idle-sender", replace(RULES, ack_barrier=lambda out, acked, n: acked), {"TO-LOSS-SAFE"}),
    ("TO-FLAG-SW/slow-link-holds-the-minimum", replace(RULES, noticed_record=lambda lo, hi, g: lo), {"TO-LOSS-SAFE"}),
    ("TO-LOSSCTR/a-beacon-is-lost", replace(RULES, noticed_record=lambda lo, hi, g: hi), {"TO-SWLOSS"}),
    ("TO-SWLOSS/passed-on-along-a-row", replace(RULES, passed_record=lambda c, lo, hi, g: lo), {"TO-SWLOSS"}),
    ("TO-FLAG-BEACON/beacons-alone", replace(RULES, flag_on=lambda kind: kind != 2), {"TO-FLAG-BEACON"}),
    ("TO-LASTHOP/last-link", replace(RULES, last_hop_watched=lambda: False), {"TO-LASTHOP"}),
    ("TO-LOSSCTR/beacons-reveal-it", replace(RULES, counts=lambda kind: kind == 1), {"TO-LOSSCTR"}),
    ("TO-RETX-BAR/behind-beacons", replace(RULES, resent_barrier=lambda t, now: t), {"TO-RETX-BAR", "TO-BAR-RISE"}),
    ("TO-LASTHOP/one-of-two-ingress-links", replace(RULES, judged_by=lambda c, own: own), {"TO-FLAG-RX"}),
    ("TO-FLAG-RX/flag-from-afar", replace(RULES, deliverable_under_loss=lambda t, b, a, r: t < b), {"TO-FLAG-RX"}),
    ("TO-ACK-MIN/row-of-switches", replace(RULES, aggregate_ack=max), {"TO-ACK-MIN"}),
    ("TO-FLAG-SW/flags-meet-in-a-diamond", replace(RULES, aggregate_record=min), {"TO-SWLOSS"}),
    ("TO-LOSSCTR/a-beacon-is-lost", replace(RULES, greatest_with=lambda before, t: before), {"TO-LOSSCTR"}),
    # The rules of environment F.
    ("TO-ADJ-1/three-hosts", replace(RULES, base_of=min), {"TO-ADJ-1"}),
    ("TO-ADJ-1/three-hosts", replace(RULES, difference=lambda third, trip, now: now - trip - third), {"TO-ADJ-2"}),
    ("TO-ADJ-1/three-hosts", replace(RULES, round_trip=lambda sent, now, held: now - sent), {"TO-ADJ-2"}),
    ("TO-ADJ-2/far-host", replace(RULES, in_force_next=lambda before, new: before + new), {"TO-ADJ-2"}),
    ("TO-ADJ-2/far-host", replace(RULES, adjustment_of=max), {"TO-ADJ-2"}),
    ("TO-ADJ-2/far-host", replace(RULES, measured_over=lambda same: True), {"TO-ADJ-2"}),
    ("TO-ADJ-SAFE/stamp-behind-a-beacon", replace(RULES, stamp=lambda c, last, p: max(c, last + 1)), {"TO-ADJ-SAFE"}),
    (
        "TO-ADJ-SAFE/beacon-behind-a-beacon",
        replace(RULES, adjusted_beacon=lambda now, t, p: max(now, t)),
        {"TO-BAR-RISE"},
    ),
    ("TO-ADJ-SAFE/falling-adjustment", replace(RULES, in_force_next=max), {"TO-ADJ-2"}),
]


@pytest.mark.parametrize(("name", "rules", "clauses"), BROKEN, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(BROKEN)])
def test_broken_rule_fails_the_case_by_its_clause(name: str, rules: Rules, clauses: set[str]) -> None:
    result = run_case(BY_ID[name], with_rules(rules))
    assert result.verdict is Verdict.FAIL
    assert clauses <= {found.clause for found in result.results if found.verdict is Verdict.FAIL}


def test_run_that_was_cut_short_is_no_pass_and_says_why() -> None:
    def cut(schedule: Schedule) -> Trace:
        trace = reference(schedule)
        return Trace(msgspec.structs.replace(trace.header, notes=("node h0 ended",)), trace.rows[:-1])

    result = run_case(CASES[0], Made(cut))
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, "the run was cut short: node h0 ended")


@pytest.mark.slow
def test_run_in_which_nothing_was_submitted_or_called_is_no_pass() -> None:
    def idle(schedule: Schedule) -> Trace:
        return reference(msgspec.structs.replace(schedule, submissions=(), calls=()))

    for case in CASES:
        assert run_case(case, Made(idle)).verdict is Verdict.INCONCLUSIVE


def test_trace_that_is_none_gives_a_verdict_and_the_reason() -> None:
    def nonsense(schedule: Schedule) -> Trace:
        trace = reference(schedule)
        return Trace(trace.header, [(0, 0, 99, *trace.rows[0][3:]), *trace.rows])

    result = run_case(CASES[0], Made(nonsense))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "row 0 has node 99" in result.reason


def test_empty_trace_gives_a_verdict() -> None:
    def empty(schedule: Schedule) -> Trace:
        header: Header = reference(schedule).header
        return Trace(header, [])

    assert run_case(CASES[0], Made(empty)).verdict is Verdict.INCONCLUSIVE


def test_implementation_that_cannot_start_is_not_run() -> None:
    def refuse(schedule: Schedule) -> Trace:
        raise CannotRun("no such program")

    result = run_case(CASES[0], Made(refuse))
    assert (result.verdict, result.reason, result.trace) == (Verdict.NOT_RUN, "no such program", None)


def test_cases_are_selected_by_id_clause_or_pattern() -> None:
    assert [case.id for case in select("totalorder", ["TO-ORDER/ties"])] == ["TO-ORDER/ties"]
    assert {case.clause for case in select("totalorder", ["TO-ENV-*"])} == {"TO-ENV-A", "TO-ENV-B", "TO-ENV-C"}
    assert select("totalorder") == cases("totalorder")
    with pytest.raises(BadInput, match="no case is named 'TO-NONE'"):
        select("totalorder", ["TO-NONE"])
    with pytest.raises(BadInput, match="protocol 'nonsense' is unknown"):
        select("nonsense")
