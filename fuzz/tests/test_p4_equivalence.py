"""The P4 switch and the reference switch, given the same packets at the same times, send the same bytes on the same
ports: in the runs of the conformance cases, of the findings, and of drawn schedules."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from scatterproof.conformance.adapters.datagram import DatagramIut
from scatterproof.conformance.adapters.stdio import StdioIut
from scatterproof.conformance.case import cases, run_case
from scatterproof.conformance.judge import judge
from scatterproof.conformance.network.run import SimulatedIut, simulate
from scatterproof.conformance.network.topologies import chain, star
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.report.equivalence import delivered
from scatterproof.conformance.totalorder.variants import variants
from scatterproof.conformance.verdict import Verdict
from scatterproof.fuzz.corpus import drawn_schedules
from scatterproof.fuzz.findings import SPEC_FOLDER
from scatterproof.fuzz.protocol import load
from scatterproof.impl.totalorder import make_core
from scatterproof.impl.totalorder.p4.core import with_p4_switches
from scatterproof.impl.totalorder.p4.tests.twins import Twins
from scatterproof.models.finding import findings_of
from scatterproof.spec import schedule as schedules
from scatterproof.spec.schedule import Delay, Fault, FaultKind, Message, Schedule, Submission

PLUGIN = load("totalorder")
# Out of TLC's state graphs, and the findings' counterexamples.
COVERING = sorted((SPEC_FOLDER / "totalorder" / "covering").glob("*.json"))
KEPT = sorted((SPEC_FOLDER.parent / "conformance" / "tests" / "schedules").glob("*.json"))
FINDINGS = [finding.name for finding in findings_of("totalorder") if finding.mutant]


P4 = SimulatedIut("p4", with_p4_switches())


def differences(schedule: Schedule) -> list[str]:
    """What the two switches do otherwise, in a run of theirs."""
    twins = Twins()
    run = simulate(schedule, twins)
    assert twins.events > 0 or schedule.failures or not schedule.topology.switches()
    # A twin that ends by itself has done nothing otherwise up to there.
    return [*twins.differences, *(note for note in run.header.notes if " failed at " in note)][:3]


@pytest.mark.slow
@pytest.mark.parametrize("case", cases("totalorder"), ids=lambda case: case.id)
def test_case_passes_with_p4_switches_and_leaves_the_same_bytes(case: Case) -> None:
    twins = Twins()
    reference = simulate(case.schedule, twins)
    assert twins.differences[:3] == []
    assert reference.header.notes == ()

    found = run_case(case, P4)
    assert (found.verdict, found.reason) == (Verdict.PASS, "")
    assert found.trace is not None
    assert found.trace.rows == reference.rows


@pytest.mark.parametrize("name", FINDINGS)
def test_finding_leaves_the_same_bytes(name: str) -> None:
    assert differences(schedules.read(SPEC_FOLDER / "totalorder" / "findings" / f"{name}.json")) == []


def test_schedules_of_tlc_leave_the_same_bytes() -> None:
    assert len(COVERING) > 5
    for path in COVERING:
        assert differences(schedules.read(path)) == [], path.name


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_kept_schedules_leave_the_same_bytes(path: Path) -> None:
    assert differences(schedules.read(path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("group", range(len(PLUGIN.groups)))
def test_drawn_schedules_leave_the_same_bytes(group: int) -> None:
    for schedule in islice(drawn_schedules("totalorder", 11, group), 12):
        assert differences(schedule) == []


@pytest.mark.slow
@settings(max_examples=60)
@given(PLUGIN.schedules())
def test_any_schedule_leaves_the_same_bytes(schedule: Schedule) -> None:
    assert differences(schedule) == []


def busy() -> Schedule:
    """Four hosts in two pairs; every 3 ns one of them sends to all; the links between the switches lose a little."""
    topology = chain(2, 2)
    messages = tuple(Message(receiver) for receiver in topology.hosts())
    return Schedule(
        "totalorder",
        topology,
        tuple(Delay(4, 3) for _ in topology.links),
        tuple(Submission(3 * number, number % 4, messages) for number in range(10)),
        parameters={"environment": "C", "beacon_interval_ns": 10, "retransmit_timeout_ns": 40},
        faults=(Fault(8, 3, FaultKind.LOSE), Fault(9, 5, FaultKind.LOSE)),
    )


@pytest.mark.parametrize("variant", variants(busy()))
def test_every_carrier_and_every_form_of_a_switch_leaves_the_same_bytes(variant: str) -> None:
    assert differences(variants(busy())[variant]) == []


def test_a_switch_with_sixteen_ports_leaves_the_same_bytes() -> None:
    topology = star(11)
    messages = tuple(Message(receiver) for receiver in topology.hosts())
    schedule = replace(
        busy(),
        topology=topology,
        delays=tuple(Delay(2, 5) for _ in topology.links),
        submissions=tuple(Submission(4 * number, number % 11, messages) for number in range(12)),
        parameters={"environment": "D9", "beacon_interval_ns": 10},
        faults=(Fault(3, 2, FaultKind.LOSE), Fault(8, 4, FaultKind.LOSE)),
    )
    assert differences(schedule) == []


def spaced() -> Schedule:
    """Two hosts at two switches, each of which sends to both in turn; intervals are for real clocks."""
    topology = chain(2, 1)
    messages = tuple(Message(receiver) for receiver in topology.hosts())
    return Schedule(
        "totalorder",
        topology,
        tuple(Delay(1) for _ in topology.links),
        tuple(Submission(3_000_000 * number, number % 2, messages) for number in range(6)),
        parameters={"environment": "D9", "beacon_interval_ns": 1_000_000},
    )


def test_p4_switches_between_hosts_with_real_sockets_deliver_all_and_break_no_clause() -> None:
    trace = DatagramIut("p4", (sys.executable, "-m", "scatterproof.impl.drivers.udp", "p4")).run(spaced())
    found = delivered(trace)

    assert [result for result in judge(trace) if result.verdict is Verdict.FAIL] == []
    assert found[0] == found[1]
    assert sorted(found[0]) == [(sender, number) for sender in (0, 1) for number in (1, 2, 3)]


def test_p4_switches_as_processes_on_stdin_and_stdout_leave_the_trace_of_the_reference() -> None:
    trace = StdioIut("p4", (sys.executable, "-m", "scatterproof.impl.drivers.stdio", "p4")).run(spaced())
    assert trace.rows == simulate(spaced(), make_core).rows


def test_a_kind_of_node_that_a_protocol_does_not_have_is_refused() -> None:
    trace = StdioIut("p5", (sys.executable, "-m", "scatterproof.impl.drivers.stdio", "p5")).run(spaced())
    assert any("it has p4, bmv2" in note for note in trace.header.notes), trace.header.notes
