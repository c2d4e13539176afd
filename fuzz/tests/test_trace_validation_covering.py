"""Schedules out of TLC's state graph: they cover it, implementations pass them, and TLC accepts their runs."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from scatterproof.conformance.adapters.datagram import DatagramIut
from scatterproof.conformance.adapters.stdio import StdioIut
from scatterproof.conformance.judge import judge
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.totalorder import make_core
from scatterproof.models.covering import cover, models_to_cover, schedules_of
from scatterproof.models.expected import SPEC_FOLDER
from scatterproof.models.trace_validation import Judgement, Validation, validate_all
from scatterproof.spec import schedule as schedules
from scatterproof.spec.iut import Iut
from scatterproof.spec.schedule import Schedule

FILES = sorted((SPEC_FOLDER / "totalorder" / "covering").glob("*.json"))
# The one with the smallest state graph, so that it is soon searched again.
SMALLEST = "second_topology"


def stored() -> dict[str, Schedule]:
    return {file.name: schedules.read(file) for file in FILES}


def passed_and_accepted(iut: Iut, faults: bool = True) -> list[Validation]:
    """Run them all: no check fails, and TLC accepts every run. faults: packets are held back as the schedules say."""
    kept = [schedule if faults else replace(schedule, faults=()) for schedule in stored().values()]
    traces = [iut.run(schedule) for schedule in kept]
    for name, trace in zip(stored(), traces, strict=True):
        failed = [one.clause for one in judge(trace) if one.verdict is Verdict.FAIL]
        assert not failed, f"{iut.name}, {name}: {failed} {trace.notes}"
    found = validate_all(traces)
    assert [(one.judgement, one.reason) for one in found] == [(Judgement.ACCEPTED, "")] * len(traces)
    return found


def test_every_model_to_cover_has_schedules() -> None:
    covered = {file.name.rpartition("-")[0] for file in FILES}
    assert covered == {model.name for model in models_to_cover("totalorder")}


def test_the_reference_core_passes_them_and_takes_every_action_of_environment_a() -> None:
    found = passed_and_accepted(SimulatedIut("reference", make_core))
    taken = frozenset.union(*(one.actions for one in found))
    assert taken >= {"Submit", "Scatter", "TakeData", "ForwardData", "Arrive", "Deliver"}


@pytest.mark.slow
def test_the_reference_core_passes_them_over_stdio(tmp_path: Path) -> None:
    passed_and_accepted(StdioIut("stdio", [sys.executable, "-m", "scatterproof.impl.drivers.stdio"], tmp_path))


@pytest.mark.slow
def test_the_reference_core_passes_them_over_udp(tmp_path: Path) -> None:
    passed_and_accepted(
        DatagramIut("udp", [sys.executable, "-m", "scatterproof.impl.drivers.udp"], tmp_path), faults=False
    )


@pytest.mark.slow
def test_the_schedules_are_what_the_state_graph_gives_and_cover_it() -> None:
    (model,) = (model for model in models_to_cover("totalorder") if model.name == SMALLEST)
    covering = cover(model, "totalorder")
    walked = {(one.action, other.action) for behaviour in covering.behaviours for one, other in pairwise(behaviour[1:])}
    assert walked == covering.pairs
    made = schedules_of(model, "totalorder", covering=covering)
    assert made == {name: schedule for name, schedule in stored().items() if name.startswith(SMALLEST)}
