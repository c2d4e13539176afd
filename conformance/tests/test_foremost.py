"""Of the clauses that one row breaks, the most telling comes first, in every report."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from scatterproof.conformance.case import CaseResult, cases, run_case
from scatterproof.conformance.explorer.sources import NdjsonSource
from scatterproof.conformance.explorer.timeline import Timeline
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.report import markdown, terminal
from scatterproof.conformance.report.run import ConformanceRun
from scatterproof.conformance.report.stored import store
from scatterproof.conformance.verdict import ClauseResult, Verdict, Violation, foremost
from scatterproof.impl.totalorder import AnyCore, make_core
from scatterproof.spec import trace_ndjson
from scatterproof.spec.clauses import load, protocols
from scatterproof.spec.core import Deliver, NodeConfig

TIES = next(case for case in cases("totalorder") if case.id == "TO-ORDER/ties")


class DeliversTwice:
    """The reference, but every delivery is repeated: TO-ONCE is broken, and TO-ORDER with it."""

    def __init__(self, core: AnyCore) -> None:
        self._core = core
        self.next_deadline = core.next_deadline

    def handle(self, event: object) -> Sequence[object]:
        effects = self._core.handle(event)  # type: ignore[arg-type]
        return [effect for one in effects for effect in ([one, one] if isinstance(one, Deliver) else [one])]


def twice(config: NodeConfig) -> AnyCore:
    return DeliversTwice(make_core(config))  # type: ignore[return-value]


@pytest.fixture(scope="module")
def result() -> CaseResult:
    return run_case(TIES, SimulatedIut("twice", twice))


def test_a_delivery_that_is_repeated_is_headlined_as_that_and_not_as_one_out_of_order(result: CaseResult) -> None:
    assert result.blamed == ("TO-ONCE", "TO-ORDER")
    assert result.reason.startswith("TO-ONCE, row ")
    assert result.reason.endswith("again")


def test_pages_files_terminal_and_summary_begin_with_the_same_clause(result: CaseResult, tmp_path: Path) -> None:
    run = ConformanceRun(protocol="totalorder", iut="twice", catalogue="1", results=(result,))
    stored = store(run)
    (case,) = stored.cases
    assert [one.clause for one in stored.broken(case)] == ["TO-ONCE", "TO-ORDER"]
    assert case.failure is not None
    assert case.failure.clause == "TO-ONCE"
    said = io.StringIO()
    terminal.show(run, Console(file=said, width=200))
    assert said.getvalue().index("breaks TO-ONCE") < said.getvalue().index("breaks TO-ORDER")
    markdown.append(tmp_path / "summary.md", run)
    assert "TO-ONCE, row" in (tmp_path / "summary.md").read_text()


def test_the_explorer_says_of_a_row_what_tells_most_first(result: CaseResult, tmp_path: Path) -> None:
    assert result.trace is not None
    trace_ndjson.write(tmp_path / "trace.ndjson", result.trace)
    line = Timeline(NdjsonSource(tmp_path / "trace.ndjson"))
    line.scan()
    first = line.next_violation(-1, 1)
    assert first is not None
    sentences = line.sentences(line.violations(first, first), result.trace.rows[first])
    assert [clause for clause, _ in sentences] == ["TO-ONCE", "TO-ORDER"]


def broken(clause: str, *positions: int) -> ClauseResult:
    violations = tuple(Violation(clause, position, 0, 0, -1, "") for position in positions)
    return ClauseResult(clause, clause, Verdict.FAIL, 0, violations, broken=len(positions))


@pytest.mark.parametrize(
    ("results", "own", "order"),
    [
        ([broken("TO-ORDER", 7), broken("TO-ONCE", 7)], "TO-ORDER", ["TO-ONCE", "TO-ORDER"]),
        # Another row: the one does not tell why the other is broken.
        ([broken("TO-ORDER", 7), broken("TO-ONCE", 9)], "TO-ORDER", ["TO-ORDER", "TO-ONCE"]),
        (
            [broken("TO-MONO", 1), broken("TO-ORDER", 7), broken("TO-ONCE", 3, 7)],
            "",
            ["TO-MONO", "TO-ONCE", "TO-ORDER"],
        ),
        ([broken("TO-MONO", 1), broken("TO-ORDER", 7)], "TO-ORDER", ["TO-ORDER", "TO-MONO"]),
        ([broken("XX-ELSE", 1)], "", ["XX-ELSE"]),
    ],
)
def test_the_order_is_own_then_as_given_but_behind_what_explains_it(
    results: list[ClauseResult], own: str, order: list[str]
) -> None:
    assert [one.clause for one in foremost("totalorder", results, own)] == order


def test_what_explains_another_is_in_the_same_catalogue_and_checked() -> None:
    explained = [(one.id, other) for name in protocols() for one in load(name).clauses for other in one.explains]
    assert ("TO-ONCE", "TO-ORDER") in explained
    assert ("BC-URB-ONCE", "BC-FIFO-ORDER") in explained
