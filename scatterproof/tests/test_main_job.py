"""The main job: pieces of work of several layers side by side, and what is made of their results."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from scatterproof.board import Board
from scatterproof.layer_report import LayerReport, Status
from scatterproof.layers.job import Beside, Found, JobLayer, Lane, MainJob, Unit, report_of
from scatterproof.layers.main_job import ProtocolResult, run
from scatterproof.spec.errors import BadInput, CannotRun

JOB = MainJob(protocol="toy", seed=1, results=Path())


def layer(name: str, *works: Callable[[], Any], after: tuple[str, ...] = (), lane: Lane = Lane.COMPUTING) -> JobLayer:
    """A layer whose sentence is what its units, and those of the layers that it comes after, returned."""

    def units(job: MainJob) -> Sequence[Unit]:
        return [Unit(text=str(at), weight=1.0, work=work, lane=lane) for at, work in enumerate(works)]

    def report(job: MainJob, found: Found) -> LayerReport:
        return report_of(Status.PASS, str([list(found[one]) for one in (name, *after) if one in found]), {})

    return JobLayer(name=name, title=name.upper(), units=units, report=report, after=after)


def value(given: object) -> Callable[[], object]:
    return partial(str, given)


def fails(error: Exception) -> Callable[[], Any]:
    def work() -> Any:
        raise error

    return work


def played(*layers: JobLayer, beside: Sequence[Beside] = (), jobs: Sequence[MainJob] = (JOB,)) -> list[ProtocolResult]:
    with Board() as board:
        return run(jobs, layers, beside, board, 2)


def test_results_are_in_the_order_of_the_units_whoever_did_them() -> None:
    (outcome,) = played(layer("one", *map(value, range(7))), layer("two", value("x"), lane=Lane.REAL_TIME))
    assert [report.sentence for report in outcome.reports] == [str([list("0123456")]), "[['x']]"]
    assert [(report.layer, report.title) for report in outcome.reports] == [("one", "ONE"), ("two", "TWO")]


def test_pieces_of_one_lane_are_done_side_by_side(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "meeting")

    def writes() -> str:
        (tmp_path / "meeting").write_text("here")
        return "wrote"

    # Each waits for the other: one process alone would never come to an end.
    (outcome,) = played(layer("one", writes, (tmp_path / "meeting").read_text))
    assert outcome.found["one"] == ["wrote", "here"]


def test_a_layer_that_comes_after_another_has_its_results_and_goes_without_what_could_not_run() -> None:
    first, second = layer("first", value(1)), layer("second", value(2), after=("first",))
    (outcome,) = played(second, first)
    assert outcome.reports[0].sentence == "[['2'], ['1']]"
    (outcome,) = played(second, layer("first", fails(CannotRun("no dice"))))
    assert outcome.reports[0].sentence == "[['2']]"
    (outcome,) = played(second)
    assert outcome.reports[0].sentence == "[['2']]"


def test_a_layer_one_unit_of_which_cannot_run_is_not_run_and_says_why() -> None:
    (outcome,) = played(layer("one", value(1), fails(CannotRun("no dice"))), layer("two", value(2)))
    assert [(report.status, report.sentence) for report in outcome.reports] == [
        (Status.NOT_RUN, "no dice"),
        (Status.PASS, "[['2']]"),
    ]
    assert "one" not in outcome.found


def test_bad_input_of_a_unit_ends_the_job() -> None:
    with pytest.raises(BadInput, match="row 7 is no row"):
        played(layer("one", fails(BadInput("row 7 is no row")), value(2)))


def test_what_only_the_page_shows_goes_with_its_layer_and_has_no_report() -> None:
    beside = [Beside(key, layer, lambda job: [Unit(text="", weight=1, work=value(3))]) for key, layer in ("ab", "cd")]
    (outcome,) = played(layer("b", value(1)), beside=beside)
    assert outcome.found == {"b": ["1"], "a": ["3"]}
    assert [report.layer for report in outcome.reports] == ["b"]


def test_each_protocol_has_its_own_results() -> None:
    def units(job: MainJob) -> list[Unit]:
        return [Unit(text="", weight=1, work=value(job.protocol))]

    two = [JOB, MainJob(protocol="other", seed=1, results=Path())]
    named = JobLayer(
        name="one", title="", units=units, report=lambda job, found: report_of(Status.PASS, found["one"][0], {})
    )
    assert [outcome.reports[0].sentence for outcome in played(named, jobs=two)] == ["toy", "other"]


def test_the_board_foresees_by_what_is_done() -> None:
    board = Board()
    board.expect({"one": 75.0, "two": 25.0})
    assert board.foreseen() == "0% done"
    board.did("one", 75.0, "much")
    assert board.foreseen().startswith("75% done, about ")
    board.did("two", 25.0, "the rest")
    assert board.foreseen() == "100% done"
