"""Plays the findings on the reference implementation: a 1-minimal schedule on which the rule as the document has it
fails and the corrected one does not, and its space-time diagram.

``python -m scatterproof.fuzz.findings PROTOCOL [NAME ...]`` writes ``spec/<protocol>/findings/NAME.json``, ``.txt`` and
``.svg``, from the schedule that is there already, or from drawn ones where that shows nothing. A schedule is 1-minimal
when every single step of ``scatterproof.fuzz.shrink`` loses one of the two; intervals stay at or above 10 ns.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from scatterproof.conformance.case import cases
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.report.space_time import as_svg, as_text, diagram
from scatterproof.conformance.verdict import Violation
from scatterproof.fuzz.corpus import drawn_schedules
from scatterproof.fuzz.fuzzer import violations_of
from scatterproof.fuzz.kill_matrix import subjects_of
from scatterproof.fuzz.protocol import load
from scatterproof.fuzz.shrink import shrink, size
from scatterproof.models.finding import Finding, findings_of
from scatterproof.spec import schedule as schedules
from scatterproof.spec.errors import BadInput, CannotRun, ScatterproofError
from scatterproof.spec.files import write_atomically
from scatterproof.spec.iut import Iut
from scatterproof.spec.schedule import Schedule

SPEC_FOLDER = Path(schedules.__file__).resolve().parent
DRAWN = 3_000
TRIED = 2  # failing schedules that are shrunk, the smallest ones; the smallest result is kept
MAX_RUNS = 20_000
SHORTEST_NS = 10  # intervals: shorter ones would fill a diagram with beacons


@dataclass(frozen=True, slots=True)
class Stage:
    """The rule as the document has it, and the corrected one, as implementations."""

    literal: Iut
    corrected: Iut
    shows: str

    def fails(self, schedule: Schedule) -> bool:
        """Whether the literal rule breaks the clause, and the corrected one breaks nothing."""
        return self.violation(schedule) is not None and violations_of(self.corrected.run(schedule)) == {}

    def violation(self, schedule: Schedule) -> Violation | None:
        return violations_of(self.literal.run(schedule)).get(self.shows)


def stage_of(protocol: str, finding: Finding) -> Stage:
    """The stage of a finding. Raises BadInput for a mutant that the core does not have."""
    plugin = load(protocol)
    for subject in subjects_of(plugin):
        if subject.name == finding.mutant:
            return Stage(subject.iut, SimulatedIut("corrected", plugin.node_with({})), finding.shows)
    raise BadInput(f"finding {finding.name} names mutant {finding.mutant!r}, which the reference core does not have")


def minimal_schedule(protocol: str, finding: Finding, start: Schedule | None = None) -> Schedule:
    """A 1-minimal schedule of the finding. Raises CannotRun when no drawn schedule shows it."""
    stage = stage_of(protocol, finding)
    failing = [start] if start is not None and stage.fails(start) else []
    failing = failing or _failing(protocol, finding, stage)
    if not failing:
        raise CannotRun(f"finding {finding.name}: none of {DRAWN} schedules shows it; give findings/ one that does")
    shrunk = [shrink(schedule, stage.fails, max_runs=MAX_RUNS, shortest=SHORTEST_NS) for schedule in failing]
    whole = [one.schedule for one in shrunk if one.minimal]
    if not whole:
        raise CannotRun(f"finding {finding.name}: {MAX_RUNS} runs were not enough to shrink its schedule")
    return min(whole, key=size)


def _failing(protocol: str, finding: Finding, stage: Stage) -> list[Schedule]:
    """Small schedules that show the finding: of the conformance cases where there are any, else drawn ones."""
    shown = [case.schedule for case in cases(protocol) if stage.fails(case.schedule)]
    if shown:
        return sorted(shown, key=size)[:TRIED]
    group = next(subject.group for subject in subjects_of(load(protocol)) if subject.name == finding.mutant)
    drawn = (
        replace(schedule, parameters=finding.parameters) if finding.parameters else schedule
        for schedule in islice(drawn_schedules(protocol, finding.number, group), DRAWN)
    )
    return list(islice(filter(stage.fails, drawn), TRIED))


def write_finding(protocol: str, finding: Finding, folder: Path) -> None:
    """Write the finding's schedule and diagrams into `folder`."""
    path = folder / f"{finding.name}.json"
    schedule = minimal_schedule(protocol, finding, schedules.read(path) if path.is_file() else None)
    schedules.write(path, schedule)
    text, drawing = drawn(protocol, finding, schedule)
    write_atomically(path.with_suffix(".txt"), text.encode())
    write_atomically(path.with_suffix(".svg"), drawing.encode())


def drawn(protocol: str, finding: Finding, schedule: Schedule) -> tuple[str, str]:
    """The diagram of the finding's run up to the violation, as text with what is violated below it, and as SVG."""
    stage = stage_of(protocol, finding)
    violation = stage.violation(schedule)
    if violation is None:
        raise CannotRun(f"finding {finding.name}: its schedule does not break {finding.shows} any more; write it anew")
    picture = diagram(stage.literal.run(schedule), (violation.position, violation.witness), last=violation.position)
    return f"{as_text(picture)}\n{violation.sentence}\n", as_svg(picture, finding.title)


def main(arguments: Sequence[str]) -> int:
    if not arguments:
        print("usage: python -m scatterproof.fuzz.findings PROTOCOL [NAME ...]", file=sys.stderr)
        return 2
    protocol, *names = arguments
    try:
        for finding in findings_of(protocol):
            if finding.mutant and (not names or finding.name in names):
                print(finding.name, file=sys.stderr)
                write_finding(protocol, finding, SPEC_FOLDER / protocol / "findings")
    except ScatterproofError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
