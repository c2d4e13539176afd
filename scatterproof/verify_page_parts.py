"""What the page of the main job shows beside clauses and layers: runs that must deliver the same, the actions of the
specification that recorded traces take, figures, and findings. Each part is the protocol's own, or is left out."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scatterproof import iuts
from scatterproof.conformance.case import cases
from scatterproof.conformance.protocol import Plugin, load
from scatterproof.conformance.report.equivalence import EquivalenceRow
from scatterproof.impl.protocol import ImplPlugin
from scatterproof.layer_report import Status
from scatterproof.models.expected import SPEC_FOLDER
from scatterproof.models.finding import Finding, findings_of
from scatterproof.models.protocol import ModelsPlugin
from scatterproof.models.trace_validation import Judgement, uncovered, validate_all
from scatterproof.spec import plugins
from scatterproof.spec.errors import ScatterproofError
from scatterproof.spec.trace import Trace, schema

FIGURES, FIGURES_BY = Path("results/figures/index.html"), "ci/bench figures"


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalenceTable:
    """reference: the variant that all are compared with."""

    reference: str
    rows: tuple[EquivalenceRow, ...]

    @property
    def status(self) -> Status:
        return Status.FAIL if any(row.difference for row in self.rows) else Status.PASS


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceCoverage:
    """How many traces with how many rows TLC accepted, the actions that they take, and those that none takes.

    rejected: the other verdicts, one sentence a trace.
    reason: why nothing was read.
    """

    traces: int = 0
    rows: int = 0
    taken: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    not_described: int = 0
    reason: str = ""

    @property
    def status(self) -> Status:
        if self.rejected:
            return Status.FAIL
        return Status.NOT_RUN if self.reason else Status.PASS


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFinding:
    """A finding, with its diagram as an image that the page holds in itself; empty where there is none."""

    finding: Finding
    image: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """figures: a link from the page; empty where they were not made, or the protocol has none.
    figures_by: the command that makes them; empty for a protocol without figures.
    findings_text: a link to the findings in full, or empty.
    left_out: what the protocol's records have no hook for, in words.
    """

    equivalence: EquivalenceTable | None
    coverage: TraceCoverage | None
    figures: str
    figures_by: str
    findings: tuple[ShownFinding, ...]
    findings_text: str
    left_out: tuple[str, ...] = ()

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong, one sentence each; the other parts are only for reading."""
        rows = self.equivalence.rows if self.equivalence is not None else ()
        rejected = self.coverage.rejected if self.coverage is not None else ()
        return (
            *(f"variant {row.name} delivers something else: {row.difference}" for row in rows if row.difference),
            *(f"TLC rejects a trace of the reference: {sentence}" for sentence in rejected),
        )


def collect(protocol: str, page: Path, equivalence: EquivalenceTable | None, coverage: TraceCoverage | None) -> Parts:
    """The parts of a protocol's page. page: where the links start. equivalence, coverage: as found below, where the
    layers that they belong to could run."""
    findings_text = SPEC_FOLDER / protocol / "FINDINGS.md"
    plugin = plugins.find("impl", ImplPlugin, protocol)
    has_figures = plugin is not None and plugin.has_figures
    return Parts(
        equivalence=equivalence,
        coverage=coverage,
        figures=_link(FIGURES, page) if has_figures and FIGURES.is_file() else "",
        figures_by=FIGURES_BY if has_figures else "",
        findings=tuple(_shown(protocol, finding) for finding in findings_of(protocol)),
        findings_text=_link(findings_text, page) if findings_text.is_file() else "",
        left_out=tuple(_left_out(protocol)),
    )


def _left_out(protocol: str) -> Iterator[str]:
    judging, models = plugins.find("conformance", Plugin, protocol), plugins.find("models", ModelsPlugin, protocol)
    if judging is None or judging.comparison is None:
        yield "variants that must deliver the same (comparison, in conformance)"
    if models is None or models.traces is None:
        yield "actions of the specification that traces take (traces, in models)"


def _link(target: Path, page: Path) -> str:
    return Path(os.path.relpath(target.resolve(), page.resolve().parent)).as_posix()


def equivalence_of(protocol: str, results: Path) -> EquivalenceTable | None:
    """One schedule in all variants of the protocol that must deliver the same; None for a protocol without variants."""
    made = load(protocol).comparison
    if made is None:
        return None
    comparison = made()
    rows = comparison.rows(iuts.find("reference", protocol, results))
    return EquivalenceTable(reference=comparison.reference, rows=rows)


def coverage_of(protocol: str, results: Path, most_rows: int) -> TraceCoverage | None:
    """What TLC says of traces of the reference with this many rows at the most; None for a protocol whose traces it
    cannot read yet."""
    plugin = plugins.find("models", ModelsPlugin, protocol)
    if plugin is None or plugin.traces is None:
        return None
    try:
        iut = iuts.find("reference", protocol, results)
        traces = _varied([iut.run(case.schedule) for case in cases(protocol)], most_rows)
        found = validate_all(traces)
    except ScatterproofError as error:
        return TraceCoverage(reason=str(error))
    accepted = [(trace, one) for trace, one in zip(traces, found, strict=True) if one.judgement is Judgement.ACCEPTED]
    not_read = [one.reason for one in found if one.judgement is Judgement.CANNOT_RUN]
    return TraceCoverage(
        traces=len(accepted),
        rows=sum(len(trace.rows) for trace, _ in accepted),
        taken=tuple(sorted({action for _, one in accepted for action in one.actions})),
        missing=tuple(uncovered(protocol, [one for _, one in accepted])),
        rejected=tuple(one.reason for one in found if one.judgement is Judgement.REJECTED),
        not_described=len(not_read),
        reason=not_read[0] if not_read and not accepted else "",
    )


def _varied(traces: list[Trace], most_rows: int) -> list[Trace]:
    """Traces of `most_rows` rows together at most: first short ones that show every kind of row, then the shortest."""
    by_length = sorted(traces, key=lambda trace: len(trace.rows))
    seen: set[tuple[object, ...]] = set()
    first: list[Trace] = []
    for trace in by_length:
        here = _kinds_of_rows(trace)
        if not here <= seen:
            seen |= here
            first.append(trace)
    chosen: list[Trace] = []
    rows = 0
    for trace in (*first, *(trace for trace in by_length if not any(trace is other for other in first))):
        if rows + len(trace.rows) <= most_rows:
            rows += len(trace.rows)
            chosen.append(trace)
    return chosen


def _kinds_of_rows(trace: Trace) -> set[tuple[object, ...]]:
    """What happens to which kind of packet, at hosts or switches."""
    columns = schema(trace.header.protocol).columns
    told = [columns.index(name) for name in ("kind", "packet") if name in columns]
    node, roles = columns.index("node"), [node.role for node in trace.header.topology.nodes]
    return {(*(row[at] for at in told), roles[row[node]] if row[node] >= 0 else None) for row in trace.rows}


def _shown(protocol: str, finding: Finding) -> ShownFinding:
    """As an image, not as part of the page: the diagrams' styles and ids would get in each other's way."""
    path = SPEC_FOLDER / protocol / "findings" / f"{finding.name}.svg"
    if not path.is_file():
        return ShownFinding(finding=finding, image="")
    return ShownFinding(
        finding=finding, image=f"data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode()}"
    )
