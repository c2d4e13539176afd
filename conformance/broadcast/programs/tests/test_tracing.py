"""Outputs as one trace: every line is in it, in its order, and deliveries come after their beginnings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from scatterproof.conformance.broadcast.programs.tracing import trace_of
from scatterproof.conformance.broadcast.programs.workload import Task
from scatterproof.conformance.judge import refuse
from scatterproof.conformance.stress.contract import Course, EndedProcess
from scatterproof.conformance.stress.plan import Act, PlannedStep
from scatterproof.spec import trace_ndjson
from scatterproof.spec.broadcast.messages import Level
from scatterproof.spec.trace import Kind, Trace, schema

AT = {name: at for at, name in enumerate(schema("broadcast").columns)}
ALL_LIVE = (EndedProcess(process=0), EndedProcess(process=1), EndedProcess(process=2))
FIFO = Task(level=Level.FIFO, processes=3, messages=2)


def course(outcomes: Sequence[EndedProcess] = ALL_LIVE, complete: bool = True) -> Course:
    return Course(
        outcomes=tuple(outcomes), seconds=5.0, still_s=0.1, quiet_s=0.1, window_s=1.0, complete=complete, busy_s=4.0,
        woke_s=0.0, faults={},
    )  # fmt: skip


def read(
    folder: Path,
    *outputs: str,
    task: Task = FIFO,
    outcomes: Sequence[EndedProcess] = ALL_LIVE,
    complete: bool = True,
    most_rows: int = 100,
) -> Trace:
    paths = [folder / f"output-{process}" for process in range(3)]
    for path, text in zip(paths, outputs, strict=True):
        path.write_text(text, encoding="ascii")
    trace = trace_of(task, paths, course(outcomes, complete), most_rows).trace
    refuse(trace)
    assert trace_ndjson.decode(trace_ndjson.encode(trace), "trace") == trace
    return trace


def lines(trace: Trace) -> list[tuple[int, str, int, int]]:
    """Process, kind, sender and number of each row, processes counted from 1 as in outputs."""
    return [
        (row[AT["node"]] + 1, Kind(row[AT["kind"]]).name.lower(), row[AT["sender"]] + 1, row[AT["number"]])
        for row in trace.rows
    ]


def test_a_delivery_comes_after_its_beginning_and_each_process_in_its_order(tmp_path: Path) -> None:
    found = lines(read(tmp_path, "d 2 1\nb 1\n", "d 3 1\nb 1\nd 1 1\n", "b 1\n"))
    assert found == [
        (3, "begun", 3, 1),
        (2, "delivered", 3, 1),
        (2, "begun", 2, 1),
        (1, "delivered", 2, 1),
        (1, "begun", 1, 1),
        (2, "delivered", 1, 1),
        (0, "ended", 0, -1),
    ]


def test_what_nobody_began_with_is_left_as_it_is(tmp_path: Path) -> None:
    assert (1, "delivered", 2, 9) in lines(read(tmp_path, "d 2 9\n", "b 1\n", ""))


def test_deliveries_that_wait_for_one_another_come_before_a_beginning(tmp_path: Path) -> None:
    found = lines(read(tmp_path, "d 2 1\nb 1\n", "d 1 1\nb 1\n", ""))
    assert found[0] == (1, "delivered", 2, 1)
    assert len(found) == 5


def test_at_level_pl_messages_are_for_the_receiver(tmp_path: Path) -> None:
    task = Task(level=Level.PL, processes=3, messages=1, receiver=2)
    trace = read(tmp_path, "b 1\n", "d 1 1\n", "", task=task)
    assert [row[AT["receiver"]] for row in trace.rows] == [1, 1, -1]
    assert trace.header.parameters["level"] == "pl"


def test_dependencies_are_counted_from_0(tmp_path: Path) -> None:
    task = Task(level=Level.LCB, processes=3, messages=1, dependencies=((), (2, 3), (), (1,)))
    assert read(tmp_path, "", "", "", task=task).header.parameters["dependencies"] == "1,2;;0"


@pytest.mark.parametrize(
    ("outcome", "output", "crashes"),
    [
        (EndedProcess(process=1, ending=PlannedStep(0.1, Act.KILL, 1)), "b 1\n", True),
        (EndedProcess(process=1, crashed="ended with signal 11"), "b 1\n", True),
        (EndedProcess(process=1, stubborn="did not end"), "b 1\n", False),
        (EndedProcess(process=1), "b 1\nd ", False),
    ],
)
def test_an_output_that_may_not_be_whole_is_not_complete(
    tmp_path: Path, outcome: EndedProcess, output: str, crashes: bool
) -> None:
    trace = read(tmp_path, "b 1\n", output, "", outcomes=[EndedProcess(process=0), outcome, EndedProcess(process=2)])
    assert trace.header.complete["delivered"] == (0, 2)
    assert ((2, "crashed", 0, -1) in lines(trace)) == crashes


def test_who_was_asked_to_end_wrote_all_and_crashes_then(tmp_path: Path) -> None:
    ended = EndedProcess(process=0, ending=PlannedStep(0.1, Act.TERMINATE, 0))
    trace = read(tmp_path, "b 1\n", "d 1 1\n", "", outcomes=[ended, EndedProcess(process=1), EndedProcess(process=2)])
    assert trace.header.complete["begun"] == (0, 1, 2)
    assert lines(trace)[1] == (1, "crashed", 0, -1)


def test_a_run_that_was_cut_short_is_not_quiescent(tmp_path: Path) -> None:
    assert [read(tmp_path, "", "", "", complete=c).rows[-1][AT["flags"]] for c in (False, True)] == [1, 3]


def test_a_line_that_is_none_cuts_what_follows_and_is_named(tmp_path: Path) -> None:
    """What others delivered of what 1 began with after that line goes, too, and what they did then."""
    outputs = ("b 1\nx\nb 2\n", "d 1 1\nd 1 2\nb 1\n", "b 1\nd 2 1\n")
    trace = read(tmp_path, *outputs)
    assert lines(trace) == [
        (1, "begun", 1, 1),
        (2, "delivered", 1, 1),
        (3, "begun", 3, 1),
        (0, "ended", 0, -1),
    ]
    assert (trace.rows[-1][AT["flags"]], trace.header.complete["begun"]) == (0, (0, 1, 2))
    left_out = trace_of(FIFO, [tmp_path / f"output-{process}" for process in range(3)], course()).left_out
    assert left_out == (
        "of process 1 all after line 1: the next is neither `b SEQ` nor `d SENDER SEQ`; "
        "of process 2 all after line 1: it delivers what is left out of process 1; "
        "of process 3 all after line 1: it delivers what is left out of process 2"
    )


def test_no_more_rows_are_kept_than_asked_for_and_none_whose_beginning_is_not(tmp_path: Path) -> None:
    begins = "".join(f"b {number}\n" for number in range(1, 50_001))
    answers = "".join(f"d 1 {number}\nb {number}\nd 2 {number}\n" for number in range(1, 50_001))
    trace = read(tmp_path, begins, begins, answers, task=FIFO, most_rows=1_000)
    found = lines(trace)
    assert 900 < len(found) <= 1_000
    begun = {(sender, number) for _, kind, sender, number in found if kind == "begun"}
    delivered = {(sender, number) for _, kind, sender, number in found if kind == "delivered"}
    assert delivered <= begun
    assert len(delivered) > 200


def test_an_output_that_goes_on_for_ever_is_read_no_further_than_needed(tmp_path: Path) -> None:
    for process in range(2):
        (tmp_path / f"output-{process}").write_text("")
    endless = tmp_path / "output-2"
    endless.write_text("".join(f"b {number}\n" for number in range(1, 20)))
    with endless.open("r+") as file:
        file.truncate(1 << 40)  # a hole: reading all of it takes hours
    recorded = trace_of(FIFO, [tmp_path / f"output-{process}" for process in range(3)], course(), 10)
    assert [row[AT["number"]] for row in recorded.trace.rows] == [1, 2, -1]
