"""Each literal rule that was found to be wrong, on the core: its schedule fails with that rule and passes without, is
1-minimal, and is what its diagram shows."""

from __future__ import annotations

import pytest

from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.fuzz.findings import SHORTEST_NS, SPEC_FOLDER, drawn, stage_of
from scatterproof.fuzz.fuzzer import violations_of
from scatterproof.fuzz.protocol import load
from scatterproof.fuzz.shrink import simpler
from scatterproof.models.finding import Finding, findings_of
from scatterproof.spec import schedule as schedules
from scatterproof.spec.clauses import protocols
from scatterproof.spec.schedule import Schedule

PLAYED = [
    pytest.param(protocol, finding, id=finding.name)
    for protocol in protocols()
    for finding in findings_of(protocol)
    if finding.mutant
]


def stored(protocol: str, finding: Finding) -> Schedule:
    return schedules.read(SPEC_FOLDER / protocol / "findings" / f"{finding.name}.json")


def test_there_are_findings_to_play() -> None:
    assert len(PLAYED) > 10


@pytest.mark.parametrize(("protocol", "finding"), PLAYED)
def test_a_finding_s_schedule_fails_with_the_literal_rule_and_passes_without(protocol: str, finding: Finding) -> None:
    stage, schedule = stage_of(protocol, finding), stored(protocol, finding)
    assert stage.violation(schedule) is not None
    assert stage.fails(schedule)


@pytest.mark.parametrize(("protocol", "finding"), PLAYED)
def test_a_finding_s_diagram_is_of_its_schedule(protocol: str, finding: Finding) -> None:
    text, drawing = drawn(protocol, finding, stored(protocol, finding))
    folder = SPEC_FOLDER / protocol / "findings"
    assert (folder / f"{finding.name}.txt").read_text(encoding="utf-8") == text
    assert (folder / f"{finding.name}.svg").read_text(encoding="utf-8") == drawing


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "finding"), PLAYED)
def test_no_step_makes_a_finding_s_schedule_simpler(protocol: str, finding: Finding) -> None:
    stage, schedule = stage_of(protocol, finding), stored(protocol, finding)
    assert not any(stage.fails(step) for step in simpler(schedule, SHORTEST_NS))


def strictly_below_either(timestamp: int, barrier: int, ack: int, record: int) -> bool:
    return timestamp < ack or (record <= ack and timestamp < barrier)


NEAREST = {"below_the_ack_barrier": {"deliverable_under_loss": strictly_below_either}}
"""Where the corrected rule differs from the document's in more than the finding says: what differs in that alone."""


@pytest.mark.parametrize("name", NEAREST)
def test_what_differs_from_the_document_in_the_finding_alone_breaks_nothing_on_its_schedule(name: str) -> None:
    (finding,) = (one for one in findings_of("totalorder") if one.name == name)
    nearest = SimulatedIut("nearest", load("totalorder").node_with(NEAREST[name]))
    assert violations_of(nearest.run(stored("totalorder", finding))) == {}


def test_no_schedule_is_left_of_a_finding_that_is_gone() -> None:
    for protocol in protocols():
        names = {finding.name for finding in findings_of(protocol) if finding.mutant}
        found = {path.stem for path in (SPEC_FOLDER / protocol / "findings").glob("*")}
        assert found == names
