"""Each literal rule that was found to be wrong, on the core: its schedule fails with that rule and passes without, is
1-minimal, and is what its diagram shows."""

from __future__ import annotations

import pytest

from fuzz.findings import SHORTEST_NS, SPEC_FOLDER, drawn, stage_of
from fuzz.shrink import simpler
from models.finding import Finding, findings_of
from spec import schedule as schedules
from spec.clauses import protocols
from spec.schedule import Schedule

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


def test_no_schedule_is_left_of_a_finding_that_is_gone() -> None:
    for protocol in protocols():
        names = {finding.name for finding in findings_of(protocol) if finding.mutant}
        found = {path.stem for path in (SPEC_FOLDER / protocol / "findings").iterdir()}
        assert found == names
