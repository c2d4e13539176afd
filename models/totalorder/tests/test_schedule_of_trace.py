"""A counterexample of BarrierOrder in words and as a schedule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scatterproof.models.expected import SPEC_FOLDER, Model, configuration
from scatterproof.models.tlc import TlcRun, run_tlc
from scatterproof.models.totalorder.schedule_of_trace import UNIT_NS, schedule_of_trace
from scatterproof.models.totalorder.telling.barrier_steps import steps_of
from scatterproof.models.totalorder.telling.narration import narrate
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import Schedule

AT_THE_BARRIER = Model(
    name="at_the_barrier",
    module="MCOneSwitch",
    cfg="MCOneSwitchA.cfg",
    says="A message at the barrier is delivered, before its equal arrives.",
    set={"Deliverable": "AtOrBelow", "MostSent": "OneEach"},
    invariants=("DeliveredInTotalOrder",),
    properties=(),
)
FOLDER = SPEC_FOLDER / "totalorder"
CFG = configuration(AT_THE_BARRIER, SPEC_FOLDER, "totalorder")


@pytest.fixture(scope="module")
def run() -> TlcRun:
    return run_tlc(FOLDER / "instances" / "MCOneSwitch.tla", CFG, library=[FOLDER / "modules"])


@pytest.fixture(scope="module")
def schedule(run: TlcRun) -> Schedule:
    return schedule_of_trace(run.trace, CFG)


@pytest.mark.slow
def test_a_counterexample_is_told_in_sentences(run: TlcRun) -> None:
    sentences = narrate(run)
    assert len(sentences) == len(run.trace) - 1
    assert "Host 1 scatters 1@1 to 1 and 2." in sentences
    assert sentences[-2:] == ["Host 2 takes 1@1 for 2 from link 11-2.", "Host 2 delivers 1@1."]


@pytest.mark.slow
def test_submissions_have_the_timestamps_of_the_model_ties_included(run: TlcRun, schedule: Schedule) -> None:
    assert [(one.node, one.time_ns + 1) for one in schedule.submissions] == [(0, UNIT_NS), (1, UNIT_NS)]
    assert all([message.receiver for message in one.messages] == [0, 1] for one in schedule.submissions)


def test_packets_arrive_in_the_order_of_the_steps(run: TlcRun, schedule: Schedule) -> None:
    nodes = {1: 0, 2: 1, 11: 2}
    links = [(link.source, link.target) for link in schedule.topology.links]
    taken = [step.taken_from for step in steps_of(run.trace) if step.taken_from is not None]
    in_model = [links.index((nodes[source], nodes[target])) for source, target in taken]
    assert [fault.link for fault in schedule.faults][: len(in_model)] == in_model
    assert all(fault.delay_ns >= 0 for fault in schedule.faults)


def test_every_copy_gets_through_in_the_end(schedule: Schedule) -> None:
    assert len(schedule.faults) == 2 * 2 * 2  # scatterings, receivers, links of a route


def test_outside_environment_a_only_the_submissions_are_taken_over(run: TlcRun) -> None:
    schedule = schedule_of_trace(run.trace, CFG.replace('"A"', '"B"'))
    assert (len(schedule.submissions), schedule.faults) == (2, ())
    assert schedule.end_ns is not None


def test_a_trace_in_which_nobody_scatters_is_refused(run: TlcRun) -> None:
    with pytest.raises(BadInput, match="nobody scatters"):
        schedule_of_trace(run.trace[:1], CFG)


def test_a_configuration_without_environment_is_refused(run: TlcRun) -> None:
    with pytest.raises(BadInput, match="names no environment"):
        schedule_of_trace(run.trace, "SPECIFICATION Spec\n")


def test_a_loop_at_the_end_is_told(run: TlcRun) -> None:
    assert narrate(replace(run, back_to=len(run.trace) - 1))[-1] == "Nothing happens any more."
    assert narrate(replace(run, back_to=2))[-1] == "It goes on from step 3 for ever."
