"""results.json is read as it was written, says what is wrong with one that is not, and sums up as the table has it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scatterproof.conformance.case import CaseResult
from scatterproof.conformance.report import folder, stored
from scatterproof.conformance.report.run import ConformanceRun
from scatterproof.conformance.report.side_by_side import clause_rows
from scatterproof.conformance.report.stored import StoredRun, store
from scatterproof.conformance.report.tests.runs import FAILING, NAMES, failing, passing, small
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec import schedule as schedules
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Kind, schema


def test_what_was_stored_is_read_again(tmp_path: Path) -> None:
    folder.write(tmp_path / "latest", small())
    for path in (tmp_path, tmp_path / "latest", tmp_path / "latest" / "results.json"):
        run, place = stored.read(path)
        assert run == store(small())
        assert place == tmp_path / "latest"


def test_picture_leads_up_to_the_violation_and_marks_it(tmp_path: Path) -> None:
    result = next(result for result in failing().results if result.case.id == FAILING)
    assert result.trace is not None
    failure = next(case.failure for case in store(failing()).cases if case.id == FAILING)
    assert failure is not None
    assert failure.diagram is not None
    violation = failure.violations[0]
    row = result.trace.rows[violation.position]
    assert row[schema("totalorder").index("kind")] == Kind.DELIVERED
    loud = [mark for mark in failure.diagram.marks if mark.loud]
    assert [failure.diagram.times_ns[mark.moment] for mark in loud] == [row[schema("totalorder").index("time_ns")]]
    assert any(arrow.loud for arrow in failure.diagram.arrows)


def test_small_run_takes_the_place_of_the_whole_one_and_can_be_replayed(tmp_path: Path) -> None:
    whole, made = (
        next(case.failure for case in store(run).cases if case.id == FAILING) for run in (failing(), small())
    )
    assert whole is not None
    assert made is not None
    assert (whole.runs, made.runs, made.minimal) == (0, 17, True)
    assert len(made.schedule.submissions) < len(whole.schedule.submissions)
    folder.write(tmp_path, small())
    place = tmp_path / FAILING.replace("/", ".")
    assert schedules.read(place / "small.json") == made.schedule
    folder.write(tmp_path, failing())
    assert not (place / "small.json").exists()


def damaged(tmp_path: Path, **keys: Any) -> Path:
    document = json.loads(stored.encode(store(failing())))
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document | keys))
    return path


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"results": 7}, "is of version 7"),
        ({"results": None}, "is of an earlier version"),
        ({"cases": [{"id": 1}]}, "no results of a conformance run"),
        ({"clauses": []}, "is of clause 'TO-MONO'"),
    ],
)
def test_file_that_is_not_as_it_should_be_is_refused(keys: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = damaged(tmp_path, **keys)
    with pytest.raises(BadInput, match=said) as refused:
        stored.read(path)
    assert str(refused.value).startswith(str(path))


def test_picture_that_points_outside_itself_is_refused(tmp_path: Path) -> None:
    document = json.loads(stored.encode(store(failing())))
    picture = next(case["failure"]["diagram"] for case in document["cases"] if case["id"] == FAILING)
    picture["arrows"][0]["target"] = len(picture["lanes"])
    path = damaged(tmp_path, cases=document["cases"])
    with pytest.raises(BadInput, match="an arrow to nowhere"):
        stored.read(path)


def test_folder_without_results_says_how_to_get_some(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="conform --results"):
        stored.read(tmp_path)


def test_not_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text("nonsense")
    with pytest.raises(BadInput, match="no results of a conformance run"):
        stored.read(tmp_path)


def cell(runs: list[StoredRun], clause: str) -> tuple[Verdict | None, ...]:
    row = next(row for row in clause_rows(runs) if row.clause.id == clause)
    return tuple(one.verdict for one in row.cells)


def test_clause_is_broken_in_whichever_case_it_was_broken() -> None:
    runs = [store(passing()), store(failing())]
    assert cell(runs, "TO-DELIVER") == (Verdict.PASS, Verdict.FAIL)
    # Its case fails, as another clause is broken there; itself it was kept.
    assert cell(runs, "TO-MONO") == (Verdict.PASS, Verdict.PASS)
    only_elsewhere = replace(failing(), results=failing().results[:1])
    row = next(row for row in clause_rows([store(only_elsewhere)]) if row.clause.id == "TO-DELIVER")
    assert row.cells[0].why == NAMES[0]


def test_case_that_was_not_run_is_no_pass_of_its_clause() -> None:
    def run(verdict: Verdict) -> ConformanceRun:
        case = failing().results[0].case
        result = CaseResult(case=case, verdict=verdict, reason="no such", results=(), trace=None)
        return replace(passing(), results=(result, *passing().results[1:]))

    for verdict in (Verdict.NOT_RUN, Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE):
        assert cell([store(run(verdict))], "TO-MONO") == (verdict,)


def test_run_that_lacks_a_case_has_no_verdict_on_it() -> None:
    fewer = replace(passing(), results=passing().results[:1])
    row = next(row for row in clause_rows([store(fewer), store(passing())]) if row.clause.id == "TO-ORDER")
    assert [case.by_run[0] for case in row.cases] == [None]
    assert row.cases[0].some.id == "TO-ORDER/ties"


def test_only_the_first_failures_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MOST_DIAGRAMS", 1)
    drawn = [case.failure.diagram is not None for case in store(failing()).cases if case.failure is not None]
    assert drawn[0]
    assert len(drawn) > 1
    assert not any(drawn[1:])
